"""Verifier of the shell report. Each obligation is one call of bin/report.sh, in a sandbox of its own ($PAWL_RUN) or, by hand, directly:
python3 verifier/check.py in the task folder prints the report."""

import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 5

LOG = """\
# status milliseconds path
200 12 /
500 80 /login

404 499 /missing
200 500 /search
200 501 /search
503 900 /login
500 15 /pay
499 700 /search
"""
MANY = "".join(f"{500 + i % 4} {i * 37 % 100} /p{i % 5}\n" for i in range(23))

# For each obligation: arguments, standard input, expected standard output, expected exit code.
OBLIGATIONS = {
    "requests": (["summary"], "200 1 /\n200 2 /a b\n", "requests 2\nfailed 0\nslow 0\n", 0),
    "blank": (["summary"], "\n# note\n200 1 /\n\n", "requests 1\nfailed 0\nslow 0\n", 0),
    "nothing": (["summary"], "", "requests 0\nfailed 0\nslow 0\n", 0),
    "failed": (["summary"], "500 1 /\n499 1 /\n599 1 /\n", "requests 3\nfailed 2\nslow 0\n", 0),
    "slow": (["summary"], "200 500 /\n200 501 /\n404 9000 /\n", "requests 3\nfailed 0\nslow 2\n", 0),
    "summary": (["summary"], LOG, "requests 8\nfailed 3\nslow 2\n", 0),
    "failures": (["failures"], LOG, "2 /login\n1 /pay\n", 0),
    "failures_order": (["failures"], MANY, "5 /p0\n5 /p1\n5 /p2\n", 0),
    "no_failures": (["failures"], "200 1 /\n499 1 /\n", "", 0),
    "slowest": (["slowest"], LOG, "/login 900\n/search 700\n/search 501\n", 0),
    "slowest_order": (["slowest"], "200 9 /b\n200 10 /c\n200 9 /a\n", "/c 10\n/a 9\n/b 9\n", 0),
    "no_argument": ([], LOG, "", 2),
    "two_arguments": (["summary", "failures"], LOG, "", 2),
    "unknown": (["all"], LOG, "", 2),
}


def run(arguments, text, candidate):
    """Standard output and exit code of one call; None for one that did not end in time."""
    runner = os.environ.get("PAWL_RUN")
    argv = ["sh", "bin/report.sh", *arguments]
    command = [runner, "--", *argv] if runner else argv
    try:
        done = subprocess.run(
            command, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=candidate, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    return done.stdout.decode("utf-8", "replace"), done.returncode


def verify(candidate):
    values = {}
    details = {}
    for key, (arguments, text, output, code) in OBLIGATIONS.items():
        found = run(arguments, text, candidate)
        holds = found == (output, code)
        values[key] = 0 if holds else 1
        asked = " ".join(["report.sh", *arguments])
        got = "did not end" if found is None else f"wrote {found[0][:200]!r} and exited with {found[1]}"
        details[key] = "" if holds else f"{asked} {got}; expected {output!r} and {code}"
    return {
        "nonce": os.environ.get("PAWL_NONCE", ""),
        "tree": os.environ.get("PAWL_TREE", ""),
        "contract": os.environ.get("PAWL_CONTRACT", ""),
        "values": values,
        "advisory": {},
        "details": details,
    }


def main():
    report = json.dumps(verify(os.environ.get("PAWL_CANDIDATE", os.path.join(os.path.dirname(HERE), "artifact"))))
    target = os.environ.get("PAWL_REPORT")
    if target:
        with open(target, "w", encoding="utf-8") as file:
            file.write(report)
    else:
        print(report)


if __name__ == "__main__":
    main()
