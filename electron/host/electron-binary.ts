// Electron's program file. The npm package brings none: it is downloaded at the first start, or lies where ELECTRON_OVERRIDE_DIST_PATH says.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { appRoot } from './entries.ts';

/** The file, or null where there is none. */
export function electronBinary(env: NodeJS.ProcessEnv = process.env): string | null {
  const folder = path.join(appRoot, 'node_modules/electron');
  const pathFile = path.join(folder, 'path.txt');
  // Written by Electron's own installer; an override folder need not have been installed by it.
  const name = existsSync(pathFile) ? readFileSync(pathFile, 'utf8').trim() : names[process.platform];
  if (name === undefined) return null;
  const file = path.join(env['ELECTRON_OVERRIDE_DIST_PATH'] ?? path.join(folder, 'dist'), name);
  return existsSync(file) ? file : null;
}

/** Electron's installer, run with Node. */
export const electronInstaller: string = path.join(appRoot, 'node_modules/electron/install.js');

const names: Partial<Record<NodeJS.Platform, string>> = {
  linux: 'electron',
  darwin: 'Electron.app/Contents/MacOS/Electron',
  win32: 'electron.exe',
};
