// What an adapter is: a pure function from what somebody else's tool left behind to the values of a verifier report.
import type { Contract } from '#shared/domain/contract.ts';
import type { NoVerdictCode } from '#shared/domain/verdict.ts';

export type AdapterName = 'junit' | 'pytest' | 'node-test' | 'swe-bench' | 'harbor' | 'json-schema' | 'text-count' | 'exit-code';

/** An obligation as an adapter sees it. `from` is in the adapter's own notation. */
export type Wanted = Pick<Contract['obligations'][number], 'key' | 'cap' | 'kind'> & { readonly from: string };

export type AdapterFile = { readonly path: string; readonly bytes: Uint8Array };

export type AdapterInput = {
  /** The file that the tool wrote, or its standard output, as the task says. Null where there is none. Hostile where candidate code ran. */
  readonly report: Uint8Array | null;
  /** How the tool ended; null where the adapter runs without a tool. It was not ended by a signal. */
  readonly exitCode: number | null;
  readonly nonce: string;
  readonly obligations: readonly Wanted[];
  /** Keys of the contract's advisory values. */
  readonly advisory: readonly string[];
  /** The candidate (`artifact/...`) and the canonical verifier files, as they were before the tool ran. */
  readonly files: readonly AdapterFile[];
};

/** `values` are integers from 0 to the cap of their obligation. A key that is left out is missing, which the contract's own rule decides. */
export type AdapterValues = {
  readonly values: Readonly<Record<string, number>>;
  readonly details: Readonly<Record<string, string>>;
  readonly advisory: Readonly<Record<string, number>>;
};

export type AdapterProblem = { readonly problem: NoVerdictCode; readonly message: string };

export type AdapterResult = AdapterValues | AdapterProblem;

/** What a task says of itself when its `from` entries are checked, before anything runs. */
export type FromContext = {
  readonly kind: Wanted['kind'];
  readonly runsCandidate: boolean;
  /** Whether a command is run. */
  readonly hasTool: boolean;
  /** Files below `verifier/`. */
  readonly verifierFiles: readonly AdapterFile[];
};

export type Adapter = {
  readonly name: AdapterName;
  /** `always`: the task names a command. `never`: nothing is started, the adapter looks at the candidate's files. `optional`: either. */
  readonly tool: 'always' | 'never' | 'optional';
  /** Why `from` cannot be used for such an obligation, as the end of a sentence that begins with its name; null where it can. */
  checkFrom(from: string, context: FromContext): string | null;
  /** Pure and total: hostile input gives a problem or worse values, never an exception that the caller must know. */
  run(input: AdapterInput): AdapterResult;
};

export const problem = (code: NoVerdictCode, message: string): AdapterProblem => ({ problem: code, message });

export const isProblem = (result: object): result is AdapterProblem => Object.hasOwn(result, 'problem');

/** A value as it may be reported: an integer from 0 to `cap`. */
export const clamp = (value: number, cap: number): number => Math.min(Math.max(value, 0), cap);

export const cutText = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}…`.toWellFormed() : text);

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Text of strict UTF-8; null where it is none. */
export const textOf = (bytes: Uint8Array): string | null => {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
};

/** The report as text, or why there is none: a tool that ended well and wrote nothing broke its word, another one failed. */
export function reportText({ report, exitCode }: Pick<AdapterInput, 'report' | 'exitCode'>): string | AdapterProblem {
  if (report === null || report.length === 0) {
    return exitCode === null || exitCode === 0
      ? problem('malformed', 'the tool ended with exit code 0 and left no report')
      : problem('crash', `the tool ended with exit code ${exitCode} and left no report`);
  }
  return textOf(report) ?? problem('malformed', "the tool's report is not UTF-8 text");
}
