// The verifier of an instance, in Python: ours, generated with the task, part of its contract. It runs the tests on a copy of the candidate
// and writes report.json as the harness of the benchmark does, by the harness's rules: a skipped test of FAIL_TO_PASS has failed, one of
// PASS_TO_PASS is maintained, an expected failure is a pass, a test without a result has failed. It needs Python 3.6 or later and, for
// tests of pytest, the pytest of the system.

/** Where the copy is, as in the images of the benchmark. */
export const workFolder = '/testbed';

/** Runs the tests in a process of its own, and grades what it left. Exit code 0 with a report, 3 without one. */
export const runScript = `import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = ${JSON.stringify(workFolder)}
LOG_BYTES = 200000
with open(os.path.join(HERE, "plan.json"), encoding="utf-8") as file:
    PLAN = json.load(file)


def results(name):
    """Worst outcome of each test, or None when the runner itself could not be loaded."""
    order = {"passed": 0, "skipped": 1, "failed": 2}
    found = {}
    ready = False
    try:
        with open(name, encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    entry = json.loads(line)
                    if entry == "ready":
                        ready = True
                    elif order[entry[1]] >= order[found.get(entry[0], "passed")]:
                        found[str(entry[0])] = entry[1]
                except (ValueError, KeyError, IndexError, TypeError):
                    # Code under test can write here too; what is no result is none.
                    pass
    except OSError:
        pass
    return found if ready else None


def outcome(wanted, found):
    """Ids of the data set end at the first blank inside their brackets; those without a file are looked for by name."""
    if wanted in found:
        return found[wanted]
    if "[" in wanted and not wanted.endswith("]"):
        same = [value for name, value in found.items() if name.startswith(wanted)]
    elif "::" not in wanted and " " not in wanted:
        same = [value for name, value in found.items() if name.split("::")[-1] == wanted]
    else:
        same = []
    for value in ("failed", "skipped", "passed"):
        if value in same:
            return value
    return "missing"


def main():
    subprocess.check_call(["cp", "-R", os.environ["PAWL_CANDIDATE"] + "/.", WORK])
    subprocess.check_call(["chmod", "-R", "u+w", WORK])
    name = os.path.join("/tmp", "results")
    log = os.path.join("/tmp", "log")
    with open(log, "wb") as output:
        try:
            subprocess.call(
                [sys.executable, os.path.join(HERE, "collect.py"), name],
                cwd=WORK,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=PLAN["seconds"],
            )
        except subprocess.TimeoutExpired:
            print("the tests took longer than %d s and were ended; those without a result have failed" % PLAN["seconds"], flush=True)
    with open(log, "rb") as output:
        output.seek(max(0, os.path.getsize(log) - LOG_BYTES))
        sys.stdout.buffer.write(output.read())
        sys.stdout.buffer.flush()
    found = results(name)
    if found is None:
        print("%s for %s could not be loaded; it has to be part of the system (/usr)" % (PLAN["runner"], sys.executable), flush=True)
        return 3
    status = {}
    for group, fine in (("FAIL_TO_PASS", ("passed",)), ("PASS_TO_PASS", ("passed", "skipped"))):
        graded = [(wanted, outcome(wanted, found) in fine) for wanted in PLAN[group]]
        status[group] = {
            "success": [wanted for wanted, good in graded if good],
            "failure": [wanted for wanted, good in graded if not good],
        }
    resolved = not any(lists["failure"] for lists in status.values())
    report = {
        "patch_is_None": False,
        "patch_exists": True,
        "patch_successfully_applied": True,
        "resolved": resolved,
        "tests_status": status,
    }
    with open(os.environ["PAWL_REPORT"], "w", encoding="utf-8") as file:
        json.dump({PLAN["instance_id"]: report}, file)
    return 0


sys.exit(main())
`;

/** Runs tests and writes a line for each result as it is known; in one process with the candidate, whose code can do what it likes here. */
export const collectScript = `import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "plan.json"), encoding="utf-8") as file:
    PLAN = json.load(file)
RESULTS = open(sys.argv[1], "w", encoding="utf-8")


def say(entry):
    RESULTS.write(json.dumps(entry) + "\\n")
    RESULTS.flush()


class Plugin:
    def pytest_runtest_logreport(self, report):
        if report.failed:
            say([report.nodeid, "failed"])
        elif report.skipped:
            # An expected failure is reported as skipped, and is a pass.
            say([report.nodeid, "passed" if hasattr(report, "wasxfail") else "skipped"])
        elif report.when == "call":
            say([report.nodeid, "failed" if hasattr(report, "wasxfail") else "passed"])


def with_pytest():
    import pytest

    say("ready")
    files = [name for name in PLAN["targets"] if os.path.exists(name)]
    sys.path[0] = os.getcwd()
    options = ["-p", "no:cacheprovider", "-q", "--tb=short", "--continue-on-collection-errors"]
    # Without a file pytest would look for tests everywhere.
    return pytest.main(options + files, plugins=[Plugin()]) if files else 0


def with_unittest():
    import unittest

    say("ready")
    sys.path[0] = os.getcwd()
    wanted = {}
    for id, name in PLAN["targets"].items():
        wanted.setdefault(name, []).append(id)

    class Result(unittest.TextTestResult):
        def note(self, test, outcome):
            for id in wanted.get(test.id(), []):
                say([id, outcome])

        def addSuccess(self, test):
            super().addSuccess(test)
            self.note(test, "passed")

        def addError(self, test, err):
            super().addError(test, err)
            self.note(test, "failed")

        def addFailure(self, test, err):
            super().addFailure(test, err)
            self.note(test, "failed")

        def addSubTest(self, test, subtest, err):
            super().addSubTest(test, subtest, err)
            if err is not None:
                self.note(test, "failed")

        def addSkip(self, test, reason):
            super().addSkip(test, reason)
            self.note(test, "skipped")

        def addExpectedFailure(self, test, err):
            super().addExpectedFailure(test, err)
            self.note(test, "passed")

        def addUnexpectedSuccess(self, test):
            super().addUnexpectedSuccess(test)
            self.note(test, "failed")

    # A name that cannot be loaded becomes a test that fails; it is no test of the list.
    tests = unittest.defaultTestLoader.loadTestsFromNames(sorted(wanted))
    unittest.TextTestRunner(resultclass=Result, verbosity=1).run(tests)
    return 0


sys.exit(with_pytest() if PLAN["runner"] == "pytest" else with_unittest())
`;
