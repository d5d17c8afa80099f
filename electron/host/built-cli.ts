// The built command line, for the scripts of package.json: they run what ships and not the sources.
import { z } from 'zod';
import { ensureBuilt } from '#electron/build.ts';
import { rootUrl } from './entries.ts';

const CliModule = z.object({ main: z.custom<(argv: readonly string[]) => Promise<number>>((value) => typeof value === 'function') });

/** Runs one command line of what is built, in this process, and ends it with its exit code. */
export async function runBuiltCli(argv: readonly string[]): Promise<never> {
  const { main } = CliModule.parse(await import(rootUrl('out/node/cli.js').href));
  return process.exit(await main(argv));
}

/** The same, built anew first if a source has changed. */
export async function buildAndRunCli(argv: readonly string[]): Promise<never> {
  await ensureBuilt();
  return runBuiltCli(argv);
}
