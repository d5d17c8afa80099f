// What a person is doing on the page: selection, filters, layout. Facts of the engine are never kept here.
import { create, type StateCreator } from 'zustand';

export const tabs = ['diff', 'verdict', 'memory', 'bundle', 'record'] as const;
export type Tab = (typeof tabs)[number];

/** What stands in place of the views of the selected transition until it is closed. `seq` is a bundle of the run that is looked at. */
export type RunPanel =
  | { readonly kind: 'replay' }
  | { readonly kind: 'audit' }
  | { readonly kind: 'verify'; readonly seq: number }
  | { readonly kind: 'branch'; readonly seq: number }
  /** A candidate that a person writes over the head. */
  | { readonly kind: 'propose' }
  /** The other run of a comparison. */
  | { readonly kind: 'compare'; readonly other: string };

export type SelectionSlice = {
  /** Run that the selection belongs to. */
  readonly run: string | null;
  /** Selected transition; 0 = none yet. */
  readonly n: number;
  /** Index of the focused obligation. */
  readonly obligation: number;
  readonly tab: Tab;
  readonly panel: RunPanel | null;
  /** The newest transition stays selected while the run is live. */
  readonly follow: boolean;
  readonly playing: boolean;
  readonly back: readonly number[];
  readonly forward: readonly number[];
  /** Starts looking at a run; what was selected in another one is forgotten. */
  readonly openRun: (
    run: string,
    start: {
      readonly n: number;
      readonly obligation: number;
      readonly tab: Tab;
      readonly follow: boolean;
      readonly panel?: RunPanel | null;
    },
  ) => void;
  /** Moves the selection. A `jump` is remembered for "back"; a step is not. */
  readonly select: (n: number, how: 'step' | 'jump' | 'follow') => void;
  readonly focusObligation: (i: number) => void;
  /** Shows a view of the selected transition; closes the panel. */
  readonly setTab: (tab: Tab) => void;
  readonly setPanel: (panel: RunPanel | null) => void;
  readonly setFollow: (follow: boolean) => void;
  readonly setPlaying: (playing: boolean) => void;
  readonly goBack: () => void;
  readonly goForward: () => void;
};
export type FilterSlice = {
  /** Codes of the outcomes that are not shown. */
  readonly hidden: ReadonlySet<number>;
  readonly toggleOutcome: (code: number) => void;
  readonly showAll: () => void;
  readonly setHidden: (codes: readonly number[]) => void;
};
export type LayoutSlice = {
  readonly overlay: 'none' | 'palette' | 'keys' | 'settings' | 'goto';
  /** Row of the library that the keys act on. */
  readonly libraryRow: number;
  /** A short line that says what a key found or did not find; replaced by the next. */
  readonly notice: string;
  readonly setOverlay: (overlay: LayoutSlice['overlay']) => void;
  readonly setLibraryRow: (row: number) => void;
  readonly setNotice: (notice: string) => void;
};
export type UiState = SelectionSlice & FilterSlice & LayoutSlice;

const longestHistory = 100;
const none: ReadonlySet<number> = new Set();

const selection: StateCreator<UiState, [], [], SelectionSlice> = (set) => ({
  run: null,
  n: 0,
  obligation: 0,
  tab: 'diff',
  panel: null,
  follow: false,
  playing: false,
  back: [],
  forward: [],
  openRun: (run, start) =>
    set((s) => (s.run === run ? {} : { run, panel: null, ...start, playing: false, back: [], forward: [], notice: '' })),
  select: (n, how) =>
    set((s) => {
      if (n === s.n) return {};
      if (how === 'follow') return { n };
      const moved = { n, follow: false, notice: '' };
      return how === 'jump' && s.n > 0 ? { ...moved, back: [...s.back.slice(1 - longestHistory), s.n], forward: [] } : moved;
    }),
  focusObligation: (obligation) => set({ obligation, notice: '' }),
  setTab: (tab) => set({ tab, panel: null }),
  setPanel: (panel) => set({ panel }),
  setFollow: (follow) => set({ follow, playing: false }),
  setPlaying: (playing) => set({ playing }),
  goBack: () =>
    set((s) => {
      const n = s.back.at(-1);
      return n === undefined ? {} : { n, follow: false, back: s.back.slice(0, -1), forward: [...s.forward, s.n] };
    }),
  goForward: () =>
    set((s) => {
      const n = s.forward.at(-1);
      return n === undefined ? {} : { n, follow: false, forward: s.forward.slice(0, -1), back: [...s.back, s.n] };
    }),
});

const filters: StateCreator<UiState, [], [], FilterSlice> = (set) => ({
  hidden: none,
  toggleOutcome: (code) =>
    set((s) => {
      const hidden = new Set(s.hidden);
      if (!hidden.delete(code)) hidden.add(code);
      return { hidden };
    }),
  showAll: () => set({ hidden: none }),
  setHidden: (codes) => set({ hidden: new Set(codes) }),
});

const layout: StateCreator<UiState, [], [], LayoutSlice> = (set) => ({
  overlay: 'none',
  libraryRow: 0,
  notice: '',
  setOverlay: (overlay) => set({ overlay }),
  setLibraryRow: (libraryRow) => set({ libraryRow }),
  setNotice: (notice) => set({ notice }),
});

export const useUi = create<UiState>()((...a) => ({ ...selection(...a), ...filters(...a), ...layout(...a) }));
