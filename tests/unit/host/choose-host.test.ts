import { describe, expect, test } from 'vitest';
import { chooseHost, type Machine } from '#electron/host/choose-host.ts';

const desk: Machine = { platform: 'linux', env: { DISPLAY: ':0' }, uid: 1000, binary: '/e/electron' };

describe('npm start', () => {
  test.each<[string, Partial<Machine>, string, RegExp]>([
    ['a desktop with Electron', {}, 'window', /display and an Electron binary/],
    ['Wayland', { env: { WAYLAND_DISPLAY: 'wayland-0' } }, 'window', /./],
    ['no display', { env: {} }, 'serve', /no display/],
    ['an empty DISPLAY', { env: { DISPLAY: '' } }, 'serve', /no display/],
    ['root', { uid: 0 }, 'serve', /root/],
    ['no binary', { binary: null }, 'download', /no Electron binary/],
    ['no binary in CI', { binary: null, env: { DISPLAY: ':0', CI: 'true' } }, 'serve', /CI/],
    ['no binary and no download', { binary: null, env: { DISPLAY: ':0', PAWL_NO_DOWNLOAD: '1' } }, 'serve', /PAWL_NO_DOWNLOAD/],
    ['macOS', { platform: 'darwin', env: {} }, 'window', /./],
    ['Windows without binary', { platform: 'win32', env: {}, uid: null, binary: null }, 'download', /./],
  ])('%s', (_name, facts, kind, why) => {
    const choice = chooseHost({ ...desk, ...facts });
    expect(choice.kind).toBe(kind);
    expect(choice.why).toMatch(why);
  });
});
