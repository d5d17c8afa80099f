import type { RunDetail } from '#shared/contract/run.ts';
import { isTamperEvidentOnly } from '#shared/domain/contract.ts';
import { formatPlace } from '#renderer/app/navigation.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import { Chip } from '#renderer/widgets/Chip.tsx';
import { Header } from '#renderer/widgets/Header.tsx';
import { RunState } from '#renderer/widgets/RunState.tsx';

type Actions = {
  readonly canStop: boolean;
  readonly canResume: boolean;
  readonly stopping: boolean;
  readonly stop: () => void;
  readonly resume: () => void;
};

/** What the run is, how it stands, and the few things that can be done to it. */
export function RunHeader({ detail, actions }: { detail: RunDetail | null; actions?: Actions }) {
  const { t } = useText();
  return (
    <Header
      crumb={{ text: t.navLibrary, href: formatPlace({ screen: 'library' }) }}
      title={detail?.task.title ?? ''}
      hint={detail ? `${detail.task.id}\n${detail.id}` : ''}
    >
      {detail ? (
        <>
          <Chip>
            {t.proposer[detail.proposer]} · {t.slots(detail.slots)} · {t.seed(detail.seed)}
          </Chip>
          <RunState status={detail.status} stop={detail.stop} note={detail.note} />
          {isTamperEvidentOnly(detail.contractBody, detail.header.unsandboxed === true) ? (
            <Chip tone="warn" title={t.tamperEvidentTitle}>
              {t.tamperEvident}
            </Chip>
          ) : null}
          <Chip tone="dashed" title={t.replayNotCheckedTitle}>
            {t.replayNotChecked}
          </Chip>
        </>
      ) : null}
      <span style={{ flex: 1 }} />
      {actions?.canStop ? (
        <Button keys="Shift+KeyS" onClick={actions.stop} disabled={actions.stopping}>
          {actions.stopping ? t.stopping : t.stopRun}
        </Button>
      ) : null}
      {actions?.canResume ? (
        <Button keys="Shift+KeyR" onClick={actions.resume}>
          {t.resumeRun}
        </Button>
      ) : null}
    </Header>
  );
}
