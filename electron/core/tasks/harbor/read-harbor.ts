// From a Harbor task folder to a task. See README.md beside this file for what becomes of what.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { TaskNote } from '#shared/contract/task.ts';
import { nestedPlaces, placeProblem } from '#shared/domain/places.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { err, ok, type Result } from '#shared/lib/result.ts';
import { searchOperators } from '#electron/proposers/search.ts';
import { asProblem, readInstruction, type TomlDocument, tomlFile } from '../own-folder.ts';
import { folderLimits, readFolder } from '../read-folder.ts';
import { type Add, show, type TaskProblem, type TaskSource } from '../task-source.ts';
import { composeServices } from './compose.ts';
import { type Image, placeCopies, readDockerfile } from './dockerfile.ts';
import { type HarborSettings, readHarborToml } from './harbor-toml.ts';
import { rewardObligations } from './rewards.ts';
import { logsFolder, runScript, type RunSpec, testsFolder } from './run-script.ts';

const dockerfile = 'environment/Dockerfile';
const composeFiles = ['environment/docker-compose.yaml', 'environment/docker-compose.yml'];
const testScript = 'tests/test.sh';
/** Where Harbor's own templates have it. */
const usualWorkdir = '/app';

const dayMs = 24 * 3_600_000;
const encoder = new TextEncoder();
const lenient = new TextDecoder();

/** What of a task folder is read, or known not to be; everything else is listed. */
const knownEntries = new Set(['task.toml', 'instruction.md', 'environment', 'tests', 'solution', '.git', '.gitignore', '.DS_Store']);

/** Reads `folder` (absolute, real), whose task.toml is `toml`. */
export async function readHarborFolder(folder: string, toml: TomlDocument): Promise<Result<TaskSource, readonly TaskProblem[]>> {
  const problems: TaskProblem[] = [];
  const add: Add = (field, code, message, file = tomlFile) => void problems.push({ file, field, code, message });
  const notes: TaskNote[] = [];
  const note = (code: string, file: string, field: string | null, message: string) => void notes.push({ code, file, field, message });

  const [instruction, environment, tests, entries] = await Promise.all([
    readInstruction(folder),
    readFolder(folder, 'environment', '.git'),
    readFolder(folder, 'tests', '.git'),
    readdir(folder),
  ]);
  if (!instruction.ok) problems.push(instruction.error);
  problems.push(...[...environment.problems, ...tests.problems].map(asProblem));
  const settings = readHarborToml(toml.document, add);
  if (Object.hasOwn(toml.document, 'steps'))
    add('steps', 'not_carried', 'makes this a task of several steps, which this version cannot run');
  if (problems.length > 0 || settings === null || !instruction.ok) return err(problems);
  notes.push(...settings.notes);

  const context = environment.files.map((file) => ({ ...file, path: file.path.slice('environment/'.length) }));
  checkServices(environment.files, add, note);
  const script = tests.files.find(({ path: name }) => name === testScript);
  if (script === undefined) add(null, 'missing_file', 'is missing; it is what verifies a candidate', testScript);
  if (settings.environment.os.toLowerCase() !== 'linux')
    add('environment.os', 'not_carried', `is ${show(settings.environment.os)}; tests run on Linux only`);
  const image = imageOf(environment.files, settings, add);
  if (image === null || script === undefined || problems.length > 0) return err(problems);
  const workdir = workdirOf(image, settings, add, note);
  const artifact = artifactOf(image, workdir, context, add, note);
  if (problems.length > 0) return err(problems);

  const env = envOf(image, settings, note);
  noteImage(image, settings, note);
  noteTests(script, note);
  note('tamper-evident', testScript, null, 'runs in one sandbox with the code that it tests, so verdicts are tamper-evident only');
  if (entries.includes('solution')) note('solution', 'solution/', null, 'is the reference solution and was not read');
  const others = entries.filter((name) => !knownEntries.has(name));
  if (others.length > 0)
    note(
      'unused',
      '.',
      null,
      `has ${others
        .map((name) => show(name))
        .join(', ')
        .slice(0, 300)}, which were not read`,
    );

  const rewards = rewardObligations(settings.rewards);
  if (settings.rewards === null)
    note(
      'reward',
      testScript,
      null,
      'is taken to leave one reward, from 0 to 1, called reward; [metadata.pawl] rewards = ["NAME to TARGET by QUANTUM", "NAME >= TARGET"] in task.toml says otherwise',
    );
  const name = settings.name ?? path.basename(folder);
  const run: RunSpec = { workdir, env: env.set, hasInterpreter: lenient.decode(script.bytes.subarray(0, 2)) === '#!' };
  const { timeout_sec: timeout } = settings.verifier;
  const bytes = artifact.reduce((sum, file) => sum + file.bytes.length, 0);
  return ok({
    format: 'harbor',
    path: folder,
    document: {
      version: 1,
      id: idOf(name),
      title: `${name}${settings.description === '' ? '' : `: ${settings.description}`}`.slice(0, 500).toWellFormed(),
      artifact: {
        writable: ['**'],
        protected: [],
        allow_empty: true,
        max_files: folderLimits.files,
        max_bytes: Math.max(bytes, Math.min(settings.storageMb * 1024 * 1024, folderLimits.bytes)),
      },
      verifier: {
        command: ['sh', 'verifier/run.sh'],
        runs_candidate: true,
        isolation: 'shared',
        adapter: 'harbor',
        places: { [workdir]: 'scratch', [testsFolder]: 'verifier/tests', [logsFolder]: 'scratch' },
        env: env.host,
        timeouts_ms: { run: Math.min(Math.ceil(timeout * 1_000), dayMs) },
      },
      limits: {
        memory_mb: Math.min(settings.memoryMb, 1_048_576),
        cpu_s: Math.min(Math.ceil(timeout * settings.environment.cpus), 86_400),
        processes: 256,
        file_mb: Math.min(settings.storageMb, 1_024),
        output_kb: 1_024,
      },
      obligation: rewards,
      search: { operators: searchOperators.map((operator) => operator.name) },
    },
    documentFile: `${tomlFile} (as adapted)`,
    documentSha: null,
    instruction: withWorkdir(instruction.value, workdir),
    artifact,
    verifier: [
      { path: 'verifier/run.sh', mode: 'exec', bytes: encoder.encode(runScript(run)) },
      ...tests.files.map((file) => ({
        ...file,
        path: `verifier/${file.path}`,
        mode: file.path === testScript ? ('exec' as const) : file.mode,
      })),
    ],
    folder: null,
    notes,
    problems: [],
  });
}

type Note = (code: string, file: string, field: string | null, message: string) => void;

/** Letters, digits, ".", "_" and "-"; `org/name` becomes `org.name`. */
const idOf = (name: string): string => {
  const id = name
    .replaceAll('/', '.')
    .replace(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 100);
  return id === '' ? 'harbor-task' : id;
};

function withWorkdir(instruction: Uint8Array, workdir: string): Uint8Array {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(instruction).trimEnd();
  return encoder.encode(`${text}\n\nThe files that can be changed are those of ${workdir}; a path in a proposal is relative to it.\n`);
}

/** Tests that need a database or a server beside them would fail whatever the candidate does. */
function checkServices(files: readonly TreeFile[], add: Add, note: Note): void {
  for (const compose of files.filter((file) => composeFiles.includes(file.path))) {
    const services = composeServices(lenient.decode(compose.bytes));
    const others = services?.filter((name) => name !== 'main') ?? null;
    if (others === null)
      add(null, 'not_carried', 'cannot be read for the services that it declares, and none could be started', compose.path);
    else if (others.length > 0)
      add(
        'services',
        'not_carried',
        `declares ${others.map(show).join(', ').slice(0, 200)}, and no service can be started beside a sandbox`,
        compose.path,
      );
    else note('services', compose.path, null, 'changes how the container of the task is started, which has no effect here');
  }
}

/** What is known of the image that the task begins in; null where its files cannot be. */
function imageOf(files: readonly TreeFile[], { environment }: HarborSettings, add: Add): Image | null {
  const found = files.find((file) => file.path === dockerfile);
  if (found !== undefined) return readDockerfile(lenient.decode(found.bytes));
  if (environment.docker_image !== undefined) {
    add(
      'environment.docker_image',
      'not_carried',
      `is ${show(environment.docker_image)} and there is no ${dockerfile}: the files of the task are in an image that is not opened; put them into environment/ beside a Dockerfile that copies them (COPY . /app)`,
    );
    return null;
  }
  add(null, 'missing_file', 'is missing, and so is environment.docker_image; it says which files the task begins with', dockerfile);
  return null;
}

function workdirOf(image: Image, { environment }: HarborSettings, add: Add, note: Note): string {
  const [file, field, said] =
    environment.workdir === undefined ? [dockerfile, 'WORKDIR', image.workdir] : [tomlFile, 'environment.workdir', environment.workdir];
  if (said === null) note('workdir', dockerfile, 'WORKDIR', `is not said; ${usualWorkdir} is assumed`);
  const workdir = said ?? usualWorkdir;
  const wrong = placeProblem(workdir);
  const nested = nestedPlaces([workdir, testsFolder, logsFolder].map((at) => ({ at, from: null })));
  if (wrong !== null) add(field, 'not_carried', `is ${show(workdir)}, which ${wrong}; no candidate can be laid out there`, file);
  else if (nested !== null) add(field, 'not_carried', `is ${show(workdir)}; ${nested[0]} lies in ${nested[1]}`, file);
  return workdir;
}

/** The files that the image has in its working folder, paths relative to it. */
function artifactOf(image: Image, workdir: string, context: readonly TreeFile[], add: Add, note: Note): TreeFile[] {
  const { files, missing } = placeCopies({ ...image, workdir }, context);
  for (const { source, line } of missing)
    add(`line ${line}`, 'missing_file', `copies ${show(source)}, which is not in environment/`, dockerfile);
  const outside: string[] = [];
  const artifact: TreeFile[] = [];
  for (const [at, file] of files) {
    if (at.startsWith(`${workdir}/`)) artifact.push({ ...file, path: at.slice(workdir.length + 1) });
    else outside.push(at);
  }
  if (outside.length > 0)
    note(
      'outside-workdir',
      dockerfile,
      'COPY',
      `places ${outside.length} files outside ${workdir}, which are not there: ${outside.slice(0, 5).join(', ').slice(0, 300)}`,
    );
  if (context.some((file) => file.path === '.dockerignore')) note('dockerignore', 'environment/.dockerignore', null, 'was not applied');
  return artifact;
}

/** Variables that a sandbox fixes (electron/verifiers/sandbox/spec-rules.ts); passing a host's on would change measurements. */
const fixed =
  /^(?:PATH|HOME|TMPDIR|TZ|LANG|LC_ALL|PYTHON\w*|SOURCE_DATE_EPOCH|OMP_NUM_THREADS|OPENBLAS_NUM_THREADS|MKL_NUM_THREADS|PAWL_\w*)$/;

function envOf(image: Image, { environment, verifier }: HarborSettings, note: Note) {
  const set: RunSpec['env'][number][] = [];
  const host = new Set<string>();
  const take = (file: string, section: string, name: string, value: string) => {
    const field = `${section}.${name}`;
    if (value.includes('\0')) return note('variable', file, field, 'holds a NUL and is not set');
    if (name.startsWith('PAWL_')) return note('variable', file, field, 'is a name of ours and is not set');
    const template = /^\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}$/.exec(value);
    if (template === null) return void set.push({ name, value });
    const [, from = '', otherwise = ''] = template;
    if (fixed.test(from)) return note('variable', file, field, `takes ${from}, which is fixed for every sandbox, and is not set`);
    host.add(from);
    note('variable', file, field, `takes ${from} of the host; there is no network on which a key would be of use`);
    set.push({ name, value: { host: from, otherwise } });
  };
  for (const [name, value] of image.env) take(dockerfile, 'ENV', name, value);
  for (const [name, value] of Object.entries(environment.env)) take(tomlFile, 'environment.env', name, value);
  for (const [name, value] of Object.entries(verifier.env)) take(tomlFile, 'verifier.env', name, value);
  return { set, host: [...host] };
}

function noteImage(image: Image, { environment, storageMb }: HarborSettings, note: Note): void {
  const based = image.base === null ? 'is not said' : `is ${show(image.base)}`;
  note('image', dockerfile, 'FROM', `${based} and is not built: tests run with what this machine has in /usr`);
  if (environment.docker_image !== undefined)
    note(
      'image',
      tomlFile,
      'environment.docker_image',
      `is ${show(environment.docker_image)} and is not used; the Dockerfile says which files there are`,
    );
  const kinds = new Map<string, { lines: number[]; why: string; name: string }>();
  for (const { name, line, why } of image.left) {
    const known = kinds.get(`${name} ${why}`);
    if (known === undefined) kinds.set(`${name} ${why}`, { lines: [line], why, name });
    else known.lines.push(line);
  }
  for (const { lines, why, name } of kinds.values())
    note(
      'dockerfile',
      dockerfile,
      `${name.slice(0, 40)} (line ${lines.slice(0, 20).join(', ')}${lines.length > 20 ? ' and more' : ''})`,
      why,
    );
  if (environment.network_mode !== 'no-network' && (environment.network_mode !== undefined || environment.allow_internet !== false))
    note(
      'network',
      tomlFile,
      environment.network_mode === undefined ? 'environment.allow_internet' : 'environment.network_mode',
      `${environment.network_mode === undefined ? 'is not false' : `is ${show(environment.network_mode)}`}: Harbor would give the task a network, and a sandbox has none`,
    );
  if (environment.gpus > 0) note('gpus', tomlFile, 'environment.gpus', `is ${environment.gpus}, and a sandbox has none`);
  if (environment.cpus !== 1)
    note('cpus', tomlFile, 'environment.cpus', `is ${environment.cpus}: the number of processors is not bound, their time is (cpu_s)`);
  note('storage', tomlFile, 'environment.storage_mb', `is ${storageMb}; the working folder has room for a copy of the task and 64 MB more`);
}

/** Programs that a test script cannot use without a network, each with the first line that has it. */
function noteTests(script: TreeFile, note: Note): void {
  const seen = new Set<string>();
  for (const [i, line] of lenient.decode(script.bytes).split('\n').entries()) {
    if (/^\s*#/.test(line)) continue;
    for (const [program] of line.matchAll(
      /\b(?:apt-get|apt|apk|yum|dnf|curl|wget|uvx|uv (?:pip|sync|run|tool)|pip3? install|npm (?:install|ci)|git clone)\b/g,
    )) {
      if (seen.has(program)) continue;
      seen.add(program);
      note('network', testScript, `line ${i + 1}`, `calls ${program}, which may need a network; there is none`);
    }
  }
}
