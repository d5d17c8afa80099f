/* oxlint-disable jsx-a11y/prefer-tag-over-role -- a combobox with a list that is always open; a select cannot show keys beside names */
import { useMemo, useState, type KeyboardEvent } from 'react';
import { textIn, useText } from '#renderer/i18n/use-text.ts';
import { useUi } from '#renderer/state/store.ts';
import { Dialog } from '#renderer/widgets/Dialog.tsx';
import { Kbd } from '#renderer/widgets/Kbd.tsx';
import { useRegisteredCommands, type Command } from './commands.ts';
import styles from './Overlays.module.css';

const en = textIn('en').t;
const ko = textIn('ko').t;

/** Whether every word of the query occurs in a name of the command, in either language. */
function commandMatches(command: Command, query: string): boolean {
  const names = `${en[command.name]} ${ko[command.name]} ${command.id}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => names.includes(word));
}

/** All commands that can run now, found by name in both languages. */
export function CommandPalette() {
  const { t } = useText();
  const commands = useRegisteredCommands();
  const [query, setQuery] = useState('');
  const [active, setActive] = useState(0);
  const found = useMemo(
    () => commands.filter((command) => command.id !== 'app.palette' && command.when?.() !== false && commandMatches(command, query)),
    [commands, query],
  );
  const close = () => useUi.getState().setOverlay('none');
  const run = (command: Command | undefined) => {
    if (!command) return;
    close();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown') setActive((i) => Math.min(found.length - 1, i + 1));
    else if (event.key === 'ArrowUp') setActive((i) => Math.max(0, i - 1));
    else if (event.key === 'Enter') run(found[active]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label={t.paletteTitle} onClose={close}>
      <input
        className={styles['query']}
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found[active] ? `palette-${active}` : undefined}
        aria-label={t.palettePlaceholder}
        placeholder={t.palettePlaceholder}
        value={query}
        spellCheck={false}
        onChange={(event) => {
          setQuery(event.target.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-list" role="listbox" aria-label={t.paletteTitle} className={styles['list']}>
        {found.map((command, i) => (
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- keys and focus stay in the line above
          <div
            key={command.id}
            id={`palette-${i}`}
            role="option"
            aria-selected={i === active}
            className={styles['option']}
            ref={i === active ? (element) => element?.scrollIntoView({ block: 'nearest' }) : undefined}
            onPointerMove={() => setActive(i)}
            onClick={() => run(command)}
          >
            <span>{t[command.name]}</span>
            {command.keys[0] === undefined ? null : <Kbd keys={command.keys[0]} />}
          </div>
        ))}
      </div>
      {found.length === 0 ? <p className={styles['none']}>{t.paletteNone}</p> : null}
    </Dialog>
  );
}
