// A small real task: a list of numbers that should all be 0, counted by a pure-js verifier.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

export type SmallTaskOptions = {
  /** The seed's numbers, 0 to 9. */
  readonly numbers?: readonly number[];
  readonly attempts?: number;
  /** Body of `verify(pawl)` in place of the real one. */
  readonly verify?: string;
  /** Lines of [measurement] in place of "measured once". */
  readonly measurement?: string;
  /** Further lines of [budget]. */
  readonly budget?: string;
};

const count = `
  const { numbers } = JSON.parse(pawl.files['artifact/numbers.json']);
  const left = numbers.slice(0, numbers.length / 2), right = numbers.slice(numbers.length / 2);
  const sum = (list) => list.reduce((total, x) => total + x, 0);
  return {
    nonce: pawl.nonce, tree: pawl.tree, contract: pawl.contract,
    values: { left: sum(left), right: sum(right) },
    advisory: {},
    details: { left: 'left is ' + JSON.stringify(left) },
  };`;

/** The same count, but `right` is one more in half of the measurements, whatever the candidate. */
export const flakyCount = count.replace('right: sum(right)', 'right: sum(right) + (parseInt(pawl.nonce[0], 16) % 2)');

/** Writes the task into a fresh folder. Its numbers can be exchanged but not made, so most searches end by budget. */
export async function writeSmallTask(options: SmallTaskOptions = {}): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pawl-task-'));
  const numbers = options.numbers ?? [3, 0, 4, 1, 0, 2, 5, 0];
  await mkdir(path.join(folder, 'artifact'));
  await mkdir(path.join(folder, 'verifier'));
  await writeFile(path.join(folder, 'artifact/numbers.json'), `${JSON.stringify({ numbers }, null, 1)}\n`);
  await writeFile(path.join(folder, 'verifier/check.js'), `function verify(pawl) {${options.verify ?? count}\n}\n`);
  await writeFile(path.join(folder, 'instruction.md'), 'Make the numbers small.\n');
  await writeFile(
    path.join(folder, 'task.toml'),
    `version = 1
id = "small"
title = "Small numbers"

[artifact]
writable = ["numbers.json"]

[verifier]
runtime = "pure-js"
file = "verifier/check.js"
runs_candidate = false

[verifier.timeouts_ms]
run = 5000

[[obligation]]
key = "left"
title = "Sum of the left half"
kind = "count"
cap = 1000

[[obligation]]
key = "right"
title = "Sum of the right half"
kind = "count"
cap = 1000

[measurement]
${options.measurement ?? 'preflight_runs = 1\nconfirm_runs = 1\npaired = false'}

[budget]
attempts = ${options.attempts ?? 60}
${options.budget ?? ''}

[search]
operators = ["json-replace", "json-swap"]
`,
  );
  return { path: folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
