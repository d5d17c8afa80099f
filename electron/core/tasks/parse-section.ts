// Checks a part of a document against its schema, and says of everything that is wrong where it stands and what belongs there.
import { z } from 'zod';
import { type Add, show } from './task-source.ts';

const fieldName = (prefix: string, steps: readonly PropertyKey[]): string => {
  let field = prefix;
  for (const step of steps) field += typeof step === 'number' ? `[${step}]` : `${field === '' ? '' : '.'}${String(step)}`;
  return field;
};

/** Parses one section; adds a problem for everything that is wrong in it and returns null then. */
export const parseSection = <T extends z.ZodType>(add: Add, schema: T, value: unknown, prefix: string): z.output<T> | null => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const seen = new Set<string>();
  for (const issue of parsed.error.issues) {
    const field = fieldName(prefix, issue.path);
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) add(fieldName(field, [key]), 'unknown_field', `is unknown${hint(schema, issue.path)}`);
      continue;
    }
    if (seen.has(field)) continue;
    seen.add(field);
    let found: unknown = value;
    for (const step of issue.path) found = typeof found === 'object' && found !== null ? Reflect.get(found, step) : undefined;
    if (found === undefined) add(field, 'missing_field', `is missing; write ${issue.message}`);
    else add(field, 'bad_value', `is ${show(found)}; it must be ${issue.message}`);
  }
  return null;
};

/** The fields that may stand where an unknown one was found. */
const hint = (schema: z.ZodType, steps: readonly PropertyKey[]): string => {
  let at: unknown = schema;
  for (const step of steps) {
    if (at instanceof z.ZodPrefault || at instanceof z.ZodDefault || at instanceof z.ZodOptional) at = at.unwrap();
    at = at instanceof z.ZodObject ? Reflect.get(at.shape, step) : undefined;
  }
  if (at instanceof z.ZodPrefault) at = at.unwrap();
  return at instanceof z.ZodObject ? `; known here are ${Object.keys(at.shape).join(', ')}` : '; remove it';
};

/** An array of tables, each parsed by itself so that one bad entry hides no other; null stands for a bad one. */
export const parseList = <T extends z.ZodType>(add: Add, schema: T, value: unknown, name: string): (z.output<T> | null)[] => {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    add(name, 'bad_value', `must be a list of tables; write [[${name}]]`);
    return [];
  }
  return value.map((entry: unknown, i) => parseSection(add, schema, entry, `${name}[${i}]`));
};
