"""Verifier of the interval package. Inputs and expectations stay in this process; the candidate answers from another one.

In Pawl $PAWL_RUN starts that process in a sandbox which holds the candidate's files and nothing else. By hand
(python3 verifier/check.py in the task folder) it is started directly, and the report is printed.
"""

import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from cases import COUNTED, OBLIGATIONS, Error  # noqa: E402

MODULE = "intervals"
SECONDS_A_CALL = 0.25
SECONDS_A_PROCESS = 4
# A process that dies is started again for the calls after the one it died of, so often at most.
STARTS = 8


def plain(value):
    """The form in which values cross between the processes: candidate.py has the same."""
    if isinstance(value, (list, tuple)):
        return ["tuple" if isinstance(value, tuple) else "list", *[plain(item) for item in value]]
    return value


def same(a, b):
    """Equal, and of equal types all the way down: 1 is not True."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return a == b


def run(argv, text, candidate):
    """Standard output of one candidate process; what it wrote before it was ended counts."""
    runner = os.environ.get("PAWL_RUN")
    command = [runner, "--", *argv] if runner else argv
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=candidate)
    try:
        output, _ = process.communicate(text.encode(), timeout=SECONDS_A_PROCESS)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
    return output


def read_answers(output, count):
    """The answers in a process's output, by the number of the call; lines that are none are dropped."""
    answers = {}
    for line in output.split(b"\n"):
        try:
            number, answer = json.loads(line)
        except (ValueError, TypeError, RecursionError):
            continue
        if type(number) is int and 0 <= number < count and number not in answers and isinstance(answer, dict):
            answers[number] = answer
    return answers


def ask(calls, candidate):
    """Answers to all calls, {} for those that have none."""
    with open(os.path.join(HERE, "candidate.py"), encoding="utf-8") as file:
        program = file.read()
    answers = {}
    first = 0
    for _ in range(STARTS):
        lines = [json.dumps({"module": MODULE, "seconds": SECONDS_A_CALL})]
        lines += [json.dumps([i, calls[i][0], plain(calls[i][1])]) for i in range(first, len(calls))]
        output = run(["python3", "-I", "-B", "-c", program], "\n".join(lines) + "\n", candidate)
        found = {i: answer for i, answer in read_answers(output, len(calls)).items() if i >= first}
        answers.update(found)
        # It died of the call after the last one that it answered.
        first = max(found, default=first - 1) + 2
        if first >= len(calls):
            break
    return [answers.get(i, {}) for i in range(len(calls))]


def holds(case, answer):
    expected = case[2]
    if isinstance(expected, Error):
        return answer.get("error") == expected.name
    return "value" in answer and same(answer["value"], plain(expected))


def problem(case, answer):
    name, arguments, expected = case
    asked = f"{name}({', '.join(map(repr, arguments))})"
    wanted = f"a {expected.name}" if isinstance(expected, Error) else repr(expected)
    got = json.dumps(answer.get("value")) if "value" in answer else answer.get("error", "no answer")
    return f"{asked}: expected {wanted}, got {str(got)[:200]}"


def verify(candidate, ask=ask):
    cases = [(key, case) for key, of_key in OBLIGATIONS.items() for case in of_key]
    calls = [case for _, case in cases] + COUNTED
    answers = ask(calls, candidate)
    values = {key: 0 for key in OBLIGATIONS}
    details = {key: "" for key in OBLIGATIONS}
    for (key, case), answer in zip(cases, answers):
        if not holds(case, answer):
            values[key] = 1
            details[key] = details[key] or problem(case, answer)
    wrong = [pair for pair in zip(COUNTED, answers[len(cases) :]) if not holds(*pair)]
    values["algebra"] = len(wrong)
    details["algebra"] = f"{len(wrong)} of {len(COUNTED)} results are wrong, such as {problem(*wrong[0])}" if wrong else ""
    return {
        "nonce": os.environ.get("PAWL_NONCE", ""),
        "tree": os.environ.get("PAWL_TREE", ""),
        "contract": os.environ.get("PAWL_CONTRACT", ""),
        "values": values,
        "advisory": {},
        "details": details,
    }


def main():
    candidate = os.environ.get("PAWL_CANDIDATE", os.path.join(os.path.dirname(HERE), "artifact"))
    report = json.dumps(verify(candidate))
    target = os.environ.get("PAWL_REPORT")
    if target:
        with open(target, "w", encoding="utf-8") as file:
            file.write(report)
    else:
        print(report)


if __name__ == "__main__":
    main()
