# Runs in the candidate's process: reads one call a line from stdin, answers each with a line. It decides nothing, and whatever the
# candidate does to it only changes answers. Texts cross as JSON with every container named, so that a tuple is no list.
import importlib
import json
import os
import signal
import sys

out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
dumps = json.dumps
kinds = {list: "list", tuple: "tuple"}


def plain(value, depth=0):
    kind = type(value)
    if depth > 20:
        return ["other", "nested too deep"]
    if kind in kinds:
        return [kinds[kind], *[plain(item, depth + 1) for item in value]]
    if value is None or kind in (bool, int, str):
        return value
    return ["other", kind.__name__]


def back(value):
    if isinstance(value, list):
        kind, *items = value
        return (tuple if kind == "tuple" else list)([back(item) for item in items])
    return value


def late(number, frame):
    raise TimeoutError("the call takes too long")


signal.signal(signal.SIGALRM, late)
sys.path.insert(0, os.getcwd())
first = json.loads(sys.stdin.readline())
module = failure = None
signal.setitimer(signal.ITIMER_REAL, first["seconds"])
try:
    module = importlib.import_module(first["module"])
except Exception as error:
    # Not the error that a call was expected to raise.
    failure = "on import: " + type(error).__name__
for line in sys.stdin:
    number, name, arguments = json.loads(line)
    signal.setitimer(signal.ITIMER_REAL, first["seconds"])
    try:
        answer = {"value": plain(getattr(module, name)(*back(arguments)))} if failure is None else {"error": failure}
    except Exception as error:
        answer = {"error": type(error).__name__}
    signal.setitimer(signal.ITIMER_REAL, 0)
    out.write(dumps([number, answer]) + "\n")
    out.flush()
