// The proposer over a real socket against the double: every scenario with its outcome, cost and record.
import { emptyDesk } from '../../support/engine/auto-desk.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { createChatClient } from '#electron/proposers/chat/client.ts';
import { neutralSampling } from '#electron/proposers/chat/request.ts';
import {
  createOpenAiProposer,
  materialiseOpenAi,
  openAiOptions,
  ProposerLost,
  readChatResponse,
  seedOf,
} from '#electron/proposers/openai.ts';
import type { ProposeContext } from '#electron/proposers/proposer.ts';
import { type ChatDouble, startChatDouble } from '../../support/chat-double/double.ts';
import { type Scenario, scenarioOf, scenarios } from '../../support/chat-double/scenarios.ts';
import { textFile } from '../verifiers/support.ts';

const base = [textFile('a.txt', 'one\ntwo\n')];
const obligations = [
  {
    key: 'open',
    title: 'Open',
    cap: 10,
    kind: 'count',
    visibility: 'full',
    onCandidateTimeout: 'cap',
    missing: 'malformed',
    aggregate: 'worst',
  },
] as const;
const maxTokens = 16;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const context = (draw: number): ProposeContext => ({
  n: draw,
  draw,
  slot: 0,
  seed: 5,
  baseTree: '0'.repeat(64),
  base,
  rank: [3],
  writable: ['*'],
  memory: [],
  autos: emptyDesk,
});

const setUp = (double: ChatDouble, model: string, startsInReasoning = false, format: 'files' | 'json' = 'files') => {
  const client = createChatClient({ baseUrl: double.baseUrl, apiKey: 'secret-key', stallMs: 200, maxBodyBytes: 1_000_000, concurrency: 4 });
  closing.push(() => client.close());
  const pauses: number[] = [];
  const options = openAiOptions(
    {
      model,
      sampling: { ...neutralSampling, maxTokens },
      format,
      startsInReasoning,
      abilities: { vllm: true, logprobs: false, structured: null },
    },
    1_000,
  );
  const proposer = createOpenAiProposer({
    options,
    client,
    instruction: new TextEncoder().encode('Count down.'),
    obligations,
    isWritable: () => true,
    pause: (ms) => {
      pauses.push(ms);
      return Promise.resolve();
    },
  });
  return { proposer, pauses };
};
const start = async (...args: Parameters<typeof startChatDouble>): Promise<ChatDouble> => {
  const double = await startChatDouble(...args);
  closing.push(() => double.close());
  return double;
};
const never = new AbortController().signal;
const answering = (content: string): Scenario => ({
  steps: [
    {
      event: {
        choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 40, completion_tokens: 9, total_tokens: 49 },
      },
    },
    { raw: 'data: [DONE]\n\n' },
  ],
  outcome: 'answered',
});

const lostBy = new Set(['unauthorised', 'not_found', 'engine_dead', 'overloaded']);

const named = Object.keys(scenarios).map((name) => {
  const scenario = scenarioOf(name);
  if (scenario === undefined) throw new Error(name);
  return { name, scenario };
});
const isLost = ({ scenario }: { scenario: Scenario }): boolean => lostBy.has(scenario.detail ?? '');

describe.each(named.filter((one) => isLost(one)))('$name', ({ name }) => {
  it('is the end of proposing, not an answer', async () => {
    await expect(setUp(await start(), name).proposer.propose(context(1), never)).rejects.toBeInstanceOf(ProposerLost);
  });
});

describe.each(named.filter((one) => !isLost(one)))('$name', ({ name, scenario }) => {
  it('is no candidate unless it answered, and costs what was counted', async () => {
    const { proposer } = setUp(await start(), name, scenario.startsInReasoning ?? false);
    const proposed = await proposer.propose(context(1), never);
    const response = proposed.response ?? new Uint8Array();
    const read = readChatResponse(response);
    expect(read?.answer.outcome.kind).toBe(scenario.outcome);
    // None of the scenarios' texts names a file.
    expect(materialiseOpenAi(response, base)).toMatchObject({ ok: false, error: { code: 'no_candidate' } });
    const usage = read?.answer.usage ?? null;
    const uncounted = scenario.outcome === 'http_error' ? { requests: 1, promptTokens: 0, completionTokens: 0 } : 'missing';
    expect(proposed.usage).toEqual(
      usage === null ? uncounted : { requests: 1, promptTokens: usage.promptTokens, completionTokens: usage.completionTokens },
    );
  });
});

describe('a proposal', () => {
  it('becomes the tree that the answer says, from the stored bytes alone', async () => {
    const double = await start({ answer: () => answering('Sure.\n<file path="a.txt">\n1\n2\n</file>') });
    const { proposer } = setUp(double, 'm');
    const { request, response, usage } = await proposer.propose(context(3), never);
    const tree = proposer.materialise(response ?? new Uint8Array(), base);
    expect(tree.ok ? new TextDecoder().decode(tree.value[0]?.bytes) : tree.error).toBe('1\n2\n');
    expect(usage).toEqual({ requests: 1, promptTokens: 40, completionTokens: 9 });
    expect(double.seen[0]?.body).toMatchObject({
      model: 'm',
      seed: seedOf(5, 3),
      n: 1,
      stream: true,
      max_tokens: maxTokens,
      temperature: 1,
    });
    // The record has the bytes that went out; the key is in neither.
    const record: unknown = JSON.parse(new TextDecoder().decode(request));
    expect(record).toMatchObject({ format: 'pawl.chat.request/1', draw: 3, body: JSON.stringify(double.seen[0]?.body) });
    for (const bytes of [request, response ?? new Uint8Array()]) expect(new TextDecoder().decode(bytes)).not.toContain('secret-key');
  });

  it('asks again while the server is overloaded, each time on record, and gives up by name', async () => {
    const busy = scenarios.scaling;
    const double = await start({ answer: (_, n) => (n <= 2 ? busy : answering('<file path="a.txt">\n1\n</file>')) });
    const { proposer, pauses } = setUp(double, 'm');
    const { usage, response } = await proposer.propose(context(1), never);
    expect(usage).toEqual({ requests: 3, promptTokens: 40, completionTokens: 9 });
    expect(pauses).toEqual([500, 1_000]);
    expect(JSON.parse(new TextDecoder().decode(response ?? new Uint8Array()))).toMatchObject({
      exchanges: [{ status: 503 }, { status: 503 }, { status: 200 }],
    });
    expect(proposer.reserved).toEqual({ requests: 4, promptTokens: 1_000, completionTokens: maxTokens });
    const always = await start({ answer: () => busy });
    await expect(setUp(always, 'm').proposer.propose(context(1), never)).rejects.toThrow(
      /the model server at http:\/\/127\.0\.0\.1:\d+\/v1: the server refused the request \(503\): The model is currently scaling/,
    );
    expect(always.seen.length).toBe(4);
  });

  it('a prompt that cannot fit is not sent', async () => {
    const double = await start({ tokens: 5_000 });
    expect(await setUp(double, 'm').proposer.propose(context(1), never)).toMatchObject({
      response: null,
      usage: { requests: 0 },
      error: {
        code: 'context_length',
        message: 'the prompt takes 5000 tokens without anything that could be left out, and 1000 are allowed',
      },
    });
    expect(double.seen).toEqual([]);
  });

  it('an abort ends the request and is no answer', async () => {
    const double = await start();
    const controller = new AbortController();
    const { proposer } = setUp(double, 'silent_in_the_middle');
    const proposing = proposer.propose(context(1), controller.signal);
    await expect.poll(() => double.open).toBe(1);
    controller.abort(new Error('stopped'));
    await expect(proposing).rejects.toThrow('stopped');
    await double.hasLeft(1);
  });
});
