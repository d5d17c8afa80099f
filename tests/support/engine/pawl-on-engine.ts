// Command lines in this process, over a whole engine.
import type { CliIo } from '#electron/host/cli/io.ts';
import { runCli } from '#electron/host/cli/program.ts';
import type { Engine } from './engine-fixture.ts';

/** Runs one command line as a client of the engine. Relative paths are those of `INIT_CWD` in `env`. */
export async function pawlIn(
  env: NodeJS.ProcessEnv,
  { client }: Engine,
  ...argv: string[]
): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const io: CliIo = {
    out: (text) => {
      out += text;
      return Promise.resolve();
    },
    err: (text) => {
      err += text;
    },
    errColumns: null,
    env,
    onInterrupt: () => () => {},
    quit: () => {},
    version: '0.0.0-test',
    acquire: () =>
      Promise.resolve({
        client,
        role: 'client',
        attach: () => Promise.resolve(),
        blob: () => Promise.resolve(null),
        dependants: () => 0,
        crippled: new Promise<void>(() => {}),
        closed: new Promise<void>(() => {}),
        close: () => Promise.resolve(),
      }),
    rendererDir: '/nowhere',
  };
  const code = await runCli(argv, io);
  return { code, out, err };
}

/** As `pawlIn`, from the folder of this process. */
export const pawl = (engine: Engine, ...argv: string[]) => pawlIn({}, engine, ...argv);
