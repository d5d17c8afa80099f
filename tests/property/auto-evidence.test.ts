// Output of automatic commands in the evidence excerpt: bounded, bound to its tree, filtered, and told apart from the verifier's words.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { autoPart, autoText, joinEvidence } from '#shared/domain/auto-evidence.ts';
import { maxExcerptBytes } from '#shared/domain/memory-entry.ts';
import { truncateUtf8, utf8Length } from '#shared/lib/text.ts';
import { sha256Text } from '#shared/lib/hash.ts';
import { obligationOf } from '../support/contract.ts';

const hidden = obligationOf('hidden-key', { title: 'The Hidden Title', visibility: 'hidden' });
const tree = sha256Text('tree');
const word = fc.constantFrom(
  '[auto] ',
  'lint',
  '\n',
  '\r\n',
  '[auto] x on tree',
  'hidden-KEY is 3',
  'the hidden title',
  'é',
  '😀',
  'x'.repeat(700),
);
const text = fc.oneof(
  fc.array(word, { maxLength: 12 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const outputs = fc.array(
  fc.record({
    name: fc.constantFrom('lint', 'types'),
    tree: fc.constant(tree),
    ending: fc.constantFrom('exit 0', 'timeout'),
    output: text,
  }),
  { maxLength: 4 },
);
const excerpts = text.map((value) => truncateUtf8(value.toWellFormed(), maxExcerptBytes));

test('it fits, is found again whatever the verifier said, and names nothing that is hidden', () => {
  fc.assert(
    fc.property(excerpts, outputs, (excerpt, all) => {
      const auto = autoText([hidden], all);
      const joined = joinEvidence(excerpt, auto);
      expect(utf8Length(joined)).toBeLessThanOrEqual(maxExcerptBytes);
      expect(joined.isWellFormed()).toBe(true);
      expect(auto.toLowerCase()).not.toMatch(/hidden-key|the hidden title/);
      expect(auto === '' ? joined : autoPart(joined)).toBe(auto === '' ? excerpt : auto);
      expect(auto.startsWith(`[auto] ${all[0]?.name ?? ''} on tree ${tree.slice(0, 12)}: `)).toBe(all.length > 0);
      // A replay that makes the verifier's part again comes to the same text.
      expect(joinEvidence(excerpt, auto === '' ? '' : autoPart(joined))).toBe(joined);
    }),
    { numRuns: 1_000 },
  );
});
