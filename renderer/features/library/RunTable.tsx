/* oxlint-disable jsx-a11y/prefer-tag-over-role -- rows of a virtual list stand at absolute places, which table elements cannot */
import { memo, useEffect, useEffectEvent, useRef } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import type { RunSummary } from '#shared/contract/run.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { MiddleEllipsis } from '#renderer/widgets/MiddleEllipsis.tsx';
import { Problem } from '#renderer/widgets/Problem.tsx';
import { visibleText } from '#renderer/i18n/foreign.ts';
import { endedAs } from '#shared/domain/ended-as.ts';
import { OutcomeBar } from './OutcomeBar.tsx';
import { StatusMark } from './StatusMark.tsx';
import type { Runs } from './use-runs.ts';
import styles from './RunTable.module.css';

const rowPx = 32;
const overscan = 12;
/** A page more is asked for when so many rows are left below. */
const loadAhead = 30;

type Props = {
  readonly list: Runs;
  readonly active: number;
  readonly onOpen: (id: string) => void;
  readonly onActivate: (row: number) => void;
};

/** Runs as rows, newest first; only those in view are in the document. */
export function RunTable({ list, active, onOpen, onActivate }: Props) {
  const { t } = useText();
  const scroller = useRef<HTMLDivElement>(null);
  const { runs, more, loadMore } = list;
  // oxlint-disable-next-line react/incompatible-library -- speaks of React Compiler, which this build does not use
  const virtual = useVirtualizer({ count: runs.length, getScrollElement: () => scroller.current, estimateSize: () => rowPx, overscan });
  const items = virtual.getVirtualItems();
  const scrolls = virtual.getTotalSize() > (virtual.scrollRect?.height ?? Number.POSITIVE_INFINITY);
  const lastSeen = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && lastSeen >= runs.length - loadAhead) loadMore();
  }, [more, lastSeen, runs.length, loadMore]);
  const scrollToRow = useEffectEvent((row: number) => {
    if (runs.length > 0) virtual.scrollToIndex(row);
  });
  // Only the keys move the view, not what a live run does to the list.
  useEffect(() => scrollToRow(active), [active]);

  return (
    <div
      className={styles['table']}
      role="grid"
      aria-label={t.libraryTitle}
      aria-rowcount={more ? -1 : runs.length + 1}
      aria-busy={!list.loaded}
      tabIndex={-1}
    >
      <div className={styles['head']} role="row" data-scrolls={scrolls}>
        {[t.colStatus, t.colTask, t.colStarted].map((name) => (
          <span key={name} role="columnheader">
            {name}
          </span>
        ))}
        <span role="columnheader" className={styles['number']}>
          {t.colPotential}
        </span>
        <span role="columnheader" className={styles['number']}>
          {t.colCommits}
        </span>
        {[t.colOutcomes, t.colProposer].map((name) => (
          <span key={name} role="columnheader">
            {name}
          </span>
        ))}
        <span role="columnheader" className={styles['number']}>
          {t.colSeed}
        </span>
        <span role="columnheader">{t.colStop}</span>
      </div>
      {list.error && list.loaded ? <Problem error={list.error} onRetry={list.retry} /> : null}
      <div ref={scroller} className={styles['scroller']} data-scrolls={scrolls} role="rowgroup" tabIndex={-1}>
        {list.loaded ? null : <Placeholder />}
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }} role="presentation">
          {items.map(({ index, start }) => {
            const run = runs[index];
            return run ? (
              <Row key={run.id} run={run} index={index} top={start} active={index === active} onOpen={onOpen} onActivate={onActivate} />
            ) : null;
          })}
        </div>
      </div>
    </div>
  );
}

type RowProps = {
  run: RunSummary;
  index: number;
  top: number;
  active: boolean;
  onOpen: (id: string) => void;
  onActivate: (row: number) => void;
};

const Row = memo(function Row({ run, index, top, active, onOpen, onActivate }: RowProps) {
  const { t, f } = useText();
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- keys reach rows by the commands (j, k, Enter), the tab key by the link inside
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={active}
      className={styles['row']}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => {
        onActivate(index);
        onOpen(run.id);
      }}
    >
      <span role="gridcell">
        <StatusMark status={run.status} stop={run.stop} />
        {run.status === 'stopped' ? t.ended[endedAs(run.stop)] : t.status[run.status]}
      </span>
      <span role="gridcell" className={styles['task']}>
        <a
          href={`#/v1/run/${run.id}`}
          aria-label={visibleText(run.task.title)}
          onClick={(event) => event.stopPropagation()}
          tabIndex={active ? 0 : -1}
        >
          <MiddleEllipsis text={run.task.title} />
        </a>
      </span>
      <span role="gridcell" className={styles['quiet']} title={run.startedAt}>
        {f.dateTime(run.startedAt)}
      </span>
      <span role="gridcell" className={styles['number']}>
        {run.genesis && run.head ? (
          <span title={t.fromTo(run.genesis.potential, run.head.potential)}>
            <span className={styles['quiet']}>{f.int(run.genesis.potential)} → </span>
            <strong>{f.int(run.head.potential)}</strong>
          </span>
        ) : (
          <span className={styles['quiet']}>{t.notCertified}</span>
        )}
      </span>
      <span role="gridcell" className={styles['number']}>
        <strong>{f.int(run.counts.commit)}</strong>
        <span className={styles['quiet']}> / {f.int(run.transitions)}</span>
      </span>
      <span role="gridcell">
        <OutcomeBar counts={run.counts} total={run.transitions} />
      </span>
      <span role="gridcell" className={styles['quiet']}>
        {t.proposer[run.proposer]} · {t.slots(run.slots)}
      </span>
      <span role="gridcell" className={styles['number']}>
        {run.seed}
      </span>
      <span role="gridcell" className={styles['stop']} title={run.note === null ? undefined : visibleText(run.note)}>
        <MiddleEllipsis text={run.stop === null ? (run.note ?? '') : t.stop[run.stop]} />
      </span>
    </div>
  );
});

function Placeholder() {
  const { t } = useText();
  return (
    <div role="row" className={styles['placeholder']}>
      <span role="gridcell">{t.loading}</span>
    </div>
  );
}
