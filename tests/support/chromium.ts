// The Chromium that end-to-end tests drive, and how it is started.
import { existsSync } from 'node:fs';

/** PAWL_CHROMIUM, or Debian's; null where there is none. */
export function chromiumPath(): string | null {
  const file = process.env['PAWL_CHROMIUM'] ?? '/usr/bin/chromium';
  return existsSync(file) ? file : null;
}

/** No sandbox of its own (tests run as root, in containers), no GPU, and nothing that calls home. */
export const chromiumArgs: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
