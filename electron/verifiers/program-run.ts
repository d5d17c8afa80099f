// One start of a `command` proposer's program, in the runner process. It is the user's own program: it has the user's environment and
// rights, and no sandbox. Held to account are its time and what it leaves behind: no process, and a tree that is read without following
// anything it could have planted.
import { spawn } from 'node:child_process';
import { lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { assertNever } from '#shared/lib/assert.ts';
import type { ProgramJob, ProgramRun } from './program-contract.ts';
import { killByEnvironment, killGroup, listPids } from './process-tree.ts';
import { codeOf, readBack, removeTree, tempFolder, writeFiles } from './temp-folder.ts';
import { messageOf } from '#shared/lib/message-of.ts';

/** Folders that a tree may have beyond as many as it has files. */
const spareFolders = 10_000;

/** Longest wait for the end of the pipes once every process that was found is dead. */
const drainMs = 500;

type Ended = Pick<ProgramRun, 'ending' | 'message' | 'exitCode' | 'signal'>;
type Tree = ProgramRun['tree'];

const noTree: Tree = { kind: 'problem', code: 'no_candidate', message: 'the program left no tree' };

/** Runs `job`. Never rejects. Resolves after every process that could be found is dead and the folder is gone. */
export async function runProgram(job: ProgramJob, signal: AbortSignal): Promise<ProgramRun> {
  const output: Buffer[] = [];
  const written = { bytes: 0 };
  const result = (ended: Ended, tree: Tree = noTree, register: ProgramRun['register'] = null): ProgramRun => ({
    ...ended,
    register,
    output: new Uint8Array(Buffer.concat(output).subarray(-job.outputBytes)),
    outputBytes: written.bytes,
    tree,
  });
  const failed = (ending: Ended['ending'], message: string) => result({ ending, message, exitCode: null, signal: null });
  if (process.platform === 'win32') return failed('infra', 'the command proposer needs Linux or macOS in this version');
  const folder = tempFolder(job.tmpDir, job.id);
  try {
    if (signal.aborted) return failed('aborted', '');
    const root = path.join(folder, 'tree');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await mkdir(root);
    await writeFiles(root, job.files);
    const instruction = path.join(folder, 'instruction.md');
    const memory = path.join(folder, 'memory.json');
    await Promise.all([writeFile(instruction, job.instruction), writeFile(memory, job.memory)]);
    const asked = await layAutos(folder, job);
    const env = { ...process.env, ...job.env, ...asked.env, PAWL_INSTRUCTION: instruction, PAWL_MEMORY: memory, PAWL_NONCE: job.nonce };
    const ended = await execute(job, { root, env, output, written }, signal);
    return ended.ending === 'exited' || ended.ending === 'timeout'
      ? result(ended, await collect(root, job), await asked.read())
      : result(ended);
  } catch (error) {
    return failed('infra', messageOf(error));
  } finally {
    // What cannot be removed now is removed when the data folder is opened the next time.
    await removeTree(folder).catch(() => {});
  }
}

/** A program's requests may be this long. */
const registerBytes = 64 * 1024;

/** The list of automatic commands beside the tree, and the place where the program may ask for more; nothing where none may be asked for. */
async function layAutos(
  folder: string,
  { autos }: ProgramJob,
): Promise<{ readonly env: Readonly<Record<string, string>>; readonly read: () => Promise<ProgramRun['register']> }> {
  if (autos === null) return { env: {}, read: () => Promise.resolve(null) };
  const list = path.join(folder, 'auto.json');
  const register = path.join(folder, 'register.json');
  await writeFile(list, autos);
  const read = async (): Promise<ProgramRun['register']> => {
    const found = await readBack(register, registerBytes);
    switch (found.kind) {
      case 'file':
        return { bytes: found.bytes };
      case 'missing':
        return null;
      case 'too_large':
        return { problem: `it is longer than ${registerBytes} bytes` };
      case 'not_regular':
        return { problem: 'it is no regular file' };
      default:
        return assertNever(found, 'file');
    }
  };
  return { env: { PAWL_AUTO: list, PAWL_REGISTER: register }, read };
}

type Start = {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly output: Buffer[];
  readonly written: { bytes: number };
};

/** From spawn until every process of the program is dead. */
async function execute(job: ProgramJob, { root, env, output, written }: Start, signal: AbortSignal): Promise<Ended> {
  const before = listPids();
  const child = spawn('/bin/sh', ['-c', job.command], { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const { pid } = child;
  if (pid === undefined) {
    const error = await new Promise<unknown>((resolve) => {
      child.once('error', resolve);
    });
    return { ending: 'infra', exitCode: null, signal: null, message: `/bin/sh could not be started (${codeOf(error)})` };
  }
  let forced: 'timeout' | 'aborted' | null = null;
  const stop = (why: 'timeout' | 'aborted') => {
    forced ??= why;
    killGroup(pid);
  };
  const onAbort = () => stop('aborted');
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const timer = setTimeout(() => stop('timeout'), job.timeoutMs);
  let kept = 0;
  // A program may talk as much as it likes: the end of it is what is kept.
  const take = (chunk: Buffer) => {
    written.bytes += chunk.length;
    output.push(chunk);
    kept += chunk.length;
    for (let first = output[0]; first !== undefined && kept - first.length >= job.outputBytes; first = output[0]) {
      output.shift();
      kept -= first.length;
    }
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  const [exitCode, exitSignal] = await new Promise<[number | null, string | null]>((resolve) => {
    child.once('exit', (code, name) => resolve([code, name]));
  });
  clearTimeout(timer);
  killGroup(pid);
  await killByEnvironment(`PAWL_NONCE=${job.nonce}`, before);
  let late: NodeJS.Timeout | undefined;
  // One that escaped may hold the pipes open for ever.
  await Promise.race([
    closed,
    new Promise<void>((resolve) => {
      late = setTimeout(resolve, drainMs);
    }),
  ]);
  clearTimeout(late);
  child.stdout.destroy();
  child.stderr.destroy();
  signal.removeEventListener('abort', onAbort);
  return { ending: forced ?? 'exited', exitCode, signal: exitSignal, message: '' };
}

class Refused extends Error {
  readonly tree: Tree;
  constructor(code: 'bad_path' | 'too_large', message: string) {
    super(message);
    this.tree = { kind: 'problem', code, message };
  }
}

/** What the tree at `root` is now, against what it was. Regular files and folders only; nothing is followed. */
async function collect(root: string, { files, maxFiles, maxBytes }: ProgramJob): Promise<Tree> {
  const base = new Map(files.map((file) => [file.path, file]));
  const changed: ProgramJob['files'] = [];
  const seen = new Set<string>();
  let bytes = 0;
  let entries = 0;
  const shown = (name: string) => JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name);
  const readOne = async (name: string): Promise<void> => {
    if (seen.size >= maxFiles) throw new Refused('too_large', `the program left more than ${maxFiles} files`);
    seen.add(name);
    const now = await readBack(path.join(root, name), maxBytes - bytes);
    switch (now.kind) {
      case 'file':
        break;
      case 'too_large':
        throw new Refused('too_large', `the program left more than ${maxBytes} bytes`);
      case 'missing':
      case 'not_regular':
        throw new Refused('bad_path', `the program left ${shown(name)}, which cannot be read as a regular file`);
      default:
        assertNever(now, 'file');
    }
    bytes += now.bytes.length;
    const mode = now.exec ? 'exec' : 'file';
    const old = base.get(name);
    if (old?.mode !== mode || Buffer.compare(old.bytes, now.bytes) !== 0) changed.push({ path: name, mode, bytes: now.bytes });
  };
  const walk = async (folder: string): Promise<void> => {
    for (const raw of await readdir(path.join(root, folder), { encoding: 'buffer' })) {
      if (++entries > maxFiles + spareFolders) throw new Refused('too_large', `the program left more than ${maxFiles} files`);
      const own = raw.toString('utf8');
      const name = folder === '' ? own : `${folder}/${own}`;
      if (!Buffer.from(own, 'utf8').equals(raw)) throw new Refused('bad_path', `the program left ${shown(name)}, a name that is not UTF-8`);
      const stat = await lstat(path.join(root, name));
      if (stat.isDirectory()) await walk(name);
      else if (stat.isFile()) await readOne(name);
      else
        throw new Refused('bad_path', `the program left ${shown(name)}, which is ${stat.isSymbolicLink() ? 'a link' : 'no regular file'}`);
    }
  };
  try {
    if (!(await lstat(root)).isDirectory()) throw new Refused('bad_path', 'the program replaced its working folder');
    await walk('');
  } catch (error) {
    if (error instanceof Refused) return error.tree;
    // Without permission, too deep, gone: the program's doing, as everything in its folder is.
    return { kind: 'problem', code: 'bad_path', message: `what the program left cannot be read (${codeOf(error)})` };
  }
  return { kind: 'changes', changed, removed: files.map((file) => file.path).filter((name) => !seen.has(name)) };
}
