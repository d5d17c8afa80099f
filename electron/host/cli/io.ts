// What a command line does to its process, behind one type, so that the commands are tested without one.
import { RpcError, type ErrorCode } from '#shared/contract/errors.ts';
import type { EngineHandle } from '../engine.ts';
import { messageOf } from '#shared/lib/message-of.ts';

export type CliIo = {
  /** Writes to stdout, at the reader's pace. A reader that is gone (`| head`) ends the output silently. */
  out(text: string): Promise<void>;
  /** Writes to stderr. */
  err(text: string): void;
  /** Columns of the terminal behind stderr; null when it is none. */
  readonly errColumns: number | null;
  readonly env: NodeJS.ProcessEnv;
  /** Calls back for every Ctrl-C, hang-up or request to end. Returns the function that stops listening. */
  onInterrupt(callback: () => void): () => void;
  /** Ends the process without waiting for anything. */
  quit(code: number): void;
  readonly version: string;
  /** The engine of a data folder (the option's value, or the default). */
  acquire(data: string | undefined): Promise<EngineHandle>;
  /** Folder of the built page. */
  readonly rendererDir: string;
};

export const exitCodes = { ok: 0, failed: 1, usage: 2, stopped: 3 } as const;

/** Options of every command. */
export type CommonOptions = { readonly data?: string; readonly json: boolean };

/** A command line that cannot be meant: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly field: string | null;
  constructor(message: string, field: string | null = null) {
    super(message);
    this.field = field;
  }
}

/** What `--json` prints with exit codes 1 and 2. */
export function errorDocument(code: ErrorCode, message: string, file: string | null = null, field: string | null = null) {
  return { error: { code, message, file, field } };
}

/** Says what went wrong, on stderr for people, as one JSON document on stdout for programs. Returns the exit code. */
export async function report(io: CliIo, json: boolean, error: unknown): Promise<number> {
  const usage = error instanceof UsageError;
  const rpc = error instanceof RpcError ? error : null;
  const message = messageOf(error);
  const file = rpc?.where.file ?? null;
  const field = usage ? error.field : (rpc?.where.field ?? null);
  if (json) await io.out(`${JSON.stringify(errorDocument(usage ? 'bad_input' : (rpc?.code ?? 'internal'), message, file, field))}\n`);
  else {
    const where = [
      file !== null && !message.includes(file) ? `file ${file}` : null,
      field !== null && !message.includes(field) ? `field ${field}` : null,
    ].filter((w) => w !== null);
    io.err(`pawl: ${plain(message)}${where.length > 0 ? ` (${plain(where.join(', '))})` : ''}\n`);
  }
  return usage ? exitCodes.usage : rpc?.code === 'cancelled' ? exitCodes.stopped : exitCodes.failed;
}

/** Text of strangers (titles, messages of verifiers) without what a terminal would obey. */
export function plain(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '\uFFFD');
}
