// Comparing what is stored with what was recomputed from its sources. Semantics, section 9: a decision replay recomputes everything first
// and compares then, field by field, and names what differs.
import type { Json } from '../lib/canonical-json.ts';

/** One field that is not what its sources give. Values as JSON text, cut; null = there is nothing. */
export interface Difference {
  readonly field: string;
  readonly stored: string | null;
  readonly recomputed: string | null;
}

export type Fields = Readonly<Record<string, Json | undefined>>;

const maxShown = 160;

/** A value for people, cut: hashes and short ranks are whole. */
export function shownValue(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}

const isObject = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Equal as JSON, whatever the order of members. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((x: Json, i) => sameJson(x, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]));
}

/**
 * Every field in which two records differ, fields of only one of them included; objects are gone into (`cost.charged.attempts`), arrays
 * are one value. Empty exactly when the records are equal as JSON.
 */
export function differences(stored: Fields, recomputed: Fields, path = ''): Difference[] {
  const found: Difference[] = [];
  for (const key of new Set([...Object.keys(recomputed), ...Object.keys(stored)])) {
    const a = Object.hasOwn(stored, key) ? stored[key] : undefined;
    const b = Object.hasOwn(recomputed, key) ? recomputed[key] : undefined;
    if (sameJson(a, b)) continue;
    const field = `${path}${key}`;
    if (isObject(a) && isObject(b)) found.push(...differences(a, b, `${field}.`));
    else found.push({ field, stored: shownValue(a), recomputed: shownValue(b) });
  }
  return found;
}
