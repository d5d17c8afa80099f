// A process that dies before the k-th step of a write. Arguments: data folder, name of the write, k. Run by faults.test.ts.
import { join } from 'node:path';
import { openWritable } from '#electron/store/db.ts';
import { migrate } from '#electron/store/migrations/migrate.ts';
import { ensure } from '#shared/lib/assert.ts';
import { storeWrites } from './writes.ts';

const [dir = '', name = '', k = ''] = process.argv.slice(2);
let left = Number.POSITIVE_INFINITY;
const db = openWritable(join(dir, 'pawl.db'), join(dir, 'blobs'), {
  beforeStep: () => {
    if (--left === 0) process.kill(process.pid, 'SIGKILL');
  },
});
migrate(db);
const { prepare } = ensure(
  storeWrites.find((write) => write.name === name),
  `a write called ${name}`,
);
const write = prepare(db);
left = Number(k);
write(db);
