// What went wrong inside, for whoever has to find out why: one JSON object a line in the data folder's logs/.
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';

/** The file is set aside (one older one is kept) when it has grown so far. */
const maxBytes = 4 << 20;

/** Returns a function that keeps an error and gives the id under which it stands in `logs/engine.jsonl`. It never throws. */
export function createErrorLog(dataDir: string): (error: unknown, name: string) => string {
  const file = path.join(dataDir, 'logs/engine.jsonl');
  return (error, name) => {
    const id = randomBytes(5).toString('hex');
    const entry = {
      at: new Date().toISOString(),
      id,
      name,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
    try {
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > maxBytes) renameSync(file, `${file}.old`);
      appendFileSync(file, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
    } catch {
      // A full disk must not turn one failure into two; the client still sees the message.
    }
    return id;
  };
}
