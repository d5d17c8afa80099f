// Monaco's colours, made from the tokens that apply where it stands. Monaco wants hex; the canvas turns whatever a token holds into it.
import type { editor } from 'monaco-editor/editor';

export const themeName = 'pawl';

/** '#rrggbbaa' of any CSS colour. */
function hexOf(css: string, pen: OffscreenCanvasRenderingContext2D): string {
  pen.clearRect(0, 0, 1, 1);
  pen.fillStyle = '#000';
  pen.fillStyle = css;
  pen.fillRect(0, 0, 1, 1);
  return `#${[...pen.getImageData(0, 0, 1, 1).data].map((v) => v.toString(16).padStart(2, '0')).join('')}`;
}

/** The theme that fits the tokens of an element. */
export function readTheme(element: Element): editor.IStandaloneThemeData {
  const style = getComputedStyle(element);
  const pen = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  if (!pen) throw new Error('this browser offers no 2D canvas, colours of the diff cannot be read');
  const hex = (token: string) => hexOf(style.getPropertyValue(token).trim(), pen);
  const fade = (token: string, alpha: string) => hex(token).slice(0, 7) + alpha;
  const ink = (token: string) => hex(token).slice(1, 7);
  const clear = '#00000000';
  return {
    base: style.colorScheme.includes('dark') ? 'vs-dark' : 'vs',
    inherit: true,
    // Green and vermilion mean added and removed here, so the grammar does without them.
    rules: [
      { token: '', foreground: ink('--ink') },
      { token: 'keyword', foreground: ink('--incomparable') },
      { token: 'string', foreground: ink('--not-selected') },
      { token: 'number', foreground: ink('--unstable') },
      { token: 'comment', foreground: ink('--ink-3'), fontStyle: 'italic' },
      { token: 'type', foreground: ink('--ink') },
      { token: 'delimiter', foreground: ink('--ink-2') },
      { token: 'tag', foreground: ink('--ink') },
      { token: 'attribute.name', foreground: ink('--ink') },
    ],
    colors: {
      'editor.background': hex('--panel'),
      'editor.foreground': hex('--ink'),
      'editorGutter.background': hex('--panel'),
      'editorLineNumber.foreground': hex('--ink-3'),
      'editorLineNumber.activeForeground': hex('--ink-2'),
      'editor.selectionBackground': hex('--select'),
      'editor.inactiveSelectionBackground': hex('--select'),
      'editorCursor.foreground': hex('--focus'),
      focusBorder: hex('--focus'),
      'editorWidget.background': hex('--raised'),
      'editorWidget.border': hex('--line-strong'),
      'input.background': hex('--panel'),
      'scrollbar.shadow': clear,
      'scrollbarSlider.background': fade('--line-strong', '60'),
      'scrollbarSlider.hoverBackground': fade('--line-strong', 'b0'),
      'scrollbarSlider.activeBackground': hex('--line-strong'),
      'diffEditor.insertedLineBackground': hex('--add-bg'),
      'diffEditor.removedLineBackground': hex('--del-bg'),
      'diffEditor.insertedTextBackground': fade('--commit', '4d'),
      'diffEditor.removedTextBackground': fade('--regression', '4d'),
      'diffEditorGutter.insertedLineBackground': hex('--add-bg'),
      'diffEditorGutter.removedLineBackground': hex('--del-bg'),
      'diffEditorOverview.insertedForeground': hex('--commit'),
      'diffEditorOverview.removedForeground': hex('--regression'),
      'diffEditor.border': hex('--line'),
      'diffEditor.diagonalFill': hex('--line'),
      'diffEditor.unchangedRegionBackground': hex('--sunken'),
      'diffEditor.unchangedRegionForeground': hex('--ink-2'),
      'diffEditor.unchangedCodeBackground': clear,
      'diffEditor.unchangedRegionShadow': clear,
      'editorUnicodeHighlight.border': hex('--unstable'),
      'editorUnicodeHighlight.background': fade('--unstable', '33'),
      'editorOverviewRuler.border': clear,
    },
  };
}
