// Where a user's data lives: one answer for every host. Electron's userData holds only Chromium's files.
import { accessSync, constants, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { RpcError } from '#shared/contract/errors.ts';

export type DataDirInput = {
  /** `--data DIR`; wins over PAWL_DATA. */
  readonly option?: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
  readonly platform?: NodeJS.Platform;
  readonly home?: string;
};

/** The platform's folder for Pawl, `--data` or PAWL_DATA instead of it; an absolute path, nothing is created. */
export function dataDirPath({ option, env = process.env, platform = process.platform, home = homedir() }: DataDirInput = {}): string {
  const chosen = option ?? env['PAWL_DATA'];
  if (chosen !== undefined && chosen !== '') return fromCallersFolder(chosen, env);
  if (platform === 'darwin') return path.join(home, 'Library/Application Support/Pawl/data');
  if (platform === 'win32') return path.join(env['LOCALAPPDATA'] ?? path.join(home, 'AppData/Local'), 'Pawl');
  // The XDG specification tells readers to ignore a relative value.
  const base = env['XDG_DATA_HOME'];
  return path.join(base !== undefined && path.isAbsolute(base) ? base : path.join(home, '.local/share'), 'pawl');
}

/** Resolves a path as the person meant it: npm starts scripts in the package's folder and leaves the caller's in INIT_CWD. */
export function fromCallersFolder(file: string, env: NodeJS.ProcessEnv = process.env): string {
  return path.resolve(env['INIT_CWD'] ?? process.cwd(), file);
}

/** Creates the folder (0700) where it is missing, checks that it can be written, returns its real path. Throws `unavailable` naming it. */
export function openDataDir(dir: string): string {
  try {
    makeFolders(dir);
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
    return realpathSync(dir);
  } catch (error) {
    const { code, at } = z.object({ code: z.string().optional(), at: z.string().optional() }).catch({}).parse(error);
    const why = code === undefined ? undefined : reasons[code];
    const where = at === undefined || at === dir ? '' : `${at} cannot be made: `;
    throw new RpcError(
      'unavailable',
      `the data folder ${dir} cannot be used: ${where}${why ?? String(error)}. Give another one with --data DIR or PAWL_DATA.`,
      {
        file: dir,
      },
    );
  }
}

/** As mkdir -p, from the top; Node's own does not return where a file system (such as /proc) has no room for folders and says ENOENT. */
function makeFolders(dir: string): void {
  const missing: string[] = [];
  for (let at = dir; !existsSync(at); at = path.dirname(at)) missing.unshift(at);
  if (missing.length === 0 && !statSync(dir).isDirectory()) throw Object.assign(new Error(`${dir} is a file`), { code: 'EEXIST' });
  for (const at of missing) {
    try {
      mkdirSync(at, { mode: 0o700 });
    } catch (error) {
      // Another Pawl may be making it as well.
      if (statSync(at, { throwIfNoEntry: false })?.isDirectory() !== true) throw Object.assign(Object(error), { at });
    }
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'it may not be created or written by this user',
  EPERM: 'it may not be created or written by this user',
  EROFS: 'its file system is read-only',
  ENOENT: 'its file system takes no new folders',
  EEXIST: 'there is a file of that name',
  ENOTDIR: 'a part of its path is a file',
  ENOSPC: 'the disk is full',
  ENAMETOOLONG: 'its path is too long',
};
