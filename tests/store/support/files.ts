// Names inside a data folder.
import { join } from 'node:path';

export const databaseFile = (dir: string): string => join(dir, 'pawl.db');

/** The log of the database: where a commit stands until a checkpoint. */
export const logFile = (dir: string): string => `${databaseFile(dir)}-wal`;
