// The fields of task.toml: their types, bounds and defaults. What a value must be stands in each schema's error text, so that a message
// can say both what was found and what belongs there.
import { z } from 'zod';
import { ObligationKey } from '#shared/domain/obligation.ts';

const int = (min: number, max: number) => {
  const error = `an integer from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
};
const text = (max: number) => {
  const error = `a text of 1 to ${max} characters`;
  return z
    .string({ error })
    .min(1, { error })
    .max(max, { error })
    .refine((value) => value.isWellFormed() && !value.includes('\0'), { error });
};
const bool = z.boolean({ error: 'true or false' });
const oneOf = <const V extends readonly [string, ...string[]]>(...values: V) =>
  z.enum(values, { error: `one of ${values.map((value) => JSON.stringify(value)).join(', ')}` });
const list = <T extends z.ZodType>(item: T, of: string) => z.array(item, { error: `a list of ${of}` });
const table = <T extends z.ZodRawShape>(shape: T) =>
  z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : 'a table') });

const key = z
  .string({ error: 'a key of letters, digits and _ . : / [ ] -, at most 200 characters' })
  .refine((value) => ObligationKey.safeParse(value).success, {
    error: 'a key of letters, digits and _ . : / [ ] -, at most 200 characters',
  });

/** A glob or path inside the artifact; what is wrong with others stands in the error. */
const glob = text(500).refine(
  (value) =>
    !value.startsWith('/') &&
    !value.startsWith('!') &&
    !/^[A-Za-z]:/.test(value) &&
    !value.includes('\\') &&
    !value.split('/').some((segment) => segment === '' || segment === '.' || segment === '..'),
  { error: 'a path or glob inside artifact/, relative, with "/" between its parts and no "." or ".." among them' },
);

const day = 24 * 3600 * 1000;
const maxInt = 2 ** 31 - 1;

const argument = z
  .string({ error: 'a text' })
  .refine((value) => value.isWellFormed() && !value.includes('\0'), { error: 'a text without NUL' });

export const sections = {
  top: {
    version: int(1, maxInt),
    id: z
      .string({ error: 'a name of letters, digits, ".", "_" and "-", at most 100 characters' })
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, { error: 'a name of letters, digits, ".", "_" and "-", at most 100 characters' }),
    title: text(500).optional(),
  },
  artifact: table({
    writable: list(glob, 'paths or globs').min(1, { error: 'a list of at least one path or glob' }),
    protected: list(glob, 'paths or globs').default([]),
    allow_empty: bool.default(false),
    max_files: int(1, 20_000).default(2_000),
    max_bytes: int(1, 256 * 1024 * 1024).default(16 * 1024 * 1024),
    schema: text(500).optional(),
    schema_target: text(500).optional(),
  }),
  verifier: table({
    command: list(argument, 'texts').min(1, { error: 'a list of a program and its arguments' }).optional(),
    runtime: text(100).optional(),
    file: text(500).optional(),
    runs_candidate: bool.default(false),
    isolation: oneOf('none', 'shared', 'separate').optional(),
    adapter: text(100).optional(),
    report: text(500).optional(),
    places: z
      .record(z.string(), text(500), { error: 'a table of absolute paths, each with "scratch" or a folder below verifier/' })
      .optional(),
    env: list(
      z
        .string({ error: 'the name of an environment variable' })
        .regex(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/, { error: 'the name of an environment variable' }),
      'names of environment variables',
    ).default([]),
    timeouts_ms: table({
      setup: int(1, day).default(60_000),
      transfer: int(1, day).default(60_000),
      run: int(1, day).default(60_000),
      parse: int(1, day).default(10_000),
    }).prefault({}),
  }),
  limits: table({
    memory_mb: int(1, 1_048_576).default(256),
    cpu_s: int(1, 86_400).default(600),
    processes: int(1, 100_000).default(64),
    file_mb: int(1, 1_048_576).default(64),
    output_kb: int(1, 65_536).default(256),
  }),
  measurement: table({
    preflight_runs: int(1, 1_000).default(5),
    confirm_runs: int(1, 1_000).default(3),
    // Unless said: when a commit is confirmed at all.
    paired: bool.optional(),
    infra_retries: int(0, 100).default(2),
  }),
  obligation: table({
    key,
    title: text(500).optional(),
    cap: int(1, maxInt).optional(),
    kind: oneOf('binary', 'count', 'ordinal').default('count'),
    visibility: oneOf('full', 'aggregate', 'hidden').default('full'),
    on_candidate_timeout: oneOf('cap', 'no_verdict').default('cap'),
    missing: oneOf('malformed', 'cap').default('malformed'),
    aggregate: oneOf('worst', 'median').default('worst'),
    from: text(1_000).optional(),
  }),
  advisory: table({ key, better: oneOf('lower', 'higher') }),
  auto: table({
    name: text(100).refine((value) => !/[\p{Cc}\u2028\u2029]/u.test(value), { error: 'a text of one line' }),
    command: list(argument, 'texts').min(1, { error: 'a list of a program and its arguments' }),
    timeout_ms: int(1, day).default(30_000),
  }),
  auto_allow: table({
    command: list(argument, 'texts').min(1, { error: 'a list of a program and patterns of its arguments' }),
    timeout_ms: int(1, day).default(30_000),
  }),
  crosscheck: table({
    tests: list(glob, 'paths or globs').min(1, { error: 'a list of at least one path or glob' }),
    command: list(argument, 'texts').min(1, { error: 'a list of a program and its arguments' }).optional(),
    runtime: oneOf('pure-js').optional(),
    file: text(500).optional(),
    isolation: oneOf('shared', 'separate').optional(),
    timeout_ms: int(1, day).default(60_000),
  }),
  budget: table({
    attempts: int(1, Number.MAX_SAFE_INTEGER).default(100),
    rounds: int(1, Number.MAX_SAFE_INTEGER).optional(),
    requests: int(1, Number.MAX_SAFE_INTEGER).optional(),
    prompt_tokens: int(1, Number.MAX_SAFE_INTEGER).optional(),
    completion_tokens: int(1, Number.MAX_SAFE_INTEGER).optional(),
    verifier_runs: int(1, Number.MAX_SAFE_INTEGER).optional(),
    verifier_ms: int(1, Number.MAX_SAFE_INTEGER).optional(),
    wall_ms: int(1, Number.MAX_SAFE_INTEGER).optional(),
  }),
  search: table({ operators: list(text(100), 'operators').default([]) }),
} as const;

/** Everything that may stand at the top of task.toml. */
export const topKeys = [
  'version',
  'id',
  'title',
  'artifact',
  'verifier',
  'limits',
  'measurement',
  'obligation',
  'advisory',
  'auto',
  'auto_allow',
  'crosscheck',
  'budget',
  'search',
] as const;
