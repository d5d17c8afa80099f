import { useQuery, useCommand } from '#renderer/client/use-query.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import { Problem } from '#renderer/widgets/Problem.tsx';
import { visibleText } from '#renderer/i18n/foreign.ts';
import styles from './FirstStart.module.css';

const none = {};
// A code repair with readable diffs that needs no interpreter and no sandbox. Its seed is one that gets there soon: with others the last
// bug takes twice to three times as many attempts.
const sampleId = 'repair-csv';
const sampleSeed = 2;

/** What a person sees who has never run anything: what a run is, and one thing to press. */
export function FirstStart({ onStarted, onOther }: { onStarted: (run: string) => void; onOther: () => void }) {
  const { t } = useText();
  const info = useQuery('app.info', none);
  const start = useCommand('run.start');
  const sample = info.data?.samples.find((s) => s.id === sampleId) ?? info.data?.samples[0];
  const run = async () => {
    if (!sample) return;
    const started = await start.run({ task: sample.path, proposer: 'search', slots: 4, seed: sampleSeed });
    if (started) onStarted(started.run);
  };
  return (
    <section className={styles['first']}>
      <Staircase />
      <h2 className={styles['title']}>{t.firstTitle}</h2>
      <p className={styles['text']}>{t.firstText}</p>
      {sample || !info.data ? (
        <Button kind="primary" className={styles['action']} disabled={!sample || start.pending} onClick={() => void run()}>
          {start.pending ? t.starting : t.firstAction}
        </Button>
      ) : (
        <p className={styles['text']}>{t.firstNoSample}</p>
      )}
      <p className={styles['named']}>{sample ? t.firstActionNamed(visibleText(sample.title), sampleSeed) : ''}</p>
      <Button kind="quiet" onClick={onOther}>
        {t.firstOther}
      </Button>
      {start.error ? <Problem error={start.error} /> : null}
      {info.error ? <Problem error={info.error} /> : null}
    </section>
  );
}

/** What a run looks like: down and never up, with the attempts that were turned away. */
function Staircase() {
  return (
    <svg className={styles['picture']} viewBox="0 0 320 96" fill="none" aria-hidden="true">
      <path d="M4 16h56v18h48v14h70v22h52v14h86" stroke="var(--commit)" strokeWidth="2" />
      {[60, 108, 178, 230].map((x, i) => (
        <circle key={x} cx={x} cy={[34, 48, 70, 84][i]} r="4" fill="var(--commit)" />
      ))}
      <path d="M17 4h10l-5 9zM81 18h10l-5 9zM195 50h10l-5 9z" stroke="var(--regression)" strokeWidth="1.4" />
      <path
        d="m42 4 5 5-5 5-5-5zM134 34l5 5-5 5-5-5zM158 30l5 5-5 5-5-5zM262 68l5 5-5 5-5-5z"
        stroke="var(--incomparable)"
        strokeWidth="1.4"
      />
      <path d="M116 40h8M246 72h8M284 76h8" stroke="var(--tie)" strokeWidth="1.4" />
    </svg>
  );
}
