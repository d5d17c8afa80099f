// A task folder of Pawl's own: task.toml, instruction.md, artifact/, verifier/.
import { hash } from 'node:crypto';
import { parse as parseToml, TomlError } from 'smol-toml';
import type { TreeFile } from '#shared/domain/tree.ts';
import { err, ok, type Result } from '#shared/lib/result.ts';
import { readFolder, readOne, type ReadProblem } from './read-folder.ts';
import type { TaskProblem, TaskSource } from './task-source.ts';
import { messageOf } from '#shared/lib/message-of.ts';

export const tomlFile = 'task.toml';
export const instructionFile = 'instruction.md';
/** Of a text that a task is described with. */
export const maxTextBytes = 4 * 1024 * 1024;

export const isText = (bytes: Uint8Array): boolean => {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
};

/** The document in the task.toml of a folder (absolute, real), whoever wrote it. */
export type TomlDocument = { readonly file: TreeFile; readonly document: Readonly<Record<string, unknown>> };

export async function readTomlDocument(folder: string): Promise<Result<TomlDocument, TaskProblem>> {
  const file = await readOne(folder, tomlFile, maxTextBytes);
  if (!file.ok) {
    const { code, message } = file.error;
    return err({
      file: tomlFile,
      field: null,
      code,
      message: code === 'missing_file' ? `is missing; ${folder} is no task folder` : message,
    });
  }
  try {
    return ok({ file: file.value, document: parseToml(new TextDecoder('utf-8', { fatal: true }).decode(file.value.bytes)) });
  } catch (error) {
    // The first line of a TomlError says what, the others show the place.
    const message = messageOf(error).split('\n', 1)[0] ?? '';
    const line = error instanceof TomlError ? { line: error.line } : {};
    return err({
      file: tomlFile,
      field: null,
      code: 'toml_syntax',
      message: error instanceof TomlError ? message : 'is not UTF-8 text',
      ...line,
    });
  }
}

/** The instruction of a folder, or what is wrong with it. */
export async function readInstruction(folder: string): Promise<Result<Uint8Array, TaskProblem>> {
  const found = await readOne(folder, instructionFile, maxTextBytes);
  const problem = (code: TaskProblem['code'], message: string) => err({ file: instructionFile, field: null, code, message });
  if (!found.ok) {
    const { code, message } = found.error;
    return problem(code, code === 'missing_file' ? 'is missing; write what the model is asked to do into it' : message);
  }
  return isText(found.value.bytes) ? ok(found.value.bytes) : problem('bad_value', 'is not UTF-8 text; save it as UTF-8');
}

export const asProblem = ({ file, code, message }: ReadProblem): TaskProblem => ({ file, field: null, code, message });

/** Reads `folder` (absolute, real), whose task.toml is `toml`. */
export async function readOwnFolder(folder: string, toml: TomlDocument): Promise<Result<TaskSource, readonly TaskProblem[]>> {
  const [instruction, artifact, verifier] = await Promise.all([
    readInstruction(folder),
    readFolder(folder, 'artifact'),
    readFolder(folder, 'verifier'),
  ]);
  const problems = instruction.ok ? [] : [instruction.error];
  const unread = [...artifact.problems, ...verifier.problems];
  // Much of task.toml is about these files: what is wrong with it then is not known before they can be read.
  if (unread.length > 0) return err([...problems, ...unread.map(asProblem)]);
  return ok({
    format: 'pawl',
    path: folder,
    document: toml.document,
    documentFile: tomlFile,
    documentSha: hash('sha256', toml.file.bytes, 'hex'),
    instruction: instruction.ok ? instruction.value : null,
    artifact: artifact.files.map((file) => ({ ...file, path: file.path.slice('artifact/'.length) })),
    verifier: verifier.files,
    folder,
    notes: [],
    problems,
  });
}
