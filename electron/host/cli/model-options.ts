// The options of `pawl run` and `pawl resume` that name a model server.
import { type Command, Option } from 'commander';
import { z } from 'zod';
import type { ModelChoice, ServerAddress } from '#shared/contract/run.ts';
import { UsageError } from './io.ts';

export const ModelOptions = z.object({
  baseUrl: z.string().optional(),
  model: z.string().optional(),
  apiKeyEnv: z.string().optional(),
  maxTokens: z.int().optional(),
  maxPromptTokens: z.int().optional(),
  temperature: z.number().optional(),
  topP: z.number().optional(),
  topK: z.int().optional(),
  minP: z.number().optional(),
  edit: z.enum(['files', 'diff', 'search-replace', 'json']).optional(),
  reasoningInContent: z.literal(true).optional(),
});
export type ModelOptions = z.infer<typeof ModelOptions>;

/** The address that nothing else names: the running profile is not known to this version, so it is vLLM's documented one. */
const usualBaseUrl = 'http://127.0.0.1:8001/v1';

const decimal =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isFinite(value) || value < min || value > max)
      throw new UsageError(`${JSON.stringify(text)} is not a number from ${min} to ${max}`);
    return value;
  };

/** Options that name a server. */
export const withServer = (command: Command): Command =>
  command
    .option('--base-url <url>', `of the proposer openai: where the model is served (default: ${usualBaseUrl})`)
    .option(
      '--api-key-env <name>',
      'of the proposer openai: the environment variable that holds the key, read by the engine and stored nowhere',
    );

/** And those that say what is asked of it. `integer` reads a whole number within bounds. */
export const withModel = (command: Command, integer: (min: number, max?: number) => (text: string) => number): Command =>
  withServer(command)
    .option('--model <name>', 'of the proposer openai: the model (default: the only one that is served)')
    .addOption(new Option('--max-tokens <n>', 'of an answer, reasoning included (default: 8192)').argParser(integer(1)))
    .addOption(new Option('--max-prompt-tokens <n>', "of a prompt (default: what the model's context leaves)").argParser(integer(1)))
    .addOption(new Option('--temperature <x>', 'of the sampling (default: 1)').argParser(decimal(0, 10)))
    .addOption(new Option('--top-p <x>', 'of the sampling (default: 1)').argParser(decimal(0, 1)))
    .addOption(new Option('--top-k <n>', 'of the sampling, 0 is off (default: 0)').argParser(integer(0)))
    .addOption(new Option('--min-p <x>', 'of the sampling (default: 0)').argParser(decimal(0, 1)))
    .addOption(
      new Option('--edit <format>', 'how the model writes its change (default: search-replace)').choices([
        'files',
        'diff',
        'search-replace',
        'json',
      ]),
    )
    .option('--reasoning-in-content', 'the server sends reasoning in the content, and the chat template has opened it');

/** The address that the options name, null where they name none. */
export function addressOf({ baseUrl, apiKeyEnv }: ModelOptions): ServerAddress | null {
  if (baseUrl === undefined && apiKeyEnv === undefined) return null;
  return { baseUrl: baseUrl ?? usualBaseUrl, ...(apiKeyEnv === undefined ? {} : { keyVariable: apiKeyEnv }) };
}

/** The address that the options name, or the usual one. */
export const modelChoiceAddress = (options: ModelOptions): ServerAddress => addressOf(options) ?? { baseUrl: usualBaseUrl };

/** What a run asks, and whom. */
export function modelChoice(options: ModelOptions): ModelChoice {
  const { model, maxTokens, maxPromptTokens, temperature, topP, topK, minP, edit, reasoningInContent } = options;
  return {
    ...modelChoiceAddress(options),
    ...(model === undefined ? {} : { model }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxPromptTokens === undefined ? {} : { maxPromptTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(topK === undefined ? {} : { topK }),
    ...(minP === undefined ? {} : { minP }),
    ...(edit === undefined ? {} : { edit }),
    ...(reasoningInContent === undefined ? {} : { startsInReasoning: true }),
  };
}

/** Names one of the options that was given, null where none was. */
export function givenModelOption(options: ModelOptions): string | null {
  const [name] = Object.entries(options).find(([, value]) => value !== undefined) ?? [];
  return name === undefined ? null : `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
