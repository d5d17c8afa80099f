// Reads and validates a task folder whole, before anything runs. Nothing of the task is executed here.
import { hash } from 'node:crypto';
import path from 'node:path';
import type { z } from 'zod';
import { writableMatcher } from '#shared/domain/writable.ts';
import { compileSchema, manifestOf } from '#electron/verifiers/candidate.ts';
import { adapterNamed, adapters, isReportPath } from '#electron/verifiers/adapters/registry.ts';
import { searchOperators } from '#electron/proposers/search.ts';
import type { TaskInfo } from '#shared/contract/task.ts';
import { anyMore } from '#shared/domain/auto-registry.ts';
import { contractSha } from '#shared/domain/bundle-id.ts';
import { Budget } from '#shared/domain/budget.ts';
import { ContractBody, type Contract, type CrosscheckSpec } from '#shared/domain/contract.ts';
import { testListPath } from '#shared/domain/crosscheck.ts';
import type { Sha } from '#shared/domain/ids.ts';
import { nestedPlaces, placeProblem, sortPlaces, type Place } from '#shared/domain/places.ts';
import { checkManifest, checkPath, treeId } from '#shared/domain/tree-id.ts';
import type { Manifest, TreeFile } from '#shared/domain/tree.ts';
import { err, ok, type Result } from '#shared/lib/result.ts';
import { parseWildcard } from '#shared/lib/wildcard.ts';
import { parseList, parseSection } from './parse-section.ts';
import { instructionFile, isText, maxTextBytes, tomlFile } from './own-folder.ts';
import { readFolder, readOne, type ReadProblem } from './read-folder.ts';
import { readSource } from './read-source.ts';
import { type Add, show, type TaskProblem, type TaskSource } from './task-source.ts';
import { sections, topKeys } from './task-toml.ts';

/** The first problem, with a message that lists up to ten of all of them, each with its place. */
export type TaskError = TaskProblem & { readonly problems: readonly TaskProblem[] };

export type LoadedTask = {
  readonly info: TaskInfo;
  /** What task.toml says, or would say. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly contract: Contract;
  /** Files of artifact/, paths relative to it, in tree order. */
  readonly seedFiles: readonly TreeFile[];
  readonly seedTree: Sha;
  readonly seedManifest: Manifest;
  /** Files of verifier/, paths begin with `verifier/`, in tree order. */
  readonly verifierFiles: readonly TreeFile[];
  /** Bytes of instruction.md. */
  readonly instruction: Uint8Array;
  /** The JSON Schema that `contract.artifact.schema` names. */
  readonly schemaFile: TreeFile | null;
  readonly budget: Budget;
  readonly search: { readonly operators: readonly string[] };
  /** SHA-256 of task.toml as it was read, null for an adapted task; see `verifyTaskUnchanged`. */
  readonly documentSha: Sha | null;
};

/**
 * Loads the task that `ref` names: a task folder of Pawl's own or of Harbor, or FILE#INSTANCE of SWE-bench (read-source.ts). On failure
 * nothing was executed and the error lists every problem that was found, not only the first; files that cannot be read come before
 * everything that task.toml says about them. The defaults of task.toml stand in README.md beside this file.
 */
export async function loadTask(
  ref: string,
  operators: readonly string[] = searchOperators.map(({ name }) => name),
): Promise<Result<LoadedTask, TaskError>> {
  const source = await readSource(ref);
  return source.ok ? checkSource(source.value, operators) : failure(source.error);
}

async function checkSource(source: TaskSource, operators: readonly string[]): Promise<Result<LoadedTask, TaskError>> {
  const { document, documentFile, instruction } = source;
  const problems: TaskProblem[] = [...source.problems];
  const add: Add = (field, code, message, file = documentFile) => void problems.push({ file, field, code, message });
  const seed = source.artifact;
  const seedManifest = manifestOf(seed);
  const seedPaths = checkManifest(seedManifest);
  if (!seedPaths.ok) add(null, 'bad_path', `${seedPaths.error.message}; rename it`, 'artifact/');
  const verifierManifest = manifestOf(source.verifier);
  const verifierPaths = checkManifest(verifierManifest);
  if (!verifierPaths.ok) add(null, 'bad_path', `${verifierPaths.error.message}; rename it`, 'verifier/');
  const verifierPathSet = new Set(source.verifier.map((file) => file.path));

  for (const name of Object.keys(document)) {
    if (!topKeys.some((known) => known === name)) add(name, 'unknown_field', `is unknown; known here are ${topKeys.join(', ')}`);
  }
  const field = <T extends z.ZodType>(schema: T, name: string) => parseSection(add, schema, document[name], name);
  const version = field(sections.top.version, 'version');
  const id = field(sections.top.id, 'id');
  const title = field(sections.top.title, 'title');

  const obligations = parseObligations(add, document['obligation']);
  const advisory = parseList(add, sections.advisory, document['advisory'], 'advisory');
  checkKeys(add, document);
  const auto = parseAuto(add, document['auto']);
  const autoAllow = parseAutoAllow(add, document['auto_allow']);
  const crosscheck = parseCrosscheck(add, document['crosscheck'], source.verifier);

  const verifier = parseVerifier(add, document['verifier'], source.verifier);
  if (obligations !== null && verifier !== null) checkFrom(add, obligations, verifier, source.verifier);
  const limits = parseSection(add, sections.limits, document['limits'] ?? {}, 'limits');
  if (limits !== null && verifier?.kind === 'pure-js' && limits.memory_mb > 1_024) {
    add('limits.memory_mb', 'bad_value', `is ${limits.memory_mb}; a pure-js verifier can have 1 to 1024`);
  }
  const measurement = parseSection(add, sections.measurement, document['measurement'] ?? {}, 'measurement');
  const artifactRules =
    document['artifact'] === undefined
      ? missingSection(add, 'artifact', 'writable = ["..."]')
      : parseSection(add, sections.artifact, document['artifact'], 'artifact');
  const schema = artifactRules === null ? null : await readSchema(add, source.folder, artifactRules, seed);
  if (artifactRules !== null) {
    const bytes = seed.reduce((sum, file) => sum + file.bytes.length, 0);
    if (seed.length > artifactRules.max_files)
      add('artifact.max_files', 'too_large', `is ${artifactRules.max_files}, but artifact/ has ${seed.length} files; raise it`);
    if (bytes > artifactRules.max_bytes)
      add('artifact.max_bytes', 'too_large', `is ${artifactRules.max_bytes}, but artifact/ has ${bytes} bytes; raise it`);
  }

  const budget = parseSection(add, sections.budget, document['budget'] ?? {}, 'budget');
  const search = parseSection(add, sections.search, document['search'] ?? {}, 'search');
  search?.operators.forEach((name, i) => {
    if (!operators.includes(name))
      add(`search.operators[${i}]`, 'bad_value', `is the unknown operator ${show(name)}; known are ${operators.join(', ')}`);
    else if (search.operators.indexOf(name) < i)
      add(`search.operators[${i}]`, 'duplicate_key', `names ${show(name)} a second time; remove it`);
  });
  const needsNoFiles = verifier !== null && verifier.adapter !== null && verifier.kind === 'pure-js';
  if (verifierPathSet.size === 0 && !needsNoFiles)
    add(null, 'missing_file', 'is empty; put the files of the verifier into it', 'verifier/');

  if (
    problems.length > 0 ||
    version === null ||
    id === null ||
    title === null ||
    obligations === null ||
    verifier === null ||
    limits === null ||
    measurement === null ||
    artifactRules === null ||
    schema === null ||
    budget === null ||
    search === null ||
    instruction === null
  ) {
    return failure(problems);
  }

  const body: ContractBody = {
    format: 'pawl.contract/1',
    name: id,
    version,
    previous: null,
    instruction: hash('sha256', instruction, 'hex'),
    obligations: obligations.map(({ obligation }) => obligation),
    advisory: advisory.filter((entry) => entry !== null),
    from: obligations.map(({ from }) => from),
    verifier: {
      ...verifier,
      files: verifierManifest,
      limits: {
        memoryMb: limits.memory_mb,
        cpuS: limits.cpu_s,
        processes: limits.processes,
        fileMb: limits.file_mb,
        outputKb: limits.output_kb,
      },
    },
    artifact: {
      allowEmpty: artifactRules.allow_empty,
      maxFiles: artifactRules.max_files,
      maxBytes: artifactRules.max_bytes,
      writable: artifactRules.writable,
      protectedPaths: artifactRules.protected,
      schema: schema.rule,
    },
    measurement: {
      preflightRuns: measurement.preflight_runs,
      confirmRuns: measurement.confirm_runs,
      paired: measurement.paired ?? measurement.confirm_runs > 1,
      infraRetries: measurement.infra_retries,
    },
    auto,
    ...(autoAllow.length === 0 ? {} : { autoAllow }),
    ...(crosscheck === null ? {} : { crosscheck }),
  };
  // The domain's own schema has the last word: what this loader builds is what every reader of the contract accepts.
  const contractBody = ContractBody.parse(body);
  const contract: Contract = { ...contractBody, sha: contractSha(contractBody) };
  const limitsOfRun = Budget.parse({
    attempts: budget.attempts,
    rounds: budget.rounds ?? null,
    requests: budget.requests ?? null,
    promptTokens: budget.prompt_tokens ?? null,
    completionTokens: budget.completion_tokens ?? null,
    verifierRuns: budget.verifier_runs ?? null,
    verifierMs: budget.verifier_ms ?? null,
    wallMs: budget.wall_ms ?? null,
  });
  const seedFiles = inTreeOrder(seed, seedManifest);
  const seedTree = treeId(seedManifest);
  return ok({
    info: {
      path: source.path,
      format: source.format,
      notes: [...source.notes],
      id,
      title: title ?? id,
      contractSha: contract.sha,
      contract: contractBody,
      seedTree,
      seedFiles: seedFiles.length,
      seedBytes: seedManifest.reduce((sum, entry) => sum + entry.size, 0),
      budget: limitsOfRun,
      operators: search.operators,
    },
    document,
    contract,
    seedFiles,
    seedTree,
    seedManifest,
    verifierFiles: inTreeOrder(source.verifier, verifierManifest),
    instruction,
    schemaFile: schema.file,
    budget: limitsOfRun,
    search,
    documentSha: source.documentSha,
  });
}

function failure(found: readonly TaskProblem[]): { readonly ok: false; readonly error: TaskError } {
  // What is wrong in task.toml has a field to point at; it comes first.
  const problems = [...found.filter(({ file }) => file === tomlFile), ...found.filter(({ file }) => file !== tomlFile)];
  const [first] = problems;
  if (first === undefined) throw new Error('a task was refused without a problem');
  const place = ({ file, field, line }: TaskProblem) =>
    `${file}${line === undefined ? '' : `:${line}`}${field === null ? '' : `: ${field}`}`;
  const lines = problems.slice(0, 10).map((problem) => `${place(problem)} ${problem.message}`);
  if (problems.length > 10) lines.push(`and ${problems.length - 10} more problems`);
  return err({ ...first, message: lines.join('\n'), problems });
}

const inTreeOrder = (files: readonly TreeFile[], manifest: Manifest): TreeFile[] => {
  const byPath = new Map(files.map((file) => [file.path, file]));
  return manifest.flatMap(({ path }) => byPath.get(path) ?? []);
};

function missingSection(add: Add, name: string, write: string): null {
  add(name, 'missing_field', `is missing; write [${name}] and below it ${write}`);
  return null;
}

type LoadedObligation = { readonly obligation: ContractBody['obligations'][number]; readonly from: string | null };

/** null when any of them is wrong. */
function parseObligations(add: Add, value: unknown): LoadedObligation[] | null {
  const entries = parseList(add, sections.obligation, value, 'obligation');
  if (value === undefined || (Array.isArray(value) && value.length === 0)) {
    add('obligation', 'missing_field', 'is missing; write at least one [[obligation]] with key and cap');
    return null;
  }
  const obligations: LoadedObligation[] = [];
  for (const [i, entry] of entries.entries()) {
    if (entry === null) continue;
    const cap = entry.cap ?? (entry.kind === 'binary' ? 1 : null);
    if (cap === null) {
      add(
        `obligation[${i}].cap`,
        'missing_field',
        'is missing; write the worst value that the verifier may report, an integer from 1 to 2147483647',
      );
      continue;
    }
    if (entry.kind === 'binary' && cap !== 1) {
      add(`obligation[${i}].cap`, 'bad_value', `is ${cap}; a binary obligation is 0 or 1, write cap = 1 or another kind`);
      continue;
    }
    obligations.push({
      obligation: {
        key: entry.key,
        title: entry.title ?? entry.key,
        cap,
        kind: entry.kind,
        visibility: entry.visibility,
        onCandidateTimeout: entry.on_candidate_timeout,
        missing: entry.missing,
        aggregate: entry.aggregate,
      },
      from: entry.from ?? null,
    });
  }
  return entries.length > 0 && obligations.length === entries.length ? obligations : null;
}

/** Keys are unique over obligations and advisory values together: a report's details are named by either. */
function checkKeys(add: Add, document: Readonly<Record<string, unknown>>): void {
  const first = new Map<string, string>();
  for (const list of ['obligation', 'advisory']) {
    const entries = document[list];
    if (!Array.isArray(entries)) continue;
    entries.forEach((entry: unknown, i) => {
      const key: unknown = typeof entry === 'object' && entry !== null ? Reflect.get(entry, 'key') : undefined;
      if (typeof key !== 'string') return;
      const known = first.get(key);
      if (known === undefined) first.set(key, `${list}[${i}]`);
      else add(`${list}[${i}].key`, 'duplicate_key', `is ${show(key)}, which ${known} has already; give it another`);
    });
  }
}

const fixedEnv = new Set(['PATH', 'HOME', 'TZ', 'LANG', 'PYTHONHASHSEED', 'PYTHONDONTWRITEBYTECODE']);

type LoadedVerifier = Omit<ContractBody['verifier'], 'files' | 'limits'>;

function parseVerifier(add: Add, value: unknown, files: readonly TreeFile[]): LoadedVerifier | null {
  if (value === undefined)
    return missingSection(add, 'verifier', 'runtime = "pure-js" and file = "verifier/check.js", or command = ["..."]');
  const verifier = parseSection(add, sections.verifier, value, 'verifier');
  if (verifier === null) return null;
  const byPath = new Map(files.map((file) => [file.path, file]));
  let fine = true;
  const refuse: Add = (...problem) => {
    fine = false;
    add(...problem);
  };
  const { command, runtime, file } = verifier;
  const adapter = verifier.adapter === undefined ? undefined : adapterNamed(verifier.adapter);
  if (command !== undefined && runtime !== undefined) {
    refuse('verifier', 'bad_value', 'has both command and runtime; keep the one that is meant');
  } else if (runtime !== undefined) {
    if (runtime !== 'pure-js')
      refuse('verifier.runtime', 'bad_value', `is ${show(runtime)}; the only runtime is "pure-js", other programs are started by command`);
    checkProgramFile(refuse, 'verifier.file', file, byPath);
  } else if (command !== undefined) {
    if (file !== undefined)
      refuse('verifier.file', 'bad_value', 'belongs to runtime = "pure-js"; remove it, a command names its files itself');
    checkCommand(refuse, 'verifier.command', command, byPath);
  } else if (adapter === undefined || adapter.tool === 'always') {
    refuse(
      'verifier',
      'missing_field',
      'says nothing to run; write runtime = "pure-js" and file = "verifier/check.js", or command = ["..."]',
    );
  }
  // A pure-js verifier runs candidate code in a QuickJS of its own, which needs no sandbox of the system.
  const inQuickJs = runtime === 'pure-js' && verifier.runs_candidate;
  if (inQuickJs) {
    if (verifier.isolation !== 'separate')
      refuse(
        'verifier.isolation',
        'bad_value',
        `is ${show(verifier.isolation ?? 'none')}; with runtime = "pure-js" and runs_candidate = true write isolation = "separate", the only kind there is`,
      );
  } else if (verifier.runs_candidate && verifier.isolation === 'none') {
    refuse(
      'verifier.isolation',
      'bad_value',
      'is "none", but runs_candidate = true; write "separate" and call PAWL_RUN, or "shared" where verifier and candidate cannot be kept apart',
    );
  } else if (!verifier.runs_candidate && verifier.isolation !== undefined && verifier.isolation !== 'none') {
    refuse(
      'verifier.isolation',
      'bad_value',
      `is ${show(verifier.isolation)}, which is for verifiers that run candidate code; write runs_candidate = true, or remove it`,
    );
  }
  if (verifier.adapter !== undefined) checkAdapter(refuse, verifier.adapter, verifier);
  else if (verifier.report !== undefined) {
    refuse(
      'verifier.report',
      'bad_value',
      'belongs to an adapter; write adapter = "..." or remove it, a verifier of its own writes to the file that PAWL_REPORT names',
    );
  }
  const places = parsePlaces(refuse, verifier, files);
  verifier.env.forEach((name, i) => {
    if (fixedEnv.has(name) || name.startsWith('PAWL_'))
      refuse(`verifier.env[${i}]`, 'bad_value', `is ${name}, which is set for every verifier; remove it`);
    else if (verifier.env.indexOf(name) < i) refuse(`verifier.env[${i}]`, 'duplicate_key', `names ${name} a second time; remove it`);
  });
  if (!fine) return null;
  return {
    kind: command === undefined ? 'pure-js' : 'command',
    command: command ?? [],
    file: file ?? null,
    runsCandidate: verifier.runs_candidate,
    isolation: verifier.runs_candidate ? (verifier.isolation ?? 'shared') : 'none',
    adapter: verifier.adapter ?? null,
    report: verifier.report ?? null,
    ...(places === null ? {} : { places }),
    env: verifier.env,
    timeoutsMs: verifier.timeouts_ms,
  };
}

const scratch = 'scratch';

/** Fixed places of the sandbox, sorted; null where the task names none. */
function parsePlaces(
  refuse: Add,
  { places, command, runs_candidate, isolation }: z.output<typeof sections.verifier>,
  files: readonly TreeFile[],
): Place[] | null {
  const named = Object.entries(places ?? {});
  if (named.length === 0) return null;
  if (command === undefined || !runs_candidate || isolation === 'separate')
    refuse(
      'verifier.places',
      'bad_value',
      'are of the sandbox that verifier and candidate share; write a command, runs_candidate = true and isolation = "shared", or remove them',
    );
  const parsed = named.map(([at, from]): Place => {
    const field = `verifier.places.${JSON.stringify(at)}`;
    const wrong = placeProblem(at);
    if (wrong !== null) refuse(field, 'bad_value', wrong);
    if (from === scratch) return { at, from: null };
    if (!from.startsWith('verifier/') || !files.some(({ path }) => path.startsWith(`${from}/`)))
      refuse(field, 'missing_file', `is ${show(from)}; write "scratch" for an empty folder, or the path of a folder below verifier/`);
    return { at, from };
  });
  const nested = nestedPlaces(parsed);
  if (nested !== null) refuse('verifier.places', 'bad_value', `has ${nested[0]} in ${nested[1]}; no place can be in another`);
  return sortPlaces(parsed);
}

function checkAdapter(
  refuse: Add,
  name: string,
  { command, runtime, runs_candidate, report, env }: z.output<typeof sections.verifier>,
): void {
  const adapter = adapterNamed(name);
  if (adapter === undefined) {
    refuse(
      'verifier.adapter',
      'bad_value',
      `is ${show(name)}, which is unknown; known are ${adapters.map((known) => known.name).join(', ')}`,
    );
    return;
  }
  if (runtime !== undefined)
    refuse(
      'verifier.runtime',
      'bad_value',
      'stands beside an adapter, and what runs in QuickJS writes its own report; remove one of the two',
    );
  if (adapter.tool === 'never' && command !== undefined)
    refuse(
      'verifier.command',
      'bad_value',
      `stands beside adapter = ${show(name)}, which looks at the candidate's files and starts nothing; remove it`,
    );
  if (command === undefined && adapter.tool !== 'always') {
    if (runs_candidate)
      refuse('verifier.runs_candidate', 'bad_value', 'is true, but there is no command that could run anything; remove it');
    if (report !== undefined) refuse('verifier.report', 'bad_value', 'is there without a command that could write it; remove it');
    if (env.length > 0) refuse('verifier.env', 'bad_value', 'is there without a command that could see it; remove it');
  } else if (report !== undefined && report !== '-' && !isReportPath(report)) {
    refuse(
      'verifier.report',
      'bad_value',
      `is ${show(report)}; write a path inside the task folder and outside artifact/ and verifier/, "-" for the standard output, or nothing for the file that PAWL_REPORT names`,
    );
  }
}

/** Where an adapter finds each obligation: said for all of them, or without an adapter for none. */
function checkFrom(add: Add, obligations: readonly LoadedObligation[], verifier: LoadedVerifier, files: readonly TreeFile[]): void {
  const adapter = verifier.adapter === null ? undefined : adapterNamed(verifier.adapter);
  for (const [i, { obligation, from }] of obligations.entries()) {
    const field = `obligation[${i}].from`;
    if (adapter === undefined) {
      if (from !== null) add(field, 'bad_value', 'belongs to an adapter; write adapter = "..." into [verifier], or remove it');
      continue;
    }
    if (from === null) {
      add(field, 'missing_field', `is missing; write where the adapter ${adapter.name} finds ${obligation.key}`);
      continue;
    }
    const wrong = adapter.checkFrom(from, {
      kind: obligation.kind,
      runsCandidate: verifier.runsCandidate,
      hasTool: verifier.kind === 'command',
      verifierFiles: files,
    });
    if (wrong !== null) add(field, 'bad_value', wrong);
  }
  if (adapter?.name === 'exit-code' && obligations.length > 1)
    add('obligation', 'bad_value', `has ${obligations.length} entries; an exit code says one thing, leave one binary obligation`);
}

function parseAuto(add: Add, value: unknown): ContractBody['auto'] {
  const parsed = parseList(add, sections.auto, value, 'auto');
  const names = new Set<string>();
  return parsed.flatMap((one, i) => {
    if (one === null) return [];
    const { name, command, timeout_ms: timeoutMs } = one;
    if (names.has(name)) add(`auto[${i}].name`, 'duplicate_key', `is ${show(name)} a second time; give each command its own name`);
    names.add(name);
    if ((command[0] ?? '') === '') add(`auto[${i}].command[0]`, 'bad_value', 'is empty; write the name of a program');
    else if (command.some((argument) => argument.startsWith('verifier/')))
      add(`auto[${i}].command`, 'bad_value', 'names a file of verifier/, which is not there when it runs; only artifact/ is');
    return [{ name, command, timeoutMs }];
  });
}

/** What a proposer may register beside `[[auto]]`. A program is said as it is: whoever may choose it may run anything. */
function parseAutoAllow(add: Add, value: unknown): NonNullable<ContractBody['autoAllow']> {
  return parseList(add, sections.auto_allow, value, 'auto_allow').flatMap((one, i) => {
    if (one === null) return [];
    const { command, timeout_ms: timeoutMs } = one;
    command.forEach((pattern, at) => {
      const field = `auto_allow[${i}].command[${at}]`;
      const parsed = parseWildcard(pattern);
      if (!parsed.ok) add(field, 'bad_value', parsed.error);
      else if (at === 0 && pattern === '') add(field, 'bad_value', 'is empty; write the name of a program');
      else if (at === 0 && (parsed.value.exact === null || pattern.includes('\\')))
        add(field, 'bad_value', `is ${show(pattern)}; write the program as it is, wildcards are for its arguments`);
      else if (pattern.startsWith('verifier/'))
        add(field, 'bad_value', 'names a file of verifier/, which is not there when it runs; only artifact/ is');
      else if (pattern === anyMore && at < command.length - 1)
        add(field, 'bad_value', `is "${anyMore}", which stands for any further arguments; write it last, or "*" for one argument`);
    });
    return [{ command, timeoutMs }];
  });
}

/** How finished runs are checked against each other; null where the task says nothing of it, or something wrong. */
function parseCrosscheck(add: Add, value: unknown, files: readonly TreeFile[]): CrosscheckSpec | null {
  if (value === undefined) return null;
  const parsed = parseSection(add, sections.crosscheck, value, 'crosscheck');
  if (parsed === null) return null;
  const { tests, command, runtime, file, isolation, timeout_ms: timeoutMs } = parsed;
  if (files.some(({ path }) => path === testListPath))
    add('crosscheck', 'bad_value', `needs ${testListPath}, where the list of tests is laid out; give the task's own file another name`);
  // Its program may be handed the list.
  const byPath = new Map([...files, { path: testListPath, mode: 'file' as const, bytes: new Uint8Array() }].map((one) => [one.path, one]));
  if ((command === undefined) === (runtime === undefined))
    add('crosscheck', 'bad_value', 'has to say what runs the tests: either command, or runtime = "pure-js" and file');
  else if (command === undefined) {
    checkProgramFile(add, 'crosscheck.file', file, byPath);
    if (isolation === 'shared')
      add('crosscheck.isolation', 'bad_value', 'is "shared"; with runtime = "pure-js" there is "separate" only, by pawl.run; remove it');
  } else {
    if (file !== undefined) add('crosscheck.file', 'bad_value', 'belongs to runtime = "pure-js"; remove it');
    checkCommand(add, 'crosscheck.command', command, byPath);
  }
  return {
    tests,
    kind: command === undefined ? 'pure-js' : 'command',
    command: command ?? [],
    file: file ?? null,
    isolation: command === undefined ? 'separate' : (isolation ?? 'shared'),
    timeoutMs,
  };
}

function checkProgramFile(refuse: Add, field: string, file: string | undefined, files: ReadonlyMap<string, TreeFile>): void {
  if (file === undefined) refuse(field, 'missing_field', 'is missing; write the path of the program, such as "verifier/check.js"');
  else {
    const program = files.get(file);
    if (program === undefined) refuse(field, 'missing_file', `is ${show(file)}, which is not a file below verifier/`);
    else if (!isText(program.bytes)) refuse(field, 'bad_value', `names ${show(file)}, which is not UTF-8 text`);
  }
}

function checkCommand(refuse: Add, field: string, command: readonly string[], files: ReadonlyMap<string, TreeFile>): void {
  const [program = ''] = command;
  if (program === '') refuse(`${field}[0]`, 'bad_value', 'is empty; write the name of a program, or verifier/... for one of the task');
  else if (program.includes('/') && !program.startsWith('verifier/') && !path.isAbsolute(program)) {
    refuse(
      `${field}[0]`,
      'bad_value',
      `is ${show(program)}; write a name on the PATH, an absolute path, or verifier/... for a program of the task`,
    );
  }
  command.forEach((argument, i) => {
    if (!argument.startsWith('verifier/')) return;
    const file = files.get(argument);
    const isFolder = i > 0 && [...files.keys()].some((known) => known.startsWith(`${argument.replace(/\/+$/, '')}/`));
    if (file === undefined && !isFolder) refuse(`${field}[${i}]`, 'missing_file', `is ${show(argument)}, which is not there`);
    else if (i === 0 && file?.mode === 'file' && process.platform !== 'win32') {
      refuse(`${field}[0]`, 'bad_value', `is ${show(argument)}, which is not executable; run chmod +x ${argument}`);
    }
  });
}

type SchemaRule = { readonly rule: ContractBody['artifact']['schema']; readonly file: TreeFile | null };

/** null when something is wrong with it. */
async function readSchema(
  add: Add,
  folder: string | null,
  rules: z.output<typeof sections.artifact>,
  seed: readonly TreeFile[],
): Promise<SchemaRule | null> {
  const { schema, schema_target: given } = rules;
  if (schema === undefined) {
    if (given === undefined) return { rule: null, file: null };
    add('artifact.schema_target', 'bad_value', 'stands without schema; name the JSON Schema as schema = "..." or remove it');
    return null;
  }
  const checked = checkPath(schema);
  if (!checked.ok) {
    add('artifact.schema', 'bad_path', `${checked.error}; write a path inside the task folder`);
    return null;
  }
  if (folder === null) throw new Error('an adapted task names a JSON Schema');
  const file = await readOne(folder, schema, maxTextBytes);
  if (!file.ok) {
    add('artifact.schema', file.error.code, `is ${show(schema)}, and that file ${file.error.message}`);
    return null;
  }
  const compiled = compileSchema(file.value.bytes);
  if (!compiled.ok) {
    add('artifact.schema', 'bad_schema', `is ${show(schema)}, which is not a valid JSON Schema: ${compiled.error}`);
    return null;
  }
  const isWritable = writableMatcher({ writable: rules.writable, protectedPaths: rules.protected });
  const writable = seed.map(({ path }) => path).filter(isWritable);
  let target = given;
  if (target === undefined) {
    const json = writable.filter((name) => name.endsWith('.json'));
    if (json.length !== 1) {
      add(
        'artifact.schema_target',
        'missing_field',
        `is missing: ${json.length} writable files of artifact/ end in .json; write which one the schema is for`,
      );
      return null;
    }
    [target] = json;
  }
  if (target === undefined || !writable.includes(target)) {
    add('artifact.schema_target', 'bad_value', `is ${show(target)}, which is not a writable file of artifact/`);
    return null;
  }
  return { rule: { path: schema, sha: hash('sha256', file.value.bytes, 'hex'), target }, file: file.value };
}

const sameEntries = (a: Manifest, b: Manifest): string | null => {
  const known = new Map(a.map((entry) => [entry.path, entry]));
  for (const entry of b) {
    const before = known.get(entry.path);
    if (before === undefined) return `${entry.path} is new`;
    if (before.sha !== entry.sha || before.mode !== entry.mode) return `${entry.path} has changed`;
    known.delete(entry.path);
  }
  const [gone] = known.keys();
  return gone === undefined ? null : `${gone} is gone`;
};

/**
 * Reads the task again and compares every byte that the contract and the seed are made of (no shortcut by time of change). The error
 * says what changed. Another budget, other search operators or a comment in task.toml change nothing that a run is held to.
 */
export async function verifyTaskUnchanged(loaded: LoadedTask, ref: string): Promise<Result<null, string>> {
  if (loaded.info.format !== 'pawl') return sameTask(loaded, await loadTask(ref, loaded.search.operators));
  const schemaPath = loaded.schemaFile?.path;
  const [toml, instruction, schema, artifact, verifier] = await Promise.all([
    readOne(ref, tomlFile, maxTextBytes),
    readOne(ref, instructionFile, maxTextBytes),
    schemaPath === undefined ? null : readOne(ref, schemaPath, maxTextBytes),
    readFolder(ref, 'artifact'),
    readFolder(ref, 'verifier'),
  ]);
  const [problem] = [...artifact.problems, ...verifier.problems];
  if (problem !== undefined) return err(`${problem.file} ${problem.message}`);
  for (const file of [toml, instruction, schema]) if (file !== null && !file.ok) return err(`${file.error.file} ${file.error.message}`);
  const shaOf = (file: Result<TreeFile, ReadProblem> | null) => (file?.ok === true ? hash('sha256', file.value.bytes, 'hex') : null);
  if (shaOf(instruction) !== loaded.contract.instruction) return err(`${instructionFile} has changed`);
  if (shaOf(schema) !== (loaded.contract.artifact.schema?.sha ?? null)) return err(`${schemaPath} has changed`);
  const prefixed = loaded.seedManifest.map((entry) => ({ ...entry, path: `artifact/${entry.path}` }));
  const difference =
    sameEntries(prefixed, manifestOf(artifact.files)) ?? sameEntries(loaded.contract.verifier.files, manifestOf(verifier.files));
  if (difference !== null) return err(difference);
  if (shaOf(toml) !== loaded.documentSha) {
    const again = await loadTask(ref, loaded.search.operators);
    // An operator that this run does not use may have been added; only what the contract holds counts here.
    if (!again.ok && again.error.problems.some(({ field }) => field?.startsWith('search.') !== true)) return err(again.error.message);
    if (again.ok && again.value.contract.sha !== loaded.contract.sha) return err(`${tomlFile} has changed`);
  }
  return ok(null);
}

/** What an adapted task was made of is spread over many files: it is read whole, and what it became is compared. */
function sameTask(before: LoadedTask, now: Result<LoadedTask, TaskError>): Result<null, string> {
  if (!now.ok) return err(now.error.message);
  const { contract, seedManifest } = now.value;
  const difference = sameEntries(before.seedManifest, seedManifest) ?? sameEntries(before.contract.verifier.files, contract.verifier.files);
  if (difference !== null) return err(difference);
  if (contract.instruction !== before.contract.instruction) return err('the instruction has changed');
  return contract.sha === before.contract.sha ? ok(null) : err('what the task asks for has changed');
}
