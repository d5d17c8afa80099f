// A desk of automatic commands where there are none.
import type { AutoDesk } from '#electron/proposers/proposer.ts';

export const emptyDesk: AutoDesk = {
  commands: () => [],
  allowed: [],
  register: () => ({ kind: 'refused', refusal: 'not_declared' }),
  observe: () => Promise.resolve({ tree: null, problem: null, outputs: [] }),
};
