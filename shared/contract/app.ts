// Facts about the engine itself, and the counter that tells clients what has changed.
import { z } from 'zod';
import { Count, RunId } from '#shared/domain/ids.ts';
import { command, query, stream } from './procedure.ts';

export const AppInfo = z.strictObject({
  version: z.string(),
  dataDir: z.string(),
  node: z.string(),
  sqlite: z.string(),
  /** Whether candidate code may run here, and what was found or what would fix it. */
  sandbox: z.strictObject({
    available: z.boolean(),
    backend: z.string().nullable(),
    experimental: z.boolean(),
    /** What an available one does not hold, by name. */
    lacks: z.array(z.string()),
    message: z.string(),
  }),
  /** Sample tasks shipped with the app. */
  samples: z.array(z.strictObject({ id: z.string(), title: z.string(), path: z.string() })),
});
export type AppInfo = z.infer<typeof AppInfo>;

/** One change in the folder. `journal` counts over all runs; a gap means that items were merged, never that one was lost. */
export const JournalItem = z.strictObject({ journal: Count, run: RunId, type: z.string() });
export type JournalItem = z.infer<typeof JournalItem>;

export const appContract = {
  'app.info': query(z.strictObject({}), AppInfo),
  /** Everything after `after`, then live. Never ends by itself. */
  'app.journal': stream(z.strictObject({ after: Count }), JournalItem),
  /** Stored settings of the interface (theme, language); unknown keys are refused. */
  'settings.get': query(
    z.strictObject({}),
    z.strictObject({ theme: z.enum(['system', 'light', 'dark']), language: z.enum(['system', 'en', 'ko']) }),
  ),
  'settings.set': command(
    z.strictObject({ theme: z.enum(['system', 'light', 'dark']).optional(), language: z.enum(['system', 'en', 'ko']).optional() }),
    z.strictObject({ theme: z.enum(['system', 'light', 'dark']), language: z.enum(['system', 'en', 'ko']) }),
  ),
} as const;
