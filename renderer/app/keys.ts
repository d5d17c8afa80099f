// Keys by their place on the keyboard, so that they work with Hangul input on; silent while something is being written.
import { matchKeybindingPress, parseKeybinding } from 'tinykeys';

const presses = new Map<string, ReturnType<typeof parseKeybinding>>();

/** Whether the event is the one press that `pattern` names: `KeyJ`, `Shift+KeyJ`, `$mod+KeyK`, `Alt+ArrowLeft`. */
export function matches(event: KeyboardEvent, pattern: string): boolean {
  let parsed = presses.get(pattern);
  if (!parsed) presses.set(pattern, (parsed = parseKeybinding(pattern)));
  const press = parsed[0];
  return press !== undefined && matchKeybindingPress(event, press);
}

const isWriting = (element: Element): boolean =>
  element.closest('input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true], .monaco-editor') !== null;
const arrows = new Set(['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End']);

/** Whether the key belongs to what has the focus (an editor, a field, a widget) or to an input method, and not to us. */
export function isTaken(event: KeyboardEvent): boolean {
  // 229 is what browsers report for a key that an input method has swallowed.
  if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return true;
  const element = event.target instanceof Element ? event.target : null;
  if (!element) return false;
  if (event.ctrlKey || event.metaKey) return false;
  if (isWriting(element)) return true;
  if (event.code === 'Space' || event.code === 'Enter')
    return element.closest('button, a, summary, [role=button], [role=tab], [role=separator], input') !== null;
  return arrows.has(event.code) && element.closest('[role=tablist], [role=separator], [role=radiogroup], input') !== null;
}

const names: Readonly<Record<string, string>> = {
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  BracketLeft: '[',
  BracketRight: ']',
  Space: 'Space',
  Enter: '⏎',
  Home: 'Home',
  End: 'End',
  Escape: 'Esc',
  Equal: '+',
  Minus: '−',
};

/** A pattern as it is printed on a button: `⇧J`, `Ctrl K`, `?`. */
export function keyLabel(pattern: string, platform: string): string {
  const mac = platform === 'darwin';
  if (pattern === 'Shift+Slash') return '?';
  if (pattern === 'Shift+Semicolon') return ':';
  return pattern
    .split('+')
    .map((part) => {
      if (part === '$mod') return mac ? '⌘' : 'Ctrl ';
      if (part === 'Shift') return '⇧';
      if (part === '[Shift]') return '';
      if (part === 'Alt') return mac ? '⌥' : 'Alt ';
      return names[part] ?? part.replace(/^(Key|Digit)/, '');
    })
    .join('');
}
