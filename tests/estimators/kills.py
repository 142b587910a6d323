"""Kills fits at random moments and resumes them: ``python kills.py CASE KILLS FOLDER``, or ``all``.

Each kill is of a process of its own, which goes on from the checkpoint that the one before has left. At last
the fit is resumed once more and compared with one that nothing disturbed. For every kill one line says what
was in the file.
"""

import os
import random
import signal
import sys
import time
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

import symclust
from symclust.datasets import planted_partition
from symclust.storage import read_journal

GRAPH = planted_partition(1500, 12, degree=14, mixing=0.4, random_state=0)[0]
SAMPLES = np.abs(np.random.RandomState(0).normal(size=(400, 40))) + 2 * np.kron(np.eye(8), np.ones((50, 5)))
OPTIONS = {"affinity": "precomputed", "random_state": 0}


def descent(callback):
    """Several starts from merged clusters, side by side."""
    options = {**OPTIONS, "tol": 1e-9, "max_iter": 60}
    return symclust.SymNMF(12, init="merge", n_init=3, callback=callback, **options).fit(GRAPH)


def communities(callback):
    """A tree of communities, with moves."""
    return symclust.HierarchicalSymNMF(40, callback=callback, **OPTIONS).fit(GRAPH)


def topics(callback):
    """A tree of rank-2 splits."""
    return symclust.HierarchicalNMF(12, random_state=0, callback=callback).fit(SAMPLES)


def choice(callback):
    """A choice of the number of clusters, by fits to halves."""
    how = {
        "method": "gps",
        "candidates": range(2, 5),
        "method_params": {"n_repeats": 3, "n_nulls": 4},
        "random_state": 0,
    }
    return symclust.select_n_clusters(SAMPLES[::4], callback=callback, **how)


CASES = {
    "descent": (descent, GRAPH),
    "communities": (communities, GRAPH),
    "topics": (topics, SAMPLES),
    "choice": (choice, SAMPLES[::4]),
}


def content(answer, folder):
    """All that an answer holds except seconds, as the bytes of a file."""
    if hasattr(answer, "history_"):
        answer.history_.seconds = 0
    answer.__dict__.pop("timings_", None)
    if hasattr(answer, "sentence"):
        answer = replace(answer, seconds=0.0)
    return answer.save(folder / "answer").read_bytes()


def kill_once(work, data, path, longest):
    """Start or resume in a process of its own, and kill that; return whether it was still at work."""
    child = os.fork()
    if child == 0:
        try:
            if path.exists():
                symclust.resume(path, data)
            else:
                work(symclust.Checkpoint(path, 0))
        finally:
            os._exit(0)  # an error must not take the child into the code of its parent
    time.sleep(random.uniform(0, longest))
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1] == signal.SIGKILL


def where(path):
    """What the file holds of the work, in words."""
    journal = read_journal(path)
    kinds = Counter(key.split("/")[-1].split(" ")[0] for key in journal.answers)
    under_way = [f"iteration {state['iteration']} of {key}" for key, state in journal.states.items()]
    return ", ".join([f"{count} {kind}" for kind, count in kinds.items()] + under_way) or "nothing"


def say(line):
    """Write a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def kill(case, kills, path):
    """Kill so many processes at work; return the files that they have left."""
    work, data = CASES[case]
    longest, kept, done = 1.0, [], 0
    path.unlink(missing_ok=True)
    while done < kills:
        was_at_work = kill_once(work, data, path, longest)
        if not path.exists():  # a kill before the fit began is not one of a fit
            longest *= 1.25
        elif was_at_work:
            done += 1
            say(f"{case}, kill {done}: {where(path)}")
            kept.append(path.read_bytes())
        else:  # it had ended
            path.unlink()
            longest *= 0.8
    return kept


def main(cases, kills, folder):
    """Kill, resume, compare; return the number of kills that were resumed to other bits."""
    warnings.simplefilter("ignore")
    for name in symclust.__all__:  # imported here, and not by every process that is killed
        getattr(symclust, name)
    seed, path, wrong = random.randrange(10**6), folder / "checkpoint", 0
    say(f"seed {seed}")
    random.seed(seed)
    left = {case: kill(case, kills, path) for case in cases}  # all before this process starts threads
    for case, kept in left.items():
        work, data = CASES[case]
        expected = content(work(None), folder)
        for number, killed in enumerate(kept, start=1):
            path.write_bytes(killed)
            if content(symclust.resume(path, data), folder) != expected:
                wrong += 1
                say(f"{case}: checkpoint {number} led to other bits")
        say(f"{case}: {kills} kills, {len(kept)} checkpoints resumed, {wrong} so far to other bits")
    return wrong


if __name__ == "__main__":
    chosen = list(CASES) if sys.argv[1] == "all" else [sys.argv[1]]
    sys.exit(main(chosen, int(sys.argv[2]), Path(sys.argv[3])))
