// The messages of one proposal. Parts stand in the order in which a model reads them; which of them go first when there is no room is said
// by their rank.
import type { Obligation } from '#shared/domain/obligation.ts';
import type { MemoryView } from '#shared/domain/retrieve.ts';
import type { TreeFile } from '#shared/domain/tree.ts';
import type { Rank } from '#shared/domain/verdict.ts';
import { canonicalJson } from '#shared/lib/canonical-json.ts';
import { compareUtf8 } from '#shared/lib/text.ts';
import type { ChatMessage } from '../chat/request.ts';
import type { EditFormat } from '../materialise/materialise.ts';
import { editInstructions } from './edit-instructions.ts';

/** Raised whenever the same context could give other messages; stands in the run's header. */
export const promptVersion = 1;

export type PromptContext = {
  /** The task's instruction.md. */
  readonly instruction: string;
  readonly obligations: readonly Obligation[];
  /** Of the head, in the order of the obligations. */
  readonly rank: Rank;
  readonly base: readonly TreeFile[];
  readonly isWritable: (path: string) => boolean;
  readonly memory: readonly MemoryView[];
  readonly format: EditFormat;
};

/** A piece of the user's message. `rank` 0 is never left out; among others the highest goes first, and of equal ones the last. */
type Part = { readonly rank: number; readonly text: string; readonly what: 'task' | 'obligations' | 'file' | 'memory' | 'instructions' };

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const textOf = (bytes: Uint8Array): string | null => {
  try {
    const text = decoder.decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
};

/** A fence that nothing in `text` can close. */
export function fenced(text: string, info = ''): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  const mark = '`'.repeat(longest + 1);
  return `${mark}${info}\n${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${mark}`;
}

const system = `You improve an artifact step by step. You propose a change; a verifier outside measures it, obligation by obligation, 0 being the best value. A proposal is kept only if no obligation gets worse and at least one gets strictly better; otherwise everything stays as it was. You cannot pass judgement yourself, and nothing that you write about success counts. Make one small change that improves something and breaks nothing.`;

const obligationLines = ({ obligations, rank }: PromptContext): string => {
  const lines = obligations.flatMap(({ key, title, visibility }, i) =>
    visibility === 'full' ? [`- ${key}: ${rank[i] ?? 0} (${title})`] : [],
  );
  const aggregate = obligations.flatMap(({ visibility }, i) => (visibility === 'aggregate' ? [rank[i] ?? 0] : []));
  if (aggregate.length > 0) lines.push(`- ${aggregate.length} more, together: ${aggregate.reduce((a, b) => a + b, 0)}`);
  if (obligations.some(({ visibility }) => visibility === 'hidden')) lines.push('- others that are not shown');
  return lines.join('\n');
};

const memoryText = (view: MemoryView): string => {
  const { n, outcome, better, worse, betterCount, worseCount, aggregate, changes, excerpt, note } = view;
  const changed = (list: MemoryView['better']): string => list.map(({ key, before, after }) => `${key} ${before} to ${after}`).join(', ');
  const lines = [
    `Attempt ${n}: ${outcome}.`,
    betterCount === 0 ? '' : `Better (${betterCount}): ${changed(better)}.`,
    worseCount === 0 ? '' : `Worse (${worseCount}): ${changed(worse)}.`,
    aggregate === null ? '' : `The others together: ${aggregate.before} to ${aggregate.after}.`,
    changes.length === 0
      ? ''
      : `It changed ${changes.map(({ path, status, added, removed }) => `${JSON.stringify(path)} (${status}, +${added} -${removed})`).join(', ')}.`,
    note === null ? '' : `A note, unverified: ${JSON.stringify(note)}`,
  ].filter((line) => line !== '');
  return excerpt === '' ? lines.join('\n') : `${lines.join('\n')}\n${fenced(excerpt)}`;
};

/** All parts of the user's message, in reading order. */
export function promptParts(context: PromptContext): readonly Part[] {
  const { instruction, base, isWritable, memory, format } = context;
  const files = [...base].sort((a, b) => compareUtf8(a.path, b.path));
  const shown = files.map(({ path, bytes }): Part => {
    const writable = isWritable(path);
    const text = textOf(bytes);
    const heading = `${JSON.stringify(path)}${writable ? '' : ' (you cannot change it)'}`;
    return {
      rank: writable ? 0 : 2,
      what: 'file',
      text: text === null ? `${heading}: ${bytes.length} bytes that are no text` : `${heading}\n${fenced(text)}`,
    };
  });
  return [
    { rank: 0, what: 'task', text: `# Task\n\n${fenced(instruction)}` },
    { rank: 0, what: 'obligations', text: `# Obligations and their present values\n\n${obligationLines(context)}` },
    { rank: 0, what: 'file', text: '# Files' },
    ...shown,
    ...(memory.length === 0 ? [] : [{ rank: 1, what: 'memory', text: '# Attempts that were rejected' } as const]),
    ...memory.map((view): Part => ({ rank: 3, what: 'memory', text: memoryText(view) })),
    { rank: 0, what: 'instructions', text: `# Your answer\n\n${editInstructions[format]}` },
  ];
}

const messagesOf = (parts: readonly Part[]): ChatMessage[] => [
  { role: 'system', content: system },
  { role: 'user', content: parts.map(({ text }) => text).join('\n\n') },
];

/** The whole prompt, nothing left out. */
export function buildPrompt(context: PromptContext): ChatMessage[] {
  return messagesOf(promptParts(context));
}

/** How many tokens messages take, as the server itself counts; null where it cannot say. */
export type CountTokens = (messages: readonly ChatMessage[]) => Promise<number | null>;

export type FittedPrompt =
  /** `left` says how many files and memory entries were left out; `tokens` is null where nothing was counted. */
  | {
      readonly kind: 'fits';
      readonly messages: readonly ChatMessage[];
      readonly tokens: number | null;
      readonly left: { readonly files: number; readonly memory: number };
    }
  /** Not even what has to be there fits. */
  | { readonly kind: 'too_long'; readonly tokens: number; readonly limit: number };

/**
 * Leaves out parts, least important first, until `count` says that at most `limit` tokens are needed: by halving, so that a server is asked
 * a few times and not once a part.
 */
export async function fitPrompt(context: PromptContext, limit: number, count: CountTokens): Promise<FittedPrompt> {
  const parts = promptParts(context);
  const order = parts
    .map((part, i) => ({ part, i }))
    .filter(({ part }) => part.rank > 0)
    .sort((a, b) => b.part.rank - a.part.rank || b.i - a.i);
  const without = (gone: number): readonly Part[] => {
    const dropped = new Set(order.slice(0, gone).map(({ i }) => i));
    return parts.filter((_, i) => !dropped.has(i));
  };
  const fits = (gone: number, tokens: number | null): FittedPrompt => {
    const dropped = order.slice(0, gone).map(({ part }) => part);
    return {
      kind: 'fits',
      messages: messagesOf(without(gone)),
      tokens,
      left: {
        files: dropped.filter(({ what }) => what === 'file').length,
        memory: dropped.filter(({ what, rank }) => what === 'memory' && rank > 1).length,
      },
    };
  };
  const all = await count(messagesOf(parts));
  if (all === null || all <= limit) return fits(0, all);
  const least = await count(messagesOf(without(order.length)));
  if (least === null || least > limit) return { kind: 'too_long', tokens: least ?? all, limit };
  let tooFew = 0;
  let enough = order.length;
  let tokens = least;
  while (enough - tooFew > 1) {
    const middle = Math.floor((tooFew + enough) / 2);
    const counted = await count(messagesOf(without(middle)));
    if (counted !== null && counted <= limit) {
      enough = middle;
      tokens = counted;
    } else tooFew = middle;
  }
  return fits(enough, tokens);
}

/** What the messages are, for a record: equal prompts have equal bytes. */
export const promptBytes = (messages: readonly ChatMessage[]): Uint8Array => new TextEncoder().encode(canonicalJson(messages));
