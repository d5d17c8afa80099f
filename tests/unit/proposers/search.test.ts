import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyDesk } from '../../support/engine/auto-desk.ts';
import { ensure } from '#shared/lib/assert.ts';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { scanJson } from '#electron/proposers/json-text.ts';
import {
  createSearchProposer,
  materialiseSearch,
  proposeBySearch,
  searchOperators,
  searchResponse,
  SearchOperator,
  type SearchInput,
  type SearchProposal,
} from '#electron/proposers/search.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
const tree = '0'.repeat(64);
const file = (text: string, path = 'data.json'): TreeFile => ({ path, mode: 'file', bytes: encode(text) });
/** The operators on JSON; those on text have search-text.test.ts. */
const all: readonly SearchOperator[] = SearchOperator.options.filter((name) => name.startsWith('json-'));

const draw = (files: readonly TreeFile[], n: number, operators: readonly SearchOperator[] = all, seed = 1): SearchProposal =>
  proposeBySearch({ seed, draw: n, baseTree: tree, files, writable: ['**'], operators });
const draws = (text: string, operators: readonly SearchOperator[] = all, count = 200): Extract<SearchProposal, { kind: 'edits' }>[] =>
  Array.from({ length: count }, (_, n) => draw([file(text)], n, operators)).filter((proposal) => proposal.kind === 'edits');
const textAfter = (proposal: SearchProposal): string | null =>
  proposal.kind === 'edits' && proposal.files[0] !== undefined ? decode(proposal.files[0].bytes) : null;
const single = (text: string, op: SearchOperator): Set<string | null> =>
  new Set(
    draws(text, [op])
      .filter(({ edits }) => edits.length === 1)
      .map(textAfter),
  );

// Values that repeat, so that kinds have several members, in layouts as people and programs write them.
const document = fc
  .record({
    json: fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, tie('leaf'), tie('list'), tie('object')),
      leaf: fc.oneof(
        fc.constantFrom('a', 'b', 'ä€😀', '', 'x/y~z'),
        fc.integer({ min: -3, max: 3 }),
        fc.constantFrom(true, false, null, 1.5),
      ),
      list: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(fc.constantFrom('k', 'name', 'ö', 'list', 'a/b'), tie('value'), { maxKeys: 4 }),
    })).value,
    indent: fc.constantFrom(undefined, 2, '\t'),
    eol: fc.constantFrom('\n', '\r\n'),
    end: fc.constantFrom('', '\n', '\r\n \n'),
    mark: fc.constantFrom('', '\ufeff'),
  })
  .map(({ json, indent, eol, end, mark }) => mark + JSON.stringify(json, null, indent).replaceAll('\n', eol) + end);

describe('files that are left alone', () => {
  it('are never edited, and stand in request and options; without any, neither knows of them', async () => {
    const files = [file('[1, 2, 3]', 'tests/a.json'), file('[4, 5, 6]', 'b.json')];
    const input: SearchInput = { seed: 1, draw: 0, baseTree: tree, files, writable: ['**'], operators: all };
    const touched = (except?: readonly string[]) =>
      new Set(
        Array.from({ length: 60 }, (_, n) => proposeBySearch({ ...input, draw: n, ...(except === undefined ? {} : { except }) })).flatMap(
          (proposal) => (proposal.kind === 'edits' ? proposal.edits.map(({ path }) => path) : []),
        ),
      );
    expect(touched()).toEqual(new Set(['tests/a.json', 'b.json']));
    expect(touched(['tests/**'])).toEqual(new Set(['b.json']));
    const context = {
      n: 1,
      draw: 0,
      slot: 0,
      seed: 1,
      baseTree: tree,
      base: files,
      writable: ['**'],
      memory: [],
      rank: [1],
      autos: emptyDesk,
    };
    const requestOf = async (except?: readonly string[]) => {
      const proposer = createSearchProposer({ operators: all, ...(except === undefined ? {} : { except }) });
      const { request } = await proposer.propose(context, new AbortController().signal);
      return { options: proposer.options, request: JSON.parse(decode(request)) as unknown };
    };
    expect(await requestOf(['tests/**'])).toMatchObject({ options: { except: ['tests/**'] }, request: { except: ['tests/**'] } });
    const plain = await requestOf();
    expect(plain.options).toEqual({ operators: all });
    expect(plain.request).not.toHaveProperty('except');
  });
});

describe('every proposal', () => {
  it('is JSON, differs from its base, is the same when drawn again, and comes back from its stored response', () => {
    fc.assert(
      fc.property(document, fc.nat(), fc.nat(), fc.subarray([...all], { minLength: 1 }), (text, seed, n, operators) => {
        const base = [file(text), file('left alone', 'notes.txt')];
        const proposal = draw(base, n, operators, seed);
        expect(draw(base, n, operators, seed)).toEqual(proposal);
        const rebuilt = materialiseSearch(searchResponse(proposal), base);
        const isEdit = proposal.kind === 'edits';
        const [changed] = isEdit ? proposal.files : base;
        expect(rebuilt).toEqual(
          isEdit ? { ok: true, value: [changed, base[1]] } : { ok: false, error: { code: 'no_candidate', message: proposal.reason } },
        );
        expect(decode(ensure(changed, 'a file').bytes) !== text).toBe(isEdit);
        expect(scanJson(ensure(changed, 'a file').bytes)).not.toBeNull();
      }),
      { numRuns: 1500 },
    );
  });

  it('keeps every byte outside the ranges that it names', () => {
    fc.assert(
      fc.property(document, fc.nat(), (text, n) => {
        const proposal = draw([file(text)], n);
        fc.pre(proposal.kind === 'edits');
        let before = encode(text);
        for (const { splices } of proposal.edits) {
          // Rebuilt from the pieces between the named ranges, without the code under test.
          const pieces: Buffer[] = [];
          let from = 0;
          for (const { start, end, old, new: text } of splices) {
            expect(start).toBeGreaterThanOrEqual(from);
            expect(decode(before.subarray(start, end))).toBe(old);
            pieces.push(Buffer.from(before.subarray(from, start)), Buffer.from(text));
            from = end;
          }
          before = new Uint8Array(Buffer.concat([...pieces, before.subarray(from)]));
        }
        expect(decode(before)).toBe(textAfter(proposal));
      }),
      { numRuns: 500 },
    );
  });

  it('does not depend on other files, on the order of draws or on what was drawn before', () => {
    const base = [file('{"a":[1,2,3],"b":[4,5]}')];
    const forwards = Array.from({ length: 20 }, (_, n) => draw(base, n));
    const backwards = Array.from({ length: 20 }, (_, n) => draw(base, 19 - n)).reverse();
    expect(backwards).toEqual(forwards);
    expect(draw([...base, file('[]', 'readme.md')], 3)).toEqual(forwards[3]);
    expect(new Set(forwards.map(textAfter)).size).toBeGreaterThan(5);
    expect(Array.from({ length: 20 }, (_, n) => draw(base, n, all, 2))).not.toEqual(forwards);
  });

  it('is drawn as before: a change here is a new version of the search', () => {
    const text = '{\n  "a": [1, 2, 3],\n  "b": [4, 5]\n}\n';
    expect([1, 2, 3, 4].map((n) => textAfter(draw([file(text)], n)))).toMatchInlineSnapshot(`
      [
        "{
        "a": [5, 1, 2, 3],
        "b": [4]
      }
      ",
        "{
        "a": [1, 2, 3],
        "b": [1, 5]
      }
      ",
        "{
        "a": [1, 2, 3],
        "b": [5, 4]
      }
      ",
        "{
        "a": [1, 2, 5],
        "b": [3, 4]
      }
      ",
      ]
    `);
  });
});

describe('json-swap', () => {
  it('swaps values of one member name, whole objects of one shape, and arrays in corresponding places', () => {
    const text = '{"x":[{"id":1,"at":"p"},{"id":2,"at":"q"}],"y":{"u":["m"],"v":["n"]}}';
    const found = single(text, 'json-swap');
    expect(found).toContain('{"x":[{"id":2,"at":"p"},{"id":1,"at":"q"}],"y":{"u":["m"],"v":["n"]}}');
    expect(found).toContain('{"x":[{"id":2,"at":"q"},{"id":1,"at":"p"}],"y":{"u":["m"],"v":["n"]}}');
    expect(found).toContain('{"x":[{"id":1,"at":"p"},{"id":2,"at":"q"}],"y":{"u":["n"],"v":["m"]}}');
  });

  it('never swaps a value with a part of itself', () => {
    const text = '{"node":{"node":{"node":{"v":1}}}}';
    expect(draws(text, ['json-swap'])).toEqual([]);
  });
});

describe('json-move', () => {
  it('moves an element within its array and keeps the layout', () => {
    expect(single('[\n  1,\n  2, 3\n]', 'json-move')).toEqual(
      new Set(['[\n  2,\n  1, 3\n]', '[\n  2,\n  3, 1\n]', '[\n  1,\n  3, 2\n]', '[\n  3,\n  1, 2\n]']),
    );
  });

  it('moves an element to another array that may hold it, and leaves an empty one tidy', () => {
    const text = '{\n  "open": [\n    {"t": 1}\n  ],\n  "done": [\n    {"t": 2},\n    {"t": 3}\n  ],\n  "names": ["n"]\n}\n';
    const found = single(text, 'json-move');
    expect(found).toContain('{\n  "open": [],\n  "done": [\n    {"t": 2},\n    {"t": 1},\n    {"t": 3}\n  ],\n  "names": ["n"]\n}\n');
    expect(found).toContain('{\n  "open": [\n    {"t": 1},\n    {"t": 3}\n  ],\n  "done": [\n    {"t": 2}\n  ],\n  "names": ["n"]\n}\n');
    for (const after of found) expect(after).toContain('"names": ["n"]');
  });

  it('gives an empty array the layout of its kind', () => {
    const text = '{\n  "by day": {\n    "mon": [\n      1,\n      2\n    ],\n    "tue": []\n  }\n}';
    expect(single(text, 'json-move')).toContain('{\n  "by day": {\n    "mon": [\n      2\n    ],\n    "tue": [\n      1\n    ]\n  }\n}');
  });
});

describe('json-replace', () => {
  it('takes values of the same member name, and now and then any other', () => {
    const text = '[{"room":"A","size":1},{"room":"B","size":2}]';
    const found = single(text, 'json-replace');
    expect(found).toContain('[{"room":"B","size":1},{"room":"B","size":2}]');
    expect(found).toContain('[{"room":"A","size":1},{"room":"B","size":1}]');
    expect(found).toContain('[{"room":2,"size":1},{"room":"B","size":2}]');
    expect(found).not.toContain(text);
  });

  it('copies numbers and strings as they are written', () => {
    const found = single('{"a":{"v":12345678901234567890.10},"b":{"v":"\\u0041"}}', 'json-replace');
    expect(found).toEqual(
      new Set(['{"a":{"v":"\\u0041"},"b":{"v":"\\u0041"}}', '{"a":{"v":12345678901234567890.10},"b":{"v":12345678901234567890.10}}']),
    );
  });

  it('edits one of two members with the same name', () => {
    expect(single('{"a":1,"a":2}', 'json-replace')).toEqual(new Set(['{"a":2,"a":2}', '{"a":1,"a":1}']));
  });
});

describe('what cannot be searched', () => {
  it.each([
    ['no file', []],
    ['a file that is not writable', [file('[1,2]', 'fixed.json')]],
    ['a file that is not named .json', [file('[1,2]', 'data.txt')]],
    ['a file that is not JSON', [file('[1,2', 'data.json')]],
    ['a file with nothing to exchange', [file('{"a":1}')]],
    ['a file with one value only', [file('1')]],
  ])('%s gives a reason', (_, files) => {
    const input: SearchInput = { seed: 1, draw: 1, baseTree: tree, files, writable: ['data.*'], operators: all };
    expect(proposeBySearch(input)).toMatchObject({ kind: 'none', reason: expect.stringMatching(/\w/) });
  });

  it('a member name that has no UTF-8 form does not break the response', () => {
    const base = [file('{"\\ud800":[1,2]}')];
    const proposal = draw(base, 1);
    expect(materialiseSearch(searchResponse(proposal), base)).toMatchObject({ ok: true });
  });
});

describe('materialise', () => {
  const base = [file('[1,2]')];
  it.each([
    ['not JSON', encode('{')],
    ['not UTF-8', new Uint8Array([0xff])],
    ['another format', encode('{"format":"pawl.search/2","kind":"edits","edits":[]}')],
    [
      'an unknown operator',
      encode(canonicalJson({ format: 'pawl.search/1', kind: 'edits', edits: [{ op: 'rm', path: 'data.json', at: [], splices: [] }] })),
    ],
  ])('calls a response that is %s no candidate', (_, response) => {
    expect(materialiseSearch(response, base)).toMatchObject({ ok: false, error: { code: 'no_candidate' } });
  });

  it('refuses a response that was made for another base', () => {
    const response = searchResponse(draw(base, 1));
    expect(materialiseSearch(response, base)).toMatchObject({ ok: true });
    expect(materialiseSearch(response, [file('[8,9]')])).toMatchObject({ ok: false, error: { code: 'apply_failed' } });
    expect(materialiseSearch(response, [file('[1,2]', 'other.json')])).toMatchObject({ ok: false, error: { code: 'apply_failed' } });
  });
});

describe('the proposer', () => {
  const proposer = createSearchProposer({ operators: ['json-move'] });
  const context = {
    n: 7,
    draw: 9,
    slot: 2,
    seed: 1,
    baseTree: tree,
    base: [file('[1,2]')],
    writable: ['data.json'],
    rank: [],
    memory: [],
    autos: emptyDesk,
  };

  it('answers with the stored forms of the proposal', async () => {
    const result = await proposer.propose(context, new AbortController().signal);
    expect(decode(result.request)).toBe(
      canonicalJson({
        format: 'pawl.search.request/1',
        version: 1,
        seed: 1,
        draw: 9,
        base: tree,
        writable: ['data.json'],
        operators: ['json-move'],
      }),
    );
    expect(result.usage).toEqual({ promptTokens: 0, completionTokens: 0, requests: 1 });
    expect(proposer.materialise(ensure(result.response, 'a response'), context.base)).toEqual({ ok: true, value: [file('[2,1]')] });
  });

  it('depends on the draw and not on the number of the transition or the slot', async () => {
    const { signal } = new AbortController();
    expect(await proposer.propose({ ...context, n: 8, slot: 0 }, signal)).toEqual(await proposer.propose(context, signal));
  });

  it('stops before it starts when it was aborted', async () => {
    await expect(proposer.propose(context, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
  });

  it('describes every operator that it has', () => {
    expect(searchOperators.map(({ name }) => name)).toEqual(SearchOperator.options);
    expect(proposer).toMatchObject({ kind: 'search', version: 1, options: { operators: ['json-move'] } });
  });
});
