// Serves the fake-engine page on loopback: `node tests/support/fake-engine/serve.ts [port]`. Prints its address.
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { createServer } from 'vite';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const server = await createServer({
  root,
  configFile: false,
  plugins: [react()],
  server: { host: '127.0.0.1', port: Number(process.argv[2] ?? '5199'), strictPort: true },
  optimizeDeps: { entries: ['tests/support/fake-engine/index.html'] },
});
await server.listen();
process.stdout.write(`${server.resolvedUrls?.local[0] ?? ''}tests/support/fake-engine/\n`);
