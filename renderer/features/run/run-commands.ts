// The keys of the run screen. Modelled on a chess move list; the rules of each step are in state/steps.ts.
import type { TimelineHandle } from '#renderer/features/timeline/index.ts';
import type { Command } from '#renderer/app/commands.ts';
import type { Text } from '#renderer/i18n/use-text.ts';
import type { RunData } from '#renderer/state/run-data.ts';
import {
  bisect,
  changeStep,
  commitStep,
  end,
  enterVariations,
  kindStep,
  leaveVariation,
  step,
  type Direction,
} from '#renderer/state/steps.ts';
import { useUi, type Tab } from '#renderer/state/store.ts';

export type RunActions = {
  readonly data: RunData;
  readonly text: Text;
  /** The timeline on the screen, if it is there. */
  readonly timeline: () => TimelineHandle | null;
  readonly live: boolean;
  readonly canStop: boolean;
  readonly canResume: boolean;
  readonly canPropose: boolean;
  /** The bundle of the selection: the one that a commit made, else the one that an attempt was tried on. null while nothing is certified. */
  readonly bundle: () => number | null;
  readonly replay: () => void;
  readonly audit: () => void;
  readonly compare: () => void;
  readonly stop: () => void;
  readonly resume: () => void;
};

/** All commands of the run screen over one run's columns. */
export function runCommands({
  data,
  text: { t },
  timeline,
  live,
  canStop,
  canResume,
  canPropose,
  bundle,
  replay,
  audit,
  compare,
  stop,
  resume,
}: RunActions): Command[] {
  const ui = useUi.getState;
  const move = (to: number | null, how: 'step' | 'jump') => {
    if (to === null) ui().setNotice(t.noneFound);
    else ui().select(to, how);
  };
  const ready = () => data.count > 0;
  const stepCommand = (id: string, name: Command['name'], keys: string[], direction: Direction): Command => ({
    id,
    name,
    keys,
    group: 'step',
    when: ready,
    run: () => move(step(data, ui().n, direction, ui().hidden), 'step'),
  });
  const jump = (id: string, name: Command['name'], keys: string[], to: () => number | null): Command => ({
    id,
    name,
    keys,
    group: 'step',
    when: ready,
    run: () => move(to(), 'jump'),
  });
  const tab = (value: Tab, name: Command['name'], keys: string[]): Command => ({
    id: `run.tab.${value}`,
    name,
    keys,
    group: 'look',
    run: () => ui().setTab(value),
  });
  const onBundle = (kind: 'verify' | 'branch', name: Command['name'], keys: string[]): Command => ({
    id: `run.${kind}`,
    name,
    keys,
    group: 'run',
    when: () => bundle() !== null,
    run: () => {
      const seq = bundle();
      if (seq !== null) ui().setPanel({ kind, seq });
    },
  });
  const obligation = (by: Direction) => ui().focusObligation(Math.min(data.m - 1, Math.max(0, ui().obligation + by)));

  return [
    stepCommand('run.next', 'cmdNext', ['KeyJ', 'ArrowRight'], 1),
    stepCommand('run.previous', 'cmdPrevious', ['KeyK', 'ArrowLeft'], -1),
    jump('run.nextCommit', 'cmdNextCommit', ['Shift+KeyJ', 'Shift+ArrowRight'], () => commitStep(data, ui().n, 1)),
    jump('run.previousCommit', 'cmdPreviousCommit', ['Shift+KeyK', 'Shift+ArrowLeft'], () => commitStep(data, ui().n, -1)),
    jump('run.leave', 'cmdLeave', ['KeyH'], () => leaveVariation(data, ui().n)),
    jump('run.enter', 'cmdEnter', ['KeyL'], () => enterVariations(data, ui().n, ui().hidden)),
    jump('run.nextChange', 'cmdNextChange', ['BracketRight'], () => changeStep(data, ui().n, 1, ui().obligation, ui().hidden)),
    jump('run.previousChange', 'cmdPreviousChange', ['BracketLeft'], () => changeStep(data, ui().n, -1, ui().obligation, ui().hidden)),
    jump('run.nextKind', 'cmdNextKind', ['KeyN'], () => kindStep(data, ui().n, 1)),
    jump('run.previousKind', 'cmdPreviousKind', ['Shift+KeyN'], () => kindStep(data, ui().n, -1)),
    {
      id: 'run.bisect',
      name: 'cmdBisect',
      keys: ['KeyB'],
      group: 'step',
      when: ready,
      run: () => {
        const i = ui().obligation;
        const name = data.obligations[i]?.key ?? '';
        const found = bisect(data, ui().n, i);
        if (found.transition >= 1) ui().select(found.transition, 'jump');
        ui().setNotice(found.transition >= 1 ? t.bisectResult(name, found.value, found.transition) : t.bisectGenesis(name, found.value));
      },
    },
    jump('run.first', 'cmdFirst', ['Home'], () => end(data, -1, ui().hidden)),
    {
      id: 'run.last',
      name: 'cmdLast',
      keys: ['End'],
      group: 'step',
      when: ready,
      run: () => {
        move(end(data, 1, ui().hidden), 'jump');
        if (live) ui().setFollow(true);
      },
    },
    { id: 'run.obligationUp', name: 'cmdObligationUp', keys: ['ArrowUp'], group: 'step', run: () => obligation(-1) },
    { id: 'run.obligationDown', name: 'cmdObligationDown', keys: ['ArrowDown'], group: 'step', run: () => obligation(1) },
    {
      id: 'run.goTo',
      name: 'goTo',
      keys: ['Shift+Semicolon', '[Shift]+(:)'],
      group: 'step',
      when: ready,
      run: () => ui().setOverlay('goto'),
    },
    { id: 'run.play', name: 'cmdPlay', keys: ['Space'], group: 'step', when: ready, run: () => ui().setPlaying(!ui().playing) },
    { id: 'run.back', name: 'cmdBack', keys: ['Alt+ArrowLeft'], group: 'step', run: () => ui().goBack() },
    { id: 'run.forward', name: 'cmdForward', keys: ['Alt+ArrowRight'], group: 'step', run: () => ui().goForward() },
    tab('diff', 'tabDiff', ['KeyD']),
    tab('verdict', 'tabVerdict', ['KeyO']),
    tab('memory', 'tabMemory', ['KeyM']),
    tab('bundle', 'tabBundle', ['Shift+KeyB']),
    tab('record', 'tabRecord', ['KeyR']),
    { id: 'run.zoomIn', name: 'zoomIn', keys: ['[Shift]+Equal'], group: 'look', run: () => timeline()?.zoom(0.5) },
    { id: 'run.zoomOut', name: 'zoomOut', keys: ['Minus'], group: 'look', run: () => timeline()?.zoom(2) },
    { id: 'run.zoomFit', name: 'zoomFit', keys: ['Digit0'], group: 'look', run: () => timeline()?.fit() },
    { id: 'run.showAll', name: 'showAll', keys: [], group: 'look', when: () => ui().hidden.size > 0, run: () => ui().showAll() },
    {
      id: 'run.closePanel',
      name: 'cmdClosePanel',
      keys: ['Escape'],
      group: 'look',
      when: () => ui().panel !== null,
      run: () => ui().setPanel(null),
    },
    { id: 'run.compare', name: 'cmdCompare', keys: ['KeyC'], group: 'look', run: compare },
    { id: 'run.replay', name: 'cmdReplay', keys: ['Shift+KeyD'], group: 'run', run: replay },
    { id: 'run.audit', name: 'cmdAudit', keys: ['Shift+KeyA'], group: 'run', when: ready, run: audit },
    onBundle('verify', 'cmdVerify', ['Shift+KeyV']),
    onBundle('branch', 'cmdBranch', ['Shift+KeyF']),
    {
      id: 'run.propose',
      name: 'cmdPropose',
      keys: ['KeyE'],
      group: 'run',
      when: () => canPropose,
      run: () => ui().setPanel({ kind: 'propose' }),
    },
    { id: 'run.follow', name: 'follow', keys: ['KeyF'], group: 'run', when: () => live, run: () => ui().setFollow(!ui().follow) },
    { id: 'run.stop', name: 'stopRun', keys: ['Shift+KeyS'], group: 'run', when: () => canStop, run: stop },
    { id: 'run.resume', name: 'resumeRun', keys: ['Shift+KeyR'], group: 'run', when: () => canResume, run: resume },
  ];
}
