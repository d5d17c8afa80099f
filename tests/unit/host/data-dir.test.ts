import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { engineAddresses } from '#electron/host/address.ts';
import { dataDirPath, openDataDir } from '#electron/host/data-dir.ts';
import { holderIn, holderText, lockError, lockHolder, takeLock } from '#electron/host/lock.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'pawl-dir-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('data folder', () => {
  test.each([
    ['linux', {}, '/home/a/.local/share/pawl'],
    ['linux', { XDG_DATA_HOME: '/x' }, '/x/pawl'],
    ['linux', { XDG_DATA_HOME: 'relative' }, '/home/a/.local/share/pawl'],
    ['darwin', {}, '/home/a/Library/Application Support/Pawl/data'],
    ['linux', { PAWL_DATA: '/data' }, '/data'],
    ['darwin', { PAWL_DATA: 'sub', INIT_CWD: '/from/here' }, '/from/here/sub'],
    ['linux', { PAWL_DATA: '' }, '/home/a/.local/share/pawl'],
  ] as const)('%s with %o is %s', (platform, env, expected) => {
    expect(dataDirPath({ platform, env, home: '/home/a' })).toBe(expected);
  });

  test('--data wins, relative to the folder of the caller', () => {
    expect(dataDirPath({ option: 'x', env: { PAWL_DATA: '/data', INIT_CWD: '/from' }, platform: 'linux', home: '/h' })).toBe('/from/x');
    expect(dataDirPath({ env: { LOCALAPPDATA: '/local' }, platform: 'win32', home: '/h' })).toBe('/local/Pawl');
  });

  test('is created closed to others, and named by its real path', () => {
    symlinkSync(dir, path.join(dir, 'link'));
    expect(openDataDir(path.join(dir, 'link/a/b'))).toBe(path.join(dir, 'a/b'));
  });

  test('a file in its place, or in its path, is an error that names it', () => {
    writeFileSync(path.join(dir, 'file'), '');
    for (const wrong of ['file', 'file/below'].map((name) => path.join(dir, name))) {
      expect(() => openDataDir(wrong)).toThrow(
        expect.objectContaining({ code: 'unavailable', message: expect.stringContaining(wrong), where: { file: wrong } }),
      );
    }
  });
});

describe('data folder that cannot be made', () => {
  test.skipIf(process.platform !== 'linux')('a file system without room for folders is named at once', () => {
    for (const wrong of ['/proc/pawl', '/proc/pawl/below'])
      expect(() => openDataDir(wrong)).toThrow(
        expect.objectContaining({
          code: 'unavailable',
          message: expect.stringMatching(/\/proc\/pawl.*takes no new folders/),
          where: { file: wrong },
        }),
      );
  });

  test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)('the folder that refuses is named', () => {
    mkdirSync(path.join(dir, 'closed'), { mode: 0o500 });
    expect(() => openDataDir(path.join(dir, 'closed/a/b'))).toThrow(
      expect.objectContaining({ message: expect.stringContaining(`${path.join(dir, 'closed/a')} cannot be made: it may not be created`) }),
    );
  });
});

describe('the lock of a folder', () => {
  test.each([
    ['SQLITE_FULL', /the disk is full/, false],
    ['SQLITE_NOTADB', /it is damaged/, true],
    ['SQLITE_CORRUPT', /it is damaged/, true],
    ['SQLITE_CANTOPEN', /permissions/, false],
  ])('%s: only a damaged one is to be deleted', (code, words, deletes) => {
    const error = lockError('/d/lock.db', new Database.SqliteError('what SQLite says', code));
    expect(error).toMatchObject({ code: 'unavailable', message: expect.stringMatching(words), where: { file: '/d/lock.db' } });
    expect(/delete/i.test(error.message)).toBe(deletes);
  });
});

describe('who holds the lock', () => {
  const locks = `1: POSIX  ADVISORY  READ 31180 fe:00:10346566 128 128
2: FLOCK  ADVISORY  WRITE 77 fe:00:10346536 0 EOF
3: POSIX  ADVISORY  WRITE 31180 fe:00:10346531 1073741824 1073742335
3: -> POSIX  ADVISORY  WRITE 99 fe:00:10346531 1073741824 1073742335
4: POSIX  ADVISORY  WRITE 0 fe:00:10346777 1073741824 1073742335
`;
  test.each([
    [0xfe00n, 10_346_531n, 31_180],
    // Another device, only read, and held by a process that has no number here.
    [0xfd00n, 10_346_531n, null],
    [0xfe00n, 10_346_566n, null],
    [0xfe00n, 10_346_777n, null],
  ])('of device %d and inode %d', (dev, ino, pid) => {
    expect(holderIn(locks, dev, ino)).toBe(pid);
  });

  test.skipIf(process.platform !== 'linux')('is this process, when it has taken it', () => {
    expect(lockHolder(dir)).toBeNull();
    const lock = takeLock(dir);
    expect(lockHolder(dir)).toEqual({ pid: process.pid, suspended: false });
    expect(holderText(lockHolder(dir))).toContain(`process ${process.pid}`);
    lock?.release();
    expect(lockHolder(dir)).toBeNull();
  });

  test('a folder that was never opened is held by nobody', () => {
    expect(lockHolder(path.join(dir, 'none'))).toBeNull();
    expect(holderText(null)).toContain('another Pawl that does not answer');
  });
});

describe('addresses', () => {
  const uid = process.getuid?.() ?? 0;
  const linux = { platform: 'linux', uid } as const;

  test('private folders only: XDG_RUNTIME_DIR first, the temporary folder last', () => {
    const runtime = path.join(dir, 'run');
    mkdirSync(runtime, { mode: 0o700 });
    const [first, ...rest] = engineAddresses('/data', { ...linux, env: { XDG_RUNTIME_DIR: runtime }, temp: dir });
    expect(first).toMatch(new RegExp(`^${runtime}/pawl-[0-9a-f]{24}\\.sock$`));
    expect(rest.at(-1)).toMatch(new RegExp(`^${dir}/pawl-${uid}/[0-9a-f]{24}\\.sock$`));
    expect(engineAddresses('/other', { ...linux, env: { XDG_RUNTIME_DIR: runtime }, temp: dir })[0]).not.toBe(first);

    chmodSync(runtime, 0o755);
    expect(engineAddresses('/data', { ...linux, env: { XDG_RUNTIME_DIR: runtime }, temp: dir })).not.toContain(first);
  });

  test('a fallback folder that somebody else prepared is not used', () => {
    mkdirSync(path.join(dir, 'open'));
    symlinkSync(path.join(dir, 'open'), path.join(dir, `pawl-${uid}`));
    expect(engineAddresses('/data', { ...linux, env: {}, temp: dir }).filter((a) => a.startsWith(dir))).toEqual([]);
  });

  test('paths longer than a socket may have are left out', () => {
    const deep = path.join(dir, 'd'.repeat(90));
    mkdirSync(deep, { mode: 0o700 });
    for (const address of engineAddresses('/data', { ...linux, env: { XDG_RUNTIME_DIR: deep }, temp: dir }))
      expect(Buffer.byteLength(address)).toBeLessThanOrEqual(107);
  });
});
