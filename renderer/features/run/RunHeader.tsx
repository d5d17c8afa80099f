import type { ReactNode } from 'react';
import type { BundleRef } from '#shared/contract/replay.ts';
import type { RunDetail } from '#shared/contract/run.ts';
import { isTamperEvidentOnly } from '#shared/domain/contract.ts';
import { formatPlace, runPlace } from '#renderer/app/navigation.ts';
import { useQuery } from '#renderer/client/use-query.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { Button } from '#renderer/widgets/Button.tsx';
import { Chip } from '#renderer/widgets/Chip.tsx';
import { Header } from '#renderer/widgets/Header.tsx';
import { shortRun } from '#renderer/widgets/run-name.ts';
import { RunState } from '#renderer/widgets/RunState.tsx';
import styles from './RunHeader.module.css';

type Actions = {
  readonly canStop: boolean;
  readonly canResume: boolean;
  readonly stopping: boolean;
  readonly stop: () => void;
  readonly resume: () => void;
  /** Opens the editor of a candidate; null where nobody may propose, or it is open. */
  readonly propose: (() => void) | null;
  /** It is a person's turn. */
  readonly waiting: boolean;
  /** Files that are written and not proposed. */
  readonly edited: number;
};

type Props = {
  readonly detail: RunDetail | null;
  /** What stands in place of its title while there is no run. */
  readonly title?: string;
  /** The bundle that the run branched from. */
  readonly parent?: BundleRef | null;
  /** What is known of its decisions. */
  readonly badge?: ReactNode;
  /** Opens the audit; null where nothing could be audited. */
  readonly audit?: (() => void) | null;
  readonly actions?: Actions;
};

/** What the run is, how it stands, and the few things that can be done to it. */
export function RunHeader({ detail, title = '', parent = null, badge, audit = null, actions }: Props) {
  const { t } = useText();
  return (
    <Header
      crumb={{ text: t.navLibrary, href: formatPlace({ screen: 'library' }) }}
      title={detail?.task.title ?? title}
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
          {detail.header.unsandboxed === true ? (
            <Chip tone="warn" title={t.unsandboxedTitle}>
              {t.unsandboxed}
            </Chip>
          ) : null}
          {detail.header.experimentalSandbox === undefined ? null : (
            <Chip tone="warn" title={t.experimentalSandboxTitle(detail.header.experimentalSandbox)}>
              {t.experimentalSandbox}
            </Chip>
          )}
          {badge}
          {audit ? (
            <Button kind="quiet" keys="Shift+KeyA" onClick={audit}>
              {t.audit}
            </Button>
          ) : null}
          {parent ? <ParentLink parent={parent} /> : null}
        </>
      ) : null}
      <span style={{ flex: 1 }} />
      {actions?.propose ? (
        <Button kind={actions.waiting ? 'primary' : 'plain'} keys="KeyE" onClick={actions.propose}>
          {actions.edited > 0 ? t.proposeUnsent(actions.edited) : t.proposeSubmit}
        </Button>
      ) : null}
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

function ParentLink({ parent }: { parent: BundleRef }) {
  const { t } = useText();
  // The transition that made the bundle is where the link leads.
  const bundle = useQuery('run.bundle', { run: parent.run, seq: parent.seq }).data?.bundle;
  const n = bundle?.transition ?? null;
  return (
    <a className={styles['parent']} href={formatPlace({ ...runPlace(parent.run), n, tab: 'bundle' })} title={t.branchOfTitle(parent.run)}>
      {t.branchOf(shortRun(parent.run), parent.seq)}
    </a>
  );
}
