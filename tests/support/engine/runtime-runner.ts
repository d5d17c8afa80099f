// A runner whose sandbox is that of macOS, as it works on Linux: the entry of a process that tests start. It runs command verifiers only.
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { fromParentProcess } from '#electron/host/ports/process-ipc.ts';
import { createRunner } from '#electron/verifiers/runner-main.ts';
import { createSandboxRuntime } from '#electron/verifiers/sandbox/runtime-backend.ts';

const thread = () => new Worker(fileURLToPath(new URL('../../../electron/verifiers/runner.ts', import.meta.url)));
const runner = createRunner({ createWorker: thread, createAdapterWorker: thread, sandbox: createSandboxRuntime('linux') });
runner.serve(fromParentProcess(process));
process.once('disconnect', () => void runner.close().then(() => process.exit(0)));
