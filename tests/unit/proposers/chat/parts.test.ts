import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLimiter } from '#electron/proposers/chat/limiter.ts';
import { chatBody, type ChatMessage, neutralSampling } from '#electron/proposers/chat/request.ts';
import { readToolText } from '#electron/proposers/chat/tool-text.ts';
import { urlOf } from '#electron/proposers/chat/transport.ts';

describe('tool calls in text', () => {
  it.each([
    [
      'a<tool_call>\n{"name": "run", "arguments": {"command": "ls"}}\n</tool_call>b',
      { text: 'ab', calls: [{ name: 'run', arguments: { command: 'ls' } }], broken: [] },
    ],
    [
      '<tool_call>{"name": "run", "arguments": "{\\"n\\": 1}"}</tool_call>',
      { text: '', calls: [{ name: 'run', arguments: { n: 1 } }], broken: [] },
    ],
    [
      '<tool_call>\n<function=edit>\n<parameter=path>\nsrc/a.js\n</parameter>\n<parameter=text>\n  two\nlines\n</parameter>\n</function>\n</tool_call>',
      { text: '', calls: [{ name: 'edit', arguments: { path: 'src/a.js', text: '  two\nlines' } }], broken: [] },
    ],
    ['x<tool_call>{"name": "run", "argum', { text: 'x', calls: [], broken: ['{"name": "run", "argum'] }],
    [
      '<tool_call>{"name": 1}</tool_call><tool_call><function=a>no end</tool_call>',
      { text: '', calls: [], broken: ['{"name": 1}', '<function=a>no end'] },
    ],
    ['nothing', { text: 'nothing', calls: [], broken: [] }],
  ])('%j', (text, expected) => {
    expect(readToolText(text)).toEqual(expected);
  });
  it('never throws and keeps all text that is no call', () => {
    const piece = fc.constantFrom(
      '<tool_call>',
      '</tool_call>',
      '<function=a>',
      '</function>',
      '<parameter=b>',
      '</parameter>',
      '{"name":"x"}',
      'text',
      '{',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        const { text: kept } = readToolText(text);
        expect(text.includes('<tool_call>') || kept === text).toBe(true);
      }),
    );
  });
});

describe('the body of a request', () => {
  const request = {
    model: 'm',
    messages: [{ role: 'user', content: 'hi' }],
    sampling: { ...neutralSampling, maxTokens: 10 },
    seed: 7,
  } as const;
  const parse = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes));
  it('has every sampling parameter, for vLLM also its own', () => {
    expect(parse(chatBody(request, { vllm: true, logprobs: true, structured: null }))).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      temperature: 1,
      top_p: 1,
      top_k: 0,
      min_p: 0,
      repetition_penalty: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      max_tokens: 10,
      stop: [],
      seed: 7,
      n: 1,
      stream: true,
      stream_options: { include_usage: true },
      return_token_ids: true,
      logprobs: true,
      top_logprobs: 0,
    });
    const plain = parse(
      chatBody({ ...request, tools: [], schema: { type: 'object' } }, { vllm: false, logprobs: false, structured: null }),
    );
    expect(plain).not.toHaveProperty('top_k');
    expect(plain).not.toHaveProperty('tools');
    expect(plain).not.toHaveProperty('response_format');
  });
  it('says a schema as the server understands it, and reasoning under both names', () => {
    const schema = { type: 'object' };
    expect(parse(chatBody({ ...request, schema }, { vllm: true, logprobs: false, structured: 'structured_outputs' }))).toMatchObject({
      structured_outputs: { json: schema },
    });
    expect(parse(chatBody({ ...request, schema }, { vllm: true, logprobs: false, structured: 'response_format' }))).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { schema } },
    });
    const history: ChatMessage[] = [
      { role: 'assistant', content: null, reasoning: 'r', toolCalls: [{ id: '1', name: 'run', arguments: '{}' }] },
      { role: 'tool', toolCallId: '1', content: 'out' },
    ];
    expect(parse(chatBody({ ...request, messages: history }, { vllm: true, logprobs: false, structured: null }))).toMatchObject({
      messages: [
        {
          reasoning: 'r',
          reasoning_content: 'r',
          content: null,
          tool_calls: [{ id: '1', type: 'function', function: { name: 'run', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: '1' },
      ],
    });
  });
  it('addresses beside /v1 are found', () => {
    expect(urlOf('http://127.0.0.1:8001/v1', 'chat/completions')).toBe('http://127.0.0.1:8001/v1/chat/completions');
    expect(urlOf('http://127.0.0.1:8001/v1', '../health')).toBe('http://127.0.0.1:8001/health');
  });
});

describe('the limiter', () => {
  it('never runs more than its size, keeps the order, and forgets who leaves', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(fc.boolean(), { maxLength: 12 }), async (size, leaves) => {
        const limiter = createLimiter(size);
        let running = 0;
        let most = 0;
        const order: number[] = [];
        const all = leaves.map((leave, i) => {
          const controller = new AbortController();
          const task = limiter.run(controller.signal, async () => {
            order.push(i);
            running++;
            most = Math.max(most, running);
            await new Promise((resolve) => {
              setImmediate(resolve);
            });
            running--;
          });
          if (leave) controller.abort();
          return task.then(
            () => true,
            () => false,
          );
        });
        const ran = await Promise.all(all);
        expect(most).toBeLessThanOrEqual(size);
        expect(order).toEqual(order.toSorted((a, b) => a - b));
        expect(order.length).toBe(ran.filter(Boolean).length);
        expect(limiter.running + limiter.waiting).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});
