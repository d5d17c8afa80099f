import { describe, expect, test } from 'vitest';
import { composeServices } from '#electron/core/tasks/harbor/compose.ts';
import { absolute, instructionsOf, placeCopies, readDockerfile, words } from '#electron/core/tasks/harbor/dockerfile.ts';
import { rewardObligations } from '#electron/core/tasks/harbor/rewards.ts';
import { runScript } from '#electron/core/tasks/harbor/run-script.ts';

const file = (path: string) => ({ path, mode: 'file' as const, bytes: new TextEncoder().encode(path) });

describe('instructions', () => {
  test('continued lines, comments between them, here-documents, another escape character', () => {
    expect(instructionsOf('# x\nfrom a\nRUN one \\\n  # no\n  two\n\nRUN <<A <<-"B"\nCOPY no\nA\n\tB\nCOPY x y\n')).toEqual([
      { name: 'FROM', rest: 'a', line: 2, here: false },
      { name: 'RUN', rest: 'one   two', line: 3, here: false },
      { name: 'RUN', rest: '<<A <<-"B"', line: 7, here: true },
      { name: 'COPY', rest: 'x y', line: 11, here: false },
    ]);
    expect(instructionsOf('# escape=`\nRUN a `\n b').map(({ rest }) => rest)).toEqual(['a  b']);
    // Neither a document nor a line that goes on has to end.
    expect(instructionsOf('RUN <<A\nx').map(({ name }) => name)).toEqual(['RUN']);
    expect(instructionsOf('RUN a \\').map(({ rest }) => rest)).toEqual(['a']);
  });

  test('words are a shell’s, without expansion', () => {
    expect(words(`a "b c" d\\ e 'f"g' h"i\\"j"k`)).toEqual(['a', 'b c', 'd e', 'f"g', 'hi"jk']);
    expect(words(' ')).toEqual([]);
    expect(words('a "b')).toBeNull();
  });

  test('a place never leads above the root', () => {
    expect(absolute('/app', '../../../etc')).toBe('/etc');
    expect(absolute('/app', './a//b/.')).toBe('/app/a/b');
    expect(absolute('/app', '/x/../y')).toBe('/y');
  });
});

describe('an image', () => {
  test('the last stage, with those that it begins with', () => {
    const image = readDockerfile(
      'FROM a AS one\nWORKDIR /x\nENV A=1\nCOPY f .\nFROM b AS two\nWORKDIR /other\nCOPY g .\nFROM one\nWORKDIR sub\nENV B="$A 2" C $A\n',
    );
    expect(image).toMatchObject({
      workdir: '/x/sub',
      base: 'a',
      copies: [{ sources: ['f'], to: '/x/', line: 4 }],
      env: [
        ['A', '1'],
        ['B', '1 2'],
        ['C', ''],
      ],
    });
    expect(image.env).toHaveLength(3);
  });

  test('the older form of ENV, variables with a fallback, and those that nobody knows', () => {
    const image = readDockerfile(
      'FROM a\nARG W=/work\nENV MODE plain text\nWORKDIR ${W}/${SUB:-deep}\nENV PATH=/bin:$PATH\nWORKDIR $NONE\n',
    );
    expect(image.workdir).toBe('/work/deep');
    expect(image.env).toEqual([['MODE', 'plain text']]);
    expect(image.left).toEqual([
      { name: 'ENV', line: 5, why: 'PATH names a variable that is not known' },
      { name: 'WORKDIR', line: 6, why: 'names a variable that is not known' },
    ]);
  });

  test.each([
    ['COPY --from=build /x /app/', 'takes files of build, which is not built'],
    ['COPY --exclude=*.md . /app/', 'has the option --exclude'],
    ['COPY <<EOF /app/x\nhello\nEOF', 'has its files in the Dockerfile'],
    ['COPY $NONE /app/', 'names a variable that is not known'],
    ['COPY ["a", 1]', 'cannot be read'],
    ['COPY a', 'cannot be read'],
    ['COPY "a b', 'cannot be read'],
    ['ADD https://example.org/x /app/', 'fetches or unpacks'],
    ['ADD x.tar.gz /app/', 'fetches or unpacks'],
  ])('%j is left out, and says why', (line, why) => {
    const { copies, left } = readDockerfile(`FROM a\n${line}\n`);
    expect(copies).toEqual([]);
    expect(left).toEqual([{ name: line.split(' ', 1)[0], line: 2, why }]);
  });
});

describe('copies', () => {
  const context = ['a.py', 'b.py', 'c.txt', 'src/x.py', 'src/deep/y.py', 'one/n.txt', 'two/n.txt'].map(file);
  const placed = (lines: string) => {
    const { files, missing } = placeCopies(readDockerfile(`FROM a\nWORKDIR /app\n${lines}\n`), context);
    return { files: Object.fromEntries([...files].map(([at, { bytes }]) => [at, new TextDecoder().decode(bytes)])), missing };
  };

  test.each<[lines: string, files: Record<string, string>]>([
    ['COPY a.py .', { '/app/a.py': 'a.py' }],
    ['COPY a.py /app', { '/app/a.py': 'a.py' }],
    ['COPY a.py main.py', { '/app/main.py': 'a.py' }],
    ['COPY a.py new/', { '/app/new/a.py': 'a.py' }],
    ['COPY a.py b.py new', { '/app/new/a.py': 'a.py', '/app/new/b.py': 'b.py' }],
    ['COPY *.py ./', { '/app/a.py': 'a.py', '/app/b.py': 'b.py' }],
    ['COPY ?.txt ./', { '/app/c.txt': 'c.txt' }],
    ['COPY src code', { '/app/code/x.py': 'src/x.py', '/app/code/deep/y.py': 'src/deep/y.py' }],
    ['COPY src/ .', { '/app/x.py': 'src/x.py', '/app/deep/y.py': 'src/deep/y.py' }],
    ['COPY ["src/deep", "/data"]', { '/data/y.py': 'src/deep/y.py' }],
    ['COPY o* all', { '/app/all/n.txt': 'one/n.txt' }],
    ['COPY one two x/', { '/app/x/n.txt': 'two/n.txt' }],
    ['COPY ../../a.py x', { '/app/x': 'a.py' }],
    ['COPY a.py /', { '/a.py': 'a.py' }],
    [
      'COPY src code\nCOPY c.txt code',
      { '/app/code/x.py': 'src/x.py', '/app/code/deep/y.py': 'src/deep/y.py', '/app/code/c.txt': 'c.txt' },
    ],
  ])('%s', (lines, files) => {
    expect(placed(lines)).toEqual({ files, missing: [] });
  });

  test('everything', () => {
    expect(Object.keys(placed('COPY . .').files).sort()).toEqual(context.map(({ path }) => `/app/${path}`).sort());
  });

  test('what is not there is missing, line and source', () => {
    expect(placed('COPY a.py .\nCOPY none *.md ./')).toEqual({
      files: { '/app/a.py': 'a.py' },
      missing: [
        { source: 'none', line: 4 },
        { source: '*.md', line: 4 },
      ],
    });
  });

  test('wildcards take time in proportion to a hostile name', () => {
    const long = file('a'.repeat(250));
    const begun = performance.now();
    expect(
      placeCopies(
        readDockerfile(`FROM a\nCOPY ${'*a'.repeat(120)}b /app/\n`),
        Array.from({ length: 200 }, () => long),
      ).missing,
    ).toHaveLength(1);
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});

test('services of a compose file, as far as it is laid out as usual', () => {
  expect(
    composeServices(
      '# x\nservices:\n  main:\n    build: .\n    environment:\n      - services: x\n\n  "db":\n    image: y\nvolumes:\n  data:\n',
    ),
  ).toEqual(['main', 'db']);
  expect(composeServices('version: "3"\n')).toEqual([]);
  expect(composeServices('services: {main: {}, db: {}}\n')).toBeNull();
  expect(composeServices('services:\n  main:\n    x: 1\n - y\n')).toBeNull();
});

test('rewards as obligations', () => {
  expect(rewardObligations(null)).toEqual([
    { key: 'reward', title: 'reward: what is missing to 1, in steps of 0.01', kind: 'ordinal', cap: 100, from: 'reward to 1 by 0.01' },
  ]);
  expect(
    rewardObligations(['a b', 'speed/x to 10 by 3', 'pass', 'ok >= 0.5']).map(({ key, kind, cap, from }) => [key, kind, cap, from]),
  ).toEqual([
    ['a', 'binary', 1, 'a b'],
    ['speed/x', 'ordinal', 4, 'speed/x to 10 by 3'],
    ['pass', 'binary', 1, 'pass'],
    ['ok', 'binary', 1, 'ok >= 0.5'],
  ]);
});

test('text of a task is quoted in the script of the verifier', () => {
  const text = runScript({
    workdir: "/it's $(here)",
    env: [
      { name: 'A', value: "'; rm -rf / #" },
      { name: 'B', value: { host: 'KEY', otherwise: '$(x)' } },
    ],
    hasInterpreter: false,
  });
  expect(text).toContain(`work='/it'\\''s $(here)'`);
  expect(text).toContain(`export A=''\\''; rm -rf / #'`);
  expect(text).toContain(`if [ -n "\${KEY-}" ]; then export B="$KEY"; else export B='$(x)'; fi`);
  expect(text).toContain('\nbash /tests/test.sh > ');
});
