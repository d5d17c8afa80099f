// A tree under edit. All formats change it through these few functions, so that they agree on what is refused and on line ends.
import type { TreeFile } from '#shared/domain/tree.ts';
import { err, ok, type Result } from '#shared/lib/result.ts';
import type { MaterialiseError } from '../proposer.ts';

/** Thrown inside this folder when an answer cannot be applied; `materialise` turns it into a value. */
export class ApplyFailed extends Error {}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** A path for a message: quoted, so that blanks and control characters are seen, and short. */
export const named = (path: string): string => JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);

/** Whether every line of `text` that ends, ends with CR LF, and at least one does. */
const isCrlf = (text: string): boolean => {
  let found = false;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    if (text[at - 1] !== '\r') return false;
    found = true;
  }
  return found;
};

export class TreeEdit {
  readonly #files: Map<string, TreeFile>;
  #touched = 0;

  constructor(base: readonly TreeFile[]) {
    this.#files = new Map(base.map((file) => [file.path, file]));
  }

  /** How many edits were made, whether or not they changed a byte. */
  get touched(): number {
    return this.#touched;
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  mode(path: string): TreeFile['mode'] | null {
    return this.#files.get(path)?.mode ?? null;
  }

  bytes(path: string): Uint8Array {
    const file = this.#files.get(path);
    if (file === undefined) throw new ApplyFailed(`there is no file ${named(path)}`);
    return file.bytes;
  }

  /** Text of a file. Throws an ApplyFailed where there is none or it is not UTF-8. */
  text(path: string): string {
    const bytes = this.bytes(path);
    try {
      return decoder.decode(bytes);
    } catch {
      throw new ApplyFailed(`${named(path)} is not UTF-8 text and cannot be edited as text`);
    }
  }

  /** Whether the file's lines all end with CR LF; false for a file that is not there or is no text. */
  crlf(path: string): boolean {
    try {
      return isCrlf(decoder.decode(this.#files.get(path)?.bytes ?? new Uint8Array()));
    } catch {
      return false;
    }
  }

  /** Puts a file; `mode` null keeps that of the file that is there. */
  put(path: string, bytes: Uint8Array | string, mode: TreeFile['mode'] | null): void {
    this.#touched++;
    this.#files.set(path, {
      path,
      mode: mode ?? this.mode(path) ?? 'file',
      bytes: typeof bytes === 'string' ? encoder.encode(bytes) : bytes,
    });
  }

  /** Throws an ApplyFailed where there is no such file. */
  remove(path: string): void {
    if (!this.#files.delete(path)) throw new ApplyFailed(`${named(path)} cannot be deleted: there is no such file`);
    this.#touched++;
  }

  files(): readonly TreeFile[] {
    return [...this.#files.values()];
  }
}

/** `text` with the line ends of a CR LF file: what models write has LF, and a file must not change in every line for it. */
export const withLineEnds = (text: string, crlf: boolean): string => (crlf && !text.includes('\r') ? text.replaceAll('\n', '\r\n') : text);

/** Runs `edit` over `base`. An answer that touches nothing is `no_candidate` with `nothing` as its message. */
export function edited(
  base: readonly TreeFile[],
  nothing: string,
  edit: (tree: TreeEdit) => void,
): Result<readonly TreeFile[], MaterialiseError> {
  const tree = new TreeEdit(base);
  try {
    edit(tree);
  } catch (error) {
    if (error instanceof ApplyFailed) return err({ code: 'apply_failed', message: error.message });
    throw error;
  }
  return tree.touched === 0 ? err({ code: 'no_candidate', message: nothing }) : ok(tree.files());
}
