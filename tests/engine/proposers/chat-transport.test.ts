// The client's side of HTTP against the double: outcomes over a real socket, aborts that the server notices, and no hidden second request.
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AnswerReader, readAnswer } from '#electron/proposers/chat/answer.ts';
import { chatBody, neutralSampling } from '#electron/proposers/chat/request.ts';
import { createTransport, type Transport } from '#electron/proposers/chat/transport.ts';
import { type ChatDouble, startChatDouble } from '../../support/chat-double/double.ts';
import { scenarioOf, scenarios } from '../../support/chat-double/scenarios.ts';

let double: ChatDouble;
let transport: Transport;
const never = new AbortController().signal;
const body = (model: string): Uint8Array =>
  chatBody(
    { model, messages: [{ role: 'user', content: 'hi' }], sampling: { ...neutralSampling, maxTokens: 16 }, seed: 1 },
    { vllm: true, logprobs: true, structured: null },
  );

beforeAll(async () => {
  double = await startChatDouble({ get: { '/health': { status: 200, body: '' }, '/v1/models': { status: 200, body: { data: [] } } } });
  transport = createTransport({ baseUrl: double.baseUrl, apiKey: 'secret-key', stallMs: 300, maxBodyBytes: 10_000_000 });
});
afterAll(async () => {
  await transport.close();
  await double.close();
});

describe.each(Object.keys(scenarios))('%s', (name) => {
  const scenario = scenarioOf(name);
  if (scenario === undefined) throw new Error(name);
  it('comes to its outcome in one request, live as from the record', async () => {
    const options = { startsInReasoning: scenario.startsInReasoning ?? false, maxTokens: scenario.maxTokens ?? null };
    const before = double.seen.length;
    const reader = new AnswerReader(options);
    const exchange = await transport.post('chat/completions', body(name), {
      signal: never,
      onBytes: (bytes, contentType) => {
        if (contentType.startsWith('text/event-stream')) reader.push(bytes);
      },
    });
    const live = reader.finish(exchange);
    expect(live.outcome.kind).toBe(scenario.outcome);
    expect(readAnswer(exchange, options)).toEqual(live);
    expect(double.seen.length).toBe(before + 1);
  });
});

it('sends the key as a header only', () => {
  for (const { body: sent, headers } of double.seen) {
    expect(headers.authorization).toBe('Bearer secret-key');
    expect(JSON.stringify(sent)).not.toContain('secret-key');
  }
});

it('an abort reaches the server, keeps what had come and frees the socket', async () => {
  const controller = new AbortController();
  const left = double.left.length;
  const exchange = await transport.post('chat/completions', body('silent_in_the_middle'), {
    signal: controller.signal,
    onBytes: () => controller.abort(),
  });
  await double.hasLeft(left + 1);
  expect(exchange.response?.end).toBe('aborted');
  expect(readAnswer(exchange, { startsInReasoning: false, maxTokens: null })).toMatchObject({ outcome: { kind: 'aborted_by_user' } });
});

it('a server that is not there, and one that does not speak HTTP, are said so', async () => {
  const closed = await startChatDouble();
  await closed.close();
  const nowhere = createTransport({ baseUrl: closed.baseUrl, apiKey: null, stallMs: 100, maxBodyBytes: 100 });
  expect(await nowhere.post('chat/completions', body('plain'), { signal: never })).toMatchObject({
    response: null,
    failure: { code: 'refused' },
  });
  await nowhere.close();
});

it('an answer without end is cut off here', async () => {
  const small = createTransport({ baseUrl: double.baseUrl, apiKey: null, stallMs: 100, maxBodyBytes: 100 });
  const exchange = await small.post('chat/completions', body('plain'), { signal: never });
  expect(exchange.response?.end).toBe('too_long');
  expect(readAnswer(exchange, { startsInReasoning: false, maxTokens: null }).outcome.kind).toBe('malformed');
  await small.close();
});

it('a question that gets no answer in its time is given up, by name', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => {
    silent.listen(0, '127.0.0.1', resolve);
  });
  const address = silent.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const asking = createTransport({ baseUrl: `http://127.0.0.1:${address.port}/v1`, apiKey: null, stallMs: 100, maxBodyBytes: 100 });
  expect(await asking.get('../health', { signal: never, timeoutMs: 50 })).toMatchObject({ response: null, failure: { code: 'timeout' } });
  expect(await transport.get('../health', { signal: never, timeoutMs: 5_000 })).toMatchObject({ response: { status: 200 } });
  await asking.close();
  silent.closeAllConnections();
  silent.close();
});
