import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { excerptFor, maxExcerptBytes, tamperEvidentLabel } from '#shared/domain/memory-entry.ts';
import { utf8Length } from '#shared/lib/text.ts';
import { obligationOf } from '../support/contract.ts';

const visibility = fc.constantFrom('full' as const, 'aggregate' as const, 'hidden' as const);
const obligations = fc
  .array(visibility, { minLength: 1, maxLength: 5 })
  .map((all) => all.map((v, i) => obligationOf(`obligation_${i}`, { title: `Title number ${i}!`, visibility: v })));
// Texts that mention obligations, in any case and on any line.
const mention = fc
  .tuple(fc.nat({ max: 4 }), fc.constantFrom('obligation_', 'OBLIGATION_', 'Title number ', 'title NUMBER '))
  .map(([i, word]) => `${word}${i}!`);
const text = fc
  .array(fc.oneof(mention, fc.constantFrom('\n', '\r\n', '\r', ' '), fc.string({ unit: 'binary', maxLength: 6 })), { maxLength: 12 })
  .map((p) => p.join(''));
const details = fc.array(text, { maxLength: 5 }).map((all) => Object.fromEntries(all.map((t, i) => [`obligation_${i}`, t])));

test('an excerpt fits, is well formed and names no obligation that is not fully visible', () => {
  fc.assert(
    fc.property(obligations, details, text, (o, d, output) => {
      const excerpt = excerptFor(o, d, output);
      expect(utf8Length(excerpt)).toBeLessThanOrEqual(maxExcerptBytes);
      expect(excerpt.isWellFormed()).toBe(true);
      const lower = excerpt.toLowerCase();
      for (const { key, title, visibility: v } of o) {
        expect(v !== 'full' && (lower.includes(key) || lower.includes(title.toLowerCase()))).toBe(false);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('what is said about hidden and aggregate obligations changes nothing but the number of aggregate ones', () => {
  fc.assert(
    fc.property(obligations, details, text, text, (o, d, output, other) => {
      const guarded = new Set(o.filter((x) => x.visibility !== 'full').map((x) => x.key));
      const replaced = Object.fromEntries(Object.entries(d).map(([k, v]) => [k, guarded.has(k) ? other : v]));
      expect(excerptFor(o, replaced, guarded.size > 0 ? other : output)).toBe(excerptFor(o, d, output));
    }),
    { numRuns: 1_000 },
  );
});

test('the label of a verdict that a candidate could have forged comes first, however long the rest is, and changes nothing else', () => {
  fc.assert(
    fc.property(obligations, details, text, fc.nat({ max: 3 }), (o, d, output, times) => {
      const long = output.repeat(times * 400);
      const labelled = excerptFor(o, d, long, true);
      const without = excerptFor(o, d, long);
      expect(labelled.split('\n', 1)[0]).toBe(tamperEvidentLabel);
      expect(utf8Length(labelled)).toBeLessThanOrEqual(maxExcerptBytes);
      const rest = labelled.slice(tamperEvidentLabel.length + 1);
      expect(without.startsWith(rest)).toBe(true);
    }),
    { numRuns: 300 },
  );
});
