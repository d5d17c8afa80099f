// What a Dockerfile says of the files that a task begins with: where they are copied to, the working folder, variables. Nothing is built or
// run; every instruction that would have done something else is listed.
import type { TreeFile } from '#shared/domain/tree.ts';
import { parseTestPattern } from '#electron/verifiers/adapters/test-pattern.ts';

export type Instruction = {
  /** Upper case. */
  readonly name: string;
  readonly rest: string;
  /** From 1. */
  readonly line: number;
  /** Whether lines of a here-document followed, which are no part of `rest`. */
  readonly here: boolean;
};

/** The instructions of a Dockerfile: continued lines joined, comments and here-documents taken out. */
export function instructionsOf(text: string): Instruction[] {
  const lines = text.split(/\r?\n/);
  const escape = /^#\s*escape\s*=\s*(\S)\s*$/im.exec(lines.slice(0, 5).join('\n'))?.[1] ?? '\\';
  const found: Instruction[] = [];
  for (let i = 0; i < lines.length; i++) {
    const first = lines[i] ?? '';
    if (/^\s*(?:#|$)/.test(first)) continue;
    const line = i + 1;
    let whole = first;
    while (whole.trimEnd().endsWith(escape)) {
      whole = whole.trimEnd().slice(0, -1);
      do i++;
      while (i < lines.length && /^\s*#/.test(lines[i] ?? ''));
      if (i >= lines.length) break;
      whole += lines[i] ?? '';
    }
    const [, name = '', rest = ''] = /^\s*([A-Za-z]+)\s*([^]*)$/.exec(whole) ?? [];
    const marks = /^(?:run|copy|add)$/i.test(name) ? [...rest.matchAll(/<<-?(["']?)([A-Za-z_]\w*)\1/g)].map(([, , mark = '']) => mark) : [];
    for (const mark of marks) while (++i < lines.length && (lines[i] ?? '').replace(/^\t+/, '').trimEnd() !== mark);
    found.push({ name: name.toUpperCase(), rest: rest.trim(), line, here: marks.length > 0 });
  }
  return found;
}

export type Copy = { readonly sources: readonly string[]; readonly to: string; readonly line: number; readonly executable: boolean };

/** An instruction that has no effect here, or that cannot be understood. */
export type Left = { readonly name: string; readonly line: number; readonly why: string };

export type Image = {
  /** Absolute; null where none is said. */
  readonly workdir: string | null;
  readonly base: string | null;
  /** In their order, with absolute places. */
  readonly copies: readonly Copy[];
  readonly env: readonly (readonly [name: string, value: string])[];
  readonly left: readonly Left[];
};

/** `path` below `folder`, both with "/" and without a trace of "." and ".."; what leads above the root stays at it. */
export function absolute(folder: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith('/') ? path : `${folder}/${path}`).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

/** Words as a shell would see them, without expansion; null where a quote is not closed. */
export function words(text: string): string[] | null {
  const found: string[] = [];
  const word = /\s*((?:[^\s"'\\]|\\[^]|"(?:[^"\\]|\\[^])*"|'[^']*')+)/y;
  while (word.lastIndex < text.length) {
    const at = word.lastIndex;
    const match = word.exec(text);
    if (match === null) return /^\s*$/.test(text.slice(at)) ? found : null;
    found.push(
      (match[1] ?? '').replace(
        /\\([^])|"((?:[^"\\]|\\[^])*)"|'([^']*)'/g,
        (_, one: string | undefined, two: string | undefined, three: string | undefined) =>
          one ?? two?.replace(/\\([^])/g, '$1') ?? three ?? '',
      ),
    );
  }
  return found;
}

type Stage = { workdir: string | null; base: string | null; copies: Copy[]; env: Map<string, string>; left: Left[] };

/** Reads the last stage of a Dockerfile, with the stages that it begins with. */
export function readDockerfile(text: string): Image {
  const stages = new Map<string, Stage>();
  const args = new Map<string, string>();
  let stage: Stage = { workdir: null, base: null, copies: [], env: new Map(), left: [] };
  /** With the values of ENV and ARG; null where one is not known. */
  const expand = (value: string): string | null => {
    let unknown = false;
    const out = value.replace(
      /\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::-([^}]*))?\})/g,
      (_, bare?: string, braced?: string, fallback?: string) => {
        const known = stage.env.get(bare ?? braced ?? '') ?? args.get(bare ?? braced ?? '') ?? fallback;
        if (known === undefined) unknown = true;
        return known ?? '';
      },
    );
    return unknown || out.includes('${') ? null : out;
  };
  for (const { name, rest, line, here } of instructionsOf(text)) {
    const leave = (why: string) => void stage.left.push({ name, line, why });
    switch (name) {
      case 'FROM': {
        const [base = '', as, alias] = (words(rest) ?? []).filter((word) => !word.startsWith('--'));
        const earlier = stages.get(base.toLowerCase());
        stage =
          earlier === undefined
            ? { workdir: null, base, copies: [], env: new Map(), left: [] }
            : { ...earlier, copies: [...earlier.copies], env: new Map(earlier.env), left: [...earlier.left] };
        if (as?.toLowerCase() === 'as' && alias !== undefined) stages.set(alias.toLowerCase(), stage);
        break;
      }
      case 'WORKDIR': {
        const to = expand(words(rest)?.join(' ') ?? rest);
        if (to === null || to === '') leave('names a variable that is not known');
        else stage.workdir = absolute(stage.workdir ?? '/', to);
        break;
      }
      case 'ARG':
        for (const word of words(rest) ?? []) {
          const at = word.indexOf('=');
          if (at > 0) args.set(word.slice(0, at), expand(word.slice(at + 1)) ?? '');
        }
        break;
      case 'ENV': {
        const pairs = envPairs(rest);
        if (pairs === null) leave('cannot be read');
        else
          for (const [key, value] of pairs) {
            const known = expand(value);
            if (known === null || !/^[A-Za-z_]\w*$/.test(key)) leave(`${key} names a variable that is not known`);
            else stage.env.set(key, known);
          }
        break;
      }
      case 'COPY':
      case 'ADD': {
        const copied = here ? 'has its files in the Dockerfile' : copyOf(rest, line, (to) => absolute(stage.workdir ?? '/', to), expand);
        if (typeof copied === 'string') leave(copied);
        else if (name === 'ADD' && copied.sources.some((source) => /^\w+:\/\/|^git@|\.(?:tar|tgz|tar\.\w+)$/.test(source)))
          leave('fetches or unpacks');
        else stage.copies.push(copied);
        break;
      }
      case 'RUN':
        leave('is not run; what it installs or makes is not there');
        break;
      case 'CMD':
      case 'ENTRYPOINT':
      case 'HEALTHCHECK':
      case 'ONBUILD':
        leave('starts nothing here');
        break;
      case 'USER':
        leave('is not carried: verifications run as a user without rights');
        break;
      case 'EXPOSE':
        leave('is not carried: there is no network');
        break;
      case 'LABEL':
      case 'MAINTAINER':
      case 'SHELL':
      case 'STOPSIGNAL':
      case 'VOLUME':
        leave('has no effect here');
        break;
      default:
        leave('is not known');
    }
  }
  const { workdir, base, copies, env, left } = stage;
  return { workdir, base, copies, env: [...env], left };
}

function envPairs(rest: string): (readonly [string, string])[] | null {
  // The older form: one name, and the rest of the line is its value.
  const old = /^([A-Za-z_]\w*)\s+([^=]*)$/.exec(rest);
  if (old !== null) return [[old[1] ?? '', old[2] ?? '']];
  return (
    words(rest)?.map((word) => {
      const at = word.indexOf('=');
      return at < 0 ? ([word, ''] as const) : ([word.slice(0, at), word.slice(at + 1)] as const);
    }) ?? null
  );
}

/** A COPY, or why it is not carried. */
function copyOf(rest: string, line: number, place: (to: string) => string, expand: (text: string) => string | null): Copy | string {
  let text = rest;
  let executable = false;
  for (let flag = /^--([a-z]+)(?:=(\S+))?\s+/.exec(text); flag !== null; flag = /^--([a-z]+)(?:=(\S+))?\s+/.exec(text)) {
    const [all, name = '', value = ''] = flag;
    text = text.slice(all.length);
    if (name === 'from') return `takes files of ${value}, which is not built`;
    if (name === 'chmod') executable = /[1357]/.test(value) || value.includes('x');
    else if (name !== 'chown' && name !== 'link') return `has the option --${name}`;
  }
  let list: string[] | null;
  if (text.startsWith('[')) {
    try {
      const parsed: unknown = JSON.parse(text);
      list = Array.isArray(parsed) && parsed.every((one) => typeof one === 'string') ? parsed : null;
    } catch {
      list = null;
    }
  } else list = words(text);
  if (list === null || list.length < 2) return 'cannot be read';
  const known = list.map(expand);
  const paths = known.filter((one) => one !== null);
  const to = paths.at(-1);
  if (to === undefined || paths.length !== known.length) return 'names a variable that is not known';
  const isFolder = /(?:^|\/)\.{0,2}$/.test(to) || paths.length > 2;
  return { sources: paths.slice(0, -1), to: `${place(to)}${isFolder ? '/' : ''}`.replace('//', '/'), line, executable };
}

/** `*` and `?` within a name, matched in linear time; other wildcards of Docker are taken as they are written. */
function segmentMatcher(pattern: string): (name: string) => boolean {
  const parsed = parseTestPattern(pattern.replace(/^\[/, '\\['));
  return 'error' in parsed ? (name) => name === pattern : parsed.matches;
}

export type Placed = {
  /** By absolute path. */
  readonly files: ReadonlyMap<string, TreeFile>;
  /** Sources that are not in the folder. */
  readonly missing: readonly { readonly source: string; readonly line: number }[];
};

/**
 * What the image's copies place where, from the files of the build folder (paths relative to it); `folders` are known to be folders. A later
 * copy wins. Sources that lead out of the folder stay in it, as with Docker.
 */
export function placeCopies({ copies, workdir }: Pick<Image, 'copies' | 'workdir'>, context: readonly TreeFile[]): Placed {
  const files = new Map<string, TreeFile>();
  const missing: { source: string; line: number }[] = [];
  const isFolder = (to: string): boolean => to === '/' || to === workdir || [...files.keys()].some((file) => file.startsWith(`${to}/`));
  for (const { sources, to, line, executable } of copies) {
    const into = to.endsWith('/') || isFolder(to);
    const folder = to === '/' ? '' : to.replace(/\/$/, '');
    const put = (at: string, file: TreeFile) => void files.set(at, { ...file, path: at, mode: executable ? 'exec' : file.mode });
    for (const source of sources) {
      const path = absolute('/', source).slice(1);
      const inside = context.filter((file) => path === '' || file.path.startsWith(`${path}/`));
      if (inside.length > 0) {
        // A folder as a source is its content.
        for (const file of inside) put(`${folder}/${path === '' ? file.path : file.path.slice(path.length + 1)}`, file);
        continue;
      }
      const patterns = path.split('/').map(segmentMatcher);
      const level = patterns.length;
      const matched = context.filter((file) => {
        const parts = file.path.split('/');
        return parts.length >= level && patterns.every((matches, i) => matches(parts[i] ?? ''));
      });
      if (matched.length === 0) missing.push({ source, line });
      for (const file of matched) {
        const parts = file.path.split('/');
        const name = parts.slice(parts.length === level ? level - 1 : level).join('/');
        put(into || parts.length > level ? `${folder}/${name}` : to, file);
      }
    }
  }
  return { files, missing };
}
