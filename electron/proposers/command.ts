// Any program as a proposer: it is started in a copy of the head's tree, and the tree that it leaves is the candidate. It is the user's
// own program and not sandboxed; what it leaves is as untrusted as any candidate. The runner process starts it, never the engine.
import { z } from 'zod';
import type { AutoRequest } from '#shared/domain/auto-registry.ts';
import { retrievalVersion } from '#shared/domain/retrieve.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import { InvalidCode } from '#shared/domain/verdict.ts';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import { sha256Hex } from '#shared/lib/hash.ts';
import { err, type Result } from '#shared/lib/result.ts';
import type { AutoDesk, MaterialiseError, Proposer } from './proposer.ts';
import { applyChanges, encodeChanges, readStored, TreeChanges } from './tree-changes.ts';

/** What stands in the header. `sandboxed` and `tokens` are said there because nothing else would say them. */
export const CommandOptions = z.strictObject({
  /** Text for /bin/sh. */
  command: z.string().min(1),
  timeoutMs: z.int().min(1),
  memory: z.strictObject({
    version: z.literal(retrievalVersion),
    k: z.int().min(0),
    tokenCap: z.int().min(0),
    quota: z.int().min(0),
  }),
  sandboxed: z.literal(false),
  tokens: z.literal('not metered'),
});
export type CommandOptions = z.infer<typeof CommandOptions>;

/** Raised when equal inputs could reach the program differently, or a stored response give another tree. */
export const commandVersion = 1;

/** Options of a command, with the memory that programs are given. */
export function commandOptions(command: string, timeoutMs: number): CommandOptions {
  const memory = { version: retrievalVersion, k: 8, tokenCap: 4_000, quota: 4 } as const;
  return { command, timeoutMs, memory, sandboxed: false, tokens: 'not metered' };
}

/** One start of a program. */
export type ProgramStart = {
  readonly command: string;
  readonly files: readonly TreeFile[];
  readonly instruction: Uint8Array;
  readonly memory: Uint8Array;
  /** Which automatic commands there are and may be registered; null: none may be, and nothing is said of them. */
  readonly autos: Uint8Array | null;
  /** Beside the environment of Pawl itself. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxFiles: number;
  readonly maxBytes: number;
};

/** What it came to. `infra` means that it could not be started, or that the runner is gone; then there is no tree. */
export type ProgramResult = {
  readonly ending: 'exited' | 'timeout' | 'aborted' | 'infra';
  readonly message: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The end of what it wrote, and how many bytes that was in all. */
  readonly output: Uint8Array;
  readonly outputBytes: number;
  readonly tree:
    | { readonly kind: 'changes'; readonly changed: readonly TreeFile[]; readonly removed: readonly string[] }
    | { readonly kind: 'problem'; readonly code: InvalidCode; readonly message: string };
  /** What it wrote to have automatic commands registered, or why that cannot be read; null: nothing. */
  readonly register: { readonly bytes: Uint8Array } | { readonly problem: string } | null;
};

export type RunProgram = (start: ProgramStart, signal: AbortSignal) => Promise<ProgramResult>;

const Ended = {
  // 2 where the program asked for automatic commands.
  format: z.enum(['pawl.command/1', 'pawl.command/2']),
  ending: z.enum(['exited', 'timeout']),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  /** The end of stdout and stderr together, as text: `bytes` of the `written` ones were kept. */
  output: z.strictObject({ text: z.string(), bytes: z.int().min(0), written: z.int().min(0) }),
  register: z.exactOptional(z.union([z.strictObject({ text: z.string() }), z.strictObject({ problem: z.string() })])),
};
const CommandResponse = z.union([
  z.strictObject({ ...Ended, ...TreeChanges.shape }),
  z.strictObject({ ...Ended, problem: z.strictObject({ code: InvalidCode, message: z.string() }) }),
]);

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const responseOf = ({ exitCode, signal, output, outputBytes, tree, register }: ProgramResult, ending: 'exited' | 'timeout'): Uint8Array =>
  encoder.encode(
    canonicalJson({
      format: register === null ? 'pawl.command/1' : 'pawl.command/2',
      ending,
      exitCode,
      signal,
      output: { text: decoder.decode(output), bytes: output.length, written: outputBytes },
      ...(register === null ? {} : { register: 'bytes' in register ? { text: decoder.decode(register.bytes) } : register }),
      ...(tree.kind === 'changes'
        ? encodeChanges(tree.changed, tree.removed)
        : { problem: { code: tree.code, message: tree.message.toWellFormed() } }),
    }),
  );

/** Pure. The tree that the program left, however it ended: whether it is any good is for the verifier to say. */
export function materialiseCommand(response: Uint8Array, base: readonly TreeFile[]): Result<readonly TreeFile[], MaterialiseError> {
  const parsed = readStored(CommandResponse, response);
  if (parsed === null) return err({ code: 'no_candidate', message: 'the stored response is not a pawl.command/1 document' });
  if ('problem' in parsed) return err(parsed.problem);
  return applyChanges(base, parsed);
}

const Requests = z.array(z.strictObject({ name: z.string(), command: z.array(z.string()) }));
/** Stands for what is no list of requests, and is refused as that. */
const malformed: AutoRequest = { name: '', command: [] };

/** Pure. The automatic commands that the program asked for: a JSON list of {name, command} in the file that PAWL_REGISTER names. */
export function commandRegistrations(response: Uint8Array): readonly AutoRequest[] {
  const register = readStored(CommandResponse, response)?.register;
  if (register === undefined) return [];
  if ('problem' in register) return [malformed];
  try {
    return Requests.safeParse(JSON.parse(register.text)).data ?? [malformed];
  } catch {
    return [malformed];
  }
}

export type CommandInput = {
  readonly options: CommandOptions;
  readonly instruction: Uint8Array;
  /** Limits of the contract on a candidate: more is not collected. */
  readonly maxFiles: number;
  readonly maxBytes: number;
  readonly run: RunProgram;
};

/** What the program spends is unknown and is never counted as 0: only the attempt is a request. */
export function createCommandProposer({ options, instruction, maxFiles, maxBytes, run }: CommandInput): Proposer {
  const { command, timeoutMs, memory: limits } = options;
  const instructionSha: Sha = sha256Hex(instruction);
  return {
    kind: 'command',
    version: commandVersion,
    options,
    memory: limits,
    longestMs: timeoutMs,
    propose: async ({ n, draw, slot, seed, base, baseTree, memory, autos }, signal) => {
      // Only where something may be registered: a program that cannot is started as it always was.
      const listed = autos.allowed.length === 0 ? null : listOf(autos);
      const shown = encoder.encode(canonicalJson({ format: 'pawl.memory/1', entries: memory }));
      const request = encoder.encode(
        canonicalJson({
          format: 'pawl.command.request/1',
          version: commandVersion,
          command,
          timeoutMs,
          n,
          draw,
          slot,
          seed,
          base: baseTree,
          instruction: instructionSha,
          memory,
          ...(listed === null ? {} : { autos: listed }),
        }),
      );
      const env = { PAWL_N: String(n), PAWL_DRAW: String(draw), PAWL_SLOT: String(slot), PAWL_SEED: String(seed) };
      const auto = listed === null ? null : encoder.encode(canonicalJson({ format: 'pawl.auto.list/1', ...listed }));
      const result = await run(
        { command, files: base, instruction, memory: shown, autos: auto, env, timeoutMs, maxFiles, maxBytes },
        signal,
      );
      signal.throwIfAborted();
      switch (result.ending) {
        case 'exited':
        case 'timeout':
          return { request, response: responseOf(result, result.ending), usage: 'missing' };
        case 'aborted':
        case 'infra':
          return {
            request,
            response: null,
            usage: 'missing',
            error: { code: 'not_run', message: result.message === '' ? 'the program was ended' : result.message },
          };
        default:
          return result.ending satisfies never;
      }
    },
    materialise: materialiseCommand,
    registrations: commandRegistrations,
  };
}

const listOf = ({ commands, allowed }: AutoDesk) => ({
  commands: commands().map(({ name, command, registered }) => ({ name, command: [...command], registered })),
  allow: allowed.map((pattern) => [...pattern]),
});
