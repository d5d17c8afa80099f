// What the engine asks of the runner for a `command` proposer: a part of runner-contract.ts.
import { z } from 'zod';
import { Count } from '#shared/domain/ids.ts';
import { InvalidCode } from '#shared/domain/verdict.ts';

const Bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'bytes');
const ProgramFile = z.strictObject({ path: z.string().min(1), mode: z.enum(['file', 'exec']), bytes: Bytes });

export const ProgramJob = z.strictObject({
  /** Names the temporary folder; unique. */
  id: z.string().regex(/^[a-z0-9_-]{1,64}$/),
  /** Stands in the environment of the program, by which whatever it started is found. */
  nonce: z.string().regex(/^[0-9a-f]{16,128}$/),
  /** Absolute path of a folder of ours, under which a fresh one is made and removed. */
  tmpDir: z.string().min(1),
  /** Text for /bin/sh. */
  command: z.string().min(1),
  /** The tree it begins with, paths relative to its working folder. */
  files: z.array(ProgramFile),
  instruction: Bytes,
  memory: Bytes,
  /** Which automatic commands there are and may be asked for; null: nothing is said of them, and no request is read. */
  autos: Bytes.nullable(),
  /** Variables beside those of the runner's own environment. */
  env: z.record(z.string().regex(/^PAWL_[A-Z]+$/), z.string()),
  timeoutMs: z.int().min(1),
  maxFiles: z.int().min(1),
  maxBytes: z.int().min(1),
  outputBytes: z.int().min(1),
});
export type ProgramJob = z.infer<typeof ProgramJob>;

export const ProgramRun = z.strictObject({
  /** `infra`: it could not be started. */
  ending: z.enum(['exited', 'timeout', 'aborted', 'infra']),
  message: z.string(),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  /** The last `outputBytes` of stdout and stderr in the order of their arrival. */
  output: Bytes,
  /** How many there were in all. */
  outputBytes: Count,
  /** What it left, against what it began with. */
  tree: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('changes'), changed: z.array(ProgramFile), removed: z.array(z.string()) }),
    z.strictObject({ kind: z.literal('problem'), code: InvalidCode, message: z.string() }),
  ]),
  /** What it left in the file for requests, or why that could not be read; null without any. */
  register: z.union([z.strictObject({ bytes: Bytes }), z.strictObject({ problem: z.string() })]).nullable(),
});
export type ProgramRun = z.infer<typeof ProgramRun>;
