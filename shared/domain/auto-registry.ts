// Automatic commands of a run: those that its task declares and those that its proposer has registered from the task's allow list. They run
// on every candidate and say something about its tree; nothing that decides imports this file (I13). Pure, so that a run that goes on and a
// replay come to the same list from the same requests.
import { z } from 'zod';
import { assertNever } from '../lib/assert.ts';
import { parseWildcard } from '../lib/wildcard.ts';
import type { Contract, ContractBody } from './contract.ts';

/** One command that runs on every candidate. */
export type AutoCommand = {
  readonly name: string;
  readonly command: readonly string[];
  readonly timeoutMs: number;
  /** A proposer asked for it: it runs in the sandbox or not at all, whatever the task itself may do. */
  readonly registered: boolean;
};

/** What a proposer asks for. Untrusted, of any length. */
export type AutoRequest = { readonly name: string; readonly command: readonly string[] };

/** Commands that one run may have registered at most: each of them costs time on every candidate. */
export const maxRegistered = 16;

/** Requests that are read of one response at most. */
export const maxRequests = 16;

const maxNameLength = 100;
const maxArguments = 64;
const maxArgumentLength = 1_000;

export const RegisterRefusal = z.enum([
  /** Not a name of one line and a list of arguments. */
  'malformed',
  /** The task has no allow list. */
  'not_declared',
  /** No entry of the allow list fits. */
  'not_allowed',
  /** Another command has the name. */
  'name_taken',
  'too_many',
]);
export type RegisterRefusal = z.infer<typeof RegisterRefusal>;

/** The refusal in words, as the end of a sentence that begins with the name. */
export function refusalWords(refusal: RegisterRefusal): string {
  switch (refusal) {
    case 'malformed':
      return `is no request: give a name of one line, at most ${maxNameLength} characters, and a command of 1 to ${maxArguments} arguments`;
    case 'not_declared':
      return 'cannot be registered: the task has no [[auto_allow]]';
    case 'not_allowed':
      return 'cannot be registered: no entry of the allow list fits its command';
    case 'name_taken':
      return 'cannot be registered: another command has this name';
    case 'too_many':
      return `cannot be registered: there are ${maxRegistered} registered commands already`;
    default:
      return assertNever(refusal, 'refusal');
  }
}

type Declares = Pick<ContractBody, 'auto' | 'autoAllow'>;

/** Everything that runs on a candidate: declared commands in the contract's order, then registered ones in that of their registration. */
export function autoCommands({ auto }: Pick<Declares, 'auto'>, registered: readonly AutoCommand[]): AutoCommand[] {
  return [...auto.map(({ name, command, timeoutMs }) => ({ name, command, timeoutMs, registered: false })), ...registered];
}

/** `**` as the last argument of a pattern stands for any further ones. */
export const anyMore = '**';

/** Whether `command` fits one entry of an allow list: the program is the same text, every argument fits its pattern. */
export function fitsPattern(pattern: readonly string[], command: readonly string[]): boolean {
  const open = pattern.at(-1) === anyMore;
  const fixed = open ? pattern.slice(0, -1) : pattern;
  if (command[0] !== pattern[0] || command.length < fixed.length || (!open && command.length > fixed.length)) return false;
  return fixed.every((text, i) => {
    if (i === 0) return true;
    const parsed = parseWildcard(text);
    return parsed.ok && parsed.value.matches(command[i] ?? '');
  });
}

const isText = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

const isRequest = ({ name, command }: AutoRequest): boolean =>
  name.length > 0 &&
  name.length <= maxNameLength &&
  isText(name) &&
  !/[\p{Cc}\u2028\u2029]/u.test(name) &&
  command.length > 0 &&
  command.length <= maxArguments &&
  command.every((argument) => argument.length <= maxArgumentLength && isText(argument));

const same = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((text, i) => text === b[i]);

export type Registered =
  /** `isNew` false: it runs already, under this name. */
  | { readonly kind: 'accepted'; readonly command: AutoCommand; readonly isNew: boolean }
  | { readonly kind: 'refused'; readonly refusal: RegisterRefusal };

/** What becomes of one request, `registered` being the commands that were registered before it. */
export function register(contract: Declares, registered: readonly AutoCommand[], request: AutoRequest): Registered {
  const refused = (refusal: RegisterRefusal): Registered => ({ kind: 'refused', refusal });
  const { autoAllow } = contract;
  if (!isRequest(request)) return refused('malformed');
  if (autoAllow === undefined) return refused('not_declared');
  const { name, command } = request;
  const known = autoCommands(contract, registered).find((one) => one.name === name);
  if (known !== undefined) return same(known.command, command) ? { kind: 'accepted', command: known, isNew: false } : refused('name_taken');
  const allowed = autoAllow.find((entry) => fitsPattern(entry.command, command));
  if (allowed === undefined) return refused('not_allowed');
  if (registered.length >= maxRegistered) return refused('too_many');
  return { kind: 'accepted', command: { name, command: [...command], timeoutMs: allowed.timeoutMs, registered: true }, isNew: true };
}

/** A request with what became of it; `refusal` null: it holds. */
export type Registration = { readonly request: AutoRequest; readonly refusal: RegisterRefusal | null };

/**
 * The requests of a round, in slot order, each slot's in its own order: what became of each, and the commands registered after it. What holds,
 * holds for all candidates of the round, and from then on. A slot's requests beyond `maxRequests` are not read.
 */
export function registerRound(
  contract: Declares,
  before: readonly AutoCommand[],
  slots: readonly (readonly AutoRequest[])[],
): { readonly registered: readonly AutoCommand[]; readonly slots: readonly (readonly Registration[])[] } {
  const registered = [...before];
  const made = slots.map((requests) =>
    requests.slice(0, maxRequests).map((request): Registration => {
      const result = register(contract, registered, request);
      if (result.kind === 'refused') return { request, refusal: result.refusal };
      if (result.isNew) registered.push(result.command);
      return { request, refusal: null };
    }),
  );
  return { registered, slots: made };
}

/** The commands that a run had registered, from its requests that held, in their order. */
export function registeredBy(contract: Contract, held: readonly AutoRequest[]): readonly AutoCommand[] {
  return held.reduce<readonly AutoCommand[]>((registered, request) => registerRound(contract, registered, [[request]]).registered, []);
}
