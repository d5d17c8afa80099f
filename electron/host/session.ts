// Who may use a web host: whoever has seen the URL that it printed. The page trades the token of that URL for a cookie.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

export type Sessions = {
  /** In the URL's fragment, which no request carries. */
  readonly token: string;
  /** A fresh secret for the cookie, or null when the token is wrong. */
  open(token: string): string | null;
  /** Whether a request's `Cookie` header holds a secret that was given out. */
  admits(cookieHeader: string | undefined): boolean;
};

/** Browsers that are open at once; the oldest secret goes when there are more. */
const maxSessions = 64;

/** `cookieName` carries the port, because cookies do not tell ports apart: two hosts on one machine must not overwrite each other. */
export function createSessions(cookieName: string): Sessions {
  const token = randomBytes(32).toString('base64url');
  const secrets: string[] = [];
  return {
    token,
    open: (given) => {
      if (!same(given, token)) return null;
      const secret = randomBytes(32).toString('base64url');
      secrets.push(secret);
      if (secrets.length > maxSessions) secrets.shift();
      return secret;
    },
    admits: (header = '') =>
      header.split(';').some((pair) => {
        const [name = '', ...value] = pair.trim().split('=');
        // Every secret is compared, so that the time tells nothing about which one was near.
        return name === cookieName && secrets.map((secret) => same(value.join('='), secret)).includes(true);
      }),
  };
}

/** Compares hashes: equal lengths for `timingSafeEqual`, and no time that depends on the texts. */
function same(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
