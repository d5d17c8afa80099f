// Whole trees from the store's copies: what verifications use, whatever became of the task folder.
import { ensure } from '#shared/lib/assert.ts';
import type { Contract } from '#shared/domain/contract.ts';
import type { Sha } from '#shared/domain/ids.ts';
import type { Manifest, TreeFile } from '#shared/domain/tree.ts';
import type { Store } from '#electron/store/api.ts';

/** The files of a manifest with their bytes. Rejects, naming the path, when bytes are missing or damaged. */
export function loadFiles(store: Pick<Store, 'getBlob'>, manifest: Manifest): Promise<TreeFile[]> {
  return Promise.all(
    manifest.map(async ({ path, mode, sha }) => ({
      path,
      mode,
      bytes: ensure(await store.getBlob(sha), `bytes of ${path} (${sha}) in the store`),
    })),
  );
}

/** The files of a stored tree. */
export async function loadTree(store: Pick<Store, 'getBlob' | 'getManifest'>, tree: Sha): Promise<TreeFile[]> {
  return loadFiles(store, ensure(await store.getManifest(tree), `tree ${tree} in the store`));
}

/** Bytes of the JSON Schema that a contract names; null where it names none. */
export async function schemaOf(store: Pick<Store, 'getBlob'>, { artifact }: Contract): Promise<Uint8Array | null> {
  if (artifact.schema === null) return null;
  return ensure(await store.getBlob(artifact.schema.sha), `the schema ${artifact.schema.path} in the store`);
}
