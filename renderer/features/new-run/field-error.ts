// Which field of the form an error of the engine speaks of.
import type { RpcError } from '#shared/contract/errors.ts';

/** The fields that can say by themselves what is wrong with them, as the contract calls them. */
const fields = ['command.timeoutMs', 'command', 'record', 'slots', 'seed', 'attempts', 'limits', 'unsandboxed'] as const;
export type Field = (typeof fields)[number];

/** The field; null for an error that belongs to none of them, or names a file of the task. */
export function fieldOf({ where: { field, file } }: RpcError): Field | null {
  if (field === undefined || file !== undefined) return null;
  return fields.find((name) => field === name || field.startsWith(`${name}.`)) ?? null;
}
