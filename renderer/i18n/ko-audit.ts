// The published rules, and why each has its status, in Korean.
import { assertNever } from '#shared/lib/assert.ts';
import type { AuditReason, RecordKind, RuleId } from '#shared/domain/audit/report.ts';
import type { BudgetDimension } from '#shared/domain/budget.ts';
import type { Format } from './format.ts';

export const auditRules: Readonly<Record<RuleId, string>> = {
  1: '현재 요청이 먼저',
  2: '근거가 있어야 더 나아간다',
  3: '읽고 나서 고친다',
  4: '충분한 만큼만 구현한다',
  5: '필요한 곳만 고친다',
  6: '의도를 보는 시험이 겉모습보다 먼저',
  7: '실패는 드러내고 성공은 꾸미지 않는다',
  8: '정해진 판단은 코드가 한다',
  9: '예산도 계약이다',
  10: '도구 사용은 형식을 갖추고 책임을 남긴다',
  11: '긴 작업은 중간 상태를 남긴다',
  12: '원래의 기록 형식을 따른다',
  13: '결과물은 하나, 증거는 전부',
  14: '핵심과 덧붙임을 나눈다',
};

export const auditKinds: Readonly<Record<RecordKind, string>> = {
  header: '헤더',
  contract: '계약',
  instruction: '지시문',
  proposer: '제안자',
  run: '실행의 행',
  seed: '시드 측정',
  round: '라운드',
  transition: '전이',
  request: '요청',
  response: '응답',
  verdict: '판정',
  verifier_run: '검증기 실행',
  memory: '기억',
  bundle: '번들',
  event: '이벤트',
  salt: '솔트',
  blob: '객체',
  tree: '트리',
  other: '기록',
};

/** Kinds that are known by the number of their transition. */
export const ofTransition: ReadonlySet<RecordKind> = new Set(['request', 'response', 'verdict', 'verifier_run', 'memory']);

/** `dimensions`: the names of the budget's dimensions. */
export function createAuditReason(
  f: Pick<Format, 'int'>,
  dimensions: Readonly<Record<BudgetDimension, string>>,
): (reason: AuditReason) => string {
  const int = (n: number) => f.int(n);
  const listed = (of: readonly BudgetDimension[]): string => of.map((dimension) => dimensions[dimension]).join(', ');
  return (reason) => {
    switch (reason.code) {
      case 'differs':
        return `저장된 필드 ${int(reason.fields)}개가 기록에서 계산한 값과 다릅니다.`;
      case 'missing':
        return `필요한 기록 ${int(reason.records)}개가 저장되어 있지 않습니다.`;
      case 'not_recomputed':
        return '헤더나 계약, 시드를 읽을 수 없어 아무것도 다시 계산하지 못했습니다.';
      case 'no_attempts':
        return '시도가 없었습니다.';
      case 'no_commits':
        return '커밋이 없어 살펴볼 변경이 없습니다.';
      case 'request_pinned':
        return `헤더와 계약, 지시문이 해시와 같고, 요청 ${int(reason.requests)}개가 모두 정해진 것을 가리킵니다.${reason.withMemory > 0 ? ` 그중 ${int(reason.withMemory)}개에는 지시문 옆에 기억도 보여 주었습니다.` : ''}`;
      case 'request_other':
        return `요청 ${int(reason.requests)}개가 헤더와 계약, 라운드에서 정한 것과 다른 것을 가리킵니다.`;
      case 'request_unnamed':
        return `요청 ${int(reason.requests)}개가 어느 상태에서 시작했는지 밝히지 않습니다.`;
      case 'repeats_triggered':
        return `검증기 실행 ${int(reason.executions)}회 중 ${int(reason.afterFault)}회는 고장으로 끝난 실행을 되풀이했고, ${int(reason.confirming)}회는 커밋할 후보를, ${int(reason.ofBase)}회는 그 기준 상태를 다시 측정했습니다. 서버가 실패해 다시 보낸 요청은 ${int(reason.resent)}개입니다. 모두 앞선 결과에 따른 것입니다.`;
      case 'untriggered':
        return `검증기 실행 ${int(reason.executions)}회와 요청 ${int(reason.requests)}개는 까닭 없이 이루어졌습니다.`;
      case 'nothing_repeated':
        return `계기가 없었습니다. 검증기 실행 ${int(reason.executions)}회 중 되풀이한 것이 없습니다.`;
      case 'edits_read':
        return [
          reason.quoting > 0 ? `응답 ${int(reason.quoting)}개는 바꿀 내용을 인용하고, 기준 상태에 그 내용이 있습니다.` : '',
          reason.shown > 0 ? `응답 ${int(reason.shown)}개는 요청에 전문이 들어 있던 파일만 고칩니다.` : '',
          '변경이 담긴 다른 응답은 없습니다.',
        ]
          .filter((part) => part !== '')
          .join(' ');
      case 'edits_unread':
        return `응답 ${int(reason.responses)}개가 기준 상태에 없는 것을 고칩니다. 읽지 않고 쓴 것입니다.`;
      case 'reads_not_recorded':
        return `응답 ${int(reason.whole)}개는 파일 전체여서 무엇을 먼저 읽었는지 기록되지 않았습니다. ${int(reason.others)}개는 인용했거나 보여 준 것을 고칩니다.`;
      case 'reads_elsewhere':
        return `응답 ${int(reason.responses)}개는 다른 실행에서, 그 실행의 상태를 보고 기록된 것입니다.`;
      case 'no_edits':
        return '변경이 담긴 응답이 없었습니다.';
      case 'smallest_kept':
        return `라운드 ${int(reason.rounds)}개에서 커밋된 것과 값이 같은 후보가 더 있었지만 더 적은 줄을 바꾼 것은 없었습니다. 커밋 ${int(reason.commits)}개 중 나머지는 견줄 후보가 없었습니다.`;
      case 'larger_kept':
        return `커밋 ${int(reason.commits)}개가 같은 라운드에서 값이 같은 다른 후보보다 더 많은 줄을 바꿉니다. 값이 같으면 크기가 아니라 트리 해시로 정합니다.`;
      case 'no_rivals':
        return `커밋 ${int(reason.commits)}개 모두 같은 라운드에 값이 같은 후보가 없었고, 더 작은 변경으로 충분했을지는 기록에 없습니다.`;
      case 'repairs_local':
        return `커밋 ${int(reason.commits)}개 모두 고친 파일마다 일부를 그대로 두었습니다.`;
      case 'rewritten_whole':
        return `커밋이 파일 ${int(reason.files)}개를 통째로 다시 썼습니다.`;
      case 'advisory_apart':
        return `계약의 참고값 ${int(reason.keys)}개가 판정 ${int(reason.verdicts)}개에서 측정되었고, 결정에 쓰이는 값에는 들어 있지 않습니다.`;
      case 'advisory_protected':
        return `계약이 같은 이름을 참고값과 항목 양쪽에 둡니다: ‘${reason.keys.join('’, ‘')}’.`;
      case 'advisory_unmeasured':
        return `계약에 참고값 ${int(reason.keys)}개가 있지만 그 값이 담긴 판정이 없습니다.`;
      case 'no_advisory':
        return `계약에 참고값이 없습니다. 항목 ${int(reason.obligations)}개 중 겉모습만 보는 것이 있는지는 기록에 없습니다. 목록에 있는 것은 작성자가 지키려는 것입니다.`;
      case 'verdicts_from_reports':
        return `값 ${int(reason.ranked)}개가 모두 확인된 보고에서 나오고, 값이 없는 시도 ${int(reason.without)}개는 0이 아니라 값 없음으로 남아 있습니다.${reason.host > 0 ? ` 이 컴퓨터가 끝낸 검증기 실행 ${int(reason.host)}회는 기록된 대로 받아들였습니다.` : ''}${reason.ancestors > 0 ? ` 분기해 나온 실행의 판정 ${int(reason.ancestors)}개는 기록된 대로 받아들였습니다.` : ''}`;
      case 'nothing_verified':
        return '검증한 것이 없습니다.';
      case 'decisions_recomputed':
        return `라운드 ${int(reason.rounds)}개, 시도 ${int(reason.attempts)}개의 결과와 관계, 선택, 특징을 보고에서 다시 계산했고 저장된 것과 같습니다.`;
      case 'nothing_decided':
        return `시도 ${int(reason.aborted)}개가 모두 결정 전에 끝났습니다.`;
      case 'budget_kept':
        return `예산은 첫 시도 전에 해시한 헤더에 있고, 한도(${listed(reason.limited)})를 넘지 않았습니다.${reason.overshoot.length > 0 ? ` 예약을 넘겨 보고되어 한도 밖에 적힌 것: ${listed(reason.overshoot)}.` : ''}`;
      case 'budget_exceeded':
        return `헤더가 허용한 것보다 더 썼습니다: ${listed(reason.dimensions)}.`;
      case 'tokens_not_metered':
        return '헤더가 토큰을 제한하지만 이 제안자의 토큰은 재지 않았습니다. 다른 한도는 모두 지켰습니다.';
      case 'executions_accounted':
        return `검증기 실행 ${int(reason.executions)}회가 모두 어느 트리를 위한 것인지 밝히고, 그 결과를 쓴 판정이 실행과 출력을 가리킵니다. 제안자는 도구를 부르지 않습니다.`;
      case 'tools_not_recorded':
        return `제안자가 무엇을 불렀는지는 기록되지 않았습니다. 검증기 실행 ${int(reason.executions)}회는 근거가 남아 있습니다.`;
      case 'no_executions':
        return '도구도 검증기도 쓰지 않았습니다.';
      case 'chain_whole':
        return `이벤트 ${int(reason.events)}개의 해시 체인과 인증된 번들 ${int(reason.bundles)}개의 체인이 온전합니다.${reason.resumes > 0 ? ` 도중에 ${int(reason.resumes)}번 이어서 실행했습니다.` : ''}`;
      case 'natives_whole':
        return `요청, 응답, 보고, 출력 ${int(reason.objects)}개가 받은 그대로, 해시와 커밋먼트로 확인됩니다.`;
      case 'no_natives':
        return '저장된 요청이나 응답, 보고, 출력이 없습니다.';
      case 'evidence_whole':
        return `번들 ${int(reason.bundles)}개의 체인 하나가 현재 상태로 이어지고, 거부된 시도 ${int(reason.rejected)}개가 모두 기억에 남아 있습니다. 없는 트리는 없습니다.`;
      case 'nothing_certified':
        return '시드의 판정이 없어 인증된 것이 없습니다.';
      case 'core_only':
        return `계약은 항목 ${int(reason.obligations)}개와 참고값 ${int(reason.advisory)}개의 목록 하나이고 덧붙임이 없습니다. 헤더와 판정, 번들이 모두 이 계약을 가리킵니다.`;
      case 'overlay_named':
        return `이 계약은 이전 계약에 이름 있는 덧붙임을 더한 것입니다: 격리 ${int(reason.quarantined)}개, 중앙값 ${int(reason.median)}개.`;
      case 'overlay_unnamed':
        return '이 계약은 앞선 계약과 격리, 중앙값 말고도 다른 점이 있습니다.';
      case 'previous_not_stored':
        return `계약의 버전은 ${int(reason.version)}이고 이전 버전이 여기에 저장되어 있지 않아, 덧붙임이 무엇을 바꾸었는지 다시 계산할 수 없습니다.`;
      default:
        return assertNever(reason, 'reason of an audit');
    }
  };
}
