// Everything a key or the palette can do. A screen registers its commands while it is shown; the newest layer wins.
import { useEffect } from 'react';
import { create } from 'zustand';
import type { TextKey } from '#renderer/i18n/dictionary.ts';
import { isTaken, matches } from './keys.ts';

export type CommandGroup = 'step' | 'look' | 'run' | 'app';
export type Command = {
  readonly id: string;
  /** Key of its name in the dictionaries: the palette finds it in every language. */
  readonly name: TextKey;
  readonly group: CommandGroup;
  /** The first is the one that is shown. */
  readonly keys: readonly string[];
  /** false = not now; keys pass through and the palette leaves it out. */
  readonly when?: () => boolean;
  readonly run: () => void;
};

type Registry = { readonly layers: readonly (readonly Command[])[] };
const useRegistry = create<Registry>()(() => ({ layers: [] }));

/** Registers commands while the calling component is shown. Pass a stable array. */
export function useCommands(commands: readonly Command[]): void {
  useEffect(() => {
    useRegistry.setState((s) => ({ layers: [...s.layers, commands] }));
    return () => useRegistry.setState((s) => ({ layers: s.layers.filter((layer) => layer !== commands) }));
  }, [commands]);
}

/** All commands that are registered now, newest layer first. */
export const useRegisteredCommands = (): Command[] =>
  useRegistry((s) => s.layers)
    .toReversed()
    .flat();

const registered = (): Command[] => useRegistry.getState().layers.toReversed().flat();

/** Runs the command that a key belongs to. Returns whether there was one. */
function dispatchKey(event: KeyboardEvent): boolean {
  if (isTaken(event) || document.querySelector('dialog:modal') !== null) return false;
  for (const command of registered()) {
    if (!command.keys.some((pattern) => matches(event, pattern)) || command.when?.() === false) continue;
    event.preventDefault();
    command.run();
    return true;
  }
  return false;
}

/** Listens for keys on the window while the calling component is shown. */
export function useKeyboard(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      dispatchKey(event);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}
