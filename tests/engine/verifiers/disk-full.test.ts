// A disk without room for a candidate: no verdict and no fault of the verifier's, and nothing stays behind.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';

const small = mkdtempSync(path.join(tmpdir(), 'pawl-full-'));
afterAll(() => rmSync(small, { recursive: true }));
// Not in a user namespace: in one, root is the only user, and as root verifiers do not run.
const onSmallDisk = (script: string) =>
  spawnSync('unshare', ['--mount', 'sh', '-c', `mount -t tmpfs -o size=1m,mode=1777 tmpfs "$1" && ${script}`, 'sh', small], {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: small },
  });
const probe = process.platform === 'linux' ? onSmallDisk('true') : null;
const missing =
  probe === null
    ? `there is none on ${process.platform}`
    : probe.status === 0
      ? null
      : `a small disk cannot be made here: ${(probe.error?.message ?? probe.stderr).trim()}`;
if (missing !== null) process.stderr.write(`SKIPPED verifications on a disk of 1 MB: ${missing}\n`);

test.skipIf(missing !== null)('a candidate that does not fit is no_verdict/infra, the next one that does is ranked', () => {
  const { status, stdout, stderr } = onSmallDisk(`exec "${process.execPath}" "${path.join(import.meta.dirname, 'full-disk.ts')}"`);
  expect([status, stderr]).toEqual([0, '']);
  expect(JSON.parse(stdout)).toMatchObject([
    { verdict: { kind: 'no_verdict', code: 'infra', message: expect.stringContaining('ENOSPC: no space left on device') }, leftovers: [] },
    { verdict: { kind: 'ranked', rank: [0, 0] }, leftovers: [] },
  ]);
});
