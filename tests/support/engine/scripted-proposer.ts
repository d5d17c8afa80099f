// A proposer whose answers a test writes down, by draw.
import { z } from 'zod';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import type { AutoRequest } from '#shared/domain/auto-registry.ts';
import type { MemoryLimits } from '#shared/domain/retrieve.ts';
import { err, ok } from '#shared/lib/result.ts';
import type { ProposalUsage, ProposeContext, Proposer } from '#electron/proposers/proposer.ts';
import { bytesOf } from './builders.ts';
import type { State } from './scripted-verifier.ts';

/** `files` replaces `state.json` and adds files; `'garbage'` is a response nobody can read, `'silence'` none at all, `'base'` changes nothing. */
export type Scripted =
  | { readonly state: State; readonly register?: readonly AutoRequest[] }
  | { readonly files: Readonly<Record<string, string>> }
  | 'garbage'
  | 'silence'
  | 'base';

export type ScriptedProposerOptions = {
  readonly usage?: (context: ProposeContext) => ProposalUsage | 'missing';
  /** How much of the memory it reads; nothing unless said. */
  readonly memory?: MemoryLimits;
  readonly onPropose?: (context: ProposeContext) => void | Promise<void>;
  /** Holds a proposal back until it is aborted. */
  readonly hang?: (context: ProposeContext) => boolean;
};

const Response = z.strictObject({
  files: z.record(z.string(), z.string()),
  register: z.array(z.strictObject({ name: z.string(), command: z.array(z.string()) })).default([]),
});

/** `script` gives the answer to a draw over a base; it has to be pure, as a replay asks again. */
export function createScriptedProposer(script: (context: ProposeContext) => Scripted, options: ScriptedProposerOptions = {}): Proposer {
  return {
    kind: 'search',
    version: 1,
    options: {},
    ...(options.memory === undefined ? {} : { memory: options.memory }),
    propose: async (context, signal) => {
      await options.onPropose?.(context);
      if (options.hang?.(context)) {
        await new Promise<never>((_, reject) => {
          if (signal.aborted) reject(new Error('aborted'));
          signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
        });
      }
      const answer = script(context);
      return {
        request: bytesOf(canonicalJson({ draw: context.draw, seed: context.seed, base: context.baseTree })),
        response: answer === 'silence' ? null : bytesOf(textOf(answer)),
        usage: options.usage?.(context) ?? { requests: 1, promptTokens: 0, completionTokens: 0 },
        ...(answer === 'silence' ? { error: { code: 'unreachable', message: 'nobody answered' } } : {}),
      };
    },
    materialise: (response, base) => {
      const text = new TextDecoder().decode(response);
      if (text === 'garbage') return err({ code: 'no_candidate', message: 'the response holds no candidate' });
      const { files } = Response.parse(JSON.parse(text));
      return ok([
        ...base.filter(({ path }) => !Object.hasOwn(files, path)),
        ...Object.entries(files).map(([path, content]) => ({ path, mode: 'file' as const, bytes: bytesOf(content) })),
      ]);
    },
    registrations: (response) => {
      const text = new TextDecoder().decode(response);
      return text === 'garbage' ? [] : Response.parse(JSON.parse(text)).register;
    },
  };
}

function textOf(answer: Exclude<Scripted, 'silence'>): string {
  if (answer === 'garbage') return 'garbage';
  if (answer === 'base') return JSON.stringify({ files: {} });
  if ('files' in answer) return JSON.stringify({ files: answer.files });
  const { state, register } = answer;
  return JSON.stringify({ files: { 'state.json': JSON.stringify(state) }, ...(register === undefined ? {} : { register }) });
}
