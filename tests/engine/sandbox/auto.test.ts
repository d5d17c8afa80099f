// Automatic commands where the task runs candidate code: in the sandbox with the candidate, and without anything of the verifier.
import { describe, expect, test } from 'vitest';
import { never } from '../verifiers/support.ts';
import { goodCode, missingHere, repairRequest } from './support.ts';
import { verifiersOfFile } from '../verifiers/of-file.ts';

const missing = await missingHere();
if (missing !== null) process.stderr.write(`SKIPPED tests of automatic commands in the sandbox: ${missing}\n`);

const it = verifiersOfFile();

const auto = (...command: string[]) => ({ name: 'look', command, timeoutMs: 20_000 });

describe.skipIf(missing !== null)('in the sandbox', () => {
  test('the candidate is there, its verifier and this machine are not', async () => {
    const request = repairRequest({ 'numbers_.py': goodCode });
    const files = await it.service.runAuto(request, auto('sh', '-c', 'cat artifact/numbers_.py; ls verifier; ls /home; ls "$HOME"'), never);
    expect(files).toEqual({ name: 'look', tree: request.tree, ending: expect.stringContaining('exit'), output: expect.any(String) });
    expect(files.output).toContain('def clamp');
    expect(files.output).toContain('none');
    expect(files.output).not.toContain('check.py');
    const write = await it.service.runAuto(request, auto('sh', '-c', 'echo changed > artifact/numbers_.py && echo written'), never);
    expect(write.output).not.toContain('written');
    const socket = 'import socket; socket.create_connection(("127.0.0.1", 22), 1)';
    expect((await it.service.runAuto(request, auto('/usr/bin/python3', '-c', socket), never)).ending).toBe('exit 1');
    expect(it.leftovers()).toEqual([]);
  });
});

test('a command that was stopped, or that nothing was found for, says so', async () => {
  const request = repairRequest({ 'numbers_.py': goodCode }, { unsandboxed: true });
  expect(await it.service.runAuto(request, auto('true'), AbortSignal.abort())).toMatchObject({ ending: 'ended by a stop', output: '' });
  expect(await it.service.runAuto(request, auto('no-such-program'), never)).toMatchObject({ ending: 'exit 127' });
  expect(await it.service.runAuto(request, auto('sh', '-c', 'yes'), never)).toMatchObject({ ending: 'wrote too much and was ended' });
});
