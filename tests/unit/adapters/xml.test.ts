import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxXmlDepth, readXml } from '#electron/verifiers/adapters/xml.ts';
import { escapeXml } from './support.ts';

const read = (text: string): string => {
  let seen = '';
  const wrong = readXml(text, {
    open: (name, attributes) => {
      seen += `<${[name, ...[...attributes].map(([key, value]) => `${key}=${value}`)].join('|')}>`;
    },
    text: (piece) => {
      seen += piece;
    },
    close: (name) => {
      seen += `</${name}>`;
    },
  });
  return wrong === null ? seen : `wrong: ${wrong}`;
};

describe('what is read', () => {
  test.each<[string, string, string]>([
    ['an element', '<a/>', '<a></a>'],
    ['attributes in both quotes', `<a b = "1"\n c='"2"'/>`, '<a|b=1|c="2"></a>'],
    ['the five entities and characters by number', '<a b="&lt;&#65;">&amp;&gt;&quot;&apos;&#x1F600;</a>', '<a|b=<A>&>"\'\u{1f600}</a>'],
    ['CDATA', '<a>x<![CDATA[<b>&amp;]]>y</a>', '<a>x<b>&amp;y</a>'],
    ['comments and instructions', '<?xml version="1.0"?><!-- <b> --><a><!----><?php x ?></a><!-- end -->\n', '<a></a>'],
    ['a byte order mark and a declared encoding', '\u{feff}<?xml version="1.0" encoding=\'UTF-8\' standalone="yes" ?>\n<a/>', '<a></a>'],
    ['line breaks in attributes become spaces', '<a b="1\r\n2\t3&#10;4"/>', '<a|b=1 2 3\n4></a>'],
    ['names with a prefix', '<x:a x:b="1"></x:a >', '<x:a|x:b=1></x:a>'],
  ])('%s', (_, text, seen) => {
    expect(read(text)).toBe(seen);
  });
});

describe('what is refused', () => {
  test.each<[string, string, RegExp]>([
    ['nothing', '', /no element/],
    ['text only', 'ok', /text outside/],
    ['a second root', '<a/><b/>', /more than one root/],
    ['text after the root', '<a/>x', /text outside/],
    ['an end that is missing', '<a><b></b>', /ends in the middle/],
    ['an end that is another', '<a></b>', /closes what is not open/],
    ['an end too many', '<a/></a>', /closes what is not open/],
    ['a start that is cut', '<a b="1', /ends in the middle/],
    ['a DTD', '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', /document type/],
    ['a bomb of entities', '<!DOCTYPE a [<!ENTITY x "y"><!ENTITY z "&x;&x;">]><a>&z;</a>', /document type/],
    ['an entity that nobody defined', '<a>&x;</a>', /entity &x;/],
    ['an entity named like what objects inherit', '<a>&constructor;</a>', /entity &constructor;/],
    ['a NUL', '<a>\0</a>', /U\+0000/],
    ['a NUL by number', '<a>&#0;</a>', /no character/],
    ['half a surrogate pair by number', '<a>&#xD800;</a>', /no character/],
    ['a number beyond Unicode', '<a>&#x110000;</a>', /no character/],
    ['an ampersand alone', '<a>a & b</a>', /begins no reference/],
    ['an attribute twice', '<a b="1" b="2"/>', /attribute b twice/],
    ['an attribute without quotes', '<a b=1/>', /not quoted/],
    ['an attribute without a value', '<a b/>', /no value/],
    ['attributes without space', '<a b="1"c="2"/>', /run into each other/],
    ['a tag in an attribute', '<a b="<c/>"/>', /has a "<"/],
    ['a comment with --', '<a><!-- a -- b --></a>', /"--" in a comment/],
    ['the end of a CDATA alone', '<a>]]></a>', /"\]\]>"/],
    ['another encoding', '<?xml version="1.0" encoding="UTF-7"?><a/>', /encoding is UTF-7/],
    ['a late declaration', '<a/><?xml version="1.0"?>', /not at its beginning/],
    ['a name that is none', '<1/>', /name is expected/],
    ['an instruction whose name does not end', '<?x<a?><a/>', /name does not end/],
  ])('%s', (_, text, wrong) => {
    expect(read(text)).toMatch(wrong);
    expect(read(text)).toMatch(/^wrong: /);
  });
  test('nesting without end', () => {
    const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth);
    expect(read(nested(maxXmlDepth))).toBe(nested(maxXmlDepth));
    expect(read(nested(maxXmlDepth + 1))).toMatch(/nested deeper/);
    expect(read('<a>'.repeat(2_000_000))).toMatch(/nested deeper/);
  });
  test('attributes without end', () => {
    expect(read(`<a ${Array.from({ length: 65 }, (_, i) => `b${i}="x"`).join(' ')}/>`)).toMatch(/more than 64 attributes/);
  });
  test.each([
    ['ampersands', `<a>${'&'.repeat(4_000_000)}</a>`],
    ['unfinished comments', `<a>${'<!--'.repeat(1_000_000)}</a>`],
    ['unfinished tags', '<'.repeat(4_000_000)],
    ['quotes', `<a b="${"'".repeat(4_000_000)}`],
    ['spaces', `<a${' '.repeat(4_000_000)}`],
    ['a long name', `<${'a'.repeat(4_000_000)}/>`],
  ])('4 MB of %s take no time that grows with their square', (_, text) => {
    const start = performance.now();
    expect(read(text)).toMatch(/^wrong: /);
    expect(performance.now() - start).toBeLessThan(2_000);
  });
});

describe('properties', () => {
  const xmlText = fc
    .string({ unit: 'grapheme' })
    .map((text) => text.toWellFormed().replace(/[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, ''));
  test('what was escaped comes back', () => {
    fc.assert(
      fc.property(xmlText, xmlText, (attribute, text) => {
        expect(read(`<a b="${escapeXml(attribute)}">${escapeXml(text)}</a>`)).toBe(`<a|b=${attribute}>${text}</a>`);
      }),
    );
  });
  test('no text throws, and a document that was cut is never whole', () => {
    const whole = '<?xml version="1.0"?><a b="1"><c>x<![CDATA[y]]></c><!-- d --><e/></a>';
    for (let end = 0; end < whole.length; end++) expect(read(whole.slice(0, end))).toMatch(/^wrong: /);
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('<', '>', '/', 'a', '"', '=', ' ', '&', ';', '<!--', '-->', '<![CDATA[', ']]>', '<?', '?>', '!')),
        (parts) => {
          expect(typeof read(parts.join(''))).toBe('string');
        },
      ),
      { numRuns: 500 },
    );
  });
});
