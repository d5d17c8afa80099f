// Runs under adapters over a whole engine, and their decision replay: the stored report is enough, the exit code of the tool included.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { engineHere, folderHere } from '../../support/engine/in-test.ts';

const counting = `adapter = "json-schema"
[[obligation]]
key = "errors"
cap = 20
from = "artifact/numbers.json against verifier/schema.json"
`;

// Fails whenever a number is above 1: exit code 1 beside a failing test.
const tool = `cat > r.xml <<END
<testsuite><testcase name="is there"/><testcase name="small">$(grep -q '[2-9]' artifact/numbers.json && echo '<failure/>')</testcase></testsuite>
END
if grep -q failure r.xml; then exit 1; fi
`;
const testing = `adapter = "junit"
command = ["sh", "verifier/tool.sh"]
report = "r.xml"
[[obligation]]
key = "there"
kind = "binary"
from = "is there"
[[obligation]]
key = "small"
cap = 5
from = "*"
`;

test.each([
  ['json-schema', counting],
  ['junit', testing],
])('%s: a run reaches zero rank, and every decision is found again', async (_, verifier) => {
  const engine = await engineHere();
  const task = await folderHere();
  await mkdir(path.join(task, 'artifact'), { recursive: true });
  await mkdir(path.join(task, 'verifier'));
  await writeFile(
    path.join(task, 'task.toml'),
    `version = 1\nid = "numbers"\n[artifact]\nwritable = ["numbers.json"]\n[measurement]\npreflight_runs = 1\nconfirm_runs = 1\n[budget]\nattempts = 200\n[search]\noperators = ["json-replace"]\n[verifier]\n${verifier}`,
  );
  await writeFile(path.join(task, 'instruction.md'), 'Make every number 0 or 1.\n');
  await writeFile(path.join(task, 'artifact/numbers.json'), '[2, 1, 0, 1, 0]\n');
  await writeFile(path.join(task, 'verifier/schema.json'), '{"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 1}}');
  await writeFile(path.join(task, 'verifier/tool.sh'), tool);

  const { client } = engine;
  const { run } = await client.call('run.start', { task, proposer: 'search', slots: 1, seed: 1 });
  for await (const _ of client.stream('run.watch', { run }, { window: 2 }));
  const view = await client.call('run.get', { run });
  expect(view).toMatchObject({ genesis: { potential: 1 }, head: { potential: 0 } });

  const reports: unknown[] = [];
  for await (const item of client.stream('replay.decisions', { run })) if (item.kind === 'report') reports.push(item.report);
  expect(reports).toMatchObject([{ mismatches: [], ok: true, transitions: view.transitions }]);
});
