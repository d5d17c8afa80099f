// Candidates that a person is writing, by run. They outlive every screen of the page, and nothing else: whoever leaves the page is warned.
import { create } from 'zustand';
import { sha256Text } from '#shared/lib/hash.ts';

export type Draft = {
  /** Seq of the bundle that it was begun on. */
  readonly base: number;
  /** By path, what is not as in the base: a whole text, or null for a file that the candidate does not have. Never empty. */
  readonly texts: ReadonlyMap<string, string | null>;
};
/** A file of a certified tree, as far as a draft is compared with it. */
export type BaseFile = { readonly path: string; readonly sha: string };

type Drafts = {
  readonly drafts: ReadonlyMap<string, Draft>;
  /** Keeps what a file has become; `undefined` = as in the base. */
  readonly write: (run: string, base: number, path: string, text: string | null | undefined) => void;
  /** Holds a draft against the tree of bundle `base`: what that tree says too is no change any more. */
  readonly compare: (run: string, files: readonly BaseFile[]) => void;
  /** The draft is one on bundle `base` from now on. */
  readonly moveTo: (run: string, base: number) => void;
  readonly discard: (run: string) => void;
};

const withDraft = (drafts: ReadonlyMap<string, Draft>, run: string, base: number, texts: ReadonlyMap<string, string | null>) => {
  const next = new Map(drafts);
  if (texts.size === 0) next.delete(run);
  else next.set(run, { base, texts });
  return next;
};

export const useDrafts = create<Drafts>()((set) => ({
  drafts: new Map(),
  write: (run, base, path, text) =>
    set((state) => {
      const { drafts } = state;
      const known = drafts.get(run);
      if (known?.texts.get(path) === text && (known?.texts.has(path) ?? false) === (text !== undefined)) return state;
      const texts = new Map(known?.texts);
      if (text === undefined) texts.delete(path);
      else texts.set(path, text);
      return { drafts: withDraft(drafts, run, known?.base ?? base, texts) };
    }),
  compare: (run, files) =>
    set((state) => {
      const { drafts } = state;
      const known = drafts.get(run);
      if (known === undefined) return state;
      const shas = new Map(files.map(({ path, sha }) => [path, sha]));
      const texts = new Map(
        [...known.texts].filter(([path, text]) => (text === null ? shas.has(path) : shas.get(path) !== sha256Text(text))),
      );
      return texts.size === known.texts.size ? state : { drafts: withDraft(drafts, run, known.base, texts) };
    }),
  moveTo: (run, base) =>
    set((state) => {
      const { drafts } = state;
      const known = drafts.get(run);
      return known === undefined || known.base === base ? state : { drafts: withDraft(drafts, run, base, known.texts) };
    }),
  discard: (run) => set((state) => (state.drafts.has(run) ? { drafts: withDraft(state.drafts, run, 0, new Map()) } : state)),
}));
