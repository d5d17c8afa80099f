// How a table is written down: what separates and quotes its fields, how its lines end.
const defaults = {
  delimiter: ',',
  quote: '"',
  newline: '\n',
  comment: null,
  trim: true,
  header: false,
  quoteAll: false,
};

/** Fills in what `options` leave open, and refuses what cannot be read back. */
export function dialect(options = {}) {
  const format = { ...defaults, ...options };
  for (const name of ['delimiter', 'quote']) {
    if (format[name].length !== 1) throw new RangeError(name + ' must be one character');
  }
  if (format.delimiter === format.quote) throw new RangeError('delimiter and quote must differ');
  return format;
}
