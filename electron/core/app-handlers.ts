// The procedures `app.*` and `settings.*` of the contract.
import type { appContract } from '#shared/contract/app.ts';
import type { Handlers } from '#shared/rpc/types.ts';
import type { JournalItem } from '#shared/contract/app.ts';
import type { Store } from '#electron/store/api.ts';
import type { VerifierService } from '#electron/verifiers/api.ts';
import { lacking } from '#electron/verifiers/sandbox/api.ts';
import type { Changes } from './changes.ts';
import { findSamples } from './samples.ts';

export type AppDeps = {
  readonly store: Store;
  readonly verifiers: Pick<VerifierService, 'sandbox'>;
  readonly changes: Changes;
  readonly version: string;
  readonly dataDir: string;
  readonly samplesDir: string;
  readonly sqlite: string;
};

const pageSize = 256;

export function createAppHandlers({
  store,
  verifiers,
  changes,
  version,
  dataDir,
  samplesDir,
  sqlite,
}: AppDeps): Handlers<typeof appContract> {
  return {
    'app.info': async () => {
      const { available, backend, experimental, guarantees, message } = await verifiers.sandbox();
      return {
        version,
        dataDir,
        node: process.versions.node,
        sqlite,
        sandbox: {
          available,
          backend: available ? backend : null,
          experimental: available && experimental,
          lacks: available ? lacking(guarantees) : [],
          message,
        },
        samples: await findSamples(samplesDir),
      };
    },
    'app.journal': ({ after }, { signal }) => followJournal(store, changes, after, signal),
    'settings.get': () => store.getSettings(),
    'settings.set': ({ theme, language }) =>
      store.setSettings({ ...(theme === undefined ? {} : { theme }), ...(language === undefined ? {} : { language }) }),
  };
}

async function* followJournal(store: Store, changes: Changes, from: number, signal: AbortSignal): AsyncGenerator<JournalItem, void, void> {
  let after = from;
  for (;;) {
    const seen = changes.version('all');
    const items = await store.getJournal({ after, limit: pageSize });
    for (const item of items) {
      yield item;
      after = item.journal;
    }
    if (signal.aborted) return;
    if (items.length > 0) continue;
    if (!(await changes.after('all', seen, signal))) return;
  }
}
