import { useMemo } from 'react';
import { outcomes } from '#shared/domain/transition.ts';
import type { RunData } from '#renderer/state/run-data.ts';
import { reasonOf, type ObligationRow, type Reason } from '#renderer/state/reason.ts';
import { nearMisses, variationPlace } from '#renderer/state/steps.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { OutcomeMark } from '#renderer/features/timeline/index.ts';
import { PhraseText } from '#renderer/widgets/PhraseText.tsx';
import { TamperEvident } from '#renderer/widgets/TamperEvident.tsx';
import { visibleText } from '#renderer/i18n/foreign.ts';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import { HeadStanding } from './HeadStanding.tsx';
import { explain, whyHeading } from './explain.ts';
import type { ShownDetail } from './use-transition-detail.ts';
import screen from './RunScreen.module.css';
import styles from './Inspector.module.css';

const nearMissCount = 4;

type Props = {
  readonly data: RunData;
  readonly n: number;
  readonly shown: ShownDetail;
  readonly live: boolean;
  readonly obligation: number;
  readonly tamperEvidentOnly: boolean;
  readonly onSelect: (n: number) => void;
  readonly onFocusObligation: (i: number) => void;
};

/** Why the selected transition became what it became: in words, then in numbers, then what came close. All of it from columns at hand. */
export function Inspector({ data, n, shown, live, obligation, tamperEvidentOnly, onSelect, onFocusObligation }: Props) {
  const { t, f } = useText();
  const reason = useMemo(() => (n > 0 ? reasonOf(data, n) : null), [data, n]);
  const near = useMemo(() => (n > 0 ? nearMisses(data, n, nearMissCount) : []), [data, n]);
  if (!reason) {
    return (
      <aside className={screen['panel']} aria-label={t.inspector}>
        {n > 0 ? (
          <p className={styles['empty']}>{t.loadingTransition(n)}</p>
        ) : (
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, so the keyboard must be able to reach it
          <div className={styles['body']} tabIndex={0}>
            <HeadStanding data={data} tamperEvidentOnly={tamperEvidentOnly} />
          </div>
        )}
      </aside>
    );
  }
  const verdict = shown.key === n ? (shown.data?.verdict ?? null) : null;
  const place = variationPlace(data, n);
  const message = verdict && verdict.kind !== 'ranked' ? verdict.message : '';
  return (
    <aside className={screen['panel']} aria-label={t.inspector}>
      <div className={styles['body']} data-live={live}>
        <section>
          <h2 className={styles['heading']}>
            <span>{whyHeading(reason.outcome, t)}</span>
            <span className={styles['place']}>{place ? t.variation(place.index, place.total) : t.mainLine(data.bundleSeq(n))}</span>
          </h2>
          <p className={styles['why']} data-testid="why">
            <span className={styles['mark']}>
              <OutcomeMark outcome={reason.outcome} size={14} />
            </span>
            <PhraseText phrase={explain(reason, verdict, t)} />
          </p>
          {message === '' ? null : (
            <p className={styles['message']}>
              <span>{t.verifierSays}</span> <Foreign text={message} />
            </p>
          )}
        </section>
        <section className={styles['values']}>
          <h2 className={styles['heading']}>{t.obligationsAgainstBase}</h2>
          {reason.ranked ? (
            <Changes reason={reason} data={data} focused={obligation} tamperEvidentOnly={tamperEvidentOnly} onFocus={onFocusObligation} />
          ) : (
            <p className={styles['quiet']}>{t.noRank}</p>
          )}
        </section>
        <section>
          <h2 className={styles['heading']}>{t.nearMisses}</h2>
          {near.length === 0 ? <p className={styles['quiet']}>{t.nearMissesNone}</p> : null}
          <ul>
            {near.map((miss) => {
              const outcome = outcomes[miss.outcome];
              return outcome === undefined ? null : (
                <li key={miss.n}>
                  <button type="button" className={styles['near']} onClick={() => onSelect(miss.n)} title={t.goToTransition(miss.n)}>
                    <OutcomeMark outcome={outcome} />
                    <span className={styles['nearNumber']}>{f.int(miss.n)}</span>
                    <span className={styles['nearName']}>{t.outcome[outcome]}</span>
                    <span className={styles['quiet']}>{t.betterWorse(miss.better, miss.worse)}</span>
                  </button>
                </li>
              );
            })}
          </ul>
        </section>
      </div>
    </aside>
  );
}

type ChangesProps = {
  readonly reason: Reason;
  readonly data: RunData;
  readonly focused: number;
  readonly tamperEvidentOnly: boolean;
  readonly onFocus: (i: number) => void;
};

function Changes({ reason, data, focused, tamperEvidentOnly, onFocus }: ChangesProps) {
  const { t, f } = useText();
  const row = (change: ObligationRow, tone: 'better' | 'worse') => (
    <tr key={change.i} className={styles[tone]} data-focused={change.i === focused}>
      <td>
        <button type="button" className={styles['obligation']} onClick={() => onFocus(change.i)} title={visibleText(change.title)}>
          <Foreign text={change.name} /> {tamperEvidentOnly ? <TamperEvident /> : null}
        </button>
      </td>
      <td>{f.int(change.before)}</td>
      <td>{f.int(change.after)}</td>
    </tr>
  );
  // The obligation in focus keeps its place in the table even where it did not change.
  const base = data.baseRank(reason.n)[focused] ?? 0;
  const focusedUnchanged = !reason.better.some((c) => c.i === focused) && !reason.worse.some((c) => c.i === focused);
  const focusedObligation = data.obligations[focused];
  const hiddenUnchanged = reason.unchanged - (focusedUnchanged ? 1 : 0);
  const hiddenZero = reason.zero - (focusedUnchanged && base === 0 ? 1 : 0);
  return (
    <table className={styles['table']}>
      <thead>
        <tr>
          <th>{t.obligation}</th>
          <th>{t.before}</th>
          <th>{t.after}</th>
        </tr>
      </thead>
      <tbody>
        {reason.worse.map((change) => row(change, 'worse'))}
        {reason.better.map((change) => row(change, 'better'))}
        {focusedUnchanged && focusedObligation ? (
          <tr data-focused="true">
            <td>
              <span className={styles['obligation']} title={visibleText(focusedObligation.title)}>
                <Foreign text={focusedObligation.key} /> {tamperEvidentOnly ? <TamperEvident /> : null}
              </span>
            </td>
            <td>{f.int(base)}</td>
            <td>{f.int(base)}</td>
          </tr>
        ) : null}
        {hiddenUnchanged > 0 ? (
          <tr className={styles['rest']}>
            <td colSpan={3}>{t.unchanged(hiddenUnchanged, hiddenZero)}</td>
          </tr>
        ) : null}
        <tr className={styles['sum']}>
          <td>
            {t.potential} <span>{t.potentialNote}</span>
          </td>
          <td>{f.int(reason.potential.before)}</td>
          <td>{reason.potential.after === null ? '' : f.int(reason.potential.after)}</td>
        </tr>
      </tbody>
    </table>
  );
}
