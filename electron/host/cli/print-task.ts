// `pawl preflight TASK --print-task`: what a task was read as. Runs nothing.
import type { TaskDocument, TaskFormat, TaskNote } from '#shared/contract/task.ts';
import { isTamperEvidentOnly } from '#shared/domain/contract.ts';
import { exitCodes, plain, type CliIo, type CommonOptions } from './io.ts';
import { table } from './table.ts';
import { withEngine } from './with-engine.ts';

/** Exit code 0 when the task can be read. */
export async function printTask(io: CliIo, options: CommonOptions, path: string): Promise<number> {
  const document = await withEngine(io, options, ['closed', 'unavailable'], ({ client }) => client.call('task.document', { path }));
  await io.out(options.json ? `${JSON.stringify(document)}\n` : documentText(document));
  return exitCodes.ok;
}

const formatWords: Readonly<Record<TaskFormat, string>> = {
  pawl: "a task folder of Pawl's own",
  harbor: 'a Harbor task folder',
  'swe-bench': 'a SWE-bench instance',
};

/** Files that are listed; --json has all. */
const listedFiles = 200;

const noteLine = ({ code, file, field, message }: TaskNote): string => `- ${code}: ${file}${field === null ? '' : `: ${field}`} ${message}`;

const fileLines = (files: TaskDocument['artifact'], mark: (path: string) => string): string[] => {
  const lines = files.slice(0, listedFiles).map(({ path, mode, size }) => `${mark(path)}${mode === 'exec' ? 'x' : '-'} ${size} ${path}`);
  return files.length > listedFiles ? [...lines, `and ${files.length - listedFiles} more; --json lists all`] : lines;
};

/** For people: head, what could not be carried over, and the task as task.toml, instruction and files. */
function documentText({ task, toml, instruction, artifact }: TaskDocument): string {
  const { contract } = task;
  const writable = new Set(artifact.flatMap((file) => (file.writable ? file.path : [])));
  const head = table([
    ['task', `${task.title} (${task.id})`],
    ['read as', formatWords[task.format]],
    ['from', task.path],
    ['contract', task.contractSha],
    ['seed', `${task.seedTree}, ${task.seedFiles} files, ${task.seedBytes} bytes`],
    ['obligations', `${contract.obligations.length}${isTamperEvidentOnly(contract) ? ', tamper-evident only' : ''}`],
  ]);
  const notes =
    task.notes.length === 0
      ? []
      : [`what is different here, or is not here at all (${task.notes.length}):`, ...task.notes.map((note) => plain(noteLine(note))), ''];
  return [
    head,
    ...notes,
    '--- task.toml',
    plain(toml).trimEnd(),
    '',
    '--- instruction.md',
    plain(instruction).trimEnd(),
    '',
    `--- artifact/ (${artifact.length} files, ${writable.size} writable: w)`,
    ...fileLines(artifact, (path) => (writable.has(path) ? 'w' : '-')).map(plain),
    '',
    `--- verifier/ (${contract.verifier.files.length} files)`,
    ...fileLines(
      contract.verifier.files.map((file) => ({ ...file, path: file.path.replace(/^verifier\//, ''), writable: false })),
      () => '-',
    ).map(plain),
    '',
  ].join('\n');
}
