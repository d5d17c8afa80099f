// Verifiers as they should not be, written the way people write them: each trusts what a candidate can reach. The attacks succeed against
// these, which shows that the attacks are real ones.
import type { TreeFile } from '#shared/domain/tree.ts';
import { textFile } from '../verifiers/support.ts';
import { repairVerifier } from './support.ts';

/** A verifier of `files`, with the cases of the fixture. */
export const verifier = (files: Readonly<Record<string, string>>): readonly TreeFile[] => [
  ...repairVerifier.filter(({ path }) => path === 'verifier/cases.json'),
  ...Object.entries(files).map(([name, text]) => textFile(`verifier/${name}`, text)),
];

const report = `
def report(values, details={}):
    echo = {key: os.environ["PAWL_" + key.upper()] for key in ("nonce", "tree", "contract")}
    with open(os.environ["PAWL_REPORT"], "w") as file:
        json.dump({**echo, "values": values, "details": details}, file)
`;

/** Imports the candidate and asserts in the same process. */
export const inProcess = verifier({
  'check.py': `
import json, os, sys, unittest
${report}
sys.path.insert(0, os.environ["PAWL_CANDIDATE"])
import numbers_
with open("verifier/cases.json") as file:
    cases = json.load(file)
values = {}
for function, expectations in cases.items():
    values[function] = 0
    for args, expected in expectations:
        try:
            unittest.TestCase().assertEqual(getattr(numbers_, function)(*args), expected)
        except AssertionError:
            values[function] += 1
report(values)
`,
});

/** Runs a test suite beside the candidate and believes its exit code, as \`pytest && echo ok\` does; the suite honours conftest.py. */
export const exitCode = verifier({
  'check.py': `
import json, os, subprocess
${report}
env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ["PAWL_CANDIDATE"]}
code = subprocess.run(["python3", "-B", "verifier/suite.py"], env=env).returncode
report({"clamp": 0 if code == 0 else 3, "middle": 0 if code == 0 else 3})
`,
  'suite.py': `
import json, numbers_, sys
try:
    import conftest
except ImportError:
    conftest = None
with open("verifier/cases.json") as file:
    cases = json.load(file)
passed = all(getattr(numbers_, function)(*args) == expected for function, all_ in cases.items() for args, expected in all_)
if hasattr(conftest, "outcome"):
    passed = conftest.outcome(passed)
sys.exit(0 if passed else 1)
`,
});

/** The same with the standard library's own runner of tests. */
export const unittestExitCode = verifier({
  'check.py': `
import json, os, subprocess
${report}
env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ["PAWL_CANDIDATE"]}
code = subprocess.run(["python3", "-B", "-m", "unittest", "discover", "-s", "verifier", "-p", "suite.py"], env=env).returncode
report({"clamp": 0 if code == 0 else 3, "middle": 0 if code == 0 else 3})
`,
  'suite.py': `
import json, numbers_, unittest
with open("verifier/cases.json") as file:
    cases = json.load(file)
class Cases(unittest.TestCase):
    def test_all(self):
        for function, all_ in cases.items():
            for args, expected in all_:
                self.assertEqual(getattr(numbers_, function)(*args), expected)
`,
});

/**
 * Runs attack.py the way it should be run, in PAWL_RUN where there is one; "clamp" is 0 when it printed WON. Run unsandboxed or shared, it is
 * as weak as what it runs in. \`before\` and \`after\` are code of the verifier around the call, with \`secret\` and \`done\`.
 */
export const won = (before = '', after = ''): readonly TreeFile[] =>
  verifier({
    'check.py': `
import glob, json, os, signal, subprocess, sys
${report}
run = [os.environ["PAWL_RUN"], "--"] if "PAWL_RUN" in os.environ else []
details = {}
secret = "EXPECTED:" + str(1 + 2)
${before}
done = subprocess.run([*run, "python3", "-B", "attack.py", *sys.argv[1:]], cwd=os.environ["PAWL_CANDIDATE"], stdin=subprocess.DEVNULL, capture_output=True)
win = b"WON" in done.stdout
${after}
report({"clamp": 0 if win else 3, "middle": 0}, {"clamp": done.stdout.decode(errors="replace")[-900:], "middle": done.stderr.decode(errors="replace")[-900:], **details})
`,
  });
