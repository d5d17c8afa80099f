// The event chain of a run, line by line: what each line has to be, byte for byte, given the facts that were recomputed.
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { AutoOutput } from '#shared/domain/auto-evidence.ts';
import { EventBody, firstPrev } from '#shared/domain/event-chain.ts';
import type { Sha } from '#shared/domain/ids.ts';
import { canonicalJson, type Json } from '#shared/lib/canonical-json.ts';
import type { ReplayEvent } from '#electron/store/api.ts';
import type { Findings } from './findings.ts';

const Line = z.strictObject({
  at: z.iso.datetime({ precision: 3 }),
  prev: z.string(),
  seq: z.number(),
  type: z.string(),
  body: z.record(z.string(), z.json()),
});
const WithBody = z.object({ body: z.unknown() });

/** The type that a line gives itself; the column where the line does not say. */
export function typeOf({ line, type }: ReplayEvent): string {
  return /"type":"([a-z]+)"\}$/.exec(line)?.[1] ?? type;
}

/** The instant in a line; the clock is not recomputed. Null where the line has none. */
export function instantOf({ line }: ReplayEvent): string | null {
  return /^\{"at":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)","body":/.exec(line)?.[1] ?? null;
}

const objectIn = (line: string): z.infer<typeof Line> | null => {
  try {
    const parsed = Line.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
};

/** The event in a line; null where it is none of a known type. */
export function eventIn(event: ReplayEvent): EventBody | null {
  try {
    const { body } = WithBody.parse(JSON.parse(event.line));
    const parsed = EventBody.safeParse({ type: typeOf(event), body });
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** What a replay takes from the lines of a proposal, of a verdict and of automatic commands; whether they are what they should be is compared afterwards. */
export type NamedObjects =
  | {
      readonly type: 'proposal';
      readonly n: number;
      readonly request: Sha | null;
      readonly response: Sha | null;
      readonly retrieved: readonly Sha[];
    }
  | {
      readonly type: 'verdict';
      readonly n: number;
      readonly of: 'candidate' | 'base' | 'seed';
      readonly fresh: boolean;
      readonly record: Sha;
      readonly outputs: readonly Sha[];
    }
  | { readonly type: 'register'; readonly n: number; readonly request: Sha }
  | { readonly type: 'auto'; readonly n: number; readonly outputs: readonly NamedOutput[] };

export type NamedOutput = { readonly tree: Sha; readonly at: AutoOutput['at']; readonly record: Sha };

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string';
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);
const isTextOrNull = (value: unknown): value is string | null => value === null || isText(value);

const outputNamedIn = (value: unknown): NamedOutput | null => {
  if (!isFields(value)) return null;
  const { tree, at, record } = value;
  return isText(tree) && isText(record) && (at === 'candidate' || at === 'proposal') ? { tree, at, record } : null;
};

/** Null for a line of another type, or one that names nothing that could be looked for. By hand: a run has two such lines an attempt. */
export function objectsNamedIn(event: ReplayEvent): NamedObjects | null {
  const type = typeOf(event);
  if (type !== 'proposal' && type !== 'verdict' && type !== 'register' && type !== 'auto') return null;
  let line: unknown;
  try {
    line = JSON.parse(event.line);
  } catch {
    return null;
  }
  const body = isFields(line) ? line['body'] : null;
  if (!isFields(body)) return null;
  const { n, request, response, retrieved, of, source, record, outputs } = body;
  if (typeof n !== 'number') return null;
  if (type === 'proposal')
    return isTextOrNull(request) && isTextOrNull(response) && isTexts(retrieved) ? { type, n, request, response, retrieved } : null;
  if (type === 'register') return isText(request) ? { type, n, request } : null;
  if (type === 'auto') {
    const named = Array.isArray(outputs) ? outputs.map(outputNamedIn) : [null];
    return named.includes(null) ? null : { type, n, outputs: named.filter((one) => one !== null) };
  }
  if (of !== 'candidate' && of !== 'base' && of !== 'seed') return null;
  return isText(record) && isTexts(outputs) ? { type, n, of, fresh: source === 'fresh', record, outputs } : null;
}

export type ChainCheck = {
  /** Compares the next stored lines with the events that belong there. Lines beyond them are named too. */
  expect(stored: readonly ReplayEvent[], events: readonly EventBody[]): void;
  /** Lines whose events cannot be recomputed: only their places in the chain are checked. */
  pass(stored: readonly ReplayEvent[]): void;
  /** Lines so far. */
  count(): number;
  /** SHA-256 of the last line, as it is stored. */
  last(): Sha;
  /** The instants of the first and of the last line. */
  begun(): string | null;
  at(): string | null;
};

export function createChainCheck(findings: Findings): ChainCheck {
  let seq = 0;
  let last: Sha = firstPrev;
  let at: string | null = null;
  let begun: string | null = null;

  const step = (event: ReplayEvent): string => {
    const where = `event ${seq}`;
    if (event.seq !== seq) {
      findings.mismatch(where, 'seq', event.seq, seq);
      seq = event.seq;
    }
    const prev = last;
    last = hash('sha256', event.line);
    at = instantOf(event) ?? at;
    begun ??= at;
    if (event.sha !== last) findings.mismatch(where, 'sha', event.sha, last);
    seq++;
    return prev;
  };

  const compareLine = (event: ReplayEvent, { type, body }: EventBody): void => {
    const where = `event ${seq}`;
    const instant = instantOf(event);
    const prev = step(event);
    if (event.type !== type) findings.mismatch(where, 'type', event.type, type);
    const line = `{"at":"${instant ?? ''}","body":${canonicalJson(body)},"prev":"${prev}","seq":${seq - 1},"type":"${type}"}`;
    if (instant !== null && line === event.line) return;
    const stored = objectIn(event.line);
    if (stored === null) {
      findings.mismatch(where, 'line', event.line, line);
      return;
    }
    const { at: _at, ...rest } = stored;
    const json: Json = body;
    if (findings.compare(where, rest, { body: json, prev, seq: seq - 1, type })) findings.mismatch(where, 'line', event.line, line);
  };

  return {
    expect: (stored, events) => {
      for (const [i, event] of stored.entries()) {
        const expected = events[i];
        if (expected !== undefined) compareLine(event, expected);
        else {
          findings.mismatch(`event ${seq}`, 'line', event.line, null);
          step(event);
        }
      }
      for (const { type } of events.slice(stored.length)) findings.mismatch(`event ${seq}`, 'line', null, `an event ${type}`);
    },
    pass: (stored) => {
      for (const event of stored) {
        const prev = step(event);
        const line = objectIn(event.line);
        if (line === null) findings.mismatch(`event ${seq - 1}`, 'line', event.line, 'an event');
        else findings.compare(`event ${seq - 1}`, { prev: line.prev, seq: line.seq }, { prev, seq: seq - 1 });
      }
    },
    count: () => seq,
    last: () => last,
    begun: () => begun,
    at: () => at,
  };
}
