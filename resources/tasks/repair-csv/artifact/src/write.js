import { dialect } from './dialect.js';

/** Writes rows of fields, or with `header` objects, as text that `parse` reads back. */
export function write(table, options) {
  const format = dialect(options);
  const rows = format.header ? fromObjects(table) : table;
  let text = '';
  for (const row of rows) {
    text += row.map((value) => writeField(value, format)).join(format.delimiter);
  }
  text += format.newline;
  return text;
}

function writeField(value, format) {
  const field = value === null || value === undefined ? '' : String(value);
  if (!format.quoteAll && !needsQuotes(field, format)) return field;
  const escaped = field.replaceAll(format.quote + format.quote, format.quote);
  return format.quote + escaped + format.quote;
}

function needsQuotes(field, format) {
  if (field.includes(format.delimiter) || field.includes(format.quote)) return true;
  if (field.includes('\n') || field.includes('\r')) return true;
  if (format.comment !== null && field.startsWith(format.comment)) return true;
  return field === '' || field.trim() !== field;
}

/** A row of names, in the order in which they first occur, and a row for each object. */
function fromObjects(objects) {
  const names = [];
  for (const object of objects) {
    for (const name of Object.keys(object)) {
      if (!names.includes(name)) names.push(name);
    }
  }
  const rows = [names];
  for (const object of objects) {
    rows.push(names.map((name) => object[name]));
  }
  return rows;
}
