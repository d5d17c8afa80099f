import { assertNever } from '#shared/lib/assert.ts';
import type { RunDetail } from '#shared/contract/run.ts';
import type { RunData } from '#renderer/state/run-data.ts';
import type { RunPanel } from '#renderer/state/store.ts';
import type { DecisionReplay } from '../use-decision-replay.ts';
import { AuditPanel } from './AuditPanel.tsx';
import { BranchPanel } from './BranchPanel.tsx';
import { ComparePanel } from './ComparePanel.tsx';
import { ProposePanel } from './ProposePanel.tsx';
import { ReplayPanel } from './ReplayPanel.tsx';
import { VerifyPanel } from './VerifyPanel.tsx';

type Props = { readonly panel: RunPanel; readonly detail: RunDetail; readonly data: RunData; readonly replay: DecisionReplay };

/** The panel that stands in place of the views of the selected transition. */
export function RunPanelView({ panel, detail, data, replay }: Props) {
  switch (panel.kind) {
    case 'replay':
      return <ReplayPanel replay={replay} />;
    case 'audit':
      return <AuditPanel detail={detail} />;
    case 'verify':
      return <VerifyPanel key={panel.seq} detail={detail} seq={panel.seq} />;
    case 'branch':
      return <BranchPanel key={panel.seq} detail={detail} seq={panel.seq} />;
    case 'compare':
      return <ComparePanel key={panel.other} detail={detail} other={panel.other} />;
    case 'propose':
      return <ProposePanel detail={detail} data={data} />;
    default:
      return assertNever(panel, 'panel');
  }
}
