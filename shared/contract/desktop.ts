// What the shell offers the page beside the engine's contract. The preload provides it in Electron, `renderer/client/desktop.web.ts` in a browser.

/** What a person is asked who closes the window although something would be lost. */
export type CloseWarning = { readonly message: string; readonly stay: string; readonly leave: string };

export type DesktopApi = {
  readonly kind: 'electron' | 'web';
  readonly platform: string;
  /** Asks for a new port to the engine; it arrives as a `message` event on window with data 'pawl:port' and one MessagePort. */
  connectEngine(): void;
  /** Lets the user pick a folder; null when dismissed, or where the host cannot (a browser names no paths). */
  pickFolder(title: string): Promise<string | null>;
  /** Calls back when the engine has died; the argument says why. Returns the function that stops listening. */
  onEngineStopped(callback: (reason: string) => void): () => void;
  /** From now on, asks before the page goes: the page refuses to be unloaded meanwhile (`beforeunload`). null: nothing would be lost any more. */
  warnBeforeClose(warning: CloseWarning | null): void;
  /** Starts a new engine after a crash. */
  restartEngine(): Promise<void>;
};
