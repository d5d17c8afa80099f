// `npm run pawl -- COMMAND`
import { buildAndRunCli } from './built-cli.ts';

await buildAndRunCli(process.argv.slice(2));
