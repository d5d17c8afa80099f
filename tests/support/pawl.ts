// The command line as a person runs it: `npm run pawl --`, without npm.
import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import path from 'node:path';
import type { Readable } from 'node:stream';

const root = path.resolve(import.meta.dirname, '../..');

export type Finished = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};
export type Running = {
  readonly child: ChildProcess;
  /** Resolves with what the pattern found in stdout or stderr, as soon as it is there; rejects when the process ends without it. */
  seen(pattern: RegExp): Promise<RegExpExecArray>;
  readonly finished: Promise<Finished>;
};

/** Starts one command in a process of its own. Relative paths are those of the repository. */
export const startPawl = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Running =>
  follow(
    spawn(process.execPath, ['electron/host/launch.mjs', 'electron/host/pawl.ts', ...args], {
      cwd: root,
      env: { ...process.env, INIT_CWD: root, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );

/** Starts one script of package.json by npm, as the leader of a process group (a negative pid reaches all of it, as a terminal does). */
export const startNpm = (args: readonly string[]): Running =>
  follow(spawn('npm', args, { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'pipe'] }));

function follow(child: ChildProcessByStdio<null, Readable, Readable>): Running {
  let stdout = '';
  let stderr = '';
  const looking = new Set<() => void>();
  const look = () => {
    for (const each of looking) each();
  };
  child.stdout.on('data', (chunk) => {
    stdout += String(chunk);
    look();
  });
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
    look();
  });
  const finished = new Promise<Finished>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return {
    child,
    finished,
    seen: (pattern) =>
      new Promise((resolve, reject) => {
        const each = () => {
          const found = pattern.exec(stdout) ?? pattern.exec(stderr);
          if (found) {
            looking.delete(each);
            resolve(found);
          }
        };
        looking.add(each);
        each();
        void finished.then(({ code }) => reject(new Error(`ended with ${code} before ${String(pattern)} was seen\n${stdout}\n${stderr}`)));
      }),
  };
}

/** Runs one command to its end. */
export const pawl = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Finished> => startPawl(args, env).finished;
