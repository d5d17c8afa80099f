// Exact decimal arithmetic for rewards: in binary, (1 - 0.7) / 0.1 is above 3, and its ceiling would be 4.

/** `digits` / 10^`scale`. */
export type Decimal = { readonly digits: bigint; readonly scale: number };

const maxExponent = 400;

/** A finite decimal number in usual notation; null for everything else (NaN, inf, hexadecimal, text around it). */
export function parseDecimal(text: string): Decimal | null {
  if (text.length > 100) return null;
  const found = /^([+-]?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/.exec(text);
  if (found === null) return null;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = found;
  const shift = Number(exponent);
  if (Math.abs(shift) > maxExponent) return null;
  const digits = BigInt(`${whole}${fraction}`) * (sign === '-' ? -1n : 1n);
  const scale = fraction.length - shift;
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

const at = ({ digits, scale }: Decimal, wanted: number): bigint => digits * 10n ** BigInt(wanted - scale);

export const isAtLeast = (a: Decimal, b: Decimal): boolean => {
  const scale = Math.max(a.scale, b.scale);
  return at(a, scale) >= at(b, scale);
};

/** clamp(ceil((target - x) / quantum), 0, cap), exact; `quantum` is above 0. */
export function quantise(x: Decimal, target: Decimal, quantum: Decimal, cap: number): number {
  const scale = Math.max(x.scale, target.scale, quantum.scale);
  const missing = at(target, scale) - at(x, scale);
  if (missing <= 0n) return 0;
  const step = at(quantum, scale);
  const steps = (missing + step - 1n) / step;
  return steps > BigInt(cap) ? cap : Number(steps);
}
