// `pawl doctor`: what a model server is and can do.
import type { ServerAddress } from '#shared/contract/run.ts';
import type { DoctorCheck, DoctorReport } from '#shared/contract/server.ts';
import { RpcError } from '#shared/contract/errors.ts';
import { clearStep, interruptible, showStep } from './following.ts';
import { exitCodes, plain, report as reportError, type CliIo, type CommonOptions } from './io.ts';
import { withEngine } from './with-engine.ts';

/** Exit code 0 when the server is healthy, 1 otherwise. */
export async function doctor(io: CliIo, options: CommonOptions, server: ServerAddress, model: string | undefined): Promise<number> {
  let found: DoctorReport;
  try {
    found = await withEngine(io, options, ['unavailable'], (engine) =>
      interruptible(io, async (signal) => {
        const input = { server, ...(model === undefined ? {} : { model }) };
        for await (const item of engine.client.stream('server.doctor', input, { window: 4, signal })) {
          if (item.kind === 'check') showStep(io, `${item.check.check}: ${plain(item.check.message)}`);
          else {
            clearStep(io);
            return item.report;
          }
        }
        clearStep(io);
        throw new RpcError('cancelled', 'the examination was ended before its report');
      }),
    );
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== 'cancelled') throw error;
    await reportError(io, options.json, error);
    return exitCodes.failed;
  }
  await io.out(options.json ? `${JSON.stringify(found)}\n` : doctorText(found));
  return found.healthy ? exitCodes.ok : exitCodes.failed;
}

const statusWords: Readonly<Record<DoctorCheck['status'], string>> = { ok: 'ok', note: 'note', failed: 'FAILED', skipped: 'skipped' };

/** The report for people, a line a check. */
export function doctorText({ baseUrl, checks, healthy, requests, ms }: DoctorReport): string {
  const width = Math.max(...checks.map(({ check }) => check.length));
  const lines = checks.map(({ check, status, message }) => `${check.padEnd(width)}  ${statusWords[status].padEnd(7)}  ${plain(message)}`);
  return `${baseUrl}\n${lines.join('\n')}\n${healthy ? 'healthy' : 'NOT healthy'}, after ${requests} requests in ${(ms / 1_000).toFixed(1)} s\n`;
}
