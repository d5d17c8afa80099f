import { useText } from '#renderer/i18n/use-text.ts';
import { outcomes } from '#shared/domain/transition.ts';
import type { RunData } from '#renderer/state/run-data.ts';
import { Foreign } from '#renderer/widgets/Foreign.tsx';
import { OutcomeMark } from './OutcomeMark.tsx';
import { sumOf } from './summary.ts';
import styles from './Timeline.module.css';

/** What the pointer is on. `obligation` is -1 outside the matrix; `resolution` > 1 when transitions are merged. */
export type Pointed = {
  readonly n: number;
  readonly obligation: number;
  readonly x: number;
  readonly y: number;
  readonly resolution: number;
};

const sidePx = 14;

/** Exact values of what is under the pointer. For the pointer only: the same is in the slider's value text and in the inspector. */
export function Readout({ data, at, width }: { data: RunData; at: Pointed; width: number }) {
  const { t, f } = useText();
  const place = at.x > width / 2 ? { right: width - at.x + sidePx } : { left: at.x + sidePx };
  return (
    <div className={styles['readout']} style={{ ...place, top: at.y }} aria-hidden>
      <Facts data={data} at={at} t={t} f={f} />
    </div>
  );
}

function Facts({ data, at, t, f }: { data: RunData; at: Pointed } & Pick<ReturnType<typeof useText>, 't' | 'f'>) {
  if (at.resolution > 1) {
    const from = Math.floor((at.n - 1) / at.resolution) * at.resolution + 1;
    const to = Math.min(data.count, from + at.resolution - 1);
    const counts = outcomes.map(() => 0);
    for (let n = from; n <= to; n++) {
      const code = data.outcome(n);
      if (code < counts.length) counts[code] = (counts[code] ?? 0) + 1;
    }
    return (
      <>
        <div className={styles['readoutHead']}>{t.timelineBucket(from, to)}</div>
        <span>
          {outcomes.flatMap((o, i) => ((counts[i] ?? 0) > 0 ? [t.outcomeCount(t.outcome[o], counts[i] ?? 0)] : [])).join(' · ') ||
            t.loading}
        </span>
      </>
    );
  }
  const outcome = outcomes[data.outcome(at.n)];
  if (outcome === undefined)
    return (
      <div className={styles['readoutHead']}>
        {f.int(at.n)} · {t.loading}
      </div>
    );
  const rank = data.rank(at.n);
  const base = data.baseRank(at.n);
  const obligation = data.obligations[at.obligation];
  const before = base[at.obligation] ?? 0;
  const after = rank?.[at.obligation] ?? 0;
  return (
    <>
      <div className={styles['readoutHead']}>
        <OutcomeMark outcome={outcome} />
        {f.int(at.n)} · {t.outcome[outcome]}
      </div>
      {rank ? (
        <span>
          {t.potential} {t.fromTo(sumOf(base), sumOf(rank))}
        </span>
      ) : (
        <span>{t.noRank}</span>
      )}
      {rank && obligation && (
        <span className={after < before ? styles['better'] : after > before ? styles['worse'] : undefined}>
          <Foreign text={obligation.key} /> {after === before ? f.int(after) : t.fromTo(before, after)}
        </span>
      )}
    </>
  );
}
