import { dialect } from './dialect.js';

/** Reads a table: a list of rows of fields, or with `header` a list of objects. */
export function parse(text, options) {
  const format = dialect(options);
  const rows = readRows(text, format);
  if (format.header) return toObjects(rows);
  return rows;
}

function readRows(text, format) {
  const rows = [];
  let row = [];
  let field = '';
  let inQuotes = false;
  let wasQuoted = false;
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;

  const endField = () => {
    row.push(format.trim && !wasQuoted ? field.trim() : field);
    field = '';
    wasQuoted = false;
  };
  const endRow = () => {
    endField();
    rows.push(row);
    row = [];
  };

  while (at < text.length) {
    const char = text[at];
    const next = text[at + 1];
    if (inQuotes) {
      if (char !== format.quote) {
        field += char;
        at += 1;
      } else if (next === format.quote) {
        field += format.quote;
        at += 1;
      } else {
        inQuotes = false;
        wasQuoted = false;
        at += 1;
      }
    } else if (char === format.comment && row.length === 0 && field === '') {
      at = skipLine(text, at);
    } else if (char === format.quote && field.trim() === '') {
      field = '';
      inQuotes = true;
      wasQuoted = true;
      at += 1;
    } else if (char === format.delimiter) {
      endField();
      at += 1;
    } else if (char === '\n' || char === '\r') {
      endRow();
      at += char === '\r' || next === '\n' ? 2 : 1;
    } else {
      if (!wasQuoted) field += char;
      at += 1;
    }
  }
  if (inQuotes) throw new SyntaxError('a quoted field has no end');
  if (row.length > 0 || field !== '' || wasQuoted) endRow();
  return rows;
}

/** The index after the line that `at` is on. */
function skipLine(text, at) {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 2;
}

/** The first row names the members; a row that is too short leaves them empty, one too long is an error. */
function toObjects(rows) {
  const [names = [], ...rest] = rows;
  return rest.map((row, index) => {
    if (row.length > names.length) throw new RangeError('row ' + (index + 2) + ' has too many fields');
    const object = {};
    for (let i = 0; i < names.length; i++) {
      object[names[i]] = i < row.length ? row[i] : '';
    }
    return object;
  });
}
