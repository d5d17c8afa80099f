// From a key to the picture that answers it: `j` through a run of 10,000 transitions in the real run screen, against frames in which
// nothing happens, measured in turn in the same page. Selection, verdict and rank have to be in the very next frame; the diff may follow.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import react from '@vitejs/plugin-react';
import { chromium, type Page } from 'playwright-core';
import { build } from 'vite';
import { chromiumArgs, chromiumPath } from '../support/chromium.ts';
import { quantile, type BenchReport, type BenchRow } from './report.ts';

const rounds = 6;
const samplesPerRound = 30;
const goal = 1.3;
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
/** The policy of the product's hosts, so that what is timed runs under it too. */
const policy =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'";

/** Builds the page like the product's, minified and without React's development checks. */
async function buildPage(outDir: string): Promise<void> {
  await build({
    configFile: false,
    root: path.join(import.meta.dirname, 'step-page'),
    base: './',
    logLevel: 'error',
    plugins: [react()],
    worker: { format: 'es' },
    build: {
      outDir,
      emptyOutDir: true,
      target: 'chrome140',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      chunkSizeWarningLimit: 8_000,
    },
  });
}

async function serveFolder(folder: string): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((request, response) => {
    const name = path.normalize(new URL(request.url ?? '/', 'http://localhost').pathname);
    const file = path.join(folder, name === '/' ? 'index.html' : name);
    try {
      const bytes = readFileSync(file);
      response.writeHead(200, {
        'content-type': types[path.extname(file)] ?? 'application/octet-stream',
        'content-security-policy': policy,
      });
      response.end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server of the benchmark got no port');
  return { server, url: `http://127.0.0.1:${address.port}/` };
}

/** Times idle frames and single steps in turn, each from rest, inside the page. */
type Samples = {
  readonly idle: readonly number[];
  readonly step: readonly number[];
  readonly held: readonly number[];
  readonly late: number;
};

const measure = (page: Page, samples: number): Promise<Samples> =>
  page.evaluate(async (count) => {
    const frame = () => new Promise<void>((resolve) => requestAnimationFrame(() => resolve()));
    const slider = document.querySelector('[role=slider]');
    if (!slider) throw new Error('the run screen shows no timeline');
    const at = () => Number(slider.getAttribute('aria-valuenow'));
    const press = () =>
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', code: 'KeyJ', bubbles: true, cancelable: true }));
    const idle: number[] = [];
    const step: number[] = [];
    const held: number[] = [];
    let late = 0;
    for (let i = 0; i < count; i++) {
      await window.waitForIdle?.();
      await frame();
      const idleFrom = performance.now();
      await frame();
      await frame();
      idle.push(performance.now() - idleFrom);

      await frame();
      const before = at();
      const stepFrom = performance.now();
      press();
      await frame();
      // This callback runs before the next frame is painted: what is not in the document now is a frame late.
      if (at() !== before + 1) late++;
      await frame();
      step.push(performance.now() - stepFrom);
    }
    // A key that is held: the next press comes as soon as the last one is painted.
    for (let i = 0; i < count; i++) {
      const from = performance.now();
      press();
      await frame();
      await frame();
      held.push(performance.now() - from);
    }
    return { idle, step, held, late };
  }, samples);

const row = (label: string, samples: readonly number[], limit: readonly number[] | null, goal: number | null): BenchRow => {
  const p95Ms = quantile(samples, 0.95);
  const ratio = limit === null ? null : p95Ms / quantile(limit, 0.95);
  return { label, medianMs: quantile(samples, 0.5), p95Ms, ratio, goal, ok: ratio === null || goal === null || ratio <= goal };
};

/** Key to paint of a step, as the ratio of its 95th percentile to that of idle frames. */
export async function benchStep(): Promise<BenchReport> {
  const name = 'step: key to paint, 10,000 transitions';
  const executablePath = chromiumPath();
  if (executablePath === null) return { name, rows: [], skipped: 'there is no Chromium (set PAWL_CHROMIUM)' };
  const folder = mkdtempSync(path.join(tmpdir(), 'pawl-bench-step-'));
  try {
    await buildPage(folder);
    const { server, url } = await serveFolder(folder);
    const browser = await chromium.launch({ executablePath, args: [...chromiumArgs] });
    try {
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
      const faults: string[] = [];
      page.on('pageerror', (error) => faults.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error') faults.push(`${message.text()} ${message.location().url}`.trim());
      });
      await page.goto(url);
      await page.getByRole('slider').waitFor();
      await page.evaluate(() => window.waitForIdle?.());
      await measure(page, samplesPerRound);
      const idle: number[] = [];
      const step: number[] = [];
      const held: number[] = [];
      let late = 0;
      for (let round = 0; round < rounds; round++) {
        const part = await measure(page, samplesPerRound);
        idle.push(...part.idle);
        step.push(...part.step);
        held.push(...part.held);
        late += part.late;
      }
      if (faults.length > 0) throw new Error(`the page reported: ${faults.join('; ')}`);
      const inNextFrame: BenchRow = {
        label: `steps not in the next frame: ${late} of ${step.length}`,
        medianMs: 0,
        p95Ms: 0,
        ratio: null,
        goal: null,
        ok: late === 0,
      };
      return {
        name,
        rows: [
          row('idle frames', idle, null, null),
          row('step with j', step, idle, goal),
          row('step with j held', held, idle, null),
          inNextFrame,
        ],
      };
    } finally {
      await browser.close();
      await new Promise((resolve) => server.close(resolve));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
