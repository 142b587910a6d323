"""How many faults in the package do its tests find? A random sample of mutants, by mutmut.

``python -m benchmarks.mutation --size 200 --seed 0 --least 0.85`` mutates a copy of the installed package in
``build/mutation`` and runs the tests that reach each mutant; pyproject.toml names the files and the tests.
Survivors are shown, ``score.json`` keeps the figures, and a score below `least` is an error. The same seed
draws the same mutants while the files stay the same, and Hypothesis draws the same examples.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import symclust

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "mutation"
FIRST = "symclust.nnls.x_hals__mutmut_1"  # any one: the first run writes all mutants, and times the tests
FOUND = {"killed", "timeout", "segfault"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--size", type=int, default=200, help="number of mutants")
    parser.add_argument("--seed", type=int, default=0, help="which of them")
    parser.add_argument("--least", type=float, default=0.85, help="score below which the exit code is 1")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="mutants tested at a time")
    options = parser.parse_args()
    copy_package()
    run(FIRST, processes=1)
    every = sorted(statuses())
    chosen = random.Random(options.seed).sample(every, min(options.size, len(every)))
    run(*chosen, processes=options.processes)
    found = statuses()
    missed = sorted(name for name in chosen if found[name] not in FOUND)
    for name in missed:
        print(mutmut("show", name))
    score = 1 - len(missed) / len(chosen)
    kept = {**vars(options), "of": len(every), "score": score, "missed": {m: found[m] for m in missed}}
    (FOLDER / "score.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False), encoding="utf-8")
    print(f"The tests find {len(chosen) - len(missed)} of {len(chosen)} mutants: a score of {score:.3f}.")
    sys.exit(score < options.least)


def copy_package() -> None:
    """Put package, tests and settings into a fresh folder, with the compiled files beside the others."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree(Path(symclust.__file__).parent, FOLDER / "src" / "symclust")
    shutil.copytree(ROOT / "tests", FOLDER / "tests")
    shutil.copy2(ROOT / "pyproject.toml", FOLDER)


def run(*names: str, processes: int) -> None:
    mutmut("run", f"--max-children={processes}", *names, stdout=None)


def statuses() -> dict[str, str]:
    """What became of each mutant, by its name."""
    lines = mutmut("results", "--all", "true").splitlines()
    return dict(line.strip().split(": ", 1) for line in lines if "__mutmut_" in line)


def mutmut(*arguments: str, stdout: int | None = subprocess.PIPE) -> str:
    # One thread: tests of small matrices in several processes gain nothing from more.
    environment = {**os.environ, "CI": "1", "OMP_NUM_THREADS": "1"}
    command = [str(Path(sys.executable).with_name("mutmut")), *arguments]
    done = subprocess.run(command, cwd=FOLDER, env=environment, check=True, stdout=stdout, text=True)
    return done.stdout or ""


if __name__ == "__main__":
    main()
