// What `npm run dev` starts again after each build: the server as it is built, without building first.
import { runBuiltCli } from './built-cli.ts';

await runBuiltCli(['serve', ...process.argv.slice(2)]);
