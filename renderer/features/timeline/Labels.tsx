import { memo, useLayoutEffect, useRef } from 'react';
import { useText } from '#renderer/i18n/use-text.ts';
import type { Obligation } from '#shared/domain/obligation.ts';
import { visibleText } from '#renderer/i18n/foreign.ts';
import { MiddleEllipsis } from '#renderer/widgets/MiddleEllipsis.tsx';
import { trackPx, type Band } from './layout.ts';
import type { RowValues } from './row-values.ts';
import styles from './Timeline.module.css';

const overscan = 4;
/** Characters of the end of a name that stay when the middle is cut: often the part that tells two test names apart. */
const tail = 8;

const hintOf = ({ key, title }: Obligation, ...more: readonly string[]): string =>
  [...new Set([visibleText(key), visibleText(title), ...more])].filter((line) => line !== '').join('\n');

const valuesHint = ({ selected, before, after, head }: RowValues, i: number, t: ReturnType<typeof useText>['t']): string =>
  t.timelineValues(selected, before[i] ?? 0, after?.[i] ?? null, head?.[i] ?? 0);

type Props = {
  readonly obligations: readonly Obligation[];
  /** Values beside the names; null while there are none. */
  readonly values: RowValues | null;
  readonly focused: number;
  readonly tamperEvidentOnly: boolean;
  readonly band: Band;
  readonly scroll: number;
  readonly onScroll: (scroll: number) => void;
  readonly onFocus: (i: number) => void;
};

/** The obligations beside their rows, with their values in the selected transition: from → to where it changed them. Only the rows that are seen are in the document. */
export const Labels = memo(function Labels({ obligations, values, focused, tamperEvidentOnly, band, scroll, onScroll, onFocus }: Props) {
  const { t, f } = useText();
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (box.current && Math.abs(box.current.scrollTop - scroll) >= 1) box.current.scrollTop = scroll;
  }, [scroll]);
  const first = Math.max(0, Math.floor(scroll / trackPx.row) - overscan);
  const last = Math.min(obligations.length, Math.ceil((scroll + band.height) / trackPx.row) + overscan);
  const shown = obligations.slice(first, last);
  return (
    <div
      ref={box}
      className={styles['rows']}
      style={{ top: band.top, height: band.height }}
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a select cannot hold rows that are aligned with a picture
      role="listbox"
      tabIndex={0}
      aria-label={t.timelineObligations}
      aria-activedescendant={focused >= first && focused < last ? `timeline-obligation-${focused}` : undefined}
      onScroll={(event) => onScroll(event.currentTarget.scrollTop)}
    >
      <div style={{ height: obligations.length * trackPx.row }}>
        {shown.map((obligation, k) => {
          const i = first + k;
          const before = values?.before[i];
          const after = values?.after?.[i] ?? before;
          const moved = before !== undefined && after !== undefined && before !== after;
          return (
            // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the list has the focus, and arrows are the run screen's
            <div
              key={obligation.key}
              id={`timeline-obligation-${i}`}
              className={styles['row']}
              style={{ top: i * trackPx.row }}
              // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an option element belongs into a select
              role="option"
              aria-selected={i === focused}
              title={hintOf(obligation, values ? valuesHint(values, i, t) : '', tamperEvidentOnly ? t.tamperEvident : '')}
              onClick={() => onFocus(i)}
            >
              <span className={styles['name']}>
                <MiddleEllipsis text={obligation.key} tail={tail} hint={false} />
              </span>
              {moved ? (
                <span className={`${styles['value'] ?? ''} ${(after < before ? styles['better'] : styles['worse']) ?? ''}`}>
                  {f.int(before)} → {f.int(after)}
                </span>
              ) : (
                <span className={`${styles['value'] ?? ''} ${after === 0 ? (styles['zero'] ?? '') : ''}`}>
                  {after === undefined ? '' : f.int(after)}
                </span>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
});
