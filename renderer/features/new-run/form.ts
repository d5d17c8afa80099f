// What is written in the fields of a new run, and the start that they mean. Pure: what is right or wrong about a start is for the engine.
import type { RevisionChoices } from '#shared/contract/preflight.ts';
import type { RunStart, RunSummary } from '#shared/contract/run.ts';
import { type Budget, type BudgetDimension, budgetDimensions, type OtherLimits } from '#shared/domain/budget.ts';
import { inRange, maxAttempts, maxSeed, maxSlots } from '#renderer/widgets/NumberField.tsx';

/** Who can propose here. */
export const proposers = ['search', 'command', 'recorded', 'human'] as const;
export type Proposer = (typeof proposers)[number];

export type LimitDimension = Exclude<BudgetDimension, 'attempts'>;
export const limitDimensions: readonly LimitDimension[] = budgetDimensions.filter((dimension) => dimension !== 'attempts');

/** What is done about an obligation that is not stable; null while nobody has said. */
export type Choice = 'quarantine' | 'median' | null;
export type Choices = ReadonlyMap<string, Choice>;

/** One limit as it is written: '' keeps the task's. `lifted` wins over the text. */
export type LimitText = { readonly text: string; readonly lifted: boolean };

export type Form = {
  readonly proposer: Proposer;
  readonly command: string;
  /** Seconds; '' = the engine's own. */
  readonly timeout: string;
  readonly record: string | null;
  readonly slots: string;
  readonly seed: string;
  readonly attempts: string;
  readonly limits: Readonly<Partial<Record<LimitDimension, LimitText>>>;
};

export const emptyForm: Form = {
  proposer: 'search',
  command: '',
  timeout: '',
  record: null,
  slots: '4',
  seed: '1',
  attempts: '',
  limits: {},
};

/** Seconds that a command may take at most; a day. */
export const maxTimeoutS = 86_400;
const maxLimit = Number.MAX_SAFE_INTEGER;

/** Dimensions that are written in seconds and stored in milliseconds. */
export const inSeconds = (dimension: BudgetDimension): boolean => dimension === 'verifierMs' || dimension === 'wallMs';
/** The largest number that may be written for a dimension. */
export const maxOf = (dimension: LimitDimension): number => (inSeconds(dimension) ? Math.floor(maxLimit / 1000) : maxLimit);

export const revision = (choices: Choices): RevisionChoices => {
  const keys = (wanted: Choice) => [...choices].flatMap(([key, choice]) => (choice === wanted ? [key] : []));
  const [quarantine, median] = [keys('quarantine'), keys('median')];
  return { ...(quarantine.length > 0 ? { quarantine } : {}), ...(median.length > 0 ? { median } : {}) };
};

/** Attempts a round: a person makes one at a time, whatever stands in the field that is not shown then. */
export const slotsOf = ({ proposer, slots }: Pick<Form, 'proposer' | 'slots'>): string => (proposer === 'human' ? '1' : slots);

function limitsOf({ limits }: Form): OtherLimits | null {
  const found: OtherLimits = {};
  for (const dimension of limitDimensions) {
    const { text, lifted } = limits[dimension] ?? { text: '', lifted: false };
    if (lifted) found[dimension] = null;
    else if (text !== '') {
      if (!inRange(text, 1, maxOf(dimension))) return null;
      found[dimension] = Number(text) * (inSeconds(dimension) ? 1000 : 1);
    }
  }
  return found;
}

/** The budget that the fields ask for; null while one of them holds no number. */
export function budgetAsked(form: Form): Pick<RunStart, 'attempts' | 'limits'> | null {
  const limits = limitsOf(form);
  if (limits === null || !(form.attempts === '' || inRange(form.attempts, 1, maxAttempts))) return null;
  return {
    ...(form.attempts === '' ? {} : { attempts: Number(form.attempts) }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
}

/** The start that the fields mean, or null while a number of them is none. A command or a record that misses is the engine's to name. */
export function startOf(form: Form, task: string, choices: Choices, unsandboxed: boolean): RunStart | null {
  const { proposer, command, timeout, record, seed } = form;
  const slots = slotsOf(form);
  const budget = budgetAsked(form);
  if (budget === null || !inRange(slots, 1, maxSlots) || !inRange(seed, 0, maxSeed)) return null;
  if (proposer === 'command' && timeout !== '' && !inRange(timeout, 1, maxTimeoutS)) return null;
  return {
    task,
    proposer,
    slots: Number(slots),
    seed: Number(seed),
    ...budget,
    ...(proposer === 'command' && command.trim() !== ''
      ? { command: { command, ...(timeout === '' ? {} : { timeoutMs: Number(timeout) * 1000 }) } }
      : {}),
    ...(proposer === 'recorded' && record !== null ? { record } : {}),
    ...revision(choices),
    ...(unsandboxed ? { unsandboxed: true } : {}),
  };
}

/** Attempts of a run whose responses can be proposed again: those that were aborted left none. */
export const recordedAttempts = ({ transitions, counts }: Pick<RunSummary, 'transitions' | 'counts'>): number =>
  transitions - counts.aborted;

/** The fields with a run to take from: its rounds and as many attempts as it has responses, so that nothing else is proposed. */
export function withRecord(form: Form, run: RunSummary): Form {
  const attempts = recordedAttempts(run);
  return { ...form, record: run.id, slots: String(run.slots), seed: String(run.seed), attempts: attempts === 0 ? '' : String(attempts) };
}

/** What the task itself says of a dimension, as it would be written in the field; null = no limit. */
export const taskLimit = (budget: Budget, dimension: LimitDimension): string | null => {
  const limit = budget[dimension];
  return limit === null ? null : String(inSeconds(dimension) ? limit / 1000 : limit);
};
