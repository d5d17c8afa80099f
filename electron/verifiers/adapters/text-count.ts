// How often a regular expression is found in files of the candidate or in what a tool reported. Whoever runs this bounds its time: an
// expression can be slow on a text that was made for it, and a thread that is ended then gives no verdict.
import picomatch from 'picomatch';
import { type Adapter, clamp, cutText, problem, textOf } from './adapter.ts';
import { messageOf } from '#shared/lib/message-of.ts';

type Place = { readonly kind: 'report' } | { readonly kind: 'files'; readonly matches: (path: string) => boolean };
type Rule = { readonly expression: RegExp; readonly place: Place };

const maxShown = 20;

/** `/EXPRESSION/FLAGS in report`, or `in` a path or glob that begins with `artifact/`. Flags: i, m, s, u. */
function parseFrom(from: string): Rule | { readonly error: string } {
  const found = /^\/(.+)\/([imsu]{0,4}) in (.+)$/s.exec(from);
  if (found === null) return { error: 'is no count; write /EXPRESSION/FLAGS in report, or in artifact/GLOB' };
  const [, source = '', flags = '', where = ''] = found;
  let expression: RegExp;
  try {
    expression = new RegExp(source, `g${flags}`);
  } catch (error) {
    return { error: `has no regular expression: ${messageOf(error)}` };
  }
  if ([...''.matchAll(expression)].length > 0)
    return { error: 'has an expression that matches nothing at all, everywhere; write one that needs a character' };
  if (where === 'report') return { expression, place: { kind: 'report' } };
  const parts = where.split('/');
  if (
    parts[0] !== 'artifact' ||
    parts.length < 2 ||
    parts.some((part) => part === '' || part === '.' || part === '..') ||
    /[\\\0]/.test(where)
  )
    return { error: `could never match: ${JSON.stringify(cutText(where, 100))} is neither "report" nor a path or glob inside artifact/` };
  return { expression, place: { kind: 'files', matches: picomatch(where, { dot: true, windows: false }) } };
}

const countIn = (text: string, expression: RegExp): number => {
  let count = 0;
  for (const _ of text.matchAll(expression)) count++;
  return count;
};

export const textCount: Adapter = {
  name: 'text-count',
  tool: 'optional',
  checkFrom: (from, { kind, hasTool }) => {
    const rule = parseFrom(from);
    if ('error' in rule) return rule.error;
    if (rule.place.kind === 'report' && !hasTool)
      return 'counts in the report, but there is no command that could write one; write command = ["..."]';
    return kind === 'ordinal' ? 'belongs to an ordinal obligation, and matches are counted; write kind = "binary" or "count"' : null;
  },
  run: ({ obligations, files, report, exitCode }) => {
    // Tools that look for something have their own codes for having found it; only what says that a tool did not run is refused.
    if (exitCode !== null && exitCode > 1)
      return problem('crash', `the tool ended with exit code ${exitCode}; 0 and 1 are taken as found or not`);
    const values: Record<string, number> = {};
    const details: Record<string, string> = {};
    let reported: number | null = null;
    for (const { key, cap, kind, from } of obligations) {
      const rule = parseFrom(from);
      if ('error' in rule) return problem('infra', `the contract's from of ${key} ${rule.error}`);
      const { place } = rule;
      const texts =
        place.kind === 'report'
          ? report === null || report.length === 0
            ? []
            : [{ path: 'report', bytes: report }]
          : files.filter(({ path }) => path.startsWith('artifact/') && place.matches(path));
      // Nothing to count in is not a count of zero.
      if (texts.length === 0) continue;
      let sum = 0;
      const lines: string[] = [];
      for (const { path, bytes } of texts) {
        const text = textOf(bytes);
        // Bytes that are no text could hide anything.
        const count = text === null ? cap : countIn(text, rule.expression);
        sum += count;
        if (count > 0 && lines.length < maxShown) lines.push(`${cutText(path, 200)}: ${text === null ? 'not UTF-8 text' : count}`);
      }
      if (place.kind === 'report') reported = (reported ?? 0) + sum;
      values[key] = clamp(kind === 'binary' ? Math.min(sum, 1) : sum, cap);
      if (sum > 0) details[key] = lines.join('\n');
    }
    if (exitCode === 1 && reported === 0)
      return problem('crash', 'the tool ended with exit code 1, but its report has nothing to count; it is not trusted');
    return { values, details, advisory: {} };
  },
};
