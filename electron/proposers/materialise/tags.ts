// The few tags that answers are written in: a line of its own, `<name key="value">` or `<name key="value"/>`. Not XML: nothing is
// unescaped but the quote, `&quot;`, which a path may need.

export type Tag = { readonly name: string; readonly attributes: ReadonlyMap<string, string>; readonly closed: boolean };

// Linear: no part of it can match the same characters in two ways.
const tagLine = /^[ \t]*<([a-z-]{1,20})((?:[ \t]+[a-z-]{1,20}="[^"]*")*)[ \t]*(\/?)>[ \t]*\r?$/;
const attribute = /([a-z-]{1,20})="([^"]*)"/g;

/** The tag that a line consists of, or null. */
export function readTag(line: string): Tag | null {
  const match = tagLine.exec(line);
  if (match === null) return null;
  const attributes = new Map<string, string>();
  for (const [, key = '', value = ''] of (match[2] ?? '').matchAll(attribute)) attributes.set(key, value.replaceAll('&quot;', '"'));
  return { name: match[1] ?? '', attributes, closed: match[3] === '/' };
}

/** Whether a line is `</name>` and nothing else. */
export const isClosing = (line: string, name: string): boolean => line.trim() === `</${name}>`;
