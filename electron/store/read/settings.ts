// Settings of the interface, with their defaults.
import { z } from 'zod';
import type { Settings } from '../api.ts';
import { type ReadableDb, sql } from '../db.ts';

const selectSettings = sql<{ key: string; value: string }>('SELECT key, value FROM setting');

// A value that this version does not know (written by another) falls back to the default, and so does a missing one.
const Stored = z.object({
  theme: z.enum(['system', 'light', 'dark']).catch('system'),
  language: z.enum(['system', 'en', 'ko']).catch('system'),
});

export function getSettings(db: ReadableDb): Settings {
  return Stored.parse(Object.fromEntries(db.all(selectSettings).map(({ key, value }): [string, unknown] => [key, JSON.parse(value)])));
}
