// Finds out what a model server is and can do, by asking it: small requests, each check a finding of its own, nothing believed that can be
// tried. Servers drop fields that they do not know without a word, so that only an answer shows what was understood.
import { type DoctorCheck, doctorChecks, type DoctorItem, type DoctorReport } from '#shared/contract/server.ts';
import type { Json } from '#shared/lib/canonical-json.ts';
import { type ChatAnswer, outcomeText } from '#electron/proposers/chat/answer.ts';
import { type ChatClient, type ServedModel, ServerProblem } from '#electron/proposers/chat/client.ts';
import { type ChatRequest, neutralSampling, type ServerAbilities } from '#electron/proposers/chat/request.ts';

type Check = DoctorCheck['check'];
type Finding = Omit<DoctorCheck, 'check'>;

const finding =
  (status: Finding['status']) =>
  (code: string, message: string, facts: Finding['facts'] = {}): Finding => ({ status, code, message, facts });
const good = finding('ok');
const note = finding('note');
const failed = finding('failed');
const skipped = finding('skipped');

/** Long enough for a model that reasons about a sentence. */
const smokeTokens = 1_024;
const shortTokens = 48;
const parallel = 4;
const word = '8001_OK';
const tool: Json = {
  type: 'function',
  function: {
    name: 'look_up',
    description: 'Looks up the value of a name',
    parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false },
  },
};
const schema: Json = { type: 'object', properties: { code: { const: 'zq17' } }, required: ['code'], additionalProperties: false };

const seen = (text: string): string => JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);

type Asked = { readonly answer: ChatAnswer; readonly ms: number };

/** A server under examination. `ask` sends one request; what it came to is a value, whatever it is. */
class Examination {
  requests = 0;
  model: ServedModel | null = null;
  version: string | null = null;
  smoke: ChatAnswer | null = null;
  batch: readonly Asked[] = [];
  readonly #client: ChatClient;
  readonly #wanted: string | undefined;
  readonly #signal: AbortSignal;

  constructor(client: ChatClient, wanted: string | undefined, signal: AbortSignal) {
    this.#client = client;
    this.#wanted = wanted;
    this.#signal = signal;
  }

  get #abilities(): ServerAbilities {
    return { vllm: this.version !== null || (this.model?.maxModelLen ?? null) !== null, logprobs: false, structured: null };
  }

  async #ask(
    text: string,
    more: Partial<ChatRequest> & { readonly maxTokens?: number; readonly temperature?: number } = {},
  ): Promise<Asked> {
    const { maxTokens = shortTokens, temperature = 0, ...rest } = more;
    this.requests++;
    const begun = performance.now();
    const { answer } = await this.#client.complete(
      {
        model: this.model?.id ?? '',
        messages: [{ role: 'user', content: text }],
        sampling: { ...neutralSampling, temperature, maxTokens },
        seed: 1,
        ...rest,
      },
      { ...this.#abilities, structured: rest.schema === undefined ? null : 'response_format' },
      { signal: this.#signal, startsInReasoning: false, maxTokens },
    );
    this.#signal.throwIfAborted();
    return { answer, ms: performance.now() - begun };
  }

  readonly #checks: Readonly<Record<Check, () => Promise<Finding>>> = {
    alive: async () => {
      try {
        const { version, models } = await this.#client.identify(this.#signal);
        this.version = version;
        const only = models.length === 1 ? models[0] : undefined;
        this.model = (this.#wanted === undefined ? only : models.find(({ id }) => id === this.#wanted)) ?? null;
        this.#models = models;
        return good('answers', version === null ? 'it answers; it does not say which version it is' : `it answers as vLLM ${version}`, {
          version,
          models: models.map(({ id }) => id),
        });
      } catch (error) {
        if (error instanceof ServerProblem) return failed('dead', error.message);
        throw error;
      }
    },
    model: () => {
      const names = this.#models.map(({ id }) => id).join(', ');
      if (this.model === null) {
        return Promise.resolve(
          this.#wanted === undefined
            ? failed('not_chosen', this.#models.length === 0 ? 'it serves no model' : `it serves several models: say which, of ${names}`)
            : failed('not_served', `it does not serve ${JSON.stringify(this.#wanted)}; it has ${names === '' ? 'none' : names}`),
        );
      }
      const { id, root, maxModelLen } = this.model;
      return Promise.resolve(
        maxModelLen === null
          ? note('context_unknown', `${id}; it does not say how long its context is: give --max-prompt-tokens to a run`, { id, root })
          : good('served', `${id}, with a context of ${maxModelLen} tokens`, { id, root, maxModelLen }),
      );
    },
    counting: async () => {
      const count = await this.#client.countTokens(this.model?.id ?? '', [{ role: 'user', content: word }], this.#signal);
      return count === null
        ? note('cannot_count', 'it cannot count tokens (/tokenize): prompts are sent whole, and what does not fit is refused')
        : good('counts', `it counts tokens itself (${count} for a question of one word)`, { count });
    },
    smoke: async () => {
      const { answer, ms } = await this.#ask(`Reply with exactly this and nothing else: ${word}`, { maxTokens: smokeTokens });
      this.smoke = answer;
      const { outcome, split } = answer;
      const facts = { ms: Math.round(ms), answer: split.answer.slice(0, 200), finish: answer.finishReason };
      if (outcome.kind === 'truncated' && outcome.where === 'reasoning')
        return failed(
          'truncated_in_reasoning',
          `it was still reasoning after ${smokeTokens} tokens: runs need more (--max-tokens), or less reasoning`,
          facts,
        );
      if (outcome.kind !== 'answered') return failed(outcome.kind, outcomeText(outcome), facts);
      if (split.answer.trim() === word) return good('exact', `it answered ${word}, as asked`, facts);
      return split.answer.includes(word)
        ? note('more_than_asked', `it answered ${word} among other words: ${seen(split.answer)}`, facts)
        : failed(
            'wrong',
            `asked for ${word}, it answered ${seen(split.answer)}: is it the right model, with its own chat template?`,
            facts,
          );
    },
    reasoning: () => {
      const { from, reasoning } = this.smoke?.split ?? { from: 'none', reasoning: '' };
      const facts = { from, characters: reasoning.length };
      switch (from) {
        case 'field':
          return Promise.resolve(good('field', 'reasoning comes apart from the answer', facts));
        case 'tag':
          return Promise.resolve(
            note(
              'in_content',
              'reasoning comes inside the content and is split off at </think>; if answers are cut while reasoning, give runs --reasoning-in-content',
              facts,
            ),
          );
        case 'open':
          return Promise.resolve(note('never_ended', 'reasoning began in the content and never ended', facts));
        case 'none':
          return Promise.resolve(good('none', 'it answered without reasoning', facts));
        default:
          return from satisfies never;
      }
    },
    accounting: () => {
      const { usage = null, tokenIds = null, promptTokenIds = null } = this.smoke ?? {};
      const facts = {
        usage: usage === null ? null : { ...usage },
        tokenIds: tokenIds?.length ?? null,
        promptTokenIds: promptTokenIds?.length ?? null,
      };
      if (usage === null)
        return Promise.resolve(
          note('no_usage', 'it reports no token counts: every attempt is charged with all that was set aside for it', facts),
        );
      return Promise.resolve(
        tokenIds === null
          ? note('no_token_ids', 'it counts tokens and does not say which they were: answers are kept as text only', facts)
          : good('counted', 'it counts tokens and says which they were', facts),
      );
    },
    tools: async () => {
      const { answer } = await this.#ask('Use the tool to look up the value of the name "pawl".', {
        tools: [tool],
        maxTokens: smokeTokens,
      });
      const { outcome, toolCalls, anomalies } = answer;
      if (outcome.kind === 'http_error')
        return note('refused', `it parses no tool calls: ${outcome.error.message}`, { class: outcome.error.class });
      if (toolCalls.some(({ name, parsed }) => name === 'look_up' && parsed !== null)) return good('parsed', 'it parses tool calls');
      if (anomalies.includes('unparsed_tool_call'))
        return note('as_text', 'the model writes tool calls that the server does not parse; they are read from the text');
      return note(
        'none',
        `asked to use a tool, it ${outcome.kind === 'answered' ? 'answered in words' : `came to this: ${outcomeText(outcome)}`}`,
        { outcome: outcome.kind },
      );
    },
    structured: async () => {
      const { answer } = await this.#ask('Say hello.', { schema, maxTokens: smokeTokens });
      if (answer.outcome.kind === 'http_error')
        return note('refused', `it refuses JSON Schemas: ${answer.outcome.error.message}`, { class: answer.outcome.error.class });
      const fits = fitsSchema(answer.split.answer);
      return fits
        ? good('honoured', 'it constrains answers to a JSON Schema')
        : note('ignored', `it takes a JSON Schema and ignores it: ${seen(answer.split.answer)}; answers are checked here all the same`, {
            answer: answer.split.answer.slice(0, 200),
          });
    },
    seed: async () => {
      const ask = (seed: number) => this.#ask('Write three random words.', { seed, temperature: 1 });
      const [one, again, other] = [await ask(11), await ask(11), await ask(12)].map(({ answer }) => answer.content);
      if (one !== again) return note('ignored', 'the same seed gave two answers: a repeated request is a new sample', { same: false });
      return one === other
        ? note('no_effect', 'different seeds gave the same answer: attempts of one round may all be alike', {
            same: true,
            different: false,
          })
        : good('honoured', 'the same seed gives the same answer, another seed another one', { same: true, different: true });
    },
    determinism: async () => {
      const alone = await this.#ask('Count from one to ten in words.');
      this.batch = await Promise.all(Array.from({ length: parallel }, () => this.#ask('Count from one to ten in words.')));
      const answers = new Set([alone, ...this.batch].map(({ answer }) => answer.content));
      const facts = { answers: answers.size, requests: parallel + 1 };
      return answers.size === 1
        ? good(
            'same',
            `${parallel + 1} equal requests at temperature 0, ${parallel} of them at once, gave one answer; that is no promise`,
            facts,
          )
        : note(
            'differs',
            `${parallel + 1} equal requests at temperature 0 gave ${answers.size} answers: replays go by the record, never by asking again`,
            facts,
          );
    },
    throughput: () => {
      const tokens = this.batch.reduce((sum, { answer }) => sum + (answer.usage?.completionTokens ?? 0), 0);
      const ms = Math.max(0, ...this.batch.map((one) => one.ms));
      if (tokens === 0 || ms === 0) return Promise.resolve(skipped('not_counted', 'it reported no token counts to measure by'));
      const perSecond = Math.round((tokens / ms) * 10_000) / 10;
      return Promise.resolve(
        good('measured', `${perSecond} tokens a second with ${parallel} requests at once`, {
          tokensPerSecond: perSecond,
          tokens,
          ms: Math.round(ms),
        }),
      );
    },
    liveness: async () => {
      const before = await this.#generated();
      if (before === null)
        return skipped('no_metrics', 'it has no counter of generated tokens (/metrics): whether it hangs shows only in silence');
      await this.#ask('Count from one to ten in words.');
      const after = await this.#generated();
      return after !== null && after > before
        ? good('counts_up', 'its counter of generated tokens goes up while it answers', { before, after })
        : note('stands_still', 'it answered and its counter of generated tokens stood still: the counter cannot tell whether it hangs', {
            before,
            after,
          });
    },
  };

  #models: readonly ServedModel[] = [];

  async #generated(): Promise<number | null> {
    const text = await this.#client.metrics(this.#signal);
    if (text === null) return null;
    const values = [...text.matchAll(/^vllm:generation_tokens_total(?:\{[^}\n]*\})? ([0-9.e+]+)$/gm)].map(([, value]) => Number(value));
    return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
  }

  run(check: Check): Promise<Finding> {
    return this.#checks[check]();
  }
}

const fitsSchema = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'code' in value && value.code === 'zq17' && Object.keys(value).length === 1;
  } catch {
    return false;
  }
};

/** Without these nothing else can be asked. */
const needed: ReadonlySet<Check> = new Set(['alive', 'model', 'smoke']);

/** The checks as they come, and the report. Throws only when `signal` aborts. */
export async function* examine(
  client: ChatClient,
  wanted: string | undefined,
  at: string,
  signal: AbortSignal,
): AsyncGenerator<DoctorItem, void, void> {
  const begun = performance.now();
  const examination = new Examination(client, wanted, signal);
  const checks: DoctorCheck[] = [];
  let stopped: Check | null = null;
  for (const check of doctorChecks) {
    const found = stopped === null ? await examination.run(check) : skipped('earlier', `not asked, because "${stopped}" failed`);
    if (found.status === 'failed' && needed.has(check)) stopped ??= check;
    const one: DoctorCheck = { check, ...found };
    checks.push(one);
    yield { kind: 'check', check: one };
  }
  const report: DoctorReport = {
    format: 'pawl.doctor/1',
    at,
    baseUrl: client.baseUrl,
    version: examination.version,
    model: examination.model?.id ?? null,
    maxModelLen: examination.model?.maxModelLen ?? null,
    healthy: checks.every(({ status }) => status !== 'failed'),
    checks,
    requests: examination.requests,
    ms: performance.now() - begun,
  };
  yield { kind: 'report', report };
}
