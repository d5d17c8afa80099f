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

/** Two texts to compare. `key` names the pair: the same key is the same content. */
export type CodePair = { readonly key: string; readonly path: string; readonly before: string; readonly after: string };

declare global {
  interface Window {
    MonacoEnvironment?: { getWorker(): Worker };
  }
}

/** Above this many lines the older algorithm is faster by a third, and the difference in quality no longer seen. */
const legacyLines = 20_000;
/** Pairs that are kept ready: the one that is shown and the one before it, so that going back needs no work. */
const keptPairs = 2;
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

const lineCount = (text: string): number => {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
};

type Prepared = { readonly model: editor.IDiffEditorModel; readonly view: editor.IDiffEditorViewModel };

function dispose({ model, view }: Prepared): void {
  view.dispose();
  model.original.dispose();
  model.modified.dispose();
}

/** A read-only diff editor inside an element. */
export class DiffView {
  readonly #editor: editor.IStandaloneDiffEditor;
  /** Oldest first. */
  readonly #pairs = new Map<string, Prepared>();
  readonly #themed: () => void;
  #wanted: string | null = null;
  #shown: string | null = null;
  #disposed = false;

  constructor(element: HTMLElement, labels: { readonly before: string; readonly after: string }) {
    prepare();
    this.#themed = () => {
      editor.defineTheme(themeName, readTheme(element));
      editor.setTheme(themeName);
    };
    this.#themed();
    const style = getComputedStyle(element);
    this.#editor = editor.createDiffEditor(element, {
      theme: themeName,
      readOnly: true,
      domReadOnly: true,
      originalEditable: false,
      renderSideBySide: true,
      useInlineViewWhenSpaceIsLimited: true,
      renderSideBySideInlineBreakpoint: 720,
      maxComputationTime: computationMs,
      ignoreTrimWhitespace: false,
      hideUnchangedRegions: { enabled: true, contextLineCount: 3, minimumLineCount: 4, revealLineCount: 20 },
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
      tabFocusMode: true,
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

  /** Key of the pair on the screen; null before the first. */
  get shown(): string | null {
    return this.#shown;
  }

  /**
   * Computes the diff of a pair beside the one that is shown and swaps them when it is ready. True when the pair is on the screen, false when
   * a later call has overtaken this one: then nothing of it was seen.
   */
  async show(pair: CodePair): Promise<boolean> {
    this.#wanted = pair.key;
    const ready = this.#pairs.get(pair.key) ?? this.#prepare(pair);
    // Freshly used goes last, so that the oldest is first.
    this.#pairs.delete(pair.key);
    this.#pairs.set(pair.key, ready);
    await ready.view.waitForDiff();
    if (this.#disposed || this.#wanted !== pair.key) {
      this.#forget();
      return false;
    }
    if (this.#shown !== pair.key) {
      this.#editor.setModel(ready.view);
      this.#shown = pair.key;
      this.#editor.revealFirstDiff();
    }
    this.#forget();
    return true;
  }

  /** Reads the colours again after a change of theme. */
  retheme(): void {
    this.#themed();
  }

  /** Frees the editor and all its models. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#editor.setModel(null);
    for (const pair of this.#pairs.values()) dispose(pair);
    this.#pairs.clear();
    this.#editor.dispose();
  }

  #prepare(pair: CodePair): Prepared {
    const lines = Math.max(lineCount(pair.before), lineCount(pair.after));
    this.#editor.updateOptions({ diffAlgorithm: lines > legacyLines ? 'legacy' : 'advanced' });
    const language = languageOf(pair.path);
    // New models each time: setValue on a live one waits 200 ms by design.
    const model = { original: editor.createModel(pair.before, language), modified: editor.createModel(pair.after, language) };
    // Colours of brackets would compete with those of the change; the editor's own option does not reach its models.
    for (const side of [model.original, model.modified])
      side.updateOptions({ bracketColorizationOptions: { enabled: false, independentColorPoolPerBracketType: false } });
    return { model, view: this.#editor.createViewModel(model) };
  }

  #forget(): void {
    for (const [key, pair] of this.#pairs) {
      if (this.#pairs.size <= keptPairs) break;
      if (key === this.#shown || key === this.#wanted) continue;
      this.#pairs.delete(key);
      dispose(pair);
    }
  }
}
