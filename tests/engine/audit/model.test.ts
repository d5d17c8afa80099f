// Runs proposed by a model: what it was told stands in the request, and every repetition of a request in the response.
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createChatClient } from '#electron/proposers/chat/client.ts';
import { neutralSampling } from '#electron/proposers/chat/request.ts';
import { createOpenAiProposer, openAiOptions } from '#electron/proposers/openai.ts';
import type { Proposer } from '#electron/proposers/proposer.ts';
import { RunHeader } from '#shared/domain/header.ts';
import { bytesOf, contractOf } from '../../support/engine/builders.ts';
import { createStoredRun, temporaryStore } from '../../support/engine/stored-run.ts';
import { startChatDouble } from '../../support/chat-double/double.ts';
import { type Scenario, scenarios } from '../../support/chat-double/scenarios.ts';
import { auditOf, ruleIn, rulesWith } from './support.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const contract = { caps: [9, 9] };

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

/** A model that lowers one number an answer; its server is overloaded at the second request. */
async function aModel(): Promise<Proposer> {
  let answers = 0;
  const double = await startChatDouble({
    answer: (_, n) => (n === 2 ? scenarios.scaling : answering(`<file path="state.json">\n{"rank":[${4 - answers++},5]}\n</file>`)),
  });
  cleanups.push(() => double.close());
  const client = createChatClient({ baseUrl: double.baseUrl, apiKey: 'k', stallMs: 5_000, maxBodyBytes: 1_000_000, concurrency: 1 });
  cleanups.push(() => client.close());
  const given = {
    model: 'm',
    sampling: { ...neutralSampling, maxTokens: 64 },
    format: 'files',
    startsInReasoning: false,
    abilities: { vllm: true, logprobs: false, structured: null },
  } as const;
  return createOpenAiProposer({
    options: openAiOptions(given, 4_000),
    client,
    instruction: bytesOf('instruction'),
    obligations: contractOf(contract).obligations,
    isWritable: () => true,
    pause: () => Promise.resolve(),
  });
}

async function audited(proposer: Proposer) {
  const opened = await temporaryStore();
  cleanups.push(() => opened.close());
  const stored = await createStoredRun(opened.store, {
    contract,
    seed: { rank: [5, 5] },
    script: () => 'base',
    proposer,
    header: {
      proposer: RunHeader.shape.proposer.parse({ kind: proposer.kind, version: proposer.version, options: proposer.options }),
      slots: 1,
      budget: { attempts: 3 },
    },
  });
  await stored.go(opened.store);
  return {
    report: await auditOf(opened.store, stored.run, proposer),
    rows: await opened.store.pageTransitions({ run: stored.run, after: 0, limit: 9 }),
  };
}

/** The proposer with other messages in its record than it sent. */
const recording = (proposer: Proposer, change: (text: string) => string): Proposer => ({
  ...proposer,
  propose: async (context, signal) => {
    const result = await proposer.propose(context, signal);
    return { ...result, request: bytesOf(change(new TextDecoder().decode(result.request))) };
  },
});

test('it was told the instruction and the files that it changed; a repetition follows a failure of the server', async () => {
  const { report, rows } = await audited(await aModel());
  expect(rows.map(({ outcome }) => outcome)).toEqual(['commit', 'commit', 'commit']);
  expect(rulesWith(report, 'violated')).toEqual([]);
  expect(ruleIn(report, 1)).toMatchObject({ status: 'held', because: { code: 'request_pinned', requests: 3 } });
  expect(ruleIn(report, 2)).toMatchObject({
    status: 'held',
    because: { code: 'repeats_triggered', resent: 1, afterFault: 0, confirming: 0 },
    records: [{ kind: 'response', from: 2 }],
  });
  expect(ruleIn(report, 3)).toMatchObject({ status: 'held', because: { code: 'edits_read', quoting: 0, shown: 3 } });
});

test('a file that did not stand in the request was changed without being read', async () => {
  const { report } = await audited(recording(await aModel(), (text) => text.replaceAll('rank', 'name')));
  expect(rulesWith(report, 'violated')).toEqual([3]);
  expect(ruleIn(report, 3)).toMatchObject({
    because: { code: 'edits_unread', responses: 3 },
    records: [{ kind: 'response', from: 1, note: 'state.json did not stand in the request' }, { from: 2 }, { from: 3 }],
  });
});

test('a conversation without the instruction asks for something else', async () => {
  const { report } = await audited(recording(await aModel(), (text) => text.replaceAll('instruction', 'wish')));
  expect(rulesWith(report, 'violated')).toEqual([1]);
  expect(ruleIn(report, 1)).toMatchObject({ because: { code: 'request_other', requests: 3 } });
});

test('a request that was sent again although the server had answered', async () => {
  const proposer = await aModel();
  const again: Proposer = {
    ...proposer,
    propose: async (context, signal) => {
      const first = await proposer.propose(context, signal);
      if (context.draw !== 3 || first.response === null) return first;
      // As a client would have recorded it that asks until it likes the answer.
      const text = new TextDecoder().decode(first.response);
      const { exchanges } = z.object({ exchanges: z.array(z.json()) }).parse(JSON.parse(text));
      const [only] = exchanges.map((exchange) => JSON.stringify(exchange));
      return { ...first, response: bytesOf(text.replace('"exchanges":[', `"exchanges":[${only},`)) };
    },
  };
  const { report } = await audited(again);
  expect(rulesWith(report, 'violated')).toEqual([2]);
  expect(ruleIn(report, 2)).toMatchObject({
    because: { code: 'untriggered', executions: 0, requests: 1 },
    records: [{ kind: 'request', from: 3, note: 'sent again although the server had answered: 1' }],
  });
});
