// Monaco, as little of it as a diff needs: the editor, the diff view, find, and light grammars. Loaded when the first diff is shown.
// Everything comes from this bundle: one worker file, no language servers, no network.
import { editor, languages } from 'monaco-editor/editor';
// oxlint-disable-next-line import/default -- `?worker` is Vite's: it makes a constructor of the file
import EditorWorker from 'monaco-editor/editor/editor.worker.js?worker';
import 'monaco-editor/features/codeEditor/register';
import 'monaco-editor/features/diffEditor/register';
import 'monaco-editor/features/unicodeHighlighter/register';
import 'monaco-editor/features/find/register';
import 'monaco-editor/features/clipboard/register';
import 'monaco-editor/features/codicon/register';
import 'monaco-editor/languages/definitions/ini/register';
import 'monaco-editor/languages/definitions/javascript/register';
import 'monaco-editor/languages/definitions/markdown/register';
import 'monaco-editor/languages/definitions/python/register';
import 'monaco-editor/languages/definitions/shell/register';
import 'monaco-editor/languages/definitions/typescript/register';
import { readTheme, themeName } from './code-diff-theme.ts';
import { languageOf } from './code-diff-language.ts';

declare global {
  interface Window {
    MonacoEnvironment?: { getWorker(): Worker };
  }
}

/** After this long a diff shows what it has: two texts with nothing in common would never end. */
const computationMs = 1000;

let prepared = false;

/** What is done once per page: worker, grammar for JSON (the bundled one would start a language server). */
function prepare(): void {
  if (prepared) return;
  prepared = true;
  window.MonacoEnvironment = { getWorker: () => new EditorWorker() };
  languages.register({ id: 'json' });
  languages.setMonarchTokensProvider('json', {
    tokenizer: {
      root: [
        [/"(?:[^"\\]|\\.)*"(?=\s*:)/, 'type'],
        [/"(?:[^"\\]|\\.)*"/, 'string'],
        [/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/, 'number'],
        [/\b(?:true|false|null)\b/, 'keyword'],
        [/\/\/.*$/, 'comment'],
      ],
    },
  });
}

/** Puts the colours of the tokens that apply at an element into every editor of the page. */
export function applyTheme(element: HTMLElement): void {
  editor.defineTheme(themeName, readTheme(element));
  editor.setTheme(themeName);
}

/** A diff editor inside an element. With `editable`, its right side can be written. */
export function createDiff(
  element: HTMLElement,
  labels: { readonly before: string; readonly after: string },
  editable: boolean,
): editor.IStandaloneDiffEditor {
  prepare();
  applyTheme(element);
  const style = getComputedStyle(element);
  return editor.createDiffEditor(element, {
    theme: themeName,
    readOnly: !editable,
    domReadOnly: !editable,
    originalEditable: false,
    renderSideBySide: true,
    useInlineViewWhenSpaceIsLimited: true,
    renderSideBySideInlineBreakpoint: 720,
    maxComputationTime: computationMs,
    ignoreTrimWhitespace: false,
    // Where something is written, all of it has to be there.
    hideUnchangedRegions: { enabled: !editable, contextLineCount: 3, minimumLineCount: 4, revealLineCount: 20 },
    renderIndicators: true,
    renderMarginRevertIcon: false,
    renderGutterMenu: false,
    renderOverviewRuler: true,
    diffCodeLens: false,
    // What could deceive a reader is shown: control characters, zero width and look-alike characters.
    renderControlCharacters: true,
    unicodeHighlight: {
      ambiguousCharacters: true,
      invisibleCharacters: true,
      nonBasicASCII: false,
      includeComments: true,
      includeStrings: true,
    },
    unusualLineTerminators: 'off',
    links: false,
    contextmenu: false,
    minimap: { enabled: false },
    folding: false,
    glyphMargin: false,
    lineNumbersMinChars: 4,
    lineDecorationsWidth: 14,
    scrollBeyondLastLine: false,
    smoothScrolling: false,
    occurrencesHighlight: 'off',
    selectionHighlight: false,
    matchBrackets: 'never',
    guides: { indentation: false },
    stickyScroll: { enabled: false },
    renderLineHighlight: 'none',
    wordWrap: 'off',
    tabFocusMode: !editable,
    automaticLayout: true,
    fontFamily: style.getPropertyValue('--font-code').trim() || 'monospace',
    fontSize: 12,
    lineHeight: 19,
    fontLigatures: false,
    originalAriaLabel: labels.before,
    modifiedAriaLabel: labels.after,
    scrollbar: { verticalScrollbarSize: 10, horizontalScrollbarSize: 10, useShadows: false },
  });
}

/** A model of one side. */
export function createSide(text: string, path: string): editor.ITextModel {
  const side = editor.createModel(text, languageOf(path));
  // Colours of brackets would compete with those of the change; the editor's own option does not reach its models.
  side.updateOptions({ bracketColorizationOptions: { enabled: false, independentColorPoolPerBracketType: false } });
  return side;
}
