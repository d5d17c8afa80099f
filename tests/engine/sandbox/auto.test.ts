// Automatic commands where the task runs candidate code: in the sandbox with the candidate, and without anything of the verifier.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AutoCommand } from '#shared/domain/auto-registry.ts';
import { type Execution, runnerContract, runnerProtocol, type VerifyJob } from '#electron/verifiers/runner-contract.ts';
import { createVerifierService } from '#electron/verifiers/service.ts';
import { createPortPair } from '#shared/rpc/port.ts';
import { serve } from '#shared/rpc/server.ts';
import { jsRequest, never } from '../verifiers/support.ts';
import { goodCode, missingHere, repairRequest } from './support.ts';
import { verifiersOfFile } from '../verifiers/of-file.ts';

const missing = await missingHere();
if (missing !== null) process.stderr.write(`SKIPPED tests of automatic commands in the sandbox: ${missing}\n`);

const it = verifiersOfFile();

const auto = (...command: string[]): AutoCommand => ({ name: 'look', command, timeoutMs: 20_000, registered: false });

const ended: Omit<Execution, 'startedAt'> = {
  durationMs: 1,
  ending: 'exited',
  message: '',
  exitCode: 0,
  signal: null,
  report: null,
  reportProblem: null,
  output: null,
  tampered: [],
};

describe.skipIf(missing !== null)('in the sandbox', () => {
  test('the candidate is there, its verifier and this machine are not', async () => {
    const request = repairRequest({ 'numbers_.py': goodCode });
    const files = await it.service.runAuto(request, auto('sh', '-c', 'cat artifact/numbers_.py; ls verifier; ls /home; ls "$HOME"'), never);
    expect(files).toEqual({ ending: expect.stringContaining('exit'), output: expect.any(String) });
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

describe('a command that a proposer has registered', () => {
  const asked = (...command: string[]): AutoCommand => ({ ...auto(...command), registered: true });
  // A task that runs no candidate code: its own commands run as the verifier does.
  const data = jsRequest('return 0;');
  const look = ['sh', '-c', 'cat artifact/data.json; ls /home /root 2>&1; touch artifact/x /usr/x; ls verifier'];

  test.skipIf(missing !== null)('runs in the sandbox, whatever the task does with its own and the user has said', async () => {
    for (const request of [data, { ...data, unsandboxed: true }]) {
      const { output, ending } = await it.service.runAuto(request, asked(...look), never);
      expect(output).toContain('[1, 2, 3]');
      expect(output).toMatch(/cannot touch '?artifact\/x/);
      expect(output).toMatch(/cannot touch '?\/usr\/x/);
      expect(output).toContain('none');
      expect(ending).toBe('exit 0');
      const socket = 'import socket; socket.create_connection(("127.0.0.1", 22), 1)';
      expect((await it.service.runAuto(request, asked('/usr/bin/python3', '-c', socket), never)).ending).toBe('exit 1');
    }
    expect(it.leftovers()).toEqual([]);
  });

  test('is asked of the runner with a sandbox around it; the own one of such a task is not', async () => {
    const jobs: VerifyJob[] = [];
    const [here, there] = createPortPair();
    const refuse = () => Promise.reject(new Error('not asked for'));
    const verify = (job: VerifyJob): Execution => {
      jobs.push(job);
      return { ...ended, startedAt: new Date().toISOString() };
    };
    const handlers = { verify, program: refuse, resolveProgram: refuse, info: refuse, sandbox: refuse };
    serve(runnerContract, handlers, there, { hello: { contract: runnerProtocol, version: '1', journal: 0 } });
    const folder = await mkdtemp(path.join(tmpdir(), 'pawl-auto-'));
    try {
      const service = createVerifierService(here, { tmpDir: folder, concurrency: 1 });
      for (const request of [data, { ...data, unsandboxed: true }])
        for (const command of [asked('true'), auto('true')]) await service.runAuto(request, command, never);
    } finally {
      here.close();
      await rm(folder, { recursive: true, force: true });
    }
    expect(jobs.map((job) => (job.runtime === 'command' ? job.isolation : job.runtime))).toEqual(['shared', 'none', 'shared', 'none']);
  });
});

test('a command that was stopped, or that nothing was found for, says so', async () => {
  const request = repairRequest({ 'numbers_.py': goodCode }, { unsandboxed: true });
  expect(await it.service.runAuto(request, auto('true'), AbortSignal.abort())).toMatchObject({ ending: 'ended by a stop', output: '' });
  expect(await it.service.runAuto(request, auto('no-such-program'), never)).toMatchObject({ ending: 'exit 127' });
  expect(await it.service.runAuto(request, auto('sh', '-c', 'yes'), never)).toMatchObject({ ending: 'wrote too much and was ended' });
});
