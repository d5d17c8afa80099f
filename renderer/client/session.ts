// The token in the URL's fragment: read once, removed at once, never kept.

/** Splits `#token=…` off a fragment; the token may stand alone or before or after a place (`#/v1/library&token=…`). */
export function splitToken(hash: string): { readonly token: string | null; readonly rest: string } {
  const body = hash.replace(/^#/, '');
  const found = /(^|[&?])token=([^&?]*)(&?)/.exec(body);
  if (!found) return { token: null, rest: hash };
  const kept =
    body.slice(0, found.index) + (found[1] !== '' && found[3] !== '' ? (found[1] ?? '') : '') + body.slice(found.index + found[0].length);
  return { token: decodeURIComponent(found[2] ?? ''), rest: kept === '' ? '' : `#${kept}` };
}

/** Takes the token out of the address bar; what else the fragment says stays. */
export function takeToken(location: Location, history: History): string | null {
  const { token, rest } = splitToken(location.hash);
  if (token !== null) history.replaceState(history.state, '', `${location.pathname}${location.search}${rest}`);
  return token;
}
