// The command line of this process. What it accepts stands in cli/program.ts.
import { existsSync } from 'node:fs';
import { acquireHere } from './acquire.ts';
import { appVersion } from './app-version.ts';
import { report, type CliIo } from './cli/io.ts';
import { runCli } from './cli/program.ts';
import { rendererDir } from './entries.ts';

/** npm passes SIGTERM to the shell between us, which dies of it without telling us. Then we have another parent. */
function watchParent(onGone: () => void): () => void {
  if (process.env['npm_lifecycle_event'] === undefined) return () => {};
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, 1_000);
  timer.unref();
  return () => clearInterval(timer);
}

/** Gives a command line this process; its caller ends with the code that it returns. */
export async function main(argv: readonly string[]): Promise<number> {
  let gone = false;
  // A reader that has seen enough (`pawl show … | head`) is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    gone = true;
  });
  process.stderr.on('error', () => {});
  const io: CliIo = {
    out: (text) =>
      new Promise((resolve) => {
        if (gone) resolve();
        else process.stdout.write(text, () => resolve());
      }),
    err: (text) => void process.stderr.write(text),
    errColumns: process.stderr.isTTY ? process.stderr.columns : null,
    env: process.env,
    onInterrupt: (callback) => {
      const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
      for (const signal of signals) process.on(signal, callback);
      const stopWatching = watchParent(callback);
      return () => {
        for (const signal of signals) process.off(signal, callback);
        stopWatching();
      };
    },
    quit: (code) => process.exit(code),
    version: appVersion,
    acquire: acquireHere,
    rendererDir,
  };
  if (argv[0] === 'serve' && !existsSync(rendererDir))
    return report(io, argv.includes('--json'), new Error(`the page is not built: ${rendererDir} is missing; run npm run build`));
  return runCli(argv, io);
}
