import { useCallback, useEffect, useMemo, useState } from 'react';
import { Group, Panel, Separator, useDefaultLayout } from 'react-resizable-panels';
import type { RunDetail } from '#shared/contract/run.ts';
import { isTamperEvidentOnly } from '#shared/domain/contract.ts';
import { useCommands } from '#renderer/app/commands.ts';
import { go, type RunPlace } from '#renderer/app/navigation.ts';
import { useCommand, useQuery } from '#renderer/client/use-query.ts';
import { Timeline, type TimelineHandle } from '#renderer/features/timeline/index.ts';
import { useText } from '#renderer/i18n/use-text.ts';
import { useDrafts } from '#renderer/state/drafts.ts';
import { useUi } from '#renderer/state/store.ts';
import { Problem } from '#renderer/widgets/Problem.tsx';
import { EmptyState } from '#renderer/widgets/EmptyState.tsx';
import { Button } from '#renderer/widgets/Button.tsx';
import { Announcer } from './Announcer.tsx';
import { Facts } from './Facts.tsx';
import { GoTo } from './GoTo.tsx';
import { Inspector } from './Inspector.tsx';
import { Legend } from './Legend.tsx';
import { runCommands } from './run-commands.ts';
import { proposeBlock } from './propose-block.ts';
import { ReplayBadge } from './ReplayBadge.tsx';
import { RunHeader } from './RunHeader.tsx';
import { ensureAround, useRunStore } from './use-run-store.ts';
import { useFollow, usePlay } from './use-motion.ts';
import { useRunPlace } from './use-run-place.ts';
import { useDecisionReplay } from './use-decision-replay.ts';
import { useTransitionDetail } from './use-transition-detail.ts';
import { RunPanelView } from './panels/RunPanelView.tsx';
import { WorkArea } from './WorkArea.tsx';
import styles from './RunScreen.module.css';

const timelinePanels = ['timeline', 'work'];
const workPanels = ['tabs', 'inspector'];
const farAway = 8;
/** With more obligations than this the timeline gets more of the height, so that their rows are seen. */
const fewRows = 8;

/** Keeps the timeline's handle for the commands: it changes with every selection, and they must not. */
function holdTimeline() {
  let handle: TimelineHandle | null = null;
  return {
    keep: (next: TimelineHandle | null) => {
      handle = next;
    },
    getTimeline: () => handle,
  };
}

const openPropose = () => useUi.getState().setPanel({ kind: 'propose' });
const startAnother = () => go({ screen: 'new' });

/** The run screen once the run is known. */
export function RunView({ detail, place }: { detail: RunDetail; place: RunPlace }) {
  const text = useText();
  const { t } = text;
  const { store, data, error } = useRunStore(detail);
  const n = useUi((s) => s.n);
  const obligation = useUi((s) => s.obligation);
  const hidden = useUi((s) => s.hidden);
  const overlay = useUi((s) => s.overlay);
  const panel = useUi((s) => s.panel);
  const tamperEvidentOnly = isTamperEvidentOnly(detail.contractBody, detail.header.unsandboxed === true);
  const live = detail.status === 'running';
  const waiting = detail.status === 'waiting';
  const [{ keep, getTimeline }] = useState(holdTimeline);
  const stop = useCommand('run.stop');
  const resume = useCommand('run.resume');

  useRunPlace(detail, place);
  useFollow(data);
  usePlay(store);
  useEffect(() => ensureAround(store, n), [store, n]);
  const shown = useTransitionDetail(detail.id, n);

  const canStop = (live || waiting) && !stop.pending;
  const canResume = detail.status === 'interrupted' || (detail.status === 'stopped' && detail.stop === 'user');
  const { run: callStop } = stop;
  const { run: callResume } = resume;
  const run = detail.id;
  const stopNow = useCallback(() => void callStop({ run }), [callStop, run]);
  const resumeNow = useCallback(() => void callResume({ run }), [callResume, run]);
  const transitions = Math.max(detail.transitions, data.count);
  const replay = useDecisionReplay(run, transitions);
  const { standing, start: startReplay } = replay;
  const canPropose = proposeBlock(detail, t) === null;
  const edited = useDrafts((s) => s.drafts.get(run)?.texts.size ?? 0);
  const replayNow = useCallback(() => {
    useUi.getState().setPanel({ kind: 'replay' });
    if (standing !== 'matches') startReplay();
  }, [standing, startReplay]);
  const auditNow = useCallback(() => useUi.getState().setPanel({ kind: 'audit' }), []);
  const relatives = useQuery('run.relatives', { run }).data;
  const kin = relatives?.parent?.run ?? relatives?.branches[0]?.run ?? null;
  const compareNow = useCallback(() => {
    if (kin === null) useUi.getState().setNotice(t.compareNothing);
    else useUi.getState().setPanel({ kind: 'compare', other: kin });
  }, [kin, t]);
  const certified = detail.head !== null;
  const bundle = useCallback((): number | null => {
    const at = useUi.getState().n;
    if (!certified) return null;
    if (at < 1 || store.round(at) < 1) return 0;
    const own = store.bundleSeq(at);
    return own >= 0 ? own : store.baseSeq(at);
  }, [store, certified]);
  const commands = useMemo(
    () =>
      runCommands({
        data: store,
        text,
        timeline: getTimeline,
        live,
        canStop,
        canResume,
        canPropose,
        bundle,
        replay: replayNow,
        audit: auditNow,
        compare: compareNow,
        stop: stopNow,
        resume: resumeNow,
      }),
    [store, text, getTimeline, live, canStop, canResume, canPropose, bundle, replayNow, auditNow, compareNow, stopNow, resumeNow],
  );
  useCommands(commands);

  const select = useCallback((to: number) => useUi.getState().select(to, 'jump'), []);
  // Dragging along the timeline is stepping; a press far away is a jump to come back from.
  const scrub = useCallback((to: number) => useUi.getState().select(to, Math.abs(to - useUi.getState().n) > farAway ? 'jump' : 'step'), []);
  const focus = useCallback((i: number) => useUi.getState().focusObligation(i), []);
  const many = detail.contractBody.obligations.length > fewRows;
  // Where a person proposes, what is written gets the height.
  const human = detail.proposer === 'human';
  const layout = human ? 'pawl.run.rows.human' : many ? 'pawl.run.rows.many' : 'pawl.run.rows';
  const rows = useDefaultLayout({ id: layout, panelIds: timelinePanels, storage: localStorage });
  const columns = useDefaultLayout({ id: 'pawl.run.columns', panelIds: workPanels, storage: localStorage });
  const nothing = !live && !waiting && transitions === 0;
  const failed = stop.error ?? resume.error ?? error;

  return (
    <>
      <RunHeader
        detail={detail}
        parent={relatives?.parent ?? null}
        badge={<ReplayBadge replay={replay} transitions={transitions} onOpen={replayNow} />}
        audit={nothing ? null : auditNow}
        actions={{
          canStop: live || waiting,
          canResume,
          stopping: stop.pending,
          stop: stopNow,
          resume: resumeNow,
          propose: canPropose && panel?.kind !== 'propose' ? openPropose : null,
          waiting,
          edited,
        }}
      />
      <main className={styles['screen']}>
        {nothing ? null : <Facts detail={detail} />}
        {failed ? <Problem error={failed} /> : null}
        {nothing ? (
          <EmptyState
            title={detail.status === 'not_started' ? t.notStartedTitle : t.nothingRanTitle}
            text={detail.status === 'not_started' ? `${t.notStarted} ${t.notStartedNext}` : t.noTransitionsEnded}
            reason={detail.note}
          >
            <Button kind="primary" onClick={startAnother}>
              {t.newRun}
            </Button>
          </EmptyState>
        ) : (
          <Group
            orientation="vertical"
            className={styles['body']}
            defaultLayout={rows.defaultLayout}
            onLayoutChanged={rows.onLayoutChanged}
          >
            <Panel id="timeline" defaultSize={human ? '38%' : many ? '62%' : '55%'} minSize="220px">
              <section className={styles['panel']} aria-label={t.timeline}>
                {live ? <div className={styles['breath']} aria-hidden="true" /> : null}
                <Legend counts={detail.counts} total={detail.transitions} />
                <div className={styles['timelineBody']}>
                  {data.count === 0 ? (
                    <p className={styles['notYet']}>{waiting ? t.noProposalYet : t.noTransitions}</p>
                  ) : (
                    <Timeline
                      ref={keep}
                      data={data}
                      selected={n}
                      focusedObligation={obligation}
                      hidden={hidden}
                      live={live}
                      tamperEvidentOnly={tamperEvidentOnly}
                      onSelect={scrub}
                      onFocusObligation={focus}
                    />
                  )}
                </div>
              </section>
            </Panel>
            <Separator className={styles['handleRow']} aria-label={t.resizeTimeline} />
            <Panel id="work" minSize="180px">
              <Group orientation="horizontal" defaultLayout={columns.defaultLayout} onLayoutChanged={columns.onLayoutChanged}>
                <Panel id="tabs" minSize="360px">
                  {panel === null ? (
                    <WorkArea data={data} n={n} shown={shown} live={live} detail={detail} tamperEvidentOnly={tamperEvidentOnly} />
                  ) : (
                    <RunPanelView panel={panel} detail={detail} data={data} replay={replay} />
                  )}
                </Panel>
                <Separator className={styles['handleColumn']} aria-label={t.resizeInspector} />
                <Panel id="inspector" defaultSize="332px" minSize="240px" maxSize="50%" groupResizeBehavior="preserve-pixel-size">
                  <Inspector
                    data={data}
                    n={n}
                    shown={shown}
                    live={live}
                    obligation={obligation}
                    tamperEvidentOnly={tamperEvidentOnly}
                    onSelect={select}
                    onFocusObligation={focus}
                  />
                </Panel>
              </Group>
            </Panel>
          </Group>
        )}
        <Announcer data={data} n={n} />
        {overlay === 'goto' ? <GoTo data={store} onSelect={select} /> : null}
      </main>
    </>
  );
}
