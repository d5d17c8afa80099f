// The view of a diff whose right side is written: one model a file, so that each keeps its own undo and its place.
import type { editor } from 'monaco-editor/editor';
import 'monaco-editor/features/wordOperations/register';
import { applyTheme, createDiff, createSide } from './code-monaco.ts';

/** A file that is written. `key` names the file and what it is compared with; `after` is its text as its owner has it. */
export type EditedFile = {
  readonly key: string;
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly readOnly: boolean;
};

/** `same`: the text is that of `before` again, to the byte. */
export type OnEdit = (path: string, text: string, same: boolean) => void;

type Open = {
  readonly path: string;
  readonly model: editor.IDiffEditorModel;
  /** What an unedited editor holds: the base with its line ends made one kind. */
  readonly normalized: string;
  readonly before: string;
  /** The text that the owner and the editor agree on. */
  known: string;
  place: editor.IDiffEditorViewState | null;
};

/** Files that stay open with their undo while others are looked at. */
const keptOpen = 20;

/** Text defined line ends, and the byte order mark if there is one. */
const textOf = (model: editor.ITextModel): string => model.getValue(undefined, true);

/** An editable diff editor inside an element. */
export class EditView {
  readonly #editor: editor.IStandaloneDiffEditor;
  readonly #element: HTMLElement;
  readonly #onChange: OnEdit;
  /** Oldest use first. */
  readonly #open = new Map<string, Open>();
  #shown: string | null = null;
  #taking = false;

  constructor(element: HTMLElement, labels: { readonly before: string; readonly after: string }, onChange: OnEdit) {
    this.#element = element;
    this.#onChange = onChange;
    this.#editor = createDiff(element, labels, true);
    this.#editor.getModifiedEditor().onDidChangeModelContent(() => this.#changed());
  }

  /** Shows a file. A text that its owner has changed meanwhile is taken as an edit, which undo takes back. */
  show(file: EditedFile): void {
    const open = this.#open.get(file.key) ?? this.#make(file);
    this.#open.delete(file.key);
    this.#open.set(file.key, open);
    if (this.#shown !== file.key) {
      const left = this.#shown === null ? undefined : this.#open.get(this.#shown);
      if (left) left.place = this.#editor.saveViewState();
      this.#shown = file.key;
      this.#editor.setModel(open.model);
      if (open.place) this.#editor.restoreViewState(open.place);
    }
    if (open.known !== file.after) this.#take(open, file.after);
    this.#editor.updateOptions({ readOnly: file.readOnly, domReadOnly: file.readOnly });
    this.#forget();
  }

  /** Puts the cursor into the side that is written. */
  focus(): void {
    this.#editor.getModifiedEditor().focus();
  }

  /** Reads the colours again after a change of theme. */
  retheme(): void {
    applyTheme(this.#element);
  }

  /** Frees the editor and all its models. */
  dispose(): void {
    this.#editor.setModel(null);
    for (const { model } of this.#open.values()) close(model);
    this.#open.clear();
    this.#editor.dispose();
  }

  #make({ path, before, after }: EditedFile): Open {
    const model = { original: createSide(before, path), modified: createSide(before, path) };
    const open: Open = { path, model, before, normalized: textOf(model.modified), known: before, place: null };
    if (after !== before) {
      // What was written before the editor was there cannot be undone step by step, but as a whole.
      this.#take(open, after);
      model.modified.pushStackElement();
    }
    return open;
  }

  #take(open: Open, text: string): void {
    const { modified } = open.model;
    // The byte order mark of a model is no character of it.
    const marked = open.before.startsWith('\uFEFF');
    this.#taking = true;
    modified.pushStackElement();
    modified.pushEditOperations(
      [],
      [{ range: modified.getFullModelRange(), text: marked ? text.replace(/^\uFEFF/, '') : text }],
      () => null,
    );
    modified.pushStackElement();
    this.#taking = false;
    open.known = text;
  }

  #changed(): void {
    const open = this.#shown === null ? undefined : this.#open.get(this.#shown);
    if (this.#taking || open === undefined) return;
    const text = textOf(open.model.modified);
    // Everything undone: the file is what it was to the byte, whatever the editor made of its line ends.
    open.known = text === open.normalized ? open.before : text;
    this.#onChange(open.path, open.known, open.known === open.before);
  }

  #forget(): void {
    for (const [key, { model }] of this.#open) {
      if (this.#open.size <= keptOpen) break;
      if (key === this.#shown) continue;
      this.#open.delete(key);
      close(model);
    }
  }
}

function close({ original, modified }: editor.IDiffEditorModel): void {
  original.dispose();
  modified.dispose();
}
