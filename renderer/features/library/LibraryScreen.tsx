import { useCallback, useMemo } from 'react';
import { useCommands, type Command } from '#renderer/app/commands.ts';
import { go, runPlace } from '#renderer/app/navigation.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { useUi } from '#renderer/state/store.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import { Header } from '#renderer/widgets/Header.tsx';
import { Problem } from '#renderer/widgets/Problem.tsx';
import { FirstStart } from './FirstStart.tsx';
import { RunTable } from './RunTable.tsx';
import { useRuns } from './use-runs.ts';
import styles from './LibraryScreen.module.css';

const newRun = () => go({ screen: 'new' });

/** All runs of the data folder, and the way to a new one. */
export function LibraryScreen() {
  const { t } = useText();
  const list = useRuns();
  const row = useUi((s) => s.libraryRow);
  const { runs } = list;
  const active = Math.min(row, Math.max(0, runs.length - 1));

  const open = useCallback((id: string) => go(runPlace(id)), []);
  const commands = useMemo((): Command[] => {
    const ui = useUi.getState;
    const move = (to: number) => ui().setLibraryRow(Math.min(runs.length - 1, Math.max(0, to)));
    const any = () => runs.length > 0;
    return [
      { id: 'library.next', name: 'cmdNextRun', keys: ['KeyJ', 'ArrowDown'], group: 'step', when: any, run: () => move(active + 1) },
      { id: 'library.previous', name: 'cmdPreviousRun', keys: ['KeyK', 'ArrowUp'], group: 'step', when: any, run: () => move(active - 1) },
      { id: 'library.first', name: 'cmdFirstRun', keys: ['Home'], group: 'step', when: any, run: () => move(0) },
      { id: 'library.last', name: 'cmdLastRun', keys: ['End'], group: 'step', when: any, run: () => move(runs.length - 1) },
      {
        id: 'library.open',
        name: 'cmdOpen',
        keys: ['Enter'],
        group: 'step',
        when: any,
        run: () => {
          const run = runs[active];
          if (run) open(run.id);
        },
      },
      { id: 'library.new', name: 'newRun', keys: ['KeyN'], group: 'run', run: newRun },
    ];
  }, [runs, active, open]);
  useCommands(commands);

  const first = list.loaded && runs.length === 0;
  return (
    <>
      <Header title={t.libraryTitle}>
        <span className={styles['count']}>{list.loaded && !first ? t.runsCount(runs.length, list.more) : ''}</span>
        <span className={styles['grow']} />
        {first ? null : (
          <Button keys="KeyN" onClick={newRun}>
            {t.newRun}
          </Button>
        )}
      </Header>
      <main className={styles['screen']}>
        {list.error && !list.loaded ? (
          <div className={styles['problem']}>
            <Problem error={list.error} onRetry={list.retry} />
          </div>
        ) : first ? (
          <FirstStart onStarted={open} onOther={newRun} />
        ) : (
          <RunTable list={list} active={active} onOpen={open} onActivate={(i) => useUi.getState().setLibraryRow(i)} />
        )}
      </main>
    </>
  );
}
