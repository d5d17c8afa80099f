// Which paths of an artifact a candidate may write. One rule for the check of candidates, the loader of tasks, the page and the command line.
import picomatch from 'picomatch';
import type { ArtifactRules } from './contract.ts';

/** Whether a candidate may add, change or remove `path`: some writable glob names it and no protected one does. */
export type IsWritable = (path: string) => boolean;

// Task files mean the same on every system: `/` separates, case counts, a leading dot is a letter like others.
const globOptions = { dot: true, windows: false } as const;

type Globs = Pick<ArtifactRules, 'writable' | 'protectedPaths'>;

// Every candidate of a run is held to the same rules, and compiling them takes longer than using them.
const matchers = new WeakMap<Globs, IsWritable>();

/** Compiles the globs of `rules`, once for each object. Paths are relative to the artifact. */
export function writableMatcher(rules: Globs): IsWritable {
  const known = matchers.get(rules);
  if (known !== undefined) return known;
  const made = compileGlobs(rules);
  matchers.set(rules, made);
  return made;
}

function compileGlobs(rules: Globs): IsWritable {
  const writable = picomatch([...rules.writable], globOptions);
  if (rules.protectedPaths.length === 0) return (path) => writable(path);
  const isProtected = picomatch([...rules.protectedPaths], globOptions);
  return (path) => writable(path) && !isProtected(path);
}
