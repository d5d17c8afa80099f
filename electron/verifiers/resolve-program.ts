// Finds the program of a command verifier where the verifier itself would find it, once per run; path and version stand in the header.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { verifierPath } from './command-run.ts';
import { verifierOwner } from './sandbox/unprivileged.ts';
import { codeOf } from './temp-folder.ts';

export type Resolved = { readonly path: string; readonly version: string } | { readonly error: string };

const versionMs = 5_000;

// One file under many names, which looks at the name it was called by: its real path would be another program.
const multiCall = new Set(['busybox', 'toybox', 'coreutils', 'uutils']);

const isProgram = async (file: string): Promise<boolean> => {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
};

/**
 * First line that `file --version` prints, run as whom the verifier will be; null when it fails, says nothing or takes longer than 5 s. An
 * object says why whoever that is may not start it.
 */
const askVersion = (file: string): Promise<string | null | { readonly error: string }> =>
  new Promise((resolve) => {
    const owner = verifierOwner();
    if (typeof owner === 'string') {
      resolve({ error: owner });
      return;
    }
    const child = spawn(file, ['--version'], {
      cwd: '/',
      env: { PATH: verifierPath, LANG: 'C.UTF-8' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      ...owner,
    });
    let text = '';
    const take = (chunk: Buffer) => {
      if (text.length < 4_096) text += chunk.toString('latin1');
    };
    const timer = setTimeout(() => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // Ended at this moment.
      }
    }, versionMs);
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.once('error', (error) => {
      clearTimeout(timer);
      const denied = owner !== null && codeOf(error) === 'EACCES';
      const why = `${file} may be started by root only; Pawl runs as root, and its verifiers as a user without rights (${owner?.uid})`;
      resolve(denied ? { error: `${why}: install the program where all may reach it, or run Pawl as another user` } : null);
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      // The header is canonical JSON and shown: printable ASCII only.
      const line = (text.split('\n', 1)[0] ?? '').replaceAll(/[^\x20-\x7e]/g, '').trim();
      resolve(code === 0 && line !== '' ? line.slice(0, 200) : null);
    });
  });

const sha256File = async (file: string): Promise<string> => {
  const digest = createHash('sha256');
  await pipeline(createReadStream(file), digest);
  return digest.digest('hex');
};

/**
 * Resolves `command[0]`: a name on the verifiers' PATH, an absolute path, or `verifier/...` of the task (kept relative; its bytes are in
 * the contract). The version is the first line of `--version`, else `sha256:` and the hash of the file. The error names what was looked
 * for and where.
 */
export async function resolveProgram(command: readonly string[], taskDir: string): Promise<Resolved> {
  const name = command[0] ?? '';
  if (name.startsWith('verifier/')) {
    const file = path.join(taskDir, name);
    if (!(await isProgram(file))) return { error: `${name} is missing in the task folder or not executable (chmod +x ${name})` };
    return { path: name, version: `sha256:${await sha256File(file)}` };
  }
  const candidates = path.isAbsolute(name)
    ? [name]
    : name.includes('/')
      ? []
      : verifierPath.split(':').map((folder) => path.join(folder, name));
  if (candidates.length === 0)
    return { error: `${JSON.stringify(name)} is neither a name on ${verifierPath}, an absolute path nor a file of verifier/` };
  for (const file of candidates) {
    if (!(await isProgram(file))) continue;
    const real = await realpath(file);
    const own = multiCall.has(path.basename(real)) ? file : real;
    const version = await askVersion(own);
    if (typeof version === 'object' && version !== null) return version;
    return { path: own, version: version ?? `sha256:${await sha256File(own)}` };
  }
  return path.isAbsolute(name)
    ? { error: `there is no program ${name}` }
    : {
        error: `there is no program called ${JSON.stringify(name)} in ${verifierPath.split(':').join(', ')}, the only folders that a verifier's PATH has; install it there or name it by its absolute path`,
      };
}
