// The whole contract between a client and the engine. Handlers and client types are derived from it.
import { appContract } from './app.ts';
import { auditContract } from './audit.ts';
import { preflightContract } from './preflight.ts';
import { replayContract } from './replay.ts';
import { runContract } from './run.ts';
import { selectionContract } from './selection.ts';
import { serverContract } from './server.ts';
import { taskContract } from './task.ts';
import type { ProcedureTable } from './procedure.ts';

export const contract = {
  ...appContract,
  ...taskContract,
  ...preflightContract,
  ...runContract,
  ...replayContract,
  ...auditContract,
  ...selectionContract,
  ...serverContract,
} as const satisfies ProcedureTable;
export type Contract = typeof contract;
