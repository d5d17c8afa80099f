// Window or browser? Decided from facts about the machine, and said with its reason.

export type Machine = {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  /** Numeric user id; null where the platform has none. */
  readonly uid: number | null;
  /** Electron's program file, null where it is not installed. */
  readonly binary: string | null;
};

export type Choice =
  | { readonly kind: 'window'; readonly binary: string; readonly why: string }
  /** Try to get Electron once, then choose again. */
  | { readonly kind: 'download'; readonly why: string }
  | { readonly kind: 'serve'; readonly why: string };

/** What `npm start` does on this machine. */
export function chooseHost({ platform, env, uid, binary }: Machine): Choice {
  const set = (name: string) => env[name] !== undefined && env[name] !== '';
  if (platform === 'linux' && !set('DISPLAY') && !set('WAYLAND_DISPLAY'))
    return { kind: 'serve', why: 'there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)' };
  if (platform === 'linux' && uid === 0) return { kind: 'serve', why: 'this is root, for whom Electron runs only without its sandbox' };
  if (binary !== null) return { kind: 'window', binary, why: 'there are a display and an Electron binary' };
  if (set('CI')) return { kind: 'serve', why: 'there is no Electron binary, and nothing is downloaded where CI is set' };
  if (env['PAWL_NO_DOWNLOAD'] === '1')
    return { kind: 'serve', why: 'there is no Electron binary, and PAWL_NO_DOWNLOAD=1 forbids to download it' };
  return { kind: 'download', why: 'there is a display but no Electron binary' };
}
