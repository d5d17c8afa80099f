// Governed runs whose proposals come from a model server, which here is the double: it answers, breaks in every known way, and goes away.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import type { ModelChoice } from '#shared/contract/run.ts';
import { ensure } from '#shared/lib/assert.ts';
import { type ChatDouble, startChatDouble } from '../../support/chat-double/double.ts';
import { type Scenario, scenarioOf, scenarios } from '../../support/chat-double/scenarios.ts';
import { replayed, runToEnd } from '../../support/engine/ended-run.ts';
import { engineHere, refusal, smallTaskHere } from '../../support/engine/in-test.ts';

const doubles: ChatDouble[] = [];
afterEach(async () => {
  for (const double of doubles.splice(0)) await double.close();
});

const get = {
  '/version': { status: 200, body: { version: '0.17.0' } },
  '/v1/models': {
    status: 200,
    body: { object: 'list', data: [{ id: 'double', object: 'model', root: '/models/double', max_model_len: 8_192 }] },
  },
};
const Asked = z.object({ seed: z.number(), messages: z.array(z.object({ content: z.string() })) });

// A model that reads the numbers in its prompt and lowers one of them, another for each seed; now and then it makes one larger.
const lowering = (body: unknown): Scenario => {
  const { seed, messages } = Asked.parse(body);
  const prompt = messages.map(({ content }) => content).join('\n');
  const numbers = z
    .array(z.number())
    .parse(JSON.parse(`[${ensure(/"numbers": \[([^\]]*)\]/.exec(prompt)?.[1], 'the numbers in the prompt')}]`));
  const at = seed % numbers.length;
  const value = Math.max(0, (numbers[at] ?? 0) + (seed % 5 === 0 ? 1 : -1));
  const content = JSON.stringify({ values: [{ path: 'numbers.json', pointer: `/numbers/${at}`, value }] });
  return {
    steps: [
      {
        event: {
          choices: [{ index: 0, delta: { content }, finish_reason: 'stop', token_ids: [seed] }],
          prompt_token_ids: [1],
          usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
        },
      },
      { raw: 'data: [DONE]\n\n' },
    ],
    outcome: 'answered',
  };
};

const start = async (answer: (body: Readonly<Record<string, unknown>>, n: number) => Scenario): Promise<ChatDouble> => {
  const double = await startChatDouble({ get, answer, tokens: 500 });
  doubles.push(double);
  return double;
};
const lost = new Set(['unauthorised', 'not_found', 'engine_dead', 'overloaded']);
const breaking = Object.keys(scenarios)
  .map((name) => scenarioOf(name))
  .filter(
    (scenario): scenario is Scenario =>
      scenario !== undefined && !lost.has(scenario.detail ?? '') && !scenario.steps.some((step) => 'silence' in step),
  );

test('8 slots survive every way in which a server breaks: what answered is verified, the rest is said and charged', async () => {
  const double = await start((body, n) =>
    n % 2 === 0 ? lowering(body) : ensure(breaking[Math.floor(n / 2) % breaking.length], 'a scenario'),
  );
  const engine = await engineHere();
  const task = await smallTaskHere({ numbers: [3, 0, 4, 1, 0, 2, 5, 0], attempts: 160 });
  const server = { baseUrl: double.baseUrl, edit: 'json', maxTokens: 64 } as const;
  const ended = await runToEnd(engine, { task, proposer: 'openai', slots: 8, seed: 1, server, limits: { completionTokens: 20_000 } });
  const { detail, rows } = ended;
  expect(detail.header.proposer).toMatchObject({
    kind: 'openai',
    options: { model: 'double', maxPromptTokens: 8_128, sampling: { temperature: 1, topP: 1, maxTokens: 64 } },
  });
  expect(JSON.stringify(detail.header)).not.toContain('127.0.0.1');
  expect(detail.counts.commit).toBeGreaterThan(3);
  expect(rows.filter(({ outcome }) => outcome === 'invalid').every(({ code }) => code === 'no_candidate' || code === 'apply_failed')).toBe(
    true,
  );
  // Half of the requests broke; each is an attempt with its cost.
  expect(detail.counts.invalid).toBeGreaterThan(rows.length / 3);
  expect(detail.budget.used.requests).toBeGreaterThanOrEqual(rows.length);
  for (const { cost } of rows) expect(cost.charged.completionTokens).toBeLessThanOrEqual(64);
  expect(detail.budget.used.completionTokens).toBe(rows.reduce((sum, { cost }) => sum + cost.charged.completionTokens, 0));
  expect(double.mostOpen).toBeLessThanOrEqual(8);
  expect(await replayed(engine, ended.run)).toMatchObject({ ok: true, transitions: rows.length });

  // The stored bytes give the same chain without any server.
  await double.close();
  const again = await runToEnd(engine, { task, proposer: 'recorded', record: ended.run, slots: 8, seed: 1 });
  expect(again.trees).toEqual(ended.trees);
});

test('a server that is gone interrupts the run; back at another address, the run goes on and ends as if it had not been', async () => {
  const engine = await engineHere();
  const task = await smallTaskHere({ numbers: [3, 0, 4, 1, 0, 2, 5, 0], attempts: 48 });
  const undisturbed = await start(lowering);
  const choice = { edit: 'json', maxTokens: 64 } as const;
  const whole = await runToEnd(engine, {
    task,
    proposer: 'openai',
    slots: 4,
    seed: 9,
    server: { ...choice, baseUrl: undisturbed.baseUrl },
  });

  const dying = await start((body, n) => (n <= 10 ? lowering(body) : scenarios.engine_dead));
  const { run } = await engine.client.call('run.start', {
    task,
    proposer: 'openai',
    slots: 4,
    seed: 9,
    server: { ...choice, baseUrl: dying.baseUrl },
  });
  const watching = (async () => {
    for await (const _ of engine.client.stream('run.watch', { run }));
  })();
  await expect(watching).rejects.toThrow(/the run was interrupted: the model server at http:.*engine is dead.*pawl resume/);
  expect((await engine.client.call('run.get', { run })).status).toBe('interrupted');
  const { client } = engine;
  await client.call('run.resume', { run, server: { baseUrl: undisturbed.baseUrl } });
  for await (const _ of client.stream('run.watch', { run }));
  const detail = await client.call('run.get', { run });
  // The round that was aborted is charged: there may be fewer attempts left, never another chain.
  const chain = await client.call('run.chain', { run });
  const expected = await client.call('run.chain', { run: whole.run });
  expect(detail.counts.aborted).toBe(4);
  expect(expected.ranks.slice(0, chain.ranks.length)).toEqual(chain.ranks);
  expect(chain.count).toBeGreaterThan(2);
});

test('a start says what is wrong with the server, the model or the key', async () => {
  const engine = await engineHere();
  const { client } = engine;
  const task = await smallTaskHere();
  const ask = (server: ModelChoice) => refusal(client.call('run.start', { task, proposer: 'openai', slots: 1, seed: 1, server }));
  const double = await start(lowering);
  expect(await ask({ baseUrl: 'nonsense' })).toMatchObject({ code: 'bad_input', where: { field: 'server.baseUrl' } });
  expect(await ask({ baseUrl: 'http://user:pw@127.0.0.1:1/v1' })).toMatchObject({
    code: 'bad_input',
    message: expect.stringContaining('must not contain a password'),
  });
  expect(await ask({ baseUrl: 'http://127.0.0.1:9/v1' })).toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('nothing listens at http://127.0.0.1:9/v1'),
  });
  expect(await ask({ baseUrl: double.baseUrl, model: 'other' })).toMatchObject({
    code: 'bad_input',
    message: expect.stringContaining('it does not serve "other"; it has double'),
  });
  expect(await ask({ baseUrl: double.baseUrl, keyVariable: 'PAWL_TEST_NO_SUCH_KEY' })).toMatchObject({
    code: 'bad_input',
    where: { field: 'server.keyVariable' },
  });
  expect(await ask({ baseUrl: double.baseUrl, maxTokens: 9_000 })).toMatchObject({
    code: 'bad_input',
    where: { field: 'server.maxTokens' },
  });
  expect(
    await refusal(client.call('run.start', { task, proposer: 'search', slots: 1, seed: 1, server: { baseUrl: double.baseUrl } })),
  ).toMatchObject({ where: { field: 'server' } });
});

test('a key goes to the server and into no file of the data folder', async () => {
  process.env['PAWL_TEST_KEY'] = 'sk-very-secret-key';
  try {
    const double = await start(lowering);
    const engine = await engineHere();
    const task = await smallTaskHere({ attempts: 8 });
    await runToEnd(engine, {
      task,
      proposer: 'openai',
      slots: 4,
      seed: 1,
      server: { baseUrl: double.baseUrl, keyVariable: 'PAWL_TEST_KEY', edit: 'json', maxTokens: 64 },
    });
    expect(double.seen.map(({ headers }) => headers.authorization)).toContain('Bearer sk-very-secret-key');
    const { dataDir } = await engine.client.call('app.info', {});
    for (const name of ['pawl.db', 'pawl.db-wal']) {
      const bytes = readFileSync(path.join(dataDir, name));
      expect(bytes.includes('sk-very-secret-key')).toBe(false);
      expect(bytes.length + Number(name.endsWith('-wal'))).toBeGreaterThan(0);
    }
  } finally {
    delete process.env['PAWL_TEST_KEY'];
  }
});
