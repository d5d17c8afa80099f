// The disk is full: a fact about this machine, which decides nothing about candidates or verifiers.

/** Ends a loop before a round is opened: nothing is charged, the run is interrupted and can go on once there is room. */
export class NoRoom extends Error {
  override readonly name = 'NoRoom';
}

/** Throws `NoRoom` with the reason where there is no room for another round. */
export async function refuseWithoutRoom({ room }: { readonly room?: () => Promise<string | null> }): Promise<void> {
  const reason = (await room?.()) ?? null;
  if (reason !== null) throw new NoRoom(reason);
}
