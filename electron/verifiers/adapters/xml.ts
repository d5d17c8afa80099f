// A strict reader for the XML of test reports, written here because what such files need is little and what XML parsers offer beyond it
// (DTDs, entities, encodings, recovery from errors) is what hostile files use. One pass, no tree, no recursion. Whatever it does not
// know is an error: a report that two readers could read differently decides nothing.

export type XmlHandler = {
  /** An element begins. Names as they are spelled, prefix included. */
  open(name: string, attributes: ReadonlyMap<string, string>): void;
  /** Text and CDATA between tags, references resolved; may come in pieces. */
  text(text: string): void;
  close(name: string): void;
};

/** Elements inside elements. */
export const maxXmlDepth = 100;
const maxElements = 1_000_000;
const maxAttributes = 64;

const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

// XML 1.0, production 2, on UTF-16 text that has no lone surrogates.
const forbidden = /[^\t\n\r\u0020-\ufffd]/;
const nameAt = /[A-Za-z_:\u00c0-\ud7ff\uf900-\ufdcf][\w.:\u00b7-\ud7ff-]*/y;
const spaceAt = /[ \t\r\n]*/y;
const declaration =
  /^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"1\.[0-9]"|'1\.[0-9]')(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"([A-Za-z0-9._-]{1,40})"|'([A-Za-z0-9._-]{1,40})'))?(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"yes"|"no"|'yes'|'no'))?[ \t\r\n]*\?>/;

class XmlError extends Error {}

const resolve = (name: string): string => {
  if (!name.startsWith('#')) {
    const known = Object.hasOwn(named, name) ? named[name] : undefined;
    if (known === undefined) throw new XmlError(`it uses the entity &${name.slice(0, 40)};, and only lt, gt, amp, quot and apos are known`);
    return known;
  }
  const digits = /^#(?:x([0-9A-Fa-f]{1,6})|([0-9]{1,7}))$/.exec(name);
  const code = digits === null ? -1 : digits[1] === undefined ? Number(digits[2]) : Number.parseInt(digits[1], 16);
  if (code < 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) || forbidden.test(String.fromCodePoint(code)))
    throw new XmlError(`&${name.slice(0, 40)}; is no character`);
  return String.fromCodePoint(code);
};

const unescape = (text: string): string => {
  let at = text.indexOf('&');
  if (at < 0) return text;
  let out = '';
  let done = 0;
  for (; at >= 0; at = text.indexOf('&', done)) {
    const end = text.indexOf(';', at);
    // The longest reference is &#1114111; and a text of ampersands must not be searched from each of them to its end.
    if (end < 0 || end - at > 42) throw new XmlError('it has an "&" that begins no reference');
    out += text.slice(done, at) + resolve(text.slice(at + 1, end));
    done = end + 1;
  }
  return out + text.slice(done);
};

/**
 * Reads one whole XML 1.0 document in `text` (already decoded). Returns what is wrong with it, null when nothing is; the handler has then
 * seen all of it, otherwise a part. DTDs are refused, so there are no entities but the five of XML and no external ones. An error that
 * the handler throws comes through.
 */
export function readXml(text: string, handler: XmlHandler): string | null {
  try {
    read(text, handler);
    return null;
  } catch (error) {
    if (error instanceof XmlError) return error.message;
    throw error;
  }
}

function read(text: string, handler: XmlHandler): void {
  const bad = forbidden.exec(text);
  if (bad !== null)
    throw new XmlError(`it has the character U+${bad[0].charCodeAt(0).toString(16).padStart(4, '0')}, which XML does not allow`);
  let at = text.startsWith('\u{feff}') ? 1 : 0;
  const head = declaration.exec(at === 0 ? text.slice(0, 300) : text.slice(1, 301));
  if (head !== null) {
    const encoding = head[1] ?? head[2] ?? 'utf-8';
    if (!/^(utf-?8|us-ascii|ascii)$/i.test(encoding)) throw new XmlError(`its encoding is ${encoding}; write it in UTF-8`);
    at += head[0].length;
  }

  const open: string[] = [];
  let elements = 0;
  let hasRoot = false;
  const findEnd = (what: string, from: number): number => {
    const end = text.indexOf(what, from);
    if (end < 0) throw new XmlError('it ends in the middle');
    return end;
  };
  const name = (): string => {
    nameAt.lastIndex = at;
    const found = nameAt.exec(text)?.[0];
    if (found === undefined || found.length > 200) throw new XmlError(`a name is expected at character ${at}`);
    at += found.length;
    return found;
  };
  const space = (): boolean => {
    spaceAt.lastIndex = at;
    const found = spaceAt.exec(text)?.[0].length ?? 0;
    at += found;
    return found > 0;
  };

  while (at < text.length) {
    if (text[at] !== '<') {
      const end = text.indexOf('<', at);
      const piece = text.slice(at, end < 0 ? text.length : end);
      at += piece.length;
      if (open.length === 0) {
        if (/[^ \t\r\n]/.test(piece)) throw new XmlError('it has text outside its root element');
      } else {
        if (piece.includes(']]>')) throw new XmlError('it has "]]>" in its text');
        handler.text(unescape(piece));
      }
      continue;
    }
    if (text.startsWith('<!--', at)) {
      const end = findEnd('--', at + 4);
      if (text[end + 2] !== '>') throw new XmlError('it has "--" in a comment');
      at = end + 3;
    } else if (text.startsWith('<![CDATA[', at)) {
      if (open.length === 0) throw new XmlError('it has text outside its root element');
      const end = findEnd(']]>', at + 9);
      handler.text(text.slice(at + 9, end));
      at = end + 3;
    } else if (text.startsWith('<?', at)) {
      at += 2;
      if (name().toLowerCase() === 'xml') throw new XmlError('it has an XML declaration that is not at its beginning or not understood');
      if (!space() && !text.startsWith('?>', at)) throw new XmlError('it has an instruction whose name does not end');
      at = findEnd('?>', at) + 2;
    } else if (text.startsWith('<!', at)) {
      throw new XmlError('it has a document type definition, which is refused');
    } else if (text.startsWith('</', at)) {
      at += 2;
      const closed = name();
      space();
      if (text[at] !== '>') throw new XmlError(`"</${closed}" has no ">"`);
      at++;
      if (open.pop() !== closed) throw new XmlError(`"</${closed}>" closes what is not open`);
      handler.close(closed);
    } else {
      at++;
      if (open.length === 0 && hasRoot) throw new XmlError('it has more than one root element');
      hasRoot = true;
      const opened = name();
      const attributes = new Map<string, string>();
      for (let separated = space(); text[at] !== '>' && text[at] !== '/'; separated = space()) {
        if (at >= text.length) throw new XmlError('it ends in the middle');
        if (!separated) throw new XmlError(`the attributes of <${opened}> run into each other`);
        const key = name();
        space();
        if (text[at] !== '=') throw new XmlError(`the attribute ${key} of <${opened}> has no value`);
        at++;
        space();
        const quote = text[at];
        if (quote !== '"' && quote !== "'") throw new XmlError(`the value of ${key} in <${opened}> is not quoted`);
        const end = findEnd(quote, at + 1);
        const raw = text.slice(at + 1, end);
        if (raw.includes('<')) throw new XmlError(`the value of ${key} in <${opened}> has a "<"`);
        if (attributes.has(key)) throw new XmlError(`<${opened}> has the attribute ${key} twice`);
        if (attributes.size >= maxAttributes) throw new XmlError(`<${opened}> has more than ${maxAttributes} attributes`);
        attributes.set(key, unescape(raw.replace(/\r\n|[\t\n\r]/g, ' ')));
        at = end + 1;
      }
      const empty = text[at] === '/';
      if (empty) at++;
      if (text[at] !== '>') throw new XmlError(`<${opened}> does not end with ">"`);
      at++;
      if (++elements > maxElements) throw new XmlError(`it has more than ${maxElements} elements`);
      if (open.length >= maxXmlDepth) throw new XmlError(`it is nested deeper than ${maxXmlDepth} elements`);
      open.push(opened);
      handler.open(opened, attributes);
      if (empty) {
        open.pop();
        handler.close(opened);
      }
    }
  }
  if (open.length > 0) throw new XmlError('it ends in the middle');
  if (!hasRoot) throw new XmlError('it has no element');
}
