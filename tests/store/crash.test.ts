// A killed writer loses nothing that it has acknowledged, and leaves nothing half done.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { verifyEventChain } from '#shared/domain/event-chain.ts';
import { sql } from '#electron/store/db.ts';
import { getBlob, getManifest } from '#electron/store/read/blobs.ts';
import { getChain } from '#electron/store/read/bundles.ts';
import { getSummary, listRuns } from '#electron/store/read/runs.ts';
import { recover } from '#electron/store/write/recover.ts';
import { database, temporaryFolder } from './support/database.ts';

const writer = fileURLToPath(new URL('support/kill-writer.ts', import.meta.url));

test.each([3, 11, 17, 24, 40])('killed after %i acknowledged commits', async (commits) => {
  const dir = temporaryFolder();
  const child = spawn(process.execPath, [writer, dir], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8');
  const acknowledged = () => Number(said.trimEnd().split('\n').at(-1) ?? 0);
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: string) => {
      said += chunk;
      if (said.endsWith('\n') && acknowledged() >= commits) resolve();
    });
    child.once('exit', (code) => reject(new Error(`the writer ended by itself (${code})`)));
  });
  child.removeAllListeners('exit');
  child.kill('SIGKILL');
  await once(child, 'close');
  const last = acknowledged();

  const db = database(dir);
  const [run] = listRuns(db, { limit: 1 }).runs;
  expect(run?.counts.commit).toBeGreaterThanOrEqual(last);
  // At most one round was under way when it was killed, and it may have been durable already.
  expect(run?.counts.commit).toBeLessThanOrEqual(last + 1);
  const id = run?.id ?? '';
  // Slots that have no transition yet.
  const open = db.get(sql<{ n: number }>('SELECT count(*) AS n FROM round_slot WHERE key > (SELECT max(key) FROM transition)'))?.n ?? 0;
  expect(recover(db, '2026-05-01T00:00:00.000Z')).toHaveLength(open > 0 ? 1 : 0);
  const after = getSummary(db, id);
  expect(after?.counts.aborted).toBe(open);
  expect(after?.transitions).toBe(2 * (run?.counts.commit ?? 0) + open);
  expect(db.get(sql<{ n: number }>('SELECT count(*) AS n FROM transition'))?.n).toBe(after?.transitions);
  expect(db.get(sql<{ n: number }>('SELECT count(*) AS n FROM memory'))?.n).toBe((after?.transitions ?? 0) - (after?.counts.commit ?? 0));
  const chain = getChain(db, id);
  expect(chain.count).toBe((run?.counts.commit ?? 0) + 1);
  expect([...chain.ranks]).toEqual(Array.from({ length: chain.count }, (_, i) => 100_000 - i));
  expect(after?.head?.id).toBe(chain.ids.at(-1));
  expect(verifyEventChain(db.all(sql<{ line: string }>('SELECT line FROM event ORDER BY key')).map(({ line }) => line))).toMatchObject({
    ok: true,
  });
  for (const { sha } of db.all(sql<{ sha: string }>('SELECT sha FROM tree'))) {
    for (const file of getManifest(db, sha) ?? []) expect(getBlob(db, file.sha)?.length).toBe(file.size);
  }
  expect(db.all(sql<{ integrity_check: string }>('PRAGMA integrity_check'))).toEqual([{ integrity_check: 'ok' }]);
});
