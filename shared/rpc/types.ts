// Types that client and server derive from a table of procedures.
import type { z } from 'zod';
import type { Procedure, ProcedureTable, Stream } from '#shared/contract/procedure.ts';

export type Input<P extends Procedure> = z.input<P['input']>;
export type ParsedInput<P extends Procedure> = z.output<P['input']>;
export type Output<P extends Procedure> = P extends Stream
  ? z.output<P['item']>
  : P extends { output: infer O extends z.ZodType }
    ? z.output<O>
    : never;

export type StreamName<T extends ProcedureTable> = { [K in keyof T & string]: T[K] extends Stream ? K : never }[keyof T & string];
export type CallName<T extends ProcedureTable> = Exclude<keyof T & string, StreamName<T>>;

export type CallContext = {
  /** Aborted when the client cancels or its connection closes. */
  readonly signal: AbortSignal;
};

export type Handlers<T extends ProcedureTable> = {
  readonly [K in keyof T & string]: (
    input: ParsedInput<T[K]>,
    context: CallContext,
  ) => T[K] extends Stream ? AsyncIterable<Output<T[K]>> : Promise<Output<T[K]>> | Output<T[K]>;
};
