// The commit that a checkout stands at, from the text of .git/HEAD and of the references beside it. No git is run, no object is read.
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { checkPath } from '#shared/domain/tree-id.ts';
import { err, ok, type Result } from '#shared/lib/result.ts';
import { readOne } from '../read-folder.ts';

const refBytes = 4_096;
const packedBytes = 64 * 1024 * 1024;
/** A reference may name a reference; HEAD does. */
const maxSteps = 5;

const latin = new TextDecoder('latin1');
const shaLine = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** What is wrong, as the end of a sentence that begins with the name of `file` (relative to the checkout). */
export type HeadProblem = { readonly file: string; readonly message: string };

/** Full SHA of the commit that `checkout` (absolute, real) is at. */
export async function readHead(checkout: string): Promise<Result<string, HeadProblem>> {
  const fail = (file: string, message: string) => err({ file, message });
  const git = await lstat(path.join(checkout, '.git')).catch(() => null);
  if (git === null) return fail('.git', 'is missing, so nobody can say which commit the files are of');
  if (!git.isDirectory())
    return fail('.git', 'is no folder (a linked work tree, a submodule or a link); make a clone of its own with git clone');
  let name = 'HEAD';
  for (let step = 0; step < maxSteps; step++) {
    const file = `.git/${name}`;
    const read = await readOne(checkout, file, refBytes);
    if (!read.ok) {
      if (read.error.code !== 'missing_file' || name === 'HEAD') return fail(file, read.error.message);
      const packed = await packedRef(checkout, name);
      return packed === null ? fail(file, 'is missing, and so is its line in .git/packed-refs') : ok(packed);
    }
    const text = latin.decode(read.value.bytes).trim();
    if (shaLine.test(text)) return ok(text);
    const ref = /^ref: (refs\/\S+)$/.exec(text)?.[1];
    if (ref === undefined) return fail(file, 'holds neither a commit nor the name of a reference');
    if (ref === 'refs/heads/.invalid') return fail(file, 'has its references in a reftable; run git refs migrate --ref-format=files in it');
    // A name from a file: it may lead nowhere but below .git/.
    if (!checkPath(ref).ok) return fail(file, 'names a reference that is no plain path');
    name = ref;
  }
  return fail('.git/HEAD', 'leads from reference to reference without an end');
}

async function packedRef(checkout: string, name: string): Promise<string | null> {
  const read = await readOne(checkout, '.git/packed-refs', packedBytes);
  if (!read.ok) return null;
  for (const line of latin.decode(read.value.bytes).split('\n')) {
    const at = line.indexOf(' ');
    if (at > 0 && line.slice(at + 1).trimEnd() === name && shaLine.test(line.slice(0, at))) return line.slice(0, at);
  }
  return null;
}
