// The engine's log: JSON lines in the data folder, for people who look for the cause of something that the window only names.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { destination, pino } from 'pino';

export type Fields = Readonly<Record<string, unknown>>;

export type Log = {
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  /** Keeps an unexpected failure whole and returns the id under which it stands in the log. */
  internal(error: unknown, where: string): string;
  /** Writes what is still in memory. */
  close(): Promise<void>;
};

/** Opens `logs/engine.jsonl` under the data folder for appending. A log that cannot be written never stops the engine. */
export function openLog(dataDir: string): Log {
  const file = destination({ dest: path.join(dataDir, 'logs', 'engine.jsonl'), mkdir: true, sync: false, append: true });
  // Without a listener a full disk would end the process.
  file.on('error', () => {});
  const logger = pino({ base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime }, file);
  return {
    info: (message, fields = {}) => logger.info(fields, message),
    warn: (message, fields = {}) => logger.warn(fields, message),
    internal: (error, where) => {
      const id = randomBytes(6).toString('hex');
      logger.error({ id, where, err: error instanceof Error ? error : new Error(String(error)) }, 'internal error');
      return id;
    },
    close: () =>
      new Promise((resolve) => {
        file.once('close', resolve);
        file.once('error', () => resolve());
        file.end();
      }),
  };
}
