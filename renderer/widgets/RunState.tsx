import type { RunStatus, StopReason } from '#shared/domain/transition.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { visibleText } from '#renderer/i18n/foreign.ts';
import { endedAs } from '#shared/domain/ended-as.ts';
import { Chip } from './Chip.tsx';

/** How a run stands, in words: live, why it stopped, or that it was cut off. */
export function RunState({ status, stop, note }: { status: RunStatus; stop: StopReason | null; note: string | null }) {
  const { t } = useText();
  const title = note === null ? {} : { title: visibleText(note) };
  if (status === 'running')
    return (
      <Chip tone="live" {...title}>
        {t.live}
      </Chip>
    );
  if (status === 'waiting') return <Chip title={note === null ? t.waitingTitle : visibleText(note)}>{t.waiting}</Chip>;
  if (status === 'stopped' && stop !== null)
    return (
      <Chip tone={stop === 'zero_rank' ? 'good' : 'warn'} {...title}>
        {t.stopped(t.ended[endedAs(stop)], t.stop[stop])}
      </Chip>
    );
  return (
    <Chip tone="warn" {...title}>
      {t.status[status]}
    </Chip>
  );
}
