// Command lines in this process, over a whole engine.
import type { CliIo } from '#electron/host/cli/io.ts';
import { runCli } from '#electron/host/cli/program.ts';
import type { Engine } from './engine-fixture.ts';

type Typed = { readonly code: number; readonly out: string; readonly err: string };

type Around = {
  /** Relative paths are those of `INIT_CWD` in it. */
  readonly env?: NodeJS.ProcessEnv;
  /** Given what a Ctrl-C calls. */
  readonly onInterrupt?: (interrupt: () => void) => void;
};

/** Runs one command line as a client of the engine. */
export async function pawlAround({ env = {}, onInterrupt = () => {} }: Around, { client }: Engine, ...argv: string[]): Promise<Typed> {
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
    onInterrupt: (interrupt) => {
      onInterrupt(interrupt);
      return () => {};
    },
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

/** From the folder that `INIT_CWD` in `env` names. */
export const pawlIn = (env: NodeJS.ProcessEnv, engine: Engine, ...argv: string[]): Promise<Typed> => pawlAround({ env }, engine, ...argv);

/** From the folder of this process. */
export const pawl = (engine: Engine, ...argv: string[]): Promise<Typed> => pawlAround({}, engine, ...argv);
