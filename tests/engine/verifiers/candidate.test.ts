import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writableMatcher } from '#shared/domain/writable.ts';
import { checkCandidate, compileSchema, manifestOf } from '#electron/verifiers/candidate.ts';
import { treeId } from '#shared/domain/tree-id.ts';
import { sha256Hex } from '#shared/lib/hash.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { makeContract, textFile } from './support.ts';

const encoder = new TextEncoder();
const contract = makeContract({ artifact: { writable: ['*.json', 'src/**'], protectedPaths: ['src/locked/**'] } });
const base = [textFile('data.json', '[1]'), textFile('README', 'read me'), textFile('src/a.txt', 'a'), textFile('src/locked/b.txt', 'b')];
const check = (candidate: readonly TreeFile[], under = contract, schema: Uint8Array | null = null) =>
  checkCandidate({ contract: under, base, candidate, schema });
const replace = (file: TreeFile): TreeFile[] => [...base.filter(({ path }) => path !== file.path), file];

describe('checkCandidate', () => {
  test('the golden tree of the semantics', () => {
    expect(treeId(manifestOf([textFile('src/run.sh', '#!/bin/sh\n', 'exec'), textFile('a.txt', 'hello\n')]))).toBe(
      '41fcff3d0f5f9e4f2b0324d23e2645ab4ae4a79077116e8b59479d6d33ae1d59',
    );
  });

  test('changes, additions and removals of writable files pass, in tree order', () => {
    const candidate = [
      textFile('z.json', '{}'),
      textFile('src/deep/new.txt', 'x', 'exec'),
      ...base.filter(({ path }) => path !== 'src/a.txt'),
    ];
    const result = check(candidate);
    expect(result).toMatchObject({ ok: true });
    if (!result.ok) return;
    expect(result.value.files.map(({ path }) => path)).toEqual(['README', 'data.json', 'src/deep/new.txt', 'src/locked/b.txt', 'z.json']);
    expect(result.value.manifest).toEqual(manifestOf(candidate));
    expect(result.value.tree).toBe(treeId(manifestOf(candidate)));
  });

  test('protected files are the canonical copies, not the candidate’s', () => {
    const own = textFile('README', 'read me');
    const result = check(replace(own));
    expect(result.ok && result.value.files.find(({ path }) => path === 'README')).toBe(base[1]);
  });

  test.each<[string, TreeFile[], string, RegExp]>([
    ['a changed file outside', replace(textFile('README', 'changed')), 'protected_path', /"README"/],
    ['a changed mode outside', replace(textFile('README', 'read me', 'exec')), 'protected_path', /"README"/],
    ['a removed file outside', base.filter(({ path }) => path !== 'README'), 'protected_path', /"README"/],
    ['a new file outside', [...base, textFile('conftest.py', '')], 'protected_path', /"conftest.py"/],
    ['a changed protected file', replace(textFile('src/locked/b.txt', 'x')), 'protected_path', /"src\/locked\/b.txt"/],
    ['a new protected file', [...base, textFile('src/locked/c.txt', '')], 'protected_path', /"src\/locked\/c.txt"/],
    ['..', [...base, textFile('src/../../x', '')], 'bad_path', /\.\./],
    ['an absolute path', [...base, textFile('/etc/passwd', '')], 'bad_path', /absolute/],
    ['a backslash', [...base, textFile('src\\x', '')], 'bad_path', /backslash/],
    ['a reserved name', [...base, textFile('src/NUL.txt', '')], 'bad_path', /reserved/],
    ['a collision of case', [...base, textFile('src/A.txt', '')], 'bad_path', /are one on some file systems/],
    ['NFC and NFD twins', [...base, textFile('src/e\u0301', '')], 'bad_path', /NFC/],
    ['a path twice', [...base, textFile('src/a.txt', 'again')], 'bad_path', /twice/],
    ['too many bytes', replace(textFile('data.json', 'x'.repeat(1_000_001))), 'too_large', /1000000 bytes/],
    ['too many files', [...base, ...Array.from({ length: 100 }, (_, i) => textFile(`src/f${i}`, ''))], 'too_large', /104 files/],
  ])('%s', (_, candidate, code, message) => {
    expect(check(candidate)).toMatchObject({ ok: false, error: { code, message: expect.stringMatching(message) } });
  });

  test('empty, and where that is allowed', () => {
    const kept = base.filter(({ path }) => ['README', 'src/locked/b.txt'].includes(path));
    expect(check(kept)).toMatchObject({ ok: false, error: { code: 'empty' } });
    const lenient = makeContract({ artifact: { ...contract.artifact, allowEmpty: true } });
    expect(check(kept, lenient)).toMatchObject({ ok: true });
  });

  const schemaText =
    '{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"array","prefixItems":[{"type":"integer"}],"items":false}';
  const schema = encoder.encode(schemaText);
  const withSchema = makeContract({
    artifact: { ...contract.artifact, schema: { path: 'verifier/s.json', sha: sha256Hex(schema), target: 'data.json' } },
  });
  test.each<[string, string | Uint8Array | null, RegExp]>([
    ['fits', '[5]', /^fits$/],
    ['of another type', '["5"]', /\/0 must be integer/],
    ['too many', '[5, 6]', /must NOT have more than 1 items/],
    ['not JSON', '[5', /cannot be read: it is not one JSON document/],
    ['a key twice', '[{"a":1,"a":1}]', /"a" stands twice/],
    ['not UTF-8', Uint8Array.from([0x5b, 0xff, 0x5d]), /not UTF-8/],
    ['missing', null, /data\.json is missing/],
  ])('schema: %s', (_, text, message) => {
    const candidate = text === null ? base.filter(({ path }) => path !== 'data.json') : replace(textFile('data.json', text));
    const result = check(candidate, withSchema, schema);
    const said = result.ok ? 'fits' : `${result.error.code}: ${result.error.message}`;
    expect(said).toMatch(message);
  });

  test('other bytes than the contract’s schema are the caller’s mistake', () => {
    expect(() =>
      check(
        base,
        makeContract({ artifact: { ...withSchema.artifact, schema: { path: 's', sha: 'e'.repeat(64), target: 'data.json' } } }),
        schema,
      ),
    ).toThrow(/not those that the contract names/);
    expect(() => check(base, withSchema, null)).toThrow(/bytes are missing/);
  });

  test('whatever passes leaves every file that is not writable byte for byte as it was', () => {
    const isWritable = writableMatcher(contract.artifact);
    const name = fc.constantFrom(
      'data.json',
      'README',
      'src/a.txt',
      'src/locked/b.txt',
      'x',
      'src/y',
      'y.json',
      'src/locked/z',
      '.json',
      'README/x',
    );
    const files = fc.uniqueArray(
      fc.record({
        path: name,
        mode: fc.constantFrom('file' as const, 'exec' as const),
        text: fc.constantFrom('', '[1]', 'read me', 'a', 'b'),
      }),
      {
        selector: ({ path }) => path,
      },
    );
    const mixed = fc
      .tuple(files, fc.subarray([...base]))
      .map(([own, kept]) => [
        ...kept.filter(({ path }) => !own.some((file) => file.path === path)),
        ...own.map(({ path, mode, text }) => textFile(path, text, mode)),
      ]);
    fc.assert(
      fc.property(mixed, (candidate) => {
        const result = check(candidate);
        if (!result.ok) return;
        const fixed = (all: readonly TreeFile[]) => manifestOf(all.filter(({ path }) => !isWritable(path)));
        expect(fixed(result.value.files)).toEqual(fixed(base));
        expect(manifestOf(result.value.files)).toEqual(result.value.manifest);
      }),
      { numRuns: 500 },
    );
  });
});

describe('compileSchema', () => {
  test.each([
    ['no JSON', '{', /not one JSON document/],
    ['not an object', '[]', /no JSON object/],
    ['a keyword that does not exist', '{"type":"object","propertis":{}}', /propertis/],
    ['a format that nobody checks', '{"format":"moon"}', /moon/],
    ['a type that does not exist', '{"type":"int"}', /schema is invalid/],
    ['an unknown dialect', '{"$schema":"https://example.org/mine"}', /draft-07, 2019-09 and 2020-12/],
    ['a reference to nowhere', '{"$ref":"https://example.org/other.json"}', /can't resolve reference/],
  ])('%s', (_, text, message) => {
    const result = compileSchema(encoder.encode(text));
    expect(result.ok ? 'accepted' : result.error).toMatch(message);
  });
  test.each([
    'http://json-schema.org/draft-07/schema#',
    'https://json-schema.org/draft/2019-09/schema',
    'https://json-schema.org/draft/2020-12/schema',
  ])('%s', ($schema) => {
    const result = compileSchema(encoder.encode(JSON.stringify({ $schema, type: 'integer', maximum: 3 })));
    expect(result.ok && [result.value(3), result.value(4)]).toEqual([null, 'the document must be <= 3']);
  });
});

test('globs mean the same everywhere: dots are letters, case counts', () => {
  const isWritable = writableMatcher({ writable: ['**/*.json', 'a/[bc].txt'], protectedPaths: ['**/package.json'] });
  expect(['x.json', '.x.json', 'd/.e/x.json', 'a/b.txt', 'X.JSON', 'a/d.txt', 'd/package.json', 'package.json'].map(isWritable)).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});
