// First file of every npm script. It is plain JavaScript for old Nodes, so that a wrong version ends in a sentence and not in a
// syntax error (or, with better-sqlite3 13 on Node 20, in a segmentation fault). Usage: node launch.mjs FILE.ts [arguments]
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const [target = '', ...rest] = process.argv.slice(2);
const major = Number(process.versions.node.split('.')[0]);
// `npm install --ignore-scripts` leaves no Node 24 behind and npm then falls back to the system's Node.
const own = path.join(root, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node');

if (major >= 24) {
  const file = path.join(root, target);
  process.argv.splice(1, 2, file);
  await import(pathToFileURL(file).href);
} else if (existsSync(own)) {
  const child = spawn(own, [fileURLToPath(import.meta.url), target, ...rest], { stdio: 'inherit' });
  // Ctrl-C must not end us before the program that answers it.
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    if (signal !== null) {
      for (const name of signals) process.removeAllListeners(name);
      process.kill(process.pid, signal);
    } else process.exitCode = code ?? 1;
  });
} else {
  process.stderr.write(
    `Pawl needs Node 24; this is Node ${process.versions.node} and the copy that npm install brings is not there.\n` +
      `Run "npm install" in ${root} (without --ignore-scripts), or use a Node of version 24 or later.\n`,
  );
  process.exitCode = 1;
}
