import { useText } from '#renderer/i18n/use-text.ts';
import type { TextKey } from '#renderer/i18n/dictionary.ts';
import { useUi } from '#renderer/state/store.ts';
import { Dialog } from '#renderer/widgets/Dialog.tsx';
import { Kbd } from '#renderer/widgets/Kbd.tsx';
import { useRegisteredCommands, type Command, type CommandGroup } from './commands.ts';
import styles from './Overlays.module.css';

const groups: readonly (readonly [CommandGroup, TextKey])[] = [
  ['step', 'groupStep'],
  ['look', 'groupLook'],
  ['run', 'groupRun'],
  ['app', 'groupApp'],
];

// Patterns beside the first may only be other spellings of the same key.
const shownKeys = (command: Command): string[] => command.keys.filter((key) => !key.includes('('));

/** All keys of this screen, by group. */
export function KeysHelp() {
  const { t } = useText();
  const commands = useRegisteredCommands();
  return (
    <Dialog label={t.keysTitle} wide onClose={() => useUi.getState().setOverlay('none')}>
      <div className={styles['keysHead']}>
        <h2>{t.keysTitle}</h2>
        <p>{t.keysNote}</p>
      </div>
      <div className={styles['keys']}>
        {groups.map(([group, name]) => {
          const own = commands.filter((command) => command.group === group && command.keys.length > 0);
          return own.length === 0 ? null : (
            <section key={group} className={styles['group']}>
              <h3>{t[name]}</h3>
              <dl>
                {own.map((command) => (
                  <div key={command.id} className={styles['key']}>
                    <dt>{t[command.name]}</dt>
                    <dd>
                      {shownKeys(command).map((key) => (
                        <Kbd key={key} keys={key} />
                      ))}
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          );
        })}
      </div>
    </Dialog>
  );
}
