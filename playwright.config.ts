// End-to-end tests against the built app (`npm test` builds it): `e2e` on the web host and the command line, `shell` on the Electron app.
import { defineConfig } from '@playwright/test';
import { chromiumArgs, chromiumPath } from './tests/support/chromium.ts';

const executablePath = chromiumPath();
if (executablePath === null)
  process.stderr.write('No Chromium (PAWL_CHROMIUM or /usr/bin/chromium): every test that needs a browser is SKIPPED.\n');

export default defineConfig({
  workers: 1,
  forbidOnly: true,
  reporter: 'list',
  // Generous: every test waits for a condition, and a loaded machine is no fault of the app.
  timeout: 180_000,
  expect: { timeout: 20_000 },
  ...(executablePath === null ? { grepInvert: /@browser/ } : {}),
  use: { launchOptions: { ...(executablePath === null ? {} : { executablePath }), args: [...chromiumArgs] } },
  projects: [
    { name: 'e2e', testDir: 'tests/e2e' },
    { name: 'shell', testDir: 'tests/shell', ...(executablePath === null ? { testIgnore: '**/*' } : {}) },
  ],
});
