// What the probes of all backends have in common.
import { spawn } from 'node:child_process';
import type { SandboxProbe } from './api.ts';
import type { Owner } from './unprivileged.ts';

/** As much as a probe may take on a machine that is busy. */
const probeMs = 10_000;

/** How a program that a probe has started came to its end. */
export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Runs a program to its end, 10 s at most; null when there is none. */
export function runToEnd(program: string, args: readonly string[], env: Record<string, string>, owner: Owner | null): Promise<Ran | null> {
  return new Promise((resolve) => {
    const child = spawn(program, [...args], { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'], detached: true, ...owner });
    const text = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].on('data', (chunk: Buffer) => {
        if (text[stream].length < 65_536) text[stream] += chunk.toString('utf8');
      });
    }
    const timer = setTimeout(() => {
      text.stderr += `it did not end within ${probeMs} ms`;
      child.kill('SIGKILL');
    }, probeMs);
    child.once('error', () => {
      clearTimeout(timer);
      resolve(null);
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code, ...text });
    });
  });
}

/** `look`, once at a time, and not again after a success: what was missing may be installed meanwhile; what holds does not stop holding. */
export function remembering(look: () => Promise<SandboxProbe>): () => Promise<SandboxProbe> {
  let held: SandboxProbe | null = null;
  let looking: Promise<SandboxProbe> | null = null;
  return async () => {
    if (held !== null) return held;
    looking ??= look().finally(() => {
      looking = null;
    });
    const probe = await looking;
    if (probe.available) held = probe;
    return probe;
  };
}
