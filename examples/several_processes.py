"""Several processes act for one policy, one learns, and any of them may be killed at any instant.

``python examples/several_processes.py`` serves 3,000 visits with four workers and one learner. At 20 random instants it
kills one of the five (SIGKILL) and starts it again; then it prints what was learned. The folder contains

* ``policy.bsel``, the policy as the learner saved it last; a reader sees the old file or the new one;
* ``*.jsonl``, a journal for every start of a worker, with a line for every decision and its reward. A reward is
  acknowledged once its line is on the disk.

A restarted learner loads the policy that it saved last and reads all journals again; the policy knows which decisions
it has learned.
"""

import json
import multiprocessing
import os
import random
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from banditselect import Decision, SquareCB, load

TRUTH = np.array([0.4, 0.1, -0.2])


def serve(folder: Path, worker: int) -> None:
    """Act as this worker, with the latest published policy, and write every reward to the journal."""
    published, rng = folder / "policy.bsel", np.random.default_rng()
    seen, policy = published.stat().st_mtime_ns, load(published, worker=worker)
    with open(folder / f"{worker}-{uuid.uuid4().hex}.jsonl", "wb") as journal:
        while True:
            now = published.stat().st_mtime_ns
            if now != seen:  # the same worker continues with the new state
                seen, policy = now, load(published, worker=policy)
            decision = policy.act(rng.uniform(size=(5, 3)))
            clicked = float(rng.uniform() < 0.4 + decision.features @ TRUTH)
            line = json.dumps({"decision": decision.to_dict(), "reward": clicked})
            journal.write(line.encode() + b"\n")
            journal.flush()
            os.fsync(journal.fileno())  # from here on the reward is acknowledged


def learn(folder: Path) -> None:
    """Learn the decisions in the journals, each once, and publish the policy."""
    policy, read = load(folder / "policy.bsel"), dict[Path, int]()
    while True:
        before = policy.rounds
        for content in entries(folder, read):
            decision = Decision.from_dict(content["decision"])
            if not policy.has_learned(decision):
                policy.update(decision, content["reward"])
        if policy.rounds > before:
            policy.save(folder / "policy.bsel")
        time.sleep(0.01)


def entries(folder: Path, read: dict[Path, int]) -> Iterator[dict[str, Any]]:
    """Yield the new lines of all journals, after the ``read`` ones; an incomplete line was never acknowledged."""
    for path in sorted(folder.glob("*.jsonl")):
        with open(path, "rb") as journal:
            journal.seek(read.get(path, 0))
            lines = journal.read().split(b"\n")[:-1]
        read[path] = read.get(path, 0) + sum(len(line) + 1 for line in lines)
        yield from map(json.loads, lines)


def run(folder: Path, workers: int = 4, visits: int = 3000, kills: int = 20) -> tuple[int, int]:
    """Serve visits while processes are killed; return the numbers of acknowledged and of learned rewards."""
    SquareCB(dim=3, intercept=True).save(folder / "policy.bsel")
    running: dict[int, multiprocessing.Process] = {}  # the learner is number 0, the workers are 1, 2, ...

    def stop(*numbers: int) -> None:
        for number in numbers:
            running[number].kill()
            running[number].join()

    def start(number: int) -> None:
        target, arguments = (serve, (folder, number)) if number else (learn, (folder,))
        running[number] = multiprocessing.Process(target=target, args=arguments, daemon=True)
        running[number].start()

    try:
        for number in range(1 + workers):
            start(number)
        for _ in range(kills):
            time.sleep(random.uniform(0.0, 0.2))
            number = random.choice(list(running))
            stop(number)
            start(number)
        while sum(1 for _ in entries(folder, {})) < visits:
            time.sleep(0.05)
        stop(*range(1, 1 + workers))
        acknowledged, learned, patience = sum(1 for _ in entries(folder, {})), -1, time.monotonic() + 600.0
        while learned < acknowledged and time.monotonic() < patience:
            time.sleep(0.05)
            learned = load(folder / "policy.bsel").rounds
    finally:
        stop(*running)
    return acknowledged, learned


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        found = run(Path(name))
        print("acknowledged {}, learned {}".format(*found))
        print("truth", TRUTH, "estimate", load(Path(name) / "policy.bsel").parameters.round(2))
