// What is being looked at, as the fragment of the URL: `#/v1/library`, `#/v1/new`, `#/v1/run/<id>?n=182&tab=diff&o=key&hide=tie,duplicate`.
// A link outlives the version that made it: `upgraders` lifts an older path step by step to the present one.
import { useSyncExternalStore } from 'react';
import { outcomes, type Outcome } from '#shared/domain/transition.ts';
import { tabs, type Tab } from '#renderer/state/store.ts';

export type LibraryPlace = { readonly screen: 'library' };
export type NewRunPlace = { readonly screen: 'new' };
export type RunPlace = {
  readonly screen: 'run';
  readonly run: string;
  readonly n: number | null;
  readonly tab: Tab | null;
  /** Key of the focused obligation. */
  readonly obligation: string | null;
  readonly hide: readonly Outcome[];
};
export type Place = LibraryPlace | NewRunPlace | RunPlace;

const version = 1;
type Path = { readonly segments: readonly string[]; readonly params: URLSearchParams };
/** `upgraders[v]` turns a path of version v into one of version v + 1. */
const upgraders: Readonly<Record<number, (path: Path) => Path>> = {};

const isTab = (value: string | null): value is Tab => tabs.some((tab) => tab === value);
const isOutcome = (value: string): value is Outcome => outcomes.some((outcome) => outcome === value);

/** Reads a fragment; whatever is not understood leads to the library. */
export function parsePlace(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [tag = '', ...segments] = path.split('/');
  const from = /^v(\d+)$/.exec(tag)?.[1];
  if (from === undefined) return { screen: 'library' };
  let now: Path = { segments: segments.map(decodeSegment), params: new URLSearchParams(query) };
  for (let v = Number(from); v < version; v++) now = upgraders[v]?.(now) ?? now;
  const [screen, run] = now.segments;
  if (screen === 'new') return { screen: 'new' };
  if (screen !== 'run' || run === undefined || run === '') return { screen: 'library' };
  const n = Number(now.params.get('n'));
  const tab = now.params.get('tab');
  return {
    screen: 'run',
    run,
    n: Number.isSafeInteger(n) && n >= 1 ? n : null,
    tab: isTab(tab) ? tab : null,
    obligation: now.params.get('o'),
    hide: (now.params.get('hide') ?? '').split(',').filter(isOutcome),
  };
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The fragment of a place; `parsePlace` reads it back. */
export function formatPlace(place: Place): string {
  if (place.screen !== 'run') return `#/v${version}/${place.screen}`;
  const params = new URLSearchParams();
  if (place.n !== null) params.set('n', String(place.n));
  if (place.tab !== null) params.set('tab', place.tab);
  if (place.obligation !== null) params.set('o', place.obligation);
  if (place.hide.length > 0) params.set('hide', place.hide.join(','));
  // Commas are legal in a fragment and easier to read.
  const query = params.toString().replaceAll('%2C', ',');
  return `#/v${version}/run/${encodeURIComponent(place.run)}${query === '' ? '' : `?${query}`}`;
}

/** A run as it is opened from a list. */
export const runPlace = (run: string): RunPlace => ({ screen: 'run', run, n: null, tab: null, obligation: null, hide: [] });

/** Goes to a place; the browser's back button returns. */
export function go(place: Place): void {
  window.location.hash = formatPlace(place);
}

/** A fragment that was navigated to: another object each time, since one may go twice to the same place. */
export type Visit = { readonly hash: string };

/** Where one went last, and what the address bar holds since: they differ by what was noted. */
const address: { visit: Visit; held: string; listeners: number } = { visit: { hash: '' }, held: '', listeners: 0 };

/**
 * Writes where one is into the address bar without an entry in the history. While somebody is on the way elsewhere (the address has changed and
 * its event has not come yet) nothing is written: it would take the way back.
 */
export function notePlace(place: Place): void {
  const hash = formatPlace(place);
  if (window.location.hash !== address.held || hash === address.held) return;
  window.history.replaceState(window.history.state, '', hash);
  address.held = hash;
}

const arrive = () => {
  address.visit = { hash: window.location.hash };
  address.held = address.visit.hash;
};
const subscribe = (listener: () => void) => {
  const onChange = () => {
    arrive();
    listener();
  };
  if (address.listeners++ === 0 && address.held !== window.location.hash) arrive();
  window.addEventListener('hashchange', onChange);
  return () => {
    address.listeners--;
    window.removeEventListener('hashchange', onChange);
  };
};
const lastVisit = (): Visit => {
  // While nobody listens, the address may have changed unseen.
  if (address.listeners === 0 && address.held !== window.location.hash) arrive();
  return address.visit;
};

/** The last visit; what is noted meanwhile leads nowhere. */
export const useVisit = (): Visit => useSyncExternalStore(subscribe, lastVisit);
