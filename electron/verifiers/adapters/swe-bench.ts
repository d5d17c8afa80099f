// report.json of one instance, as the SWE-bench harness writes it (one object under the instance's id) and as SWE-smith does (the object
// itself). Its grading: a test of FAIL_TO_PASS that was skipped has failed, one of PASS_TO_PASS is maintained, an expected failure is a
// pass, a test without a result has failed; all that is in the lists already. `resolved` only has to agree with them.
import { z } from 'zod/mini';
import { parseStrictJson } from '../strict-json.ts';
import { type Adapter, type AdapterProblem, clamp, cutText, isProblem, problem, reportText } from './adapter.ts';
import { parseTestPattern, testId } from './test-pattern.ts';
import { maxTests } from './test-report.ts';

const groups = ['FAIL_TO_PASS', 'PASS_TO_PASS'] as const;
type Group = (typeof groups)[number];

const Lists = z.object({ success: z.array(z.string()), failure: z.array(z.string()) });
const Report = z.object({
  patch_is_None: z.optional(z.boolean()),
  patch_exists: z.optional(z.boolean()),
  patch_successfully_applied: z.optional(z.boolean()),
  resolved: z.boolean(),
  infra_failure: z.optional(z.nullable(z.boolean())),
  infra_failure_reason: z.optional(z.nullable(z.string())),
  tests_status: z.object({ FAIL_TO_PASS: Lists, PASS_TO_PASS: Lists }),
});

type Status = { readonly failed: boolean };
type Graded = Readonly<Record<Group, ReadonlyMap<string, Status>>>;

const malformed = (message: string): AdapterProblem =>
  problem('malformed', `the tool's report is no report.json that can be trusted: ${message}`);

/** `GROUP`, or `GROUP::` and a test id or glob. */
const parseFrom = (from: string): { readonly group: Group; readonly pattern: string } | null => {
  const group = groups.find((name) => from === name || from.startsWith(`${name}::`));
  return group === undefined ? null : { group, pattern: from === group ? '*' : from.slice(group.length + 2) };
};

const listed = ({ success, failure }: z.infer<typeof Lists>): ReadonlyMap<string, Status> => {
  const found = new Map<string, Status>(success.map((name) => [testId(name), { failed: false }]));
  for (const name of failure) found.set(testId(name), { failed: true });
  return found;
};

function grade(text: string): Graded | AdapterProblem {
  const json = parseStrictJson(new TextEncoder().encode(text));
  if (!json.ok) return malformed(json.error);
  const document = z.record(z.string(), z.unknown()).safeParse(json.value);
  if (!document.success) return malformed('it is no JSON object');
  const bare = Object.hasOwn(document.data, 'tests_status');
  const entries = Object.values(document.data);
  if (!bare && entries.length !== 1) return malformed(`it has ${entries.length} instances, not one`);
  const parsed = Report.safeParse(bare ? document.data : entries[0]);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return malformed(`${cutText(issue?.path.map(String).join('.') || 'its top level', 100)} is missing or of another type`);
  }
  const report = parsed.data;
  if (report.infra_failure === true)
    return problem(
      'infra',
      `the harness says that the machine failed: ${cutText(report.infra_failure_reason ?? 'it gives no reason', 200)}`,
    );
  if (report.patch_is_None === true || report.patch_exists === false) return malformed('it is about no patch');
  // SWE-smith leaves this false in reports of patches that were applied.
  if (!bare && report.patch_successfully_applied !== true) return malformed('its patch was not applied, so no test says anything about it');
  const { FAIL_TO_PASS, PASS_TO_PASS } = report.tests_status;
  const total = [FAIL_TO_PASS, PASS_TO_PASS].reduce((sum, { success, failure }) => sum + success.length + failure.length, 0);
  if (total > maxTests) return malformed(`it has more than ${maxTests} tests`);
  if (total === 0) return malformed('it has no test; nothing ran');
  const failures = FAIL_TO_PASS.failure.length + PASS_TO_PASS.failure.length;
  if (report.resolved !== (failures === 0)) return malformed(`resolved is ${report.resolved}, but its lists have ${failures} failures`);
  return { FAIL_TO_PASS: listed(FAIL_TO_PASS), PASS_TO_PASS: listed(PASS_TO_PASS) };
}

export const sweBench: Adapter = {
  name: 'swe-bench',
  tool: 'always',
  checkFrom: (from, { kind }) => {
    const parsed = parseFrom(from);
    if (parsed === null) return 'could never match; write FAIL_TO_PASS or PASS_TO_PASS, alone or with :: and a test id or glob after it';
    const pattern = parseTestPattern(parsed.pattern);
    if ('error' in pattern) return pattern.error;
    if (pattern.skippedOk) return 'has skipped=ok, which report.json cannot tell; remove it';
    return kind === 'ordinal' ? 'belongs to an ordinal obligation, and tests pass or fail; write kind = "binary" or "count"' : null;
  },
  run: (input) => {
    const text = reportText(input);
    if (typeof text !== 'string') return text;
    // The harness exits 0 whatever it found.
    if (input.exitCode !== 0) return problem('crash', `the harness ended with exit code ${input.exitCode}`);
    const graded = grade(text);
    if (isProblem(graded)) return graded;
    // A test that is in neither list has failed, where the suite ran at all: some test passed.
    const ran = groups.some((group) => [...graded[group].values()].some(({ failed }) => !failed));
    const values: Record<string, number> = {};
    const details: Record<string, string> = {};
    for (const { key, cap, kind, from } of input.obligations) {
      const parsed = parseFrom(from);
      const pattern = parsed === null ? null : parseTestPattern(parsed.pattern);
      if (parsed === null || pattern === null || 'error' in pattern)
        return problem('infra', `the contract's from of ${key} cannot be read`);
      const tests = graded[parsed.group];
      const one = pattern.exact === null ? undefined : tests.get(pattern.exact);
      const found: readonly (readonly [string, Status])[] =
        pattern.exact === null ? [...tests].filter(([id]) => pattern.matches(id)) : one === undefined ? [] : [[pattern.exact, one]];
      const absent = (pattern.exact === null ? pattern.min : 1) - found.length;
      if (found.length === 0 && (!ran || absent <= 0)) continue;
      const failed = found.filter(([, status]) => status.failed).map(([id]) => id);
      const value = failed.length + Math.max(absent, 0);
      values[key] = clamp(kind === 'binary' ? Math.min(value, 1) : value, cap);
      if (value > 0)
        details[key] = [
          ...(absent > 0 ? [`${absent} tests are missing`] : []),
          ...failed.slice(0, 20).map((id) => `${cutText(id, 200)}: failed`),
          ...(failed.length > 20 ? [`and ${failed.length - 20} more`] : []),
        ].join('\n');
    }
    return { values, details, advisory: {} };
  },
};
