// Whole runs of a task that runs candidate code: in the sandbox, without one, and refused where there is none.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sameSandbox, sandboxOrRefuse } from '#electron/core/runs/seed.ts';
import { tamperEvidentLabel } from '#shared/domain/memory-entry.ts';
import { noGuarantees } from '#electron/verifiers/sandbox/api.ts';
import { createScriptedVerifier } from '../../support/engine/scripted-verifier.ts';
import { type Engine, startEngine, temporaryFolder } from '../../support/engine/engine-fixture.ts';
import { makeContract } from '../verifiers/support.ts';
import { missingHere } from './support.ts';

const task = path.resolve(import.meta.dirname, '../../fixtures/tasks/repair-py');
const missing = await missingHere();
if (missing !== null) process.stderr.write(`SKIPPED runs in the sandbox: ${missing}\n`);

let engine: Engine;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  engine = await startEngine(folder.path);
});
afterAll(async () => {
  await engine.close();
  await folder.remove();
});

const runOf = async (more: { readonly unsandboxed?: true; readonly attempts: number; readonly task?: string }) => {
  const { run, status } = await engine.client.call('run.start', { task, proposer: 'search', slots: 2, seed: 1, ...more });
  expect(status).toBe('running');
  for await (const _ of engine.client.stream('run.watch', { run }));
  return engine.client.call('run.get', { run });
};
const verdictOf = async (run: string, n: number) => {
  const { verdict } = await engine.client.call('run.transition', { run, n });
  return verdict !== null && verdict.kind !== 'invalid' ? verdict.runs : [];
};

/** What exploration memory keeps of the first transitions that were ranked and rejected. */
const excerpts = async (run: string, count: number) => {
  const all = await Promise.all(Array.from({ length: count }, (_, i) => engine.client.call('run.transition', { run, n: i + 1 })));
  return all.flatMap(({ memory, verdict }) => (memory === null || verdict?.kind !== 'ranked' ? [] : [memory.excerpt]));
};

describe.skipIf(missing !== null)('where there is a sandbox', () => {
  test('the app says so', async () => {
    expect((await engine.client.call('app.info', {})).sandbox).toEqual({
      available: true,
      backend: 'bubblewrap',
      experimental: false,
      lacks: [],
      message: expect.stringMatching(/^bubblewrap \d.*probed and holding/),
    });
  });

  test('a run ranks candidates, and its header is that of every run', async () => {
    const detail = await runOf({ attempts: 4 });
    expect(detail.genesis?.potential).toBe(4);
    expect(detail.counts).toMatchObject({ no_verdict: 0 });
    expect(Object.hasOwn(detail.header, 'unsandboxed') || Object.hasOwn(detail.header, 'experimentalSandbox')).toBe(false);
    const runs = (await Promise.all([1, 2, 3, 4].map((n) => verdictOf(detail.id, n)))).flat();
    expect(runs.length).toBeGreaterThan(0);
    for (const one of runs) expect(one).toMatchObject({ sandbox: { backend: 'bubblewrap' } });
    for (const text of await excerpts(detail.id, 4)) expect(text).not.toContain('tamper-evident');
    expect(detail.contractBody.verifier).toMatchObject({ runsCandidate: true, isolation: 'separate' });
  });
});

test.skipIf(missing !== null)(
  '"tamper-evident only" stands first in what a proposer is shown of the verdicts of a shared task',
  async () => {
    const folderOf = path.join(folder.path, 'shared-task');
    cpSync(task, folderOf, { recursive: true });
    const toml = path.join(folderOf, 'task.toml');
    writeFileSync(toml, readFileSync(toml, 'utf8').replace('isolation = "separate"', 'isolation = "shared"'));
    const detail = await runOf({ attempts: 4, task: folderOf });
    expect(detail.contractBody.verifier.isolation).toBe('shared');
    const texts = await excerpts(detail.id, 4);
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) expect(text.split('\n', 1)[0]).toBe(tamperEvidentLabel);
  },
);

test('unsandboxed stands in the header and in every verdict', async () => {
  const detail = await runOf({ attempts: 2, unsandboxed: true });
  for (const text of await excerpts(detail.id, 2)) expect(text.split('\n', 1)[0]).toBe(tamperEvidentLabel);
  expect(detail.header.unsandboxed).toBe(true);
  const runs = (await Promise.all([verdictOf(detail.id, 1), verdictOf(detail.id, 2)])).flat();
  expect(runs.length).toBeGreaterThan(0);
  for (const one of runs) expect(one).toMatchObject({ unsandboxed: true });
});

test('a task that runs no candidate code has nothing to be let off from', async () => {
  const data = path.resolve(import.meta.dirname, '../../fixtures/tasks/counting');
  expect(Object.hasOwn((await runOf({ attempts: 1, unsandboxed: true, task: data })).header, 'unsandboxed')).toBe(false);
});

test('where there is none, a run is refused with what would change it; everything else goes on', async () => {
  const message = 'bubblewrap is not installed; this would change it: apt-get install -y bubblewrap';
  const verifiers = {
    ...createScriptedVerifier(),
    sandbox: () =>
      Promise.resolve({
        available: false,
        backend: 'bubblewrap',
        version: null,
        experimental: false,
        guarantees: noGuarantees,
        message,
        remedy: null,
      }),
  };
  const code = makeContract({ verifier: { kind: 'command', command: ['sh'], file: null, runsCandidate: true, isolation: 'separate' } });
  await expect(sandboxOrRefuse(verifiers, code, false)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/needs a sandbox: bubblewrap is not installed.*apt-get install -y bubblewrap.*unsandboxed/),
  });
  expect(await sandboxOrRefuse(verifiers, code, true)).toEqual({});
  const placed = { ...code, verifier: { ...code.verifier, places: [{ at: '/app', from: null }] } };
  await expect(sandboxOrRefuse(verifiers, placed, true)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/expects its files at \/app, which only a sandbox has/),
  });
  await sandboxOrRefuse(verifiers, makeContract(), false);
  await sandboxOrRefuse(verifiers, makeContract({ verifier: { runsCandidate: true, isolation: 'separate' } }), false);
});

test('an experimental sandbox stands in the header, and a run goes on in no other kind', async () => {
  const code = makeContract({ verifier: { kind: 'command', command: ['sh'], file: null, runsCandidate: true, isolation: 'separate' } });
  const found = (experimental: boolean) => ({
    sandbox: () =>
      Promise.resolve({ available: true, backend: 'x', version: '1', experimental, guarantees: noGuarantees, message: '', remedy: null }),
  });
  expect(await sandboxOrRefuse(found(true), code, false)).toEqual({ experimentalSandbox: 'x' });
  expect(await sandboxOrRefuse(found(true), code, true)).toEqual({});
  expect(await sandboxOrRefuse(found(false), code, false)).toEqual({});
  expect(await sandboxOrRefuse(found(true), makeContract(), false)).toEqual({});
  const { header } = await runOf({ attempts: 1, unsandboxed: true });
  sameSandbox(header, {});
  sameSandbox({ ...header, experimentalSandbox: 'x' }, { experimentalSandbox: 'x' });
  expect(() => sameSandbox(header, { experimentalSandbox: 'x' })).toThrow(
    /began in a sandbox that is not experimental, and here there is the experimental sandbox x/,
  );
  expect(() => sameSandbox({ ...header, experimentalSandbox: 'x' }, {})).toThrow(/began in the experimental sandbox x/);
});
