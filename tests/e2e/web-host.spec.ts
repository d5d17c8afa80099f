// `pawl serve` with its built page in Chromium, and commands beside it. Headers and refusals one by one: tests/unit/host/web.test.ts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@playwright/test';
import { z } from 'zod';
import { pawl, startPawl, type Running } from '../support/pawl.ts';

const task = 'resources/tasks/exam-timetable';
let dir = '';
let server: Running;
let url = '';

test.describe('@browser', () => {
  test.beforeEach(async () => {
    dir = mkdtempSync(path.join(tmpdir(), 'pawl-web-'));
    server = startPawl(['serve', '--data', dir]);
    [url = ''] = await server.seen(/http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]+/);
  });
  test.afterEach(async () => {
    server.child.kill('SIGINT');
    expect(await server.finished).toMatchObject({ code: 0 });
    rmSync(dir, { recursive: true, force: true });
  });

  test('the page opens with the token, drops it from the address, and lives on its cookie', async ({ page, context }) => {
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    const violations: string[] = [];
    page.on('console', (message) => /Content Security Policy/.test(message.text()) && violations.push(message.text()));
    await page.goto(url);
    await expect(page.getByText('Engine running')).toBeVisible();
    expect(page.url()).not.toContain('token');
    const token = new URL(url).hash.slice('#token='.length);
    expect(requests.filter((each) => each.includes(token))).toEqual([]);
    const port = new URL(url).port;
    expect(await context.cookies()).toMatchObject([{ name: `pawl_${port}`, httpOnly: true, sameSite: 'Strict' }]);
    expect(await page.evaluate(() => document.cookie)).toBe('');
    // Without the token, as after a restart of the browser tab.
    await page.goto(new URL('/', url).href);
    await expect(page.getByText('Engine running')).toBeVisible();
    expect(violations).toEqual([]);
  });

  test('without the token there is a page and no engine', async ({ page }) => {
    await page.goto(new URL('/', url).href);
    await expect(page.getByText('Engine running')).toBeHidden();
    const status = await page.evaluate(async () => (await fetch(`/blob/${'0'.repeat(64)}`)).status);
    expect(status).toBe(401);
    // Away first: a new fragment alone loads nothing.
    await page.goto('about:blank');
    await page.goto(url.replace(/token=.{6}/, 'token=000000'));
    await expect(page.getByRole('heading', { name: 'No access to the engine' })).toBeVisible();
  });

  test('a page of another origin reaches nothing', async ({ page, context }) => {
    await page.goto(url);
    await expect(page.getByText('Engine running')).toBeVisible();
    const other = await context.newPage();
    await other.goto('data:text/html,<title>other</title>');
    const opened = await other.evaluate(
      (address) =>
        new Promise((resolve) => {
          const socket = new WebSocket(address);
          socket.addEventListener('open', () => resolve('open'));
          socket.addEventListener('error', () => resolve('refused'));
        }),
      `ws://127.0.0.1:${new URL(url).port}/rpc`,
    );
    expect(opened).toBe('refused');
  });

  test('a run of the command line is a job of this engine, and its stop ends it', async () => {
    const running = startPawl(['run', task, '--seed', '1', '--attempts', '1200', '--json', '--data', dir]);
    await running.seen(/commit 1: /);
    const { runs } = z
      .object({ runs: z.array(z.looseObject({ id: z.string(), status: z.string() })) })
      .parse(JSON.parse((await pawl(['runs', '--json', '--data', dir])).stdout));
    expect(runs).toMatchObject([{ status: 'running' }]);
    expect((await pawl(['stop', runs[0]?.id ?? '', '--data', dir])).code).toBe(0);
    const done = await running.finished;
    expect(done.code).toBe(3);
    expect(JSON.parse(done.stdout)).toMatchObject({ id: runs[0]?.id, stop: 'user' });
  });

  test('the engine of a command that ends is taken over, and the page only connects again', async ({ page }) => {
    // Make the command the owner: the server of this test is a client of it.
    server.child.kill('SIGINT');
    await server.finished;
    // Long enough to be alive while the server starts, on a fast machine too; seed 1 needs 1,532 attempts to end by itself.
    const owner = startPawl(['run', task, '--seed', '1', '--attempts', '1000', '--data', dir]);
    await owner.seen(/run_/);
    server = startPawl(['serve', '--data', dir]);
    await server.seen(/the engine runs in another Pawl/);
    [url = ''] = await server.seen(/http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]+/);
    await page.goto(url);
    await expect(page.getByText('Engine running')).toBeVisible();
    expect((await owner.finished).code).toBe(3);
    await page.reload();
    await expect(page.getByText('Engine running')).toBeVisible();
    expect((await pawl(['runs', '--json', '--data', dir])).stdout).toContain('"stop":"budget"');
  });

  test('a taken port is an error that names it', async () => {
    const second = await pawl(['serve', '--port', new URL(url).port, '--json', '--data', dir]);
    expect(second.code).toBe(1);
    expect(JSON.parse(second.stdout)).toMatchObject({
      error: { code: 'unavailable', message: expect.stringContaining(`port ${new URL(url).port}`) },
    });
  });
});
