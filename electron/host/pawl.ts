// `npm run pawl -- COMMAND`
import { runBuiltCli } from './built-cli.ts';

await runBuiltCli(process.argv.slice(2));
