"""Many verifications of a Python repair task in one process, for tests of the search: starting two interpreters for each takes too long.

argv: the task's verifier folder. Reads {"files": {path: text}} a line, answers with the report. The candidate runs in a fork of this
process, by the task's own candidate.py, with its own folder; verifier/check.py does the rest as it always does.
"""

import json
import os
import select
import shutil
import sys
import tempfile
import time

sys.path.insert(0, sys.argv[1])
import check  # noqa: E402

with open(os.path.join(sys.argv[1], "candidate.py"), encoding="utf-8") as file:
    PROGRAM = compile(file.read(), "candidate.py", "exec")


def run(argv, text, candidate):
    with tempfile.TemporaryFile() as given:
        given.write(text.encode())
        given.seek(0)
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.dup2(given.fileno(), 0)
                os.dup2(write, 1)
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, 2)
                os.closerange(3, 64)
                os.chdir(candidate)
                sys.path = [entry for entry in sys.path if entry != sys.argv[1]]
                sys.stdin = open(0, encoding="utf-8", closefd=False)
                exec(PROGRAM, {"__name__": "__main__"})
                sys.stdout.flush()
            finally:
                os._exit(0)
        os.close(write)
        parts = []
        deadline = time.monotonic() + check.SECONDS_A_PROCESS
        while True:
            ready, _, _ = select.select([read], [], [], max(0, deadline - time.monotonic()))
            part = os.read(read, 65536) if ready else b""
            if not part:
                break
            parts.append(part)
        os.close(read)
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        return b"".join(parts)


check.run = run
for line in sys.stdin:
    folder = tempfile.mkdtemp()
    for path, text in json.loads(line)["files"].items():
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    print(json.dumps(check.verify(folder)), flush=True)
    shutil.rmtree(folder)
