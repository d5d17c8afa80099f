// The three kinds of things that a client may ask of the engine. One table of them is the whole contract.
import type { z } from 'zod';

export type Query<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> = {
  readonly kind: 'query';
  readonly input: I;
  readonly output: O;
};
export type Command<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> = {
  readonly kind: 'command';
  readonly input: I;
  readonly output: O;
};
export type Stream<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> = {
  readonly kind: 'stream';
  readonly input: I;
  readonly item: O;
};
export type Procedure = Query | Command | Stream;
export type ProcedureTable = Readonly<Record<string, Procedure>>;

/** Reads facts; may be cached by name and input. */
export const query = <I extends z.ZodType, O extends z.ZodType>(input: I, output: O): Query<I, O> => ({ kind: 'query', input, output });
/** Changes something; never cached, never retried. */
export const command = <I extends z.ZodType, O extends z.ZodType>(input: I, output: O): Command<I, O> => ({
  kind: 'command',
  input,
  output,
});
/** Many items, at the pace of the consumer; ends when the producer is done or the consumer stops. */
export const stream = <I extends z.ZodType, O extends z.ZodType>(input: I, item: O): Stream<I, O> => ({ kind: 'stream', input, item });
