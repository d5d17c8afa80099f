// What a task is read from, whatever form it had: everything that the loader checks and makes a contract of.
import type { TaskFormat, TaskNote } from '#shared/contract/task.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import type { ReadProblem } from './read-folder.ts';

export type TaskErrorCode =
  | ReadProblem['code']
  | 'toml_syntax'
  | 'json_syntax'
  | 'unknown_field'
  | 'missing_field'
  | 'bad_value'
  | 'duplicate_key'
  | 'not_available'
  | 'bad_schema'
  /** A foreign task that can be read and could not be run with any meaning. */
  | 'not_carried'
  /** A checkout that is not what an instance is about. */
  | 'wrong_checkout';

export type TaskProblem = {
  /** Relative to the task folder, or absolute; the folder itself where there is none. */
  readonly file: string;
  /** Path in the file, such as `obligation[2].cap`; null where the whole file is meant. */
  readonly field: string | null;
  readonly code: TaskErrorCode;
  /** What is wrong and what to do, without the place. */
  readonly message: string;
  /** Of a syntax error, from 1. */
  readonly line?: number;
};

/** Collects problems; `file` is the one that the collector is about unless said. */
export type Add = (field: string | null, code: TaskErrorCode, message: string, file?: string) => void;

export type TaskSource = {
  readonly format: TaskFormat;
  /** Absolute; reading it again gives the same task. */
  readonly path: string;
  /** What task.toml says, or would say. */
  readonly document: Readonly<Record<string, unknown>>;
  /** The file that a problem with `document` is about. */
  readonly documentFile: string;
  /** SHA-256 of that file; null where the document was made of others. */
  readonly documentSha: Sha | null;
  /** Null where it cannot be read, which is one of `problems` then. */
  readonly instruction: Uint8Array | null;
  /** Files of artifact/, paths relative to it. */
  readonly artifact: readonly TreeFile[];
  /** Files of verifier/, paths begin with `verifier/`. */
  readonly verifier: readonly TreeFile[];
  /** Folder in which the document's other files are looked for; null where there are none. */
  readonly folder: string | null;
  /** What a foreign task says that is different here, or is not here at all. */
  readonly notes: readonly TaskNote[];
  /** What is wrong beside the document and does not keep it from being looked at. */
  readonly problems: readonly TaskProblem[];
};

/** An obligation as a reader of foreign tasks writes it into its document. */
export type ObligationEntry = {
  readonly key: string;
  readonly title: string;
  readonly kind: 'binary' | 'count' | 'ordinal';
  readonly cap: number;
  readonly from: string;
};

/** The value as it stands in a message, short. */
export const show = (value: unknown): string => {
  const text = typeof value === 'string' || (typeof value === 'object' && value !== null) ? JSON.stringify(value) : String(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
};
