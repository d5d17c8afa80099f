import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const css = readFileSync(new URL('../../../renderer/styles/tokens.css', import.meta.url), 'utf8');
const surfaces = ['bg', 'panel', 'sunken'];
/** Outcomes that are written as words in their own colour, and inks. */
const textTokens = [
  'ink',
  'ink-2',
  'ink-3',
  'commit',
  'not-selected',
  'regression',
  'incomparable',
  'tie',
  'unstable',
  'invalid',
  'no-verdict',
  'focus',
];
/** Shapes, bars, outlines of controls. */
const markTokens = ['duplicate', 'aborted', 'better-2', 'better-3', 'worse-2', 'worse-3', 'control-line'];

function tokensOf(theme: string): Map<string, string> {
  const block = new RegExp(`\\[data-theme='${theme}'\\]\\s*\\{([^}]*)\\}`).exec(css)?.[1] ?? '';
  return new Map([...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})\b/g)].map((m) => [m[1] ?? '', m[2] ?? '']));
}

/** Relative luminance of WCAG 2.2. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const c = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

describe.each(['light', 'dark'])('contrast of the %s theme', (theme) => {
  const tokens = tokensOf(theme);
  const colour = (name: string): string => {
    const value = tokens.get(name);
    if (value === undefined) throw new Error(`tokens.css has no plain colour --${name} in the ${theme} theme`);
    return value;
  };
  test.each(textTokens.flatMap((t) => surfaces.map((s) => [t, s] as const)))('text --%s on --%s has 4.5', (token, surface) => {
    expect(contrast(colour(token), colour(surface))).toBeGreaterThanOrEqual(4.5);
  });
  // Cells of the matrix stand on the panel and the page, never on a sunken surface.
  test.each(markTokens.flatMap((t) => ['bg', 'panel'].map((s) => [t, s] as const)))('mark --%s on --%s has 3.0', (token, surface) => {
    expect(contrast(colour(token), colour(surface))).toBeGreaterThanOrEqual(3);
  });
});

test('both themes define the same colours', () => {
  expect([...tokensOf('dark').keys()].toSorted()).toEqual([...tokensOf('light').keys()].toSorted());
});
