// Where a tool's report may be.
import { checkPath } from '#shared/domain/tree-id.ts';

/** Whether a tool may write its report there, inside the task's folder: nothing that was laid out is then mistaken for a report. */
export const isReportPath = (path: string): boolean =>
  checkPath(path).ok && !['artifact', 'verifier'].includes((path.split('/', 1)[0] ?? '').toLowerCase());
