// What the fields of a new run mean.
import { expect, test } from 'vitest';
import { RpcError } from '#shared/contract/errors.ts';
import { fieldOf } from '#renderer/features/new-run/field-error.ts';
import { emptyForm, slotsOf, startOf, type Choices } from '#renderer/features/new-run/form.ts';

const none: Choices = new Map();

test('untouched fields are a search of four slots under the budget of the task', () => {
  expect(startOf(emptyForm, '/t', none, false)).toEqual({ task: '/t', proposer: 'search', slots: 4, seed: 1 });
});

test('what belongs to another proposer is kept in its field and not sent', () => {
  const written = { ...emptyForm, command: 'make', timeout: '9', record: 'run_1', slots: '8' };
  expect(startOf(written, '/t', none, false)).not.toHaveProperty('command');
  expect(startOf({ ...written, proposer: 'command' }, '/t', none, false)).toMatchObject({
    command: { command: 'make', timeoutMs: 9000 },
    slots: 8,
  });
  expect(startOf({ ...written, proposer: 'recorded' }, '/t', none, false)).toMatchObject({ record: 'run_1' });
  const human = startOf({ ...written, proposer: 'human' }, '/t', none, false);
  expect(human).toEqual({ task: '/t', proposer: 'human', slots: 1, seed: 1 });
  expect(slotsOf({ ...written, proposer: 'human' })).toBe('1');
});

test('times are written in seconds; a lifted limit wins over what was written', () => {
  const limits = { wallMs: { text: '90', lifted: false }, rounds: { text: '3', lifted: true }, requests: { text: '', lifted: false } };
  expect(startOf({ ...emptyForm, attempts: '7', limits }, '/t', none, true)).toMatchObject({
    attempts: 7,
    limits: { wallMs: 90_000, rounds: null },
    unsandboxed: true,
  });
});

test.each([
  { slots: '0' },
  { slots: '65' },
  { seed: '-1' },
  { seed: '' },
  { attempts: '1.5' },
  { limits: { rounds: { text: '0', lifted: false } } },
  { limits: { wallMs: { text: 'soon', lifted: false } } },
  { proposer: 'command' as const, timeout: '86401' },
])('%o is no start', (change) => {
  expect(startOf({ ...emptyForm, ...change }, '/t', none, false)).toBeNull();
});

test('choices about obligations become the revision of the contract', () => {
  const choices: Choices = new Map([
    ['a', 'quarantine'],
    ['b', 'median'],
    ['c', null],
  ]);
  expect(startOf(emptyForm, '/t', choices, false)).toMatchObject({ quarantine: ['a'], median: ['b'] });
});

test('an error speaks of a field, or of the whole', () => {
  const of = (field?: string, file?: string) =>
    fieldOf(new RpcError('bad_input', 'x', { ...(field === undefined ? {} : { field }), ...(file === undefined ? {} : { file }) }));
  expect(of('command.command')).toBe('command');
  expect(of('command.timeoutMs')).toBe('command.timeoutMs');
  expect(of('limits.rounds')).toBe('limits');
  expect(of('slots')).toBe('slots');
  expect(of('verifier.command')).toBeNull();
  expect(of('search.operators', '/t/task.toml')).toBeNull();
  expect(of('headerSha')).toBeNull();
  expect(of()).toBeNull();
});
