// The attacks on pytest with a real pytest. Weakened: the tests are copied beside the candidate and its exit code is believed, as benchmarks
// did. Real: pytest is the verifier's own, trusted process, and a test asks the candidate through PAWL_RUN.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { never, startVerifiers } from '../verifiers/support.ts';
import { type Given, goodCode, missingHere, python, rankOf, repairRequest, repairVerifier, seedCode } from './support.ts';
import { verifier } from './weak.ts';

/** The system's pytest (`inside` sandboxes as well), else one of its own for every user of this machine, or why there is none. */
function findPytest(folder: string): { readonly python: string; readonly inside: boolean } | { readonly missing: string } {
  if (spawnSync(python, ['-I', '-m', 'pytest', '--version']).status === 0) return { python, inside: true };
  const own = path.join(folder, 'bin/python');
  const steps: readonly (readonly string[])[] = [
    [python, '-m', 'venv', folder],
    [own, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries', '0', '--timeout', '10', 'pytest==9.0.3'],
    [own, '-m', 'pytest', '--version'],
  ];
  for (const [program = '', ...args] of steps) {
    const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8', timeout: 90_000 });
    if (status !== 0) return { missing: `${args.join(' ')}: ${error?.message ?? stderr.trim().split('\n').at(-1) ?? 'failed'}` };
  }
  chmodSync(folder, 0o755);
  return { python: own, inside: false };
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'pawl-pytest-'));
const sandbox = await missingHere();
const found = sandbox === null ? findPytest(folder) : { missing: sandbox };
const missing = 'missing' in found ? found.missing : null;
if (missing !== null) process.stderr.write(`SKIPPED attacks on a real pytest: there is none, and none can be installed (${missing})\n`);

const report = `
def report(values):
    echo = {key: os.environ["PAWL_" + key.upper()] for key in ("nonce", "tree", "contract")}
    with open(os.environ["PAWL_REPORT"], "w") as file:
        json.dump({**echo, "values": values}, file)
`;

const naive = verifier({
  'check.py': `
import json, os, shutil, subprocess, sys, tempfile
${report}
with tempfile.TemporaryDirectory() as here:
    shutil.copytree(os.environ["PAWL_CANDIDATE"], here, dirs_exist_ok=True)
    for name in ("cases.json", "test_numbers.py"):
        shutil.copy(os.path.join("verifier", name), here)
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": here, "PYTHONDONTWRITEBYTECODE": "1"}
    code = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_numbers.py"], cwd=here, env=env).returncode
report({"clamp": 0 if code == 0 else 3, "middle": 0 if code == 0 else 3})
`,
  'test_numbers.py': `
import json, os, pytest, numbers_
with open(os.path.join(os.path.dirname(__file__), "cases.json")) as file:
    cases = json.load(file)
@pytest.mark.parametrize("function,args,expected", [(name, args, value) for name in cases for args, value in cases[name]])
def test_case(function, args, expected):
    assert getattr(numbers_, function)(*args) == expected
`,
});

// The driver and the question are those of the fixture's own verifier.
const own = new TextDecoder().decode(repairVerifier.find(({ path: name }) => name === 'verifier/check.py')?.bytes);
const real = verifier({
  'ask.py': own.slice(0, own.indexOf('values, details =')),
  'check.py': `
import json, os, subprocess, sys, tempfile, xml.etree.ElementTree
${report}
here = os.path.dirname(os.path.abspath(__file__))
with tempfile.TemporaryDirectory() as place:
    junit = os.path.join(place, "junit.xml")
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", here, "--confcutdir", here, "--noconftest", "--junit-xml", junit]
    env = {**os.environ, "PYTHONSAFEPATH": "1", "PYTHONPATH": here, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    subprocess.run([sys.executable, "-m", "pytest", *options, os.path.join(here, "test_numbers.py")], env=env)
    cases = list(xml.etree.ElementTree.parse(junit).iter("testcase"))
passed = [case.get("name") for case in cases if len(case) == 0]
report({key: 3 - sum(name.startswith(f"test_case[{key}-") for name in passed) for key in ("clamp", "middle")})
`,
  'test_numbers.py': `
import json, os, pytest
from ask import ask
with open(os.path.join(os.path.dirname(__file__), "cases.json")) as file:
    cases = json.load(file)
@pytest.mark.parametrize("function,args,expected", [(name, args, value) for name in cases for args, value in cases[name]])
def test_case(function, args, expected):
    value, why = ask(function, args)
    assert why == "" and value == expected
`,
});

let it: Awaited<ReturnType<typeof startVerifiers>>;
beforeAll(async () => {
  it = await startVerifiers();
});
afterAll(async () => {
  await it.stop();
  rmSync(folder, { recursive: true });
});
afterEach(() => {
  const left = it.leftovers();
  if (left.length > 0) throw new Error(`the test left ${left.join(', ')}`);
});

const verify = async (files: Readonly<Record<string, string>>, given: Given) => {
  const request = repairRequest(files, given);
  return rankOf(await it.service.verify({ ...request, program: { path: 'python' in found ? found.python : '', version: 'test' } }, never));
};

const makeReport = `
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome, report.longrepr = "passed", None
`;
const patchReports = `
import _pytest.reports
original = _pytest.reports.TestReport.from_item_and_call.__func__
def forged(cls, item, call):
    report = original(cls, item, call)
    report.outcome, report.longrepr = "passed", None
    return report
_pytest.reports.TestReport.from_item_and_call = classmethod(forged)
`;

describe.skipIf(missing !== null)('a real pytest', () => {
  test.each<[string, Readonly<Record<string, string>>, readonly number[]]>([
    ['a conftest.py that makes every report a success', { 'conftest.py': makeReport }, [1, 3]],
    // Where the candidate runs there may be no pytest: then it fails.
    ['the same from inside the code', { 'numbers_.py': patchReports + seedCode }, 'inside' in found && found.inside ? [1, 3] : [3, 3]],
    ['a sitecustomize.py that ends it', { 'sitecustomize.py': 'import os\nos._exit(0)\n' }, [1, 3]],
    ['exit 0 from inside a test', { 'numbers_.py': 'import os\nos._exit(0)\n' }, [3, 3]],
    ['a pytest.ini that only collects', { 'pytest.ini': '[pytest]\naddopts = --collect-only\n' }, [1, 3]],
    ['a pytest.py in place of it', { 'pytest.py': 'import sys\nsys.exit(0)\n' }, [1, 3]],
  ])('%s', async (_, files, defeat) => {
    expect(await verify(files, { unsandboxed: true, verifierFiles: naive })).toEqual([0, 0]);
    expect(await verify(files, { verifierFiles: real })).toEqual(defeat);
  });

  test('both know a repair from the seed', async () => {
    for (const given of [{ unsandboxed: true, verifierFiles: naive }, { verifierFiles: real }])
      expect(await verify({ 'numbers_.py': goodCode }, given)).toEqual([0, 0]);
    expect(await verify({}, { unsandboxed: true, verifierFiles: naive })).toEqual([3, 3]);
    expect(await verify({}, { verifierFiles: real })).toEqual([1, 3]);
  });
});
