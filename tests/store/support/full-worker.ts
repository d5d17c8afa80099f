// A thread of the store whose disk is full while there is a file `disk-full` in its data folder.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { workerData } from 'node:worker_threads';
import { z } from 'zod';
import { serveThread } from '#electron/store/thread.ts';

const { file } = z.object({ file: z.string() }).parse(workerData);
const mark = path.join(path.dirname(file), 'disk-full');
serveThread({
  beforeStep: (step) => {
    const grows = step.kind === 'file' ? step.step === 'write' : step.text === 'COMMIT';
    if (grows && existsSync(mark)) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  },
});
