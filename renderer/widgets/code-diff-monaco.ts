// The view of a diff that is only read: the next pair is computed beside the one that is shown.
import type { editor } from 'monaco-editor/editor';
import { applyTheme, createDiff, createSide } from './code-monaco.ts';

/** Two texts to compare. `key` names the pair: the same key is the same content. */
export type CodePair = { readonly key: string; readonly path: string; readonly before: string; readonly after: string };

/** Above this many lines the older algorithm is faster by a third, and the difference in quality no longer seen. */
const legacyLines = 20_000;
/** Pairs that are kept ready: the one that is shown and the one before it, so that going back needs no work. */
const keptPairs = 2;
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
    this.#themed = () => applyTheme(element);
    this.#editor = createDiff(element, labels, false);
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
    // New models each time: setValue on a live one waits 200 ms by design.
    const model = { original: createSide(pair.before, pair.path), modified: createSide(pair.after, pair.path) };
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
