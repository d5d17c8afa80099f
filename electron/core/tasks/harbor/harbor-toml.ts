// The fields of a Harbor task.toml (schema versions up to 1.4, and the older "version") that mean something here, with their types and
// Harbor's defaults; and what is said of all the others. Harbor ignores what it does not know; here it is listed.
import { z } from 'zod';
import type { TaskNote } from '#shared/contract/task.ts';
import { parseSection } from '../parse-section.ts';
import type { Add } from '../task-source.ts';

const seconds = 'a number of seconds above 0';
const count = (least: number) => `an integer from ${least}`;
const text = 'a text';
const seconds_ = z.number({ error: seconds }).positive({ error: seconds }).max(86_400_000, { error: seconds });
const integer = (least: number) => z.int({ error: count(least) }).min(least, { error: count(least) });
const string = z.string({ error: text });
const environment = 'a table of texts, each under the name of an environment variable';
const env = z
  .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/, { error: environment }), z.string({ error: environment }), {
    error: environment,
  })
  .default({});
const table = { error: 'a table' };

const sizeWords = 'a size such as "512M" or "2G"';
const size = z.string({ error: sizeWords }).regex(/^\s*\d{1,6}(?:\.\d{1,3})?\s*[KMG]\s*$/i, { error: sizeWords });

const sections = {
  task: z.object({ name: string.max(200, { error: 'a text of at most 200 characters' }), description: string.default('') }, table),
  verifier: z.object({ timeout_sec: seconds_.default(600), env }, table),
  environment: z.object(
    {
      docker_image: string.optional(),
      os: string.default('linux'),
      cpus: z.number({ error: 'a number above 0' }).positive({ error: 'a number above 0' }).default(1),
      memory_mb: integer(1).optional(),
      memory: size.optional(),
      storage_mb: integer(1).optional(),
      storage: size.optional(),
      gpus: integer(0).default(0),
      env,
      workdir: string.optional(),
      allow_internet: z.boolean({ error: 'true or false' }).optional(),
      network_mode: string.optional(),
    },
    table,
  ),
  pawl: z.strictObject(
    { rewards: z.array(string, { error: 'a list of rules for rewards' }).min(1, { error: 'a list of at least one rule' }) },
    {
      error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : 'a table'),
    },
  ),
} as const;

/** Members that a section may have although nothing here reads them, and why. */
const unread: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': {
    source: 'has no use here',
    solution: 'belongs to the reference solution, which is not read',
    artifacts: 'is not collected; what verifications leave is gone with their sandbox',
    multi_step_reward_strategy: 'has no use in a task of one step',
  },
  task: { authors: 'has no use here', keywords: 'has no use here' },
  agent: { '*': "bounds an agent's work as a whole; a run is bounded by its budget (--limit wall_ms=N, --command-timeout)" },
  verifier: {
    user: 'is not carried: verifications run as a user without rights',
    network_mode: 'is not carried: there is no network',
    allowed_hosts: 'is not carried: there is no network',
    environment_mode: 'is not carried: tests and candidate share one sandbox',
    environment: 'is not carried: tests and candidate share one sandbox',
    collect: 'is not carried: nothing is run before the tests',
  },
  environment: {
    build_timeout_sec: 'has no use here; nothing is built',
    gpu_types: 'is not carried: the sandbox has no GPU',
    allowed_hosts: 'is not carried: there is no network',
    mcp_servers: 'is not carried: no server is started',
    skills_dir: 'is not carried: proposers have no skills folder',
    healthcheck: 'is not carried: no service is started',
  },
};

const read: Readonly<Record<string, readonly string[]>> = {
  '': ['version', 'schema_version', 'task', 'metadata', 'verifier', 'agent', 'environment', 'steps'],
  task: Object.keys(sections.task.shape),
  agent: [],
  verifier: Object.keys(sections.verifier.shape),
  environment: Object.keys(sections.environment.shape),
};

export type HarborSettings = {
  /** `org/name`, or null where the task has no name of its own. */
  readonly name: string | null;
  readonly description: string;
  readonly verifier: z.output<typeof sections.verifier>;
  readonly environment: z.output<typeof sections.environment>;
  readonly memoryMb: number;
  readonly storageMb: number;
  /** Rules of `[metadata.pawl]`; null where there are none. */
  readonly rewards: readonly string[] | null;
  readonly notes: readonly TaskNote[];
};

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** What only a task.toml of Harbor has at its top, and what only one of Pawl's own has. */
const foreign = ['schema_version', 'environment', 'agent', 'metadata', 'task', 'solution', 'steps', 'artifacts', 'source'];
const own = ['id', 'artifact', 'obligation', 'limits', 'measurement', 'advisory', 'auto', 'crosscheck', 'budget', 'search'];

/** Whether a task.toml is of Harbor; null where it says nothing either way. */
export function isHarborDocument(document: Readonly<Record<string, unknown>>): boolean | null {
  if (own.some((name) => Object.hasOwn(document, name))) return false;
  if (foreign.some((name) => Object.hasOwn(document, name)) || typeof document['version'] === 'string') return true;
  return null;
}

const megabytes = (text: string): number => {
  const [, number = '0', unit = 'M'] = /^\s*([\d.]+)\s*([KMG])/i.exec(text) ?? [];
  const scale = { K: 1 / 1024, M: 1, G: 1024 }[unit.toUpperCase()] ?? 1;
  return Math.max(1, Math.ceil(Number(number) * scale));
};

/** Checks what is read of `document` and lists the rest; null where something is wrong, which `add` has been told then. */
export function readHarborToml(document: Readonly<Record<string, unknown>>, add: Add): HarborSettings | null {
  const task = document['task'] === undefined ? null : parseSection(add, sections.task, document['task'], 'task');
  const verifier = parseSection(add, sections.verifier, document['verifier'] ?? {}, 'verifier');
  const environment = parseSection(add, sections.environment, document['environment'] ?? {}, 'environment');
  const metadata = document['metadata'] ?? {};
  if (!isTable(metadata)) add('metadata', 'bad_value', 'must be a table');
  const said = isTable(metadata) ? metadata['pawl'] : undefined;
  const pawl = said === undefined ? null : parseSection(add, sections.pawl, said, 'metadata.pawl');
  const wrong =
    verifier === null || environment === null || (document['task'] !== undefined && task === null) || (said !== undefined && pawl === null);
  if (wrong || !isTable(metadata)) return null;

  const notes: TaskNote[] = [];
  const note = (code: string, field: string, message: string) => void notes.push({ code, file: 'task.toml', field, message });
  for (const section of Object.keys(read)) {
    const found = section === '' ? document : document[section];
    if (!isTable(found)) continue;
    const prefix = section === '' ? '' : `${section}.`;
    for (const name of Object.keys(found)) {
      if (read[section]?.includes(name) === true) continue;
      const why = unread[section]?.[name] ?? unread[section]?.['*'];
      const field = `${prefix}${name}`.slice(0, 100);
      if (why === undefined) note('unknown-field', field, 'is not known to this reader and was left out');
      else note('unused', field, why);
    }
  }
  const described = Object.keys(metadata).filter((name) => name !== 'pawl');
  if (described.length > 0) note('unused', 'metadata', `describes the task (${described.join(', ').slice(0, 200)}) and has no use here`);
  return {
    name: task?.name ?? null,
    description: task?.description ?? '',
    verifier,
    environment,
    memoryMb: environment.memory_mb ?? (environment.memory === undefined ? 2_048 : megabytes(environment.memory)),
    storageMb: environment.storage_mb ?? (environment.storage === undefined ? 10_240 : megabytes(environment.storage)),
    rewards: pawl?.rewards ?? null,
    notes,
  };
}
