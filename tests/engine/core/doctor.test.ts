// The doctor against servers that are well and servers that are not: each has its diagnosis.
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { examine } from '#electron/core/servers/doctor.ts';
import { createChatServers } from '#electron/core/servers/chat-servers.ts';
import { type DoctorReport, doctorChecks } from '#shared/contract/server.ts';
import { type DoubleOptions, startChatDouble } from '../../support/chat-double/double.ts';
import { type Scenario, scenarios } from '../../support/chat-double/scenarios.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const Asked = z.object({
  seed: z.number(),
  temperature: z.number(),
  tools: z.array(z.unknown()).optional(),
  response_format: z.unknown().optional(),
  messages: z.array(z.object({ content: z.string() })),
});
type Asked = z.infer<typeof Asked>;

const saying = (
  content: string,
  { delta = {}, finish = 'stop', usage = true, ids = [1, 2] as readonly number[] | null } = {},
): Scenario => ({
  steps: [
    {
      event: {
        choices: [{ index: 0, delta: { content, ...delta }, finish_reason: finish, token_ids: ids }],
        ...(ids === null ? {} : { prompt_token_ids: [1] }),
        ...(usage ? { usage: { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 } } : {}),
      },
    },
    { raw: 'data: [DONE]\n\n' },
  ],
  outcome: 'answered',
});

const model = { id: 'veriloop-e2', root: '/models/e2', max_model_len: 131_072 };
const get = (models: readonly object[] = [model]): NonNullable<DoubleOptions['get']> => ({
  '/version': { status: 200, body: { version: '0.17.0' } },
  '/v1/models': { status: 200, body: { object: 'list', data: models } },
});

/** What a good server says to each of the doctor's questions. */
const well = (asked: Asked): Scenario => {
  const text = asked.messages[0]?.content ?? '';
  if (asked.tools !== undefined)
    return saying('', {
      delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'look_up', arguments: '{"name":"pawl"}' } }] },
      finish: 'tool_calls',
    });
  if (asked.response_format !== undefined) return saying('{"code":"zq17"}');
  if (text.includes('8001_OK')) return saying('8001_OK');
  return text.includes('random') ? saying(`words of ${asked.seed}`) : saying('one two three');
};

const examined = async (
  answer: (asked: Asked, n: number) => Scenario,
  more: Partial<DoubleOptions> = {},
  wanted?: string,
): Promise<DoctorReport> => {
  const double = await startChatDouble({ get: get(), tokens: 7, answer: (body, n) => answer(Asked.parse(body), n), ...more });
  closing.push(() => double.close());
  return look(double.baseUrl, wanted);
};
const look = async (baseUrl: string, wanted?: string): Promise<DoctorReport> => {
  const servers = createChatServers({});
  closing.push(() => servers.close());
  const checks: string[] = [];
  for await (const item of examine(
    servers.client({ baseUrl, keyVariable: null }),
    wanted,
    '2031-01-01T00:00:00.000Z',
    new AbortController().signal,
  )) {
    if (item.kind === 'report') {
      expect(checks).toEqual(item.report.checks.map(({ check }) => check));
      return item.report;
    }
    checks.push(item.check.check);
  }
  throw new Error('no report');
};
const codes = ({ checks }: DoctorReport): Record<string, string> => Object.fromEntries(checks.map(({ check, code }) => [check, code]));
const statusOf = ({ checks }: DoctorReport, check: string) => checks.find((one) => one.check === check)?.status;

describe('a server that is well', () => {
  it('is healthy, with everything that it can do', async () => {
    let generated = 0;
    const report = await examined(well, {
      get: {
        ...get(),
        get '/metrics'() {
          generated += 12;
          return { status: 200, body: `# HELP x\nvllm:generation_tokens_total{model_name="veriloop-e2"} ${generated}.0\n` };
        },
      },
    });
    expect(codes(report)).toEqual({
      alive: 'answers',
      model: 'served',
      counting: 'counts',
      smoke: 'exact',
      reasoning: 'none',
      accounting: 'counted',
      tools: 'parsed',
      structured: 'honoured',
      seed: 'honoured',
      determinism: 'same',
      throughput: 'measured',
      liveness: 'counts_up',
    });
    expect(report).toMatchObject({ healthy: true, version: '0.17.0', model: 'veriloop-e2', maxModelLen: 131_072, format: 'pawl.doctor/1' });
    expect(report.checks.map(({ check }) => check)).toEqual(doctorChecks);
  });
  it('as the documented start of a vLLM serves it: reasoning in the content, no tools', async () => {
    const report = await examined((asked) =>
      asked.tools !== undefined
        ? scenarios.tools_refused
        : (asked.messages[0]?.content ?? '').includes('8001_OK')
          ? saying('Fine.\n</think>\n\n8001_OK')
          : well(asked),
    );
    expect(codes(report)).toMatchObject({ smoke: 'exact', reasoning: 'in_content', tools: 'refused' });
    expect(report.healthy).toBe(true);
  });
});

describe('a server that is not', () => {
  const smoke = (scenario: Scenario) => (asked: Asked) => ((asked.messages[0]?.content ?? '').includes('8001_OK') ? scenario : well(asked));
  it.each([
    ['truncated_in_reasoning', saying('Hm, hm, hm', { delta: { content: '', reasoning: 'hm' }, finish: 'length' })],
    ['wrong', saying('I am another model.')],
    ['http_error', scenarios.engine_dead],
    ['cut', scenarios.cut],
    ['error_in_stream', scenarios.error_in_stream],
    ['malformed', scenarios.nan],
  ])('%s', async (code, scenario) => {
    const report = await examined(smoke(scenario));
    expect(codes(report)).toMatchObject({ smoke: code, tools: 'earlier', seed: 'earlier' });
    expect(report.healthy).toBe(false);
    // What was found out before stays said.
    expect(statusOf(report, 'model')).toBe('ok');
  });
  it('is not there', async () => {
    const gone = await startChatDouble();
    await gone.close();
    const report = await look(gone.baseUrl);
    expect(report).toMatchObject({ healthy: false, requests: 0, model: null });
    expect(report.checks[0]).toMatchObject({
      status: 'failed',
      code: 'dead',
      message: `nothing listens at ${gone.baseUrl}: is the server running?`,
    });
    expect(report.checks.slice(1).every(({ status }) => status === 'skipped')).toBe(true);
  });
  it('asks for a key', async () => {
    const report = await examined(well, { get: { '/v1/models': { status: 401, body: { error: 'Unauthorized' } } } });
    expect(report.checks[0]?.message).toMatch(/asks for a key \(401\)/);
  });
  it('serves another model, or several', async () => {
    expect(codes(await examined(well, {}, 'other'))).toMatchObject({ model: 'not_served' });
    expect(codes(await examined(well, { get: get([model, { id: 'second' }]) }))).toMatchObject({ model: 'not_chosen' });
    expect(codes(await examined(well, { get: get([model, { id: 'second' }]) }, 'second'))).toMatchObject({
      model: 'context_unknown',
      smoke: 'exact',
    });
  });
});

describe('facts that somebody has to know', () => {
  it('a schema that is ignored, a seed that is ignored, answers that differ, no counts, a counter that stands still', async () => {
    const report = await examined(
      (asked, n) => {
        if (asked.response_format !== undefined) return saying('Hello!');
        const scenario = well(asked);
        const exact = (asked.messages[0]?.content ?? '').includes('8001_OK');
        return exact
          ? saying('8001_OK', { usage: false, ids: null })
          : asked.tools !== undefined
            ? scenario
            : saying(`answer ${n}`, { usage: false });
      },
      { get: { ...get(), '/metrics': { status: 200, body: 'vllm:generation_tokens_total 5\n' } } },
    );
    expect(codes(report)).toMatchObject({
      structured: 'ignored',
      seed: 'ignored',
      determinism: 'differs',
      accounting: 'no_usage',
      throughput: 'not_counted',
      liveness: 'stands_still',
    });
    expect(report.healthy).toBe(true);
  });
  it('tool calls as text, seeds without effect, no counter', async () => {
    const report = await examined((asked) =>
      asked.tools !== undefined
        ? saying('<tool_call>{"name":"look_up"}</tool_call>')
        : (asked.messages[0]?.content ?? '').includes('random')
          ? saying('same')
          : well(asked),
    );
    expect(codes(report)).toMatchObject({ tools: 'as_text', seed: 'no_effect', liveness: 'no_metrics' });
  });
});
