// How this Linux lays out the folders that every program needs.
import { lstatSync, readlinkSync, statSync } from 'node:fs';
import type { SystemLayout } from './bubblewrap-argv.ts';

const kindOf = (path: string): 'folder' | 'link' | 'file' | null => {
  try {
    const stat = lstatSync(path);
    return stat.isSymbolicLink() ? 'link' : stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : null;
  } catch {
    return null;
  }
};

const exists = (path: string): boolean => {
  try {
    statSync(path);
    return true;
  } catch {
    return false;
  }
};

/** Reads the machine's root folder. Nothing of a user, and nothing of /etc but the linker's cache and Debian's alternatives, is part of it. */
export function systemLayout(): SystemLayout {
  const links: { path: string; to: string }[] = [];
  const layout = { folders: ['/usr'], links, files: new Array<string>() };
  for (const path of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/nix/store']) {
    const kind = kindOf(path);
    if (kind === 'folder') layout.folders.push(path);
    // A link that leads elsewhere than below /usr (as on no system known) has nothing to lead to inside.
    else if (kind === 'link') links.push({ path, to: readlinkSync(path) });
  }
  if (kindOf('/etc/alternatives') === 'folder') layout.folders.push('/etc/alternatives');
  if (kindOf('/etc/ld.so.cache') === 'file') layout.files.push('/etc/ld.so.cache');
  return layout;
}

/** First of `paths` that exists. */
export const firstOf = (...paths: readonly string[]): string | null => paths.find(exists) ?? null;

/** Whether `path` is the same file inside every sandbox as it is outside. */
export function isSystemPath(path: string, { folders, links }: SystemLayout): boolean {
  const parents = [...folders, ...links.map((link) => link.path)];
  return parents.some((folder) => path.startsWith(`${folder}/`));
}
