// Ways in which chat servers answer and break. `outcome` is what a client has to make of each.
import type { Anomaly, ChatOutcome } from '#electron/proposers/chat/answer.ts';

export type Step =
  /** One server-sent event with this JSON. */
  | { readonly event: unknown }
  /** Bytes as they stand. */
  | { readonly raw: string | Uint8Array }
  /** Every byte of the following steps in a packet of its own. */
  | { readonly drip: true }
  /** The socket is destroyed. */
  | { readonly cut: true }
  /** Nothing more comes, and the socket stays open. */
  | { readonly silence: true };

export type Scenario = {
  readonly status?: number;
  readonly contentType?: string;
  readonly steps: readonly Step[];
  readonly outcome: ChatOutcome['kind'];
  /** Of the error or truncation: what sets it apart from others of its kind. */
  readonly detail?: string;
  /** Of an answer or of what there was of one. */
  readonly content?: string;
  readonly answer?: string;
  readonly reasoning?: string;
  readonly anomalies?: readonly Anomaly[];
  readonly startsInReasoning?: boolean;
  readonly maxTokens?: number;
};

const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_773_000_000, model: 'double' };
const delta = (fields: object, finish: string | null = null, more: object = {}): Step => ({
  event: {
    ...base,
    choices: [
      { index: 0, delta: fields, logprobs: null, finish_reason: finish, ...(finish === null ? {} : { stop_reason: null }), ...more },
    ],
  },
});
const first: Step = {
  event: {
    ...base,
    choices: [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
    prompt_token_ids: [1, 2, 3],
  },
};
const text = (content: string, ids: readonly number[] = [7]): Step => delta({ content }, null, { token_ids: ids });
const usage = (completion: number, cached?: number): Step => ({
  event: {
    ...base,
    choices: [],
    usage: {
      prompt_tokens: 3,
      total_tokens: 3 + completion,
      completion_tokens: completion,
      prompt_tokens_details: cached === undefined ? null : { cached_tokens: cached },
    },
  },
});
const done: Step = { raw: 'data: [DONE]\n\n' };
const stop = delta({ content: '' }, 'stop');
const json = (body: unknown): Step => ({ raw: JSON.stringify(body) });
const envelope = (message: string, type: string, code: number, param: string | null = null) => ({ error: { message, type, param, code } });
const refusal = (status: number, body: unknown, detail: string): Scenario => ({
  status,
  contentType: 'application/json',
  steps: [json(body)],
  outcome: 'http_error',
  detail,
});
const tool = (index: number, fields: object): Step => delta({ tool_calls: [{ index, ...fields }] });
const whole = (message: object, finish: string, more: object = {}): Step =>
  json({
    ...base,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', refusal: null, tool_calls: [], ...message },
        logprobs: null,
        finish_reason: finish,
        stop_reason: null,
        token_ids: [5, 6],
      },
    ],
    usage: { prompt_tokens: 3, total_tokens: 5, completion_tokens: 2, prompt_tokens_details: null },
    prompt_token_ids: [1, 2, 3],
    ...more,
  });

export const scenarios = {
  plain: {
    steps: [first, text('Hel'), text('lo '), text('세계', [8, 9]), stop, usage(4), done],
    outcome: 'answered',
    content: 'Hello 세계',
    answer: 'Hello 세계',
  },
  reasoning_field: {
    steps: [first, delta({ reasoning: 'Let me ' }), delta({ reasoning: 'think' }), text('yes'), stop, usage(3, 2), done],
    outcome: 'answered',
    answer: 'yes',
    reasoning: 'Let me think',
    anomalies: ['token_ids_incomplete'],
  },
  reasoning_content_field: {
    steps: [first, delta({ reasoning_content: 'old name' }), delta({ content: 'yes' }), stop, usage(3), done],
    outcome: 'answered',
    answer: 'yes',
    reasoning: 'old name',
  },
  both_reasoning_fields: {
    steps: [first, delta({ reasoning: 'x', reasoning_content: 'x' }), delta({ content: 'yes' }), stop, usage(3), done],
    outcome: 'answered',
    answer: 'yes',
    reasoning: 'x',
    anomalies: ['both_reasoning_fields'],
  },
  think_in_content: {
    steps: [first, text('I think so.\n</thi'), text('nk>\n\nyes'), stop, usage(3), done],
    outcome: 'answered',
    answer: 'yes',
    reasoning: 'I think so.',
    startsInReasoning: true,
  },
  think_with_opening: {
    steps: [first, text('<think>\nhm\n</think>yes'), stop, usage(3), done],
    outcome: 'answered',
    answer: 'yes',
    reasoning: 'hm',
  },
  think_truncated: {
    steps: [first, text('I think and think'), delta({ content: '' }, 'length'), usage(20), done],
    outcome: 'truncated',
    detail: 'reasoning',
    answer: '',
    reasoning: 'I think and think',
    startsInReasoning: true,
    anomalies: ['reasoning_not_closed'],
  },
  reasoning_field_truncated: {
    contentType: 'application/json',
    steps: [whole({ content: null, reasoning: 'all thinking' }, 'length')],
    outcome: 'truncated',
    detail: 'reasoning',
    answer: '',
    reasoning: 'all thinking',
    anomalies: ['not_streamed'],
  },
  answer_truncated: {
    steps: [first, text('half an ans'), delta({ content: '' }, 'length'), usage(20), done],
    outcome: 'truncated',
    detail: 'answer',
    content: 'half an ans',
  },
  not_streamed: {
    contentType: 'application/json',
    steps: [whole({ content: 'x', reasoning: null }, 'stop')],
    outcome: 'answered',
    answer: 'x',
    anomalies: ['not_streamed'],
  },
  usage_without_choices: { steps: [first, text('x'), stop, usage(1), done], outcome: 'answered', answer: 'x' },
  no_usage: { steps: [first, text('x'), stop, done], outcome: 'answered', answer: 'x', anomalies: ['no_usage'] },
  no_done: { steps: [first, text('full'), stop, usage(1)], outcome: 'answered', answer: 'full', anomalies: ['no_done'] },
  cut_after_finish: {
    steps: [first, text('full'), stop, usage(1), { cut: true }],
    outcome: 'answered',
    answer: 'full',
    anomalies: ['cut_after_finish'],
  },
  pings: {
    steps: [{ raw: ': ping\n\n' }, first, { raw: ': ping\n\n' }, text('x'), stop, usage(1), done],
    outcome: 'answered',
    answer: 'x',
  },
  bytes_one_by_one: { steps: [{ drip: true }, first, text('한글🙂끝'), stop, usage(1), done], outcome: 'answered', answer: '한글🙂끝' },
  carriage_returns: {
    steps: [{ raw: 'data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}\r\n\r\ndata: [DONE]\r\n\r\n' }],
    outcome: 'answered',
    answer: 'x',
    anomalies: ['no_usage'],
  },
  two_choices: {
    steps: [
      first,
      text('A'),
      { event: { ...base, choices: [{ index: 1, delta: { content: 'B' }, finish_reason: null }] } },
      stop,
      usage(1),
      done,
    ],
    outcome: 'answered',
    answer: 'A',
    anomalies: ['extra_choice'],
  },
  tool_call: {
    steps: [
      first,
      tool(0, { id: 'call-a', type: 'function', function: { name: 'run', arguments: '' } }),
      tool(0, { id: null, type: null, function: { name: null, arguments: '{"cmd": "l' } }),
      tool(0, { function: { arguments: 's"}' } }),
      delta({}, 'tool_calls'),
      usage(9),
      done,
    ],
    outcome: 'answered',
    answer: '',
  },
  tool_call_doubled: {
    steps: [
      first,
      tool(0, { id: 'call-a', type: 'function', function: { name: 'run', arguments: '{"cmd": "ls"}' } }),
      tool(0, { function: { arguments: '{"cmd": "ls"}' } }),
      delta({}, 'tool_calls'),
      usage(9),
      done,
    ],
    outcome: 'truncated',
    detail: 'tool_call',
    anomalies: ['length_behind_tool_calls'],
  },
  length_behind_tool_calls: {
    steps: [
      first,
      tool(0, { id: 'call-a', type: 'function', function: { name: 'run', arguments: '{"cmd": "ls"}' } }),
      delta({}, 'tool_calls'),
      usage(16),
      done,
    ],
    outcome: 'truncated',
    detail: 'tool_call',
    maxTokens: 16,
    anomalies: ['length_behind_tool_calls'],
  },
  tool_call_as_text: {
    steps: [first, text('<tool_call>{"name": "run", "arguments": {}}</tool_call>'), stop, usage(9), done],
    outcome: 'answered',
    anomalies: ['unparsed_tool_call'],
  },
  tool_call_in_reasoning: {
    steps: [first, text('<tool_call>{}</tool_call></think>done'), stop, usage(9), done],
    outcome: 'answered',
    answer: 'done',
    startsInReasoning: true,
    anomalies: ['unparsed_tool_call'],
  },
  abort: { steps: [first, text('par'), delta({ content: '' }, 'abort'), done], outcome: 'aborted_by_server', content: 'par' },
  repetition: { steps: [first, text('la la la'), delta({ content: '' }, 'repetition'), done], outcome: 'repetition', content: 'la la la' },
  unknown_finish: { steps: [first, text('x'), delta({}, 'content_filter'), usage(1), done], outcome: 'malformed' },
  error_in_stream: {
    steps: [first, text('par'), { event: envelope('Internal server error', 'InternalServerError', 500) }, done],
    outcome: 'error_in_stream',
    detail: 'server_error',
    content: 'par',
  },
  engine_dead_in_stream: {
    steps: [
      first,
      text('par'),
      { event: envelope('EngineCore encountered an issue. See stack trace (above) for the root cause.', 'EngineDeadError', 500) },
      done,
    ],
    outcome: 'error_in_stream',
    detail: 'engine_dead',
    content: 'par',
  },
  context_in_stream: {
    steps: [
      {
        event: envelope(
          "This model's maximum context length is 8192 tokens. However, your request has 9000 input tokens.",
          'BadRequestError',
          400,
        ),
      },
      done,
    ],
    outcome: 'error_in_stream',
    detail: 'context_length',
  },
  cut: { steps: [first, text('par'), { cut: true }], outcome: 'cut', content: 'par' },
  ended_early: { steps: [first, text('par')], outcome: 'cut', content: 'par' },
  empty_stream: { steps: [], outcome: 'cut' },
  done_only: { steps: [done], outcome: 'cut' },
  silent_in_the_middle: { steps: [first, text('par'), { silence: true }], outcome: 'stalled', content: 'par' },
  nan: {
    steps: [
      first,
      {
        raw: 'data: {"choices":[{"index":0,"delta":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":NaN}]},"finish_reason":null}]}\n\n',
      },
      stop,
      done,
    ],
    outcome: 'malformed',
  },
  not_json_body: { contentType: 'application/json', steps: [{ raw: '{"choices": [' }], outcome: 'malformed' },
  html: { contentType: 'text/html', steps: [{ raw: '<html>a proxy says hello</html>' }], outcome: 'malformed' },
  context_length_015: refusal(
    400,
    envelope(
      "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (131000 in the messages, 9000 in the completion). Please reduce the length of the messages or completion.",
      'BadRequestError',
      400,
    ),
    'context_length',
  ),
  context_length_017: refusal(
    400,
    envelope(
      "You passed 131073 input tokens and requested 0 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 131072 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=131073)",
      'BadRequestError',
      400,
      'input_tokens',
    ),
    'context_length',
  ),
  context_length_later: refusal(
    400,
    envelope(
      "This model's maximum context length is 131072 tokens. However, you requested 100 output tokens and your prompt contains at least 131073 input tokens, for a total of at least 131173 tokens.",
      'BadRequestError',
      400,
      'input_tokens',
    ),
    'context_length',
  ),
  envelope_before_011: refusal(
    400,
    { object: 'error', message: 'top_k must be -1, or at least 1', type: 'BadRequestError', param: null, code: 400 },
    'bad_request',
  ),
  unauthorised: refusal(401, { error: 'Unauthorized' }, 'unauthorised'),
  no_such_model: refusal(404, envelope('The model `x` does not exist.', 'NotFoundError', 404, 'model'), 'not_found'),
  no_such_path: refusal(404, { detail: 'Not Found' }, 'not_found'),
  scaling: refusal(503, { error: 'The model is currently scaling. Please try again later.' }, 'overloaded'),
  too_many: refusal(429, envelope('Too many requests', 'RateLimitError', 429), 'overloaded'),
  tools_refused: refusal(
    400,
    envelope('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', 'BadRequestError', 400),
    'bad_request',
  ),
  tool_output_refused: refusal(
    400,
    envelope(
      '1 validation error for list[function-wrap[__log_extra_fields__()]]\n  Invalid JSON: EOF while parsing a string',
      'BadRequestError',
      400,
    ),
    'model_output',
  ),
  engine_dead: { status: 500, contentType: 'text/plain', steps: [], outcome: 'http_error', detail: 'engine_dead' },
  server_error: refusal(500, envelope('Internal server error', 'InternalServerError', 500), 'server_error'),
  text_error: {
    status: 502,
    contentType: 'text/html',
    steps: [{ raw: '<h1>Bad gateway</h1>' }],
    outcome: 'http_error',
    detail: 'server_error',
  },
} as const satisfies Readonly<Record<string, Scenario>>;

/** Each scenario by its name, as the general type. */
export const scenarioOf = (name: string): Scenario | undefined => new Map<string, Scenario>(Object.entries(scenarios)).get(name);

const encoder = new TextEncoder();

/** The bytes of a step's part of the body. */
export const bytesOf = (step: Step): Uint8Array => {
  if ('event' in step) return encoder.encode(`data: ${JSON.stringify(step.event)}\n\n`);
  if ('raw' in step) return typeof step.raw === 'string' ? encoder.encode(step.raw) : step.raw;
  return new Uint8Array();
};
