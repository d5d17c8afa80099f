import { expect, test } from 'vitest';
import { contract } from '#shared/contract/contract.ts';
import { contractHash } from '#shared/contract/contract-hash.ts';
import type { DesktopApi } from '#shared/contract/desktop.ts';
import { RpcError } from '#shared/contract/errors.ts';
import { createPortPair, type Port } from '#shared/rpc/port.ts';
import { createEngine } from '#renderer/client/engine.ts';
import { createFakeEngine } from '../../support/fake-engine/fake-engine.ts';

const web: DesktopApi = {
  kind: 'web',
  platform: 'linux',
  connectEngine: () => {},
  warnBeforeClose: () => {},
  pickFolder: () => Promise.resolve(null),
  onEngineStopped: () => () => {},
  restartEngine: () => Promise.resolve(),
};

/** A port whose other end only says hello. */
function greeter(hash: string): Port {
  const [near, far] = createPortPair();
  far.listen(
    () => {},
    () => {},
  );
  far.send({ t: 'hello', contract: hash, version: '9.9.9', journal: 5 });
  return near;
}

test('an engine of another contract is refused with its version, and calls fail at once', async () => {
  const engine = createEngine(() => Promise.resolve(greeter('another')), web);
  await expect.poll(() => engine.state).toMatchObject({ kind: 'refused', code: 'incompatible', message: expect.stringContaining('9.9.9') });
  await expect(engine.call('app.info', {})).rejects.toMatchObject({ code: 'incompatible' });
  engine.close();
});

test('a page without access is told so and does not try for ever', async () => {
  let tries = 0;
  const engine = createEngine(() => {
    tries++;
    return Promise.reject(new RpcError('unavailable', 'the engine refused the token of this address (401)'));
  }, web);
  await expect.poll(() => engine.state).toMatchObject({ kind: 'refused', code: 'unavailable', message: expect.stringContaining('401') });
  expect(tries).toBe(1);
  engine.close();
});

test('a page that had access tries again until the engine is back', async () => {
  const ports: Port[] = [];
  let tries = 0;
  const engine = createEngine(() => {
    tries++;
    if (tries === 2 || tries === 3) return Promise.reject(new RpcError('unavailable', 'the engine does not answer'));
    const port = greeter(contractHash(contract));
    ports.push(port);
    return Promise.resolve(port);
  }, web);
  expect(await engine.ready()).toBe(5);
  ports[0]?.close();
  await expect.poll(() => engine.state.kind).toBe('lost');
  expect(await engine.ready()).toBe(5);
  expect(tries).toBe(4);
  engine.close();
});

test('calls made while the engine is away are answered when it is back', async () => {
  const fake = createFakeEngine({ runs: [], roundMs: 0 });
  await fake.engine.ready();
  fake.crash('gone', true);
  await expect.poll(() => fake.engine.state).toEqual({ kind: 'lost', reason: 'gone' });
  const answer = fake.engine.call('run.list', { limit: 10 });
  await fake.engine.restart();
  expect(await answer).toEqual({ runs: [], more: false });
  fake.engine.close();
  await expect(fake.engine.call('run.list', { limit: 10 })).rejects.toMatchObject({ code: 'closed' });
});
