// Settings of the interface.
import type { Settings } from '../api.ts';
import { sql, type WritableDb } from '../db.ts';
import { getSettings } from '../read/settings.ts';

const upsert = sql('INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value');

/** Stores what is given and returns all settings. */
export function setSettings(db: WritableDb, settings: Partial<Settings>): Settings {
  return db.transaction(() => {
    for (const [key, value] of Object.entries(settings)) db.run(upsert, key, JSON.stringify(value));
    return getSettings(db);
  });
}
