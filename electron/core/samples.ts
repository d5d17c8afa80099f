// The sample tasks that ship with the app.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { compareUtf8 } from '#shared/lib/text.ts';
import type { AppInfo } from '#shared/contract/app.ts';

const Head = z.object({ id: z.string(), title: z.string() });

/** Folders of `samplesDir` that hold a task.toml with an id and a title, by name. What cannot be read is left out: `task.inspect` says why. */
export async function findSamples(samplesDir: string): Promise<AppInfo['samples']> {
  const names = await readdir(samplesDir).catch(() => []);
  const found = await Promise.all(
    names.sort(compareUtf8).map(async (name) => {
      const folder = path.join(samplesDir, name);
      try {
        const head = Head.safeParse(parse(await readFile(path.join(folder, 'task.toml'), 'utf8')));
        return head.success ? [{ id: head.data.id, title: head.data.title, path: folder }] : [];
      } catch {
        return [];
      }
    }),
  );
  return found.flat();
}
