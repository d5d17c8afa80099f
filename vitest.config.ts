import { existsSync } from 'node:fs';
import react from '@vitejs/plugin-react';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';

const chromium = process.env['PAWL_CHROMIUM'] ?? '/usr/bin/chromium';
const chromiumArgs = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

const node = (name: string, timeout = 20_000) => ({
  test: { name, include: [`tests/${name}/**/*.test.ts`], environment: 'node' as const, testTimeout: timeout, hookTimeout: timeout },
});

export default defineConfig({
  test: {
    projects: [
      node('unit'),
      node('property', 60_000),
      node('store', 60_000),
      node('engine', 60_000),
      ...(existsSync(chromium)
        ? [
            {
              plugins: [react()],
              // Found before the first test: a dependency that is optimised meanwhile reloads the page under a running test.
              optimizeDeps: { entries: ['tests/component/**/*.test.tsx'], include: ['react/jsx-dev-runtime', 'react-dom/client'] },
              test: {
                name: 'component',
                include: ['tests/component/**/*.test.tsx'],
                browser: {
                  enabled: true,
                  headless: true,
                  provider: playwright({ launchOptions: { executablePath: chromium, args: chromiumArgs } }),
                  instances: [{ browser: 'chromium' as const }],
                },
              },
            },
          ]
        : []),
    ],
  },
});
