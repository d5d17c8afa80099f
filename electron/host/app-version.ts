// The version in package.json: shown, sent in every hello, written nowhere else.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { appRoot } from './entries.ts';

export const appVersion: string = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(path.join(appRoot, 'package.json'), 'utf8'))).version;
