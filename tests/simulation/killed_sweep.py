"""A process that starts sweeps in sessions of their own, to be killed: a JSON request per line, a process id back.

Everything is imported and compiled once, so that a sweep starts at once and is killed in the middle of its work. The
digest of the code is taken once too: all sweeps of one test belong to the same code.
"""

import json
import os
import signal
import sys

from stored_sweeps import PROBLEMS
from stored_sweeps import run as play

from banditselect.simulation import cells
from banditselect.simulation.identity import installed


def count_starts(path):
    """Write a line for every cell that is begun in this process."""

    original = cells.Task.run

    def run(task, *arguments):
        with open(path, "a") as file:
            file.write(f"{task.cell.key}\n")
        return original(task, *arguments)

    cells.Task.run = run


def die_before(count):
    """Be killed just before the ``count``-th operation that makes or finishes a file."""
    left = [count]

    def dying(original):
        def operation(*arguments, **options):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*arguments, **options)

        return operation

    os.fdopen, os.fsync, os.replace = map(dying, (os.fdopen, os.fsync, os.replace))


def run(request):
    if request.get("starts"):
        count_starts(request["starts"])
    if request.get("die_before"):
        die_before(request["die_before"])
    problems = dict(list(PROBLEMS.items())[: request["problems"]])
    size = {name: request[name] for name in ("rounds", "replicates", "workers", "seed")}
    play(request["out"], problems=problems, **size)


def main():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the children are not waited for
    play(None, rounds=20, replicates=2)
    installed()
    print("ready", flush=True)
    for line in sys.stdin:
        if os.fork():
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        print(os.getpid(), flush=True)
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        try:
            run(json.loads(line))
        finally:
            os._exit(0)


if __name__ == "__main__":
    main()
