import { describe, expect, test } from 'vitest';
import type { Verdict } from '#shared/domain/verdict.ts';
import { textIn } from '#renderer/i18n/use-text.ts';
import type { Phrase } from '#renderer/i18n/phrase.ts';
import { explain, whyHeading } from '#renderer/features/run/explain.ts';
import { reasonOf } from '#renderer/state/reason.ts';
import { handRun } from './loaded.ts';

const textOf = (phrase: Phrase): string => phrase.map((part) => part.text).join('');

const en = textIn('en').t;
const ko = textIn('ko').t;

const data = await handRun(
  [2, 0],
  [
    { outcome: 'incomparable', rank: [1, 1], baseSeq: 0 },
    { outcome: 'regression', rank: [2, 4], baseSeq: 0 },
    { outcome: 'tie', rank: [2, 0], baseSeq: 0 },
    { outcome: 'duplicate', rank: null, baseSeq: 0, duplicateOf: 0 },
    { outcome: 'duplicate', rank: null, baseSeq: 0, duplicateOf: 2 },
    { outcome: 'unstable', rank: [1, 0], baseSeq: 0 },
    { outcome: 'invalid', rank: null, baseSeq: 0 },
    { outcome: 'no_verdict', rank: null, baseSeq: 0 },
    { outcome: 'aborted', rank: null, baseSeq: 0 },
    { outcome: 'commit', rank: [1, 0], baseSeq: 0, round: 10 },
    { outcome: 'not_selected', rank: [1, 0], baseSeq: 0, round: 10 },
  ],
);
const invalid: Verdict = { kind: 'invalid', code: 'protected_path', message: 'verifier/check.js was changed' };
const missing: Verdict = { kind: 'no_verdict', code: 'verifier_timeout', message: '', runs: [] };

const cases: readonly (readonly [n: number, verdict: Verdict | null, english: string, korean: string])[] = [
  [
    1,
    null,
    'Incomparable. a improved from 2 to 1, but b went from 0 to 1. A gain never buys a loss.',
    '비교 불가. ‘a’ 항목이 2에서 1로 나아졌지만, ‘b’ 항목이 0에서 1로 나빠졌습니다. 얻은 것으로 잃은 것을 갚을 수는 없습니다.',
  ],
  [2, null, 'Regression. b went from 0 to 4. Nothing improved.', '퇴행. ‘b’ 항목이 0에서 4로 나빠졌고, 나아진 것은 없습니다.'],
  [
    3,
    null,
    'Tie. Every obligation kept its value. Only strict progress is kept.',
    '동률. 모든 항목의 값이 그대로입니다. 실제로 나아진 것만 남깁니다.',
  ],
  [
    4,
    null,
    'Duplicate. It is the certified state itself, so there was nothing to verify.',
    '중복. 인증된 상태와 완전히 같아 검증할 것이 없었습니다.',
  ],
  [
    5,
    null,
    'Duplicate. It has exactly the files of transition 2, so it was not verified again.',
    '중복. 전이 2번과 파일이 완전히 같아 다시 검증하지 않았습니다.',
  ],
  [
    6,
    null,
    'Unstable. Measured again, the verifier did not repeat its answer. Such a result is never kept.',
    '불안정. 다시 측정했을 때 검증기의 답이 달라졌습니다. 이런 결과는 남기지 않습니다.',
  ],
  [7, null, 'Invalid. There was nothing that could be measured.', '무효. 측정할 수 있는 것이 없었습니다.'],
  [
    7,
    invalid,
    'Invalid. There was nothing to measure: it touched a protected file.',
    '무효. 보호된 파일을 건드렸습니다. 그래서 측정하지 않았습니다.',
  ],
  [
    8,
    missing,
    'No verdict. The verifier gave no answer: the verifier took too long. That says nothing about the candidate.',
    '판정 없음. 검증기가 제한 시간을 넘겼습니다. 후보가 좋은지 나쁜지는 알 수 없습니다.',
  ],
  [
    9,
    null,
    'Aborted. The run ended before this attempt was decided. That says nothing about the candidate.',
    '중단. 이 시도를 결정하기 전에 실행이 끝났습니다. 후보가 좋은지 나쁜지는 알 수 없습니다.',
  ],
  [10, null, 'Committed. a improved from 2 to 1. Nothing got worse.', '커밋. ‘a’ 항목이 2에서 1로 나아졌고, 나빠진 것은 없습니다.'],
  [
    11,
    null,
    'Not selected. a improved from 2 to 1 and nothing got worse, but transition 10 of the same round came first. A round commits at most once.',
    '미선택. ‘a’ 항목이 2에서 1로 나아졌고 나빠진 것은 없지만, 같은 라운드의 전이 10번이 앞섰습니다. 한 라운드에는 최대 한 번만 커밋합니다.',
  ],
];

test.each(cases)('transition %i is explained in both languages', (n, verdict, english, korean) => {
  const reason = reasonOf(data, n);
  if (!reason) throw new Error(`transition ${n} is not loaded`);
  expect(textOf(explain(reason, verdict, en))).toBe(english);
  expect(textOf(explain(reason, verdict, ko))).toBe(korean);
});

test('the numbers beside the words', () => {
  expect(reasonOf(data, 1)).toMatchObject({ unchanged: 0, zero: 0, potential: { before: 2, after: 2 }, ranked: true });
  expect(reasonOf(data, 3)).toMatchObject({ unchanged: 2, zero: 1, better: [], worse: [] });
  expect(reasonOf(data, 7)).toMatchObject({ potential: { before: 2, after: null }, ranked: false });
  expect(reasonOf(data, 99)).toBeNull();
});

test('only what was decided against is called rejected', () => {
  expect([whyHeading('commit', en), whyHeading('tie', en), whyHeading('no_verdict', en)]).toEqual([
    'Why it was committed',
    'Why it was rejected',
    'Why it was not decided',
  ]);
});

describe('many changes', () => {
  const changes = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, before: 2, after: 1 }));
  test('are named up to three and counted beyond', () => {
    expect(textOf(en.whyCommit(changes))).toBe(
      'Committed. a improved from 2 to 1, b from 2 to 1, c from 2 to 1, and 2 more. Nothing got worse.',
    );
    expect(textOf(ko.whyCommit(changes))).toBe('커밋. ‘a’(2 → 1), ‘b’(2 → 1), ‘c’(2 → 1) 외 2개 항목이 나아졌고, 나빠진 것은 없습니다.');
  });
});
