// What holds for the spec of every backend: its paths, and the environment of whatever runs inside.
import type { SandboxSpec } from './api.ts';

/** What a measurement must not depend on. `spec.env` may not name one of these. */
export const fixedEnvironment: Readonly<Record<string, string>> = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  TZ: 'UTC',
  LANG: 'C.UTF-8',
  LC_ALL: 'C.UTF-8',
  PYTHONHASHSEED: '0',
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONNOUSERSITE: '1',
  SOURCE_DATE_EPOCH: '315532800',
  OMP_NUM_THREADS: '1',
  OPENBLAS_NUM_THREADS: '1',
  MKL_NUM_THREADS: '1',
};

/** HOME and TMPDIR are set from the spec. */
const isFixed = (name: string): boolean => name === 'HOME' || name === 'TMPDIR' || Object.hasOwn(fixedEnvironment, name);

/** The whole environment of `spec`. */
export const environmentOf = ({ home, env }: Pick<SandboxSpec, 'home' | 'env'>): Record<string, string> => ({
  ...fixedEnvironment,
  HOME: home,
  TMPDIR: home,
  ...env,
});

/** Throws a RangeError for a name or a value that an environment of a sandbox may not have. */
export function checkEnvironment(env: SandboxSpec['env']): void {
  for (const [name, value] of Object.entries(env)) {
    if (isFixed(name)) throw new RangeError(`${name} is fixed for every sandbox`);
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new RangeError(`${JSON.stringify(name)} is no name of a variable`);
    if (value.includes('\0')) throw new RangeError(`NUL in ${name}`);
  }
}

/** Absolute, and the same however it is written. */
export const isPlainPath = (path: string): boolean =>
  path.startsWith('/') &&
  !path.includes('\0') &&
  path
    .slice(1)
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..');
