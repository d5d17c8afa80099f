// What the chat client adds to receiving a stream: 20,000 events with token ids and logprobs, kept and read, against undici alone that
// receives the same bytes and lets them go. The server is a process of its own, so that writing is not measured.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { AnswerReader, isEventStream } from '#electron/proposers/chat/answer.ts';
import { createTransport } from '#electron/proposers/chat/transport.ts';
import { type BenchReport, quantile } from './report.ts';

const chunks = 20_000;
const rounds = 12;
const goal = 1.5;

const serve = async (): Promise<{ readonly baseUrl: string; readonly stop: () => void }> => {
  const child = fork(fileURLToPath(new URL('chat-server.ts', import.meta.url)), [String(chunks)], { stdio: 'inherit' });
  const baseUrl = await new Promise<string>((resolve, reject) => {
    child.once('message', (message) => resolve(z.string().parse(message)));
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the server ended with code ${code}`)));
  });
  return { baseUrl, stop: () => child.kill() };
};

export async function benchChat(): Promise<BenchReport> {
  const { baseUrl, stop } = await serve();
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const transport = createTransport({ baseUrl, apiKey: null, stallMs: 60_000, maxBodyBytes: 1_000_000_000 });
  const { signal } = new AbortController();
  const alone: number[] = [];
  const client: number[] = [];
  const undiciAlone = async () => {
    const begun = performance.now();
    const { body } = await request(`${baseUrl}/chat/completions`, {
      dispatcher: agent,
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    let bytes = 0;
    for await (const part of body) bytes += part instanceof Uint8Array ? part.length : 0;
    if (bytes < chunks * 100) throw new Error(`only ${bytes} bytes came`);
    alone.push(performance.now() - begun);
  };
  const through = async () => {
    const begun = performance.now();
    const reader = new AnswerReader({ startsInReasoning: false, maxTokens: null });
    const exchange = await transport.post('chat/completions', new TextEncoder().encode('{}'), {
      signal,
      onBytes: (bytes, contentType) => {
        if (isEventStream(contentType)) reader.push(bytes);
      },
    });
    const answer = reader.finish(exchange);
    client.push(performance.now() - begun);
    if (answer.outcome.kind !== 'truncated' || answer.tokenIds?.length !== chunks || answer.logprobs?.length !== chunks)
      throw new Error(`it came to ${answer.outcome.kind} with ${answer.tokenIds?.length ?? 0} tokens`);
  };
  try {
    for (let i = 0; i < rounds; i++) {
      // Interleaved, in turn first and second; the first two rounds warm both up.
      for (const one of i % 2 === 0 ? [undiciAlone, through] : [through, undiciAlone]) await one();
      if (i === 1) for (const samples of [alone, client]) samples.length = 0;
    }
  } finally {
    await transport.close();
    await agent.destroy();
    stop();
  }
  const limit = quantile(alone, 0.5);
  const ratio = quantile(client, 0.5) / limit;
  return {
    name: 'chat',
    rows: [
      {
        label: `undici alone, ${chunks.toLocaleString('en')} events`,
        medianMs: limit,
        p95Ms: quantile(alone, 0.95),
        ratio: null,
        goal: null,
        ok: true,
      },
      {
        label: 'the chat client, every byte kept and read',
        medianMs: quantile(client, 0.5),
        p95Ms: quantile(client, 0.95),
        ratio,
        goal,
        ok: ratio <= goal,
      },
    ],
  };
}
