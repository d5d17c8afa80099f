import { expect, test } from 'vitest';
import { ruleIds } from '#shared/domain/audit/report.ts';
import { auditReasons } from '../../support/audit-reasons.ts';
import { createFormat } from '#renderer/i18n/format.ts';
import { toward } from '#renderer/i18n/korean.ts';
import { resolveLanguage, textIn } from '#renderer/i18n/use-text.ts';

test.each([
  [0, '으로'],
  [1, '로'],
  [2, '로'],
  [3, '으로'],
  [4, '로'],
  [5, '로'],
  [6, '으로'],
  [7, '로'],
  [8, '로'],
  [9, '로'],
  [10, '으로'],
  [11, '로'],
  [13, '으로'],
  [100, '으로'],
  [1_000, '으로'],
  [10_000, '으로'],
  [1_000_000_000_000, '로'],
])('%i%s', (value, particle) => {
  expect(toward(value)).toBe(particle);
});

test('the language follows the setting, then the system', () => {
  expect(resolveLanguage('system', ['de-DE', 'ko-KR'])).toBe('ko');
  expect(resolveLanguage('system', ['de-DE'])).toBe('en');
  expect(resolveLanguage('en', ['ko'])).toBe('en');
});

test('numbers, times and sizes read well', () => {
  const en = createFormat('en');
  const ko = createFormat('ko');
  expect([en.int(12_345), ko.int(12_345)]).toEqual(['12,345', '12,345']);
  expect(en.duration(340)).toBe('340 ms');
  expect(en.duration(96_000)).toBe('1.6 min');
  expect(ko.duration(96_000)).toBe('1.6분');
  expect(en.bytes(2_412)).toBe('2.4 KiB');
  expect(en.bytes(0)).toBe('0 B');
});

test('plurals', () => {
  const { t } = textIn('en');
  expect([t.slots(1), t.slots(4), t.committedOf(1), t.runsCount(1, false)]).toEqual(['1 slot', '4 slots', 'of 1 transition', '1 run']);
});

test('every rule and every reason of an audit is said in both languages', () => {
  const { en, ko } = { en: textIn('en').t, ko: textIn('ko').t };
  const koreans = new Set(ruleIds.map((rule) => ko.auditRule(rule)));
  expect(koreans.size).toBe(ruleIds.length);
  for (const reason of auditReasons) {
    expect(ko.auditReason(reason)).toMatch(/[가-힣].*\.$/s);
    expect(ko.auditReason(reason)).not.toMatch(/undefined|\[object/);
    expect(en.auditReason(reason)).not.toMatch(/[가-힣]/);
  }
  const record = { kind: 'verdict', from: 1, to: 1_240, id: null, note: null } as const;
  expect([en.auditRecord(record), ko.auditRecord(record)]).toEqual(['verdicts of transitions 1 to 1,240', '전이 1–1,240의 판정']);
});
