import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerReader, type ChatOutcome, readAnswer } from '#electron/proposers/chat/answer.ts';
import { decodeResponse, encodeResponse, type Exchange, StoredExchange } from '#electron/proposers/chat/exchange.ts';
import { bytesOf, type Scenario, scenarioOf, scenarios } from '../../../support/chat-double/scenarios.ts';

const bodyOf = ({ steps }: Scenario): Uint8Array => Buffer.concat(steps.map(bytesOf));
const endOf = ({ steps }: Scenario): 'complete' | 'cut' | 'stalled' =>
  steps.some((step) => 'cut' in step) ? 'cut' : steps.some((step) => 'silence' in step) ? 'stalled' : 'complete';

const exchangeOf = (scenario: Scenario, body = bodyOf(scenario), end: 'complete' | 'cut' | 'stalled' = endOf(scenario)): Exchange => ({
  path: 'chat/completions',
  request: new Uint8Array(),
  response: { status: scenario.status ?? 200, contentType: scenario.contentType ?? 'text/event-stream', body, end },
  failure: end === 'complete' ? null : { code: end === 'cut' ? 'reset' : 'stalled', message: 'it ended' },
});
const options = ({ startsInReasoning = false, maxTokens }: Scenario) => ({ startsInReasoning, maxTokens: maxTokens ?? null });

const detailOf = (outcome: ChatOutcome): string | undefined => {
  if (outcome.kind === 'truncated') return outcome.where;
  return 'error' in outcome ? outcome.error.class : undefined;
};

describe.each(Object.keys(scenarios))('%s', (name) => {
  const scenario = scenarioOf(name);
  if (scenario === undefined) throw new Error(name);
  const answer = readAnswer(exchangeOf(scenario), options(scenario));

  it('has its outcome', () => {
    const ended = scenario.outcome === 'answered' || scenario.outcome === 'truncated';
    // What the scenario leaves open is taken as it is.
    const { content = answer.content, answer: text = answer.split.answer, reasoning = answer.split.reasoning } = scenario;
    expect({ ...answer, kind: answer.outcome.kind, detail: detailOf(answer.outcome) }).toMatchObject({
      kind: scenario.outcome,
      detail: scenario.detail,
      content,
      split: { answer: text, reasoning },
      anomalies: ended ? (scenario.anomalies ?? []) : answer.anomalies,
    });
  });

  it('reads the same in any pieces, and from storage', () => {
    const stored = StoredExchange.parse(JSON.parse(JSON.stringify(encodeResponse(exchangeOf(scenario)))));
    expect(readAnswer(decodeResponse(stored), options(scenario))).toEqual(answer);
    const streamed = scenario.contentType === undefined;
    fc.assert(
      fc.property(fc.array(fc.nat(bodyOf(scenario).length), { maxLength: 6 }), (cuts) => {
        const reader = new AnswerReader(options(scenario));
        const places = [0, ...cuts.sort((a, b) => a - b), bodyOf(scenario).length];
        if (streamed) for (const [i, place] of places.entries()) reader.push(bodyOf(scenario).subarray(place, places[i + 1] ?? place));
        expect(reader.finish(exchangeOf(scenario))).toEqual(answer);
      }),
      { numRuns: 30 },
    );
  });

  it('cut at any byte, it is never taken for more than had come', () => {
    const body = bodyOf(scenario);
    for (let at = 0; at < body.length; at += Math.max(1, Math.floor(body.length / 60))) {
      const cut = readAnswer(exchangeOf(scenario, body.subarray(0, at), 'cut'), options(scenario));
      const { outcome, split, toolCalls } = cut.outcome.kind === 'answered' ? answer : cut;
      expect({ kind: cut.outcome.kind, split: cut.split, toolCalls: cut.toolCalls }).toEqual({ kind: outcome.kind, split, toolCalls });
      expect(answer.content.startsWith(cut.content.replace(/\ufffd+$/, ''))).toBe(true);
    }
  });
});

describe('what comes with an answer', () => {
  const read = (name: keyof typeof scenarios) => readAnswer(exchangeOf(scenarios[name]), options(scenarioOf(name) ?? scenarios.plain));
  it('usage with cached tokens, and none where none was reported', () => {
    expect(read('reasoning_field').usage).toEqual({ promptTokens: 3, completionTokens: 3, cachedTokens: 2 });
    expect(read('plain').usage).toEqual({ promptTokens: 3, completionTokens: 4, cachedTokens: null });
    expect(read('no_usage').usage).toBeNull();
  });
  it('token ids of prompt and answer', () => {
    expect(read('plain')).toMatchObject({ promptTokenIds: [1, 2, 3], tokenIds: [7, 7, 8, 9] });
    expect(read('reasoning_content_field').tokenIds).toBeNull();
  });
  it('tool calls, with the first name and id that are not null', () => {
    expect(read('tool_call').toolCalls).toEqual([{ id: 'call-a', name: 'run', raw: '{"cmd": "ls"}', parsed: { cmd: 'ls' } }]);
    expect(read('tool_call_doubled').toolCalls).toMatchObject([{ parsed: null }]);
  });
  it('logprobs, with null for what the server has no number for', () => {
    const event = {
      choices: [
        {
          index: 0,
          delta: { content: 'ab' },
          logprobs: {
            content: [
              { token: 'a', logprob: -0.5 },
              { token: 'b', logprob: -9999 },
            ],
          },
          finish_reason: 'stop',
        },
      ],
    };
    expect(
      readAnswer(exchangeOf({ steps: [{ event }], outcome: 'answered' }), { startsInReasoning: false, maxTokens: null }).logprobs,
    ).toEqual([-0.5, null]);
  });
});

it('nothing that a server can send throws', () => {
  const value = fc.jsonValue();
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          value,
          fc.record(
            {
              choices: fc.array(
                fc.record(
                  { index: value, delta: value, message: value, finish_reason: value, token_ids: value, logprobs: value },
                  { requiredKeys: [] },
                ),
              ),
              usage: value,
              error: value,
            },
            { requiredKeys: [] },
          ),
        ),
        { maxLength: 5 },
      ),
      fc.boolean(),
      (events, sse) => {
        const body = sse ? events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') : JSON.stringify(events[0] ?? null);
        const answer = readAnswer(
          exchangeOf({ steps: [{ raw: body }], outcome: 'cut', contentType: sse ? 'text/event-stream' : 'application/json' }),
          { startsInReasoning: false, maxTokens: 5 },
        );
        expect(answer.outcome.kind).toMatch(/^[a-z_]+$/);
      },
    ),
    { numRuns: 1_500 },
  );
});
