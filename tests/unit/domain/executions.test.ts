import { expect, test } from 'vitest';
import { isFault, measurementVerdict } from '#shared/domain/executions.ts';
import { NoVerdictCode, type Verdict } from '#shared/domain/verdict.ts';

let made = 0;
const run = () => ({ id: `vr-${made++}`, durationMs: 1, output: null });
const ranked = (): Verdict => ({ kind: 'ranked', rank: [1], runs: [run()], stable: true, advisory: {}, details: {} });
const none = (code: NoVerdictCode): Verdict => ({ kind: 'no_verdict', code, message: code, runs: [run()] });

test('faults are those of the machine and the transport, not findings about the candidate or the verifier', () => {
  expect(NoVerdictCode.options.filter(isFault)).toEqual(['crash', 'setup_timeout', 'transfer', 'parse', 'infra']);
});

test('the last execution counts, the runs of all are named', () => {
  const [fault, good] = [none('infra'), ranked()];
  expect(measurementVerdict([fault, good])).toEqual({
    ...good,
    runs: [...(fault.kind === 'no_verdict' ? fault.runs : []), ...(good.kind === 'ranked' ? good.runs : [])],
  });
  expect(measurementVerdict([good])).toEqual(good);
  const invalid: Verdict = { kind: 'invalid', code: 'schema', message: 'no' };
  expect(measurementVerdict([fault, invalid])).toEqual(invalid);
  expect(() => measurementVerdict([])).toThrow('an execution');
});
