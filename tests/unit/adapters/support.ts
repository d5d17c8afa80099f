// Builders for tests of adapters.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { AdapterFile, AdapterInput, AdapterName, AdapterResult, Wanted } from '#electron/verifiers/adapters/adapter.ts';
import { adapterNamed } from '#electron/verifiers/adapters/registry.ts';
import { ensure } from '#shared/lib/assert.ts';

const folder = path.resolve(import.meta.dirname, '../../fixtures/adapters');

export const fixture = (name: string): string => readFileSync(path.join(folder, name), 'utf8');

const encoder = new TextEncoder();
export const bytesOf = (text: string): Uint8Array => encoder.encode(text);
export const nonce = '0123456789abcdef0123456789abcdef';

/** `key: from`, counts with a cap of 100 unless said. */
export const wanted = (froms: Readonly<Record<string, string>>, changes: Partial<Wanted> = {}): Wanted[] =>
  Object.entries(froms).map(([key, from]) => ({ key, cap: 100, kind: 'count', from, ...changes }));

export type Given = Partial<Omit<AdapterInput, 'report'>> & { readonly report?: string | Uint8Array | null };

export function run(name: AdapterName, { report = null, ...given }: Given): AdapterResult {
  return ensure(adapterNamed(name), name).run({
    exitCode: 0,
    nonce,
    obligations: [],
    advisory: [],
    files: [],
    ...given,
    report: typeof report === 'string' ? bytesOf(report) : report,
  });
}

export const textFile = (name: string, text: string | Uint8Array): AdapterFile => ({
  path: name,
  bytes: typeof text === 'string' ? bytesOf(text) : text,
});

export const values = (result: AdapterResult): Readonly<Record<string, number>> | string =>
  'values' in result ? result.values : `${result.problem}: ${result.message}`;

/** A JUnit report of tests of one class. */
export const junitOf = (
  tests: readonly { readonly name: string; readonly outcome: 'passed' | 'failed' | 'skipped' }[],
  className = 'c',
): string =>
  `<testsuites><testsuite name="s">${tests
    .map(({ name, outcome }) => {
      const child = outcome === 'passed' ? '' : outcome === 'failed' ? '<failure message="no"/>' : '<skipped/>';
      return `<testcase classname="${className}" name="${escapeXml(name)}">${child}</testcase>`;
    })
    .join('')}</testsuite></testsuites>`;

export const escapeXml = (text: string): string => text.replace(/[&<"\t\n\r]/g, (char) => `&#${char.charCodeAt(0)};`);
