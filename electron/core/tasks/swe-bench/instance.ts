// One instance of SWE-bench: the JSON that it is published as, in a file of its own, in a list or as a line of a JSONL file. Imported text:
// nothing in it is executed, and but for the checked name nothing is used as a path.
import path from 'node:path';
import { z } from 'zod';
import { err, ok, type Result } from '#shared/lib/result.ts';
import { parseStrictJson } from '#electron/verifiers/strict-json.ts';
import { parseSection } from '../parse-section.ts';
import { folderLimits, readOne } from '../read-folder.ts';
import type { Add, TaskProblem } from '../task-source.ts';

const text = (error: string, max: number) => z.string({ error }).min(1, { error }).max(max, { error });
const commit = 'the SHA of a commit, 40 or 64 hexadecimal digits';
const tests = 'a list of test ids, or such a list as JSON in a text';
const patch = 'a unified diff, at most 16,777,216 characters';

/** The published field is a list in a text; copies of the data set have the list itself. */
const Tests = z.preprocess(
  (value) => {
    if (typeof value !== 'string') return value;
    const parsed = parseStrictJson(new TextEncoder().encode(value));
    const list = parsed.ok ? z.array(z.string()).safeParse(parsed.value) : null;
    return list?.success === true ? list.data : value;
  },
  z.array(text('a test id of 1 to 10,000 characters', 10_000), { error: tests }).max(200_000, { error: 'at most 200,000 tests' }),
);

const Instance = z.object(
  {
    /** Names the folder of the checkout as well. */
    instance_id: z
      .string({ error: 'a name of letters, digits, ".", "_" and "-", at most 100 characters' })
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, { error: 'a name of letters, digits, ".", "_" and "-", at most 100 characters' }),
    repo: text('a text such as "owner/name", at most 200 characters', 200),
    base_commit: z.string({ error: commit }).regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, { error: commit }),
    /** The reference solution. It is checked to be there or not, and read by nobody. */
    patch: z.string({ error: patch }).max(16_777_216, { error: patch }).optional(),
    test_patch: z.string({ error: patch }).max(16_777_216, { error: patch }),
    FAIL_TO_PASS: Tests,
    PASS_TO_PASS: Tests,
    problem_statement: z.string({ error: 'a text' }).max(1_000_000, { error: 'a text of at most 1,000,000 characters' }).optional(),
  },
  { error: 'a JSON object' },
);
type Instance = z.infer<typeof Instance>;

export type SweBenchInstance = {
  /** Absolute path of the file. */
  readonly file: string;
  /** What names this instance: FILE#ID, absolute. */
  readonly ref: string;
  readonly instance: Readonly<Omit<Instance, 'patch'>>;
  readonly hasPatch: boolean;
  /** Members that this reader does not know, by name. */
  readonly unknown: readonly string[];
  /** Known members of which a run here has no use. */
  readonly unused: readonly string[];
};

const unusedFields = ['hints_text', 'created_at', 'version', 'environment_setup_commit', 'difficulty'];

type Found = { readonly value: unknown; readonly id: string | null };

const idOf = (value: unknown): string | null => {
  const id: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'instance_id') : undefined;
  return typeof id === 'string' ? id : null;
};

/**
 * The instance `id` of `file` (absolute, real), or the only one where `id` is null. `ref` names it again. Problems name the file and the
 * member.
 */
export async function readInstance(file: string, id: string | null): Promise<Result<SweBenchInstance, readonly TaskProblem[]>> {
  const read = await readOne(path.dirname(file), path.basename(file), folderLimits.bytes);
  if (!read.ok) return err([{ file, field: null, code: read.error.code, message: read.error.message }]);
  const chosen = choose(read.value.bytes, id);
  if (!chosen.ok) return err([{ file, field: null, code: chosen.error.code, message: chosen.error.message }]);
  const problems: TaskProblem[] = [];
  const place = id === null ? file : `${file}#${id}`;
  const add: Add = (field, code, message) => void problems.push({ file: place, field: field === '' ? null : field, code, message });
  const parsed = parseSection(add, Instance, chosen.value, '');
  if (parsed === null) return err(problems);
  const { patch: solution, ...instance } = parsed;
  const known = Object.keys(Instance.shape);
  const others = Object.keys(chosen.value ?? {}).filter((name) => !known.includes(name));
  return ok({
    file,
    ref: `${file}#${instance.instance_id}`,
    instance,
    hasPatch: solution !== undefined && solution !== '',
    unknown: others.filter((name) => !unusedFields.includes(name)),
    unused: others.filter((name) => unusedFields.includes(name)),
  });
}

type Problem = Pick<TaskProblem, 'code' | 'message'>;

function choose(bytes: Uint8Array, id: string | null): Result<unknown, Problem> {
  const whole = parseStrictJson(bytes);
  if (whole.ok) {
    const all = (Array.isArray(whole.value) ? whole.value : [whole.value]).map((value: unknown): Found => ({ value, id: idOf(value) }));
    return pick(all, id);
  }
  const lines = linesOf(bytes);
  // Not JSON as a whole; a first line that is a document of its own makes it JSONL.
  const [first] = lines;
  if (lines.length < 2 || first === undefined || !parseStrictJson(first.bytes).ok)
    return err({ code: 'json_syntax', message: `is no JSON: ${whole.error}` });
  // Files hold whole data sets: only lines that name the instance are parsed.
  const wanted = id === null ? lines : lines.filter((line) => Buffer.from(line.bytes).includes(JSON.stringify(id)));
  const found: Found[] = [];
  for (const line of wanted) {
    const parsed = parseStrictJson(line.bytes);
    if (!parsed.ok) return err({ code: 'json_syntax', message: `is no JSONL: line ${line.number}: ${parsed.error}` });
    found.push({ value: parsed.value, id: idOf(parsed.value) });
  }
  return pick(found, id);
}

/** Lines that are not blank, numbered from 1. */
function linesOf(bytes: Uint8Array): { readonly number: number; readonly bytes: Uint8Array }[] {
  const lines: { number: number; bytes: Uint8Array }[] = [];
  for (let start = 0, number = 1; start < bytes.length; number++) {
    const found = bytes.indexOf(0x0a, start);
    const end = found < 0 ? bytes.length : found;
    const line = bytes.subarray(start, end);
    if (line.some((byte) => byte > 0x20)) lines.push({ number, bytes: line });
    start = end + 1;
  }
  return lines;
}

function pick(all: readonly Found[], id: string | null): Result<unknown, Problem> {
  const named = all.flatMap((one) => one.id ?? []);
  const matching = id === null ? all : all.filter((one) => one.id === id);
  const [found] = matching;
  if (found !== undefined && matching.length === 1) return ok(found.value);
  const such = named[0] === undefined ? '' : `, such as #${named[0].slice(0, 100)}`;
  if (id === null)
    return err({
      code: 'bad_value',
      message:
        all.length === 0 ? 'holds no instance' : `holds ${all.length} instances; write #ID after the name of the file to choose one${such}`,
    });
  return matching.length === 0
    ? err({ code: 'missing_field', message: `holds no instance called ${JSON.stringify(id)}` })
    : err({ code: 'duplicate_key', message: `holds ${matching.length} instances called ${JSON.stringify(id)}; leave one of them` });
}
