// Verifier of the CSV package. The candidate's code runs apart from it: pawl.run evaluates artifact/src/csv.js in a QuickJS of its own and
// hands back the JSON text of each result, which is compared with the text that is expected here. Inputs and expectations stay here.
'use strict';

// Each obligation is one call: what is called, with which arguments, and the result, or the name of the error that must be thrown.
const parses = (expected, ...args) => ({ call: 'parse', args, expected });
const writes = (expected, ...args) => ({ call: 'write', args, expected });
const refuses = (error, call, ...args) => ({ call, args, error });

const OBLIGATIONS = {
  plain: parses([['a', 'b'], ['1', '2']], 'a,b\n1,2\n'),
  plain_2: parses([['word']], 'word'),
  plain_3: parses([], ''),
  last_line: parses([['a', 'b'], ['1', '2']], 'a,b\n1,2'),
  last_line_2: parses([['a', '']], 'a,'),
  last_quoted: parses([['']], '""', { trim: false }),
  last_quoted_2: parses([['a'], ['b']], 'a\n"b"', { trim: false }),
  empty_fields: parses([['', '', '']], ',,\n'),
  empty_fields_2: parses([['a', '', 'c'], ['', 'b', '']], 'a,,c\n,b,\n'),
  line_ends: parses([['a'], [''], ['b'], ['c']], 'a\n\nb\rc\r'),
  crlf: parses([['a', 'b'], ['1', '2']], 'a,b\r\n1,2\r\n'),
  crlf_2: parses([['a'], [''], ['b']], 'a\r\n\r\nb'),
  quoted: parses([['a,b', 'c']], '"a,b",c\n', { trim: false }),
  quoted_2: parses([['two\nlines', 'x']], '"two\nlines",x\n', { trim: false }),
  quoted_3: parses([['a\r\nb', 'c']], '"a\r\nb",c\r\n', { trim: false }),
  quoted_neighbours: parses([['a', 'b'], ['c', 'd']], '"a","b"\n"c","d"\n', { trim: false }),
  quoted_neighbours_2: parses([['', '']], '"",""\n', { trim: false }),
  quotes_in_quotes: parses([['say "hi"', 'x']], '"say ""hi""",x\n', { trim: false }),
  quotes_in_quotes_2: parses([['"']], '""""\n', { trim: false }),
  quote_inside: parses([['5" disk', 'a']], '5" disk,a\n', { trim: false }),
  spaces: parses([[' a ', '\tb']], ' a ,\tb\n'),
  trim: parses([['a', 'b c']], '  a , b c \n', { trim: true }),
  trim_quoted: parses([[' a ', 'b']], '" a " , b\n', { trim: true }),
  after_quotes: parses([['a', 'c']], '"a"b,c\n', { trim: false }),
  after_quotes_2: parses([['q', 'r']], '"q" x , r \n', { trim: true }),
  comments: parses([['a'], ['b#c'], ['#d']], '# first\na\n# second\nb#c\n"#d"\n', { comment: '#' }),
  comments_2: parses([['# a', 'b']], '# a,b\n'),
  comment_last: parses([['a']], 'a\n# end', { comment: '#' }),
  delimiter: parses([['a', 'b,c']], 'a;b,c\n', { delimiter: ';' }),
  delimiter_2: parses([['a', 'b;c']], "a;'b;c'\n", { delimiter: ';', quote: "'" }),
  byte_order_mark: parses([['a', 'b']], '\ufeffa,b\n'),
  byte_order_mark_2: parses([['a\ufeff']], 'a\ufeff\n'),
  objects: parses([{ id: '1', name: 'x' }, { id: '2', name: 'y' }], 'id,name\n1,x\n2,y\n', { header: true }),
  objects_2: parses([], 'id,name\n', { header: true }),
  objects_3: parses([], '', { header: true }),
  short_rows: parses([{ id: '1', name: '', at: '' }, { id: '2', name: 'y', at: '' }], 'id,name,at\n1\n2,y\n', { header: true }),
  long_rows: refuses('RangeError', 'parse', 'id\n1,2\n', { header: true }),
  open_quote: refuses('SyntaxError', 'parse', 'a,"b\n'),
  open_quote_2: refuses('SyntaxError', 'parse', '"'),
  bad_dialect: refuses('RangeError', 'parse', 'a', { delimiter: '' }),
  bad_dialect_2: refuses('RangeError', 'parse', 'a', { delimiter: ', ' }),
  bad_dialect_3: refuses('RangeError', 'write', [['a']], { quote: ',' }),
  bad_dialect_4: refuses('RangeError', 'write', [['a']], { quote: '""' }),
  write_plain: writes('a,b\n1,2\n', [['a', 'b'], [1, 2]]),
  write_plain_2: writes('', []),
  write_plain_3: writes('true,"",x\n', [[true, null, 'x']]),
  write_quotes: writes('"a,b","say ""hi"""\n', [['a,b', 'say "hi"']]),
  write_quotes_2: writes('"x\ny","\r"\n', [['x\ny', '\r']]),
  write_spaces: writes('" a","b "\n', [[' a', 'b ']]),
  write_dialect: writes('a;b,c\r\n', [['a', 'b,c']], { delimiter: ';', newline: '\r\n' }),
  write_dialect_2: writes("'it''s';x\n", [["it's", 'x']], { delimiter: ';', quote: "'" }),
  write_dialect_3: writes('"a","1"\n', [['a', 1]], { quoteAll: true }),
  write_dialect_4: writes('"#a",#\n'.replace(',#', ',"#"'), [['#a', '#']], { comment: '#' }),
  write_objects: writes('id,name,at\n1,x,""\n2,"",9\n', [{ id: 1, name: 'x' }, { id: 2, at: 9 }], { header: true }),
  write_objects_2: writes('id\n1\n', [{ id: 1 }], { header: true }),
};

// Fields that must come back as they were: each of these characters and each two of them, between two ordinary fields, in two dialects.
// Quotes have obligations of their own, for reading and for writing, so that a repair of one side shows without the other.
const CHARACTERS = ['a', ',', '\n', '\r', ' ', ';', '#'];
const DIALECTS = [{}, { delimiter: ';', quote: "'", comment: '#', newline: '\r\n' }];
const LIMITS = { entry: 'artifact/src/csv.js', timeoutMs: 500, steps: 5, memoryMb: 16, giveUpAfter: 2 };
const SHOWN = 300;

const shown = (text) => (text.length > SHOWN ? text.slice(0, SHOWN) + '…' : text);

// What is wrong with one answer, or null.
function problem({ call, args, expected, error }, answer) {
  const asked = `${call}(${args.map((argument) => JSON.stringify(argument)).join(', ')})`;
  let got = 'did not end in time';
  if (answer.ok) {
    if (error === undefined && answer.json === JSON.stringify(expected)) return null;
    got = `gave ${answer.json}`;
  } else if (answer.error === 'memory') got = 'used too much memory';
  else if (answer.error !== 'timeout') {
    // Code that throws on loading has not refused anything.
    if (answer.loaded && answer.error.name === error) return null;
    got = `threw ${answer.error.name}: ${answer.error.message}`;
  }
  return shown(`${asked} ${got}; expected ${error === undefined ? JSON.stringify(expected) : `a ${error}`}`);
}

function roundTrips(pawl) {
  const fields = CHARACTERS.flatMap((first) => [first, ...CHARACTERS.map((second) => first + second)]);
  const tables = DIALECTS.flatMap((options) => fields.map((field) => ({ options, rows: [['x', field, 'y']] })));
  const written = pawl.run({ ...LIMITS, calls: tables.map(({ rows, options }) => ({ call: 'write', args: [rows, options] })) });
  const texts = written.map((answer) => (answer.ok && answer.json.startsWith('"') ? JSON.parse(answer.json) : null));
  const readable = tables.flatMap((table, i) => (texts[i] === null ? [] : [{ ...table, text: texts[i] }]));
  const read = pawl.run({ ...LIMITS, calls: readable.map(({ text, options }) => ({ call: 'parse', args: [text, options] })) });
  const lost = readable.filter(({ rows }, i) => !read[i].ok || read[i].json !== JSON.stringify(rows));
  const value = tables.length - readable.length + lost.length;
  if (value === 0) return { value, detail: '' };
  const such = lost.slice(0, 3).map(({ rows, text, options }) => `${JSON.stringify(rows[0][1])} as ${JSON.stringify(text)} with ${JSON.stringify(options)}`);
  return { value, detail: shown(`${value} of ${tables.length} fields do not come back${such.length === 0 ? '' : `: ${such.join('; ')}`}`) };
}

function verify(pawl) {
  const keys = Object.keys(OBLIGATIONS);
  const answers = pawl.run({ ...LIMITS, calls: keys.map((key) => ({ call: OBLIGATIONS[key].call, args: OBLIGATIONS[key].args })) });
  const values = {};
  const details = {};
  keys.forEach((key, i) => {
    const wrong = problem(OBLIGATIONS[key], answers[i]);
    values[key] = wrong === null ? 0 : 1;
    details[key] = wrong === null ? '' : wrong;
  });
  const endless = answers.filter((answer) => answer.error === 'timeout' || answer.error === 'memory').length;
  const { value, detail } = roundTrips(pawl);
  return {
    nonce: pawl.nonce,
    tree: pawl.tree,
    contract: pawl.contract,
    values: { ...values, endless, round_trip: value },
    advisory: {},
    details: { ...details, endless: endless === 0 ? '' : `${endless} of ${keys.length} calls do not end`, round_trip: detail },
  };
}
