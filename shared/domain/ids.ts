// Identifiers shared by every record of a governed run.
import { z } from 'zod';

/** Lowercase hex SHA-256 (64 characters). */
export const Sha = z.string().regex(/^[0-9a-f]{64}$/, 'a lowercase hex SHA-256');
export type Sha = z.infer<typeof Sha>;

/** `run_` and a UUIDv7; sorts by time of creation. */
export const RunId = z.string().regex(/^run_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, 'a run id');
export type RunId = z.infer<typeof RunId>;

/** Non-negative safe integer: counts, sizes, numbers of transitions. */
export const Count = z.int().min(0);
