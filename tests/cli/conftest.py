import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs

PROGRAM = "from symclust.cli import main; main()"


@pytest.fixture(autouse=True)
def libraries():
    for library in ("typer", "rich", "jinja2", "matplotlib", "pandas"):
        pytest.importorskip(library)


@pytest.fixture
def command(monkeypatch, capsys):
    """Run the command with the given arguments; returns exit code, output and errors."""
    from symclust.cli import main

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["symclust", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        return stopped.value.code or 0, *capsys.readouterr()

    handler, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook
    yield run
    signal.signal(signal.SIGINT, handler)  # the command takes them over, and leaves them to no one
    sys.unraisablehook = hook


@pytest.fixture
def summary(command):
    """Run the command with --json; returns what it printed, parsed."""

    def run(*arguments):
        status, out, errors = command(*arguments, "--json")
        assert status == 0, errors
        return json.loads(out)

    return run


@pytest.fixture
def process():
    """Start the command in a process of its own."""
    started = []

    def start(*arguments, **options):
        # The package under test, installed or not, is the one this process has.
        import symclust

        folder = str(Path(symclust.__file__).parents[1])
        environment = {**os.environ, "PYTHONPATH": folder, "PYTHONUNBUFFERED": "1"}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        call = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
        started.append(subprocess.Popen(call, env=environment, **pipes, **options))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.communicate()


@pytest.fixture
def people(tmp_path):
    """A table of three groups of named rows, and its path."""
    X, y = make_blobs(90, centers=3, cluster_std=0.5, random_state=1)
    names = [f"person {i}" for i in range(90)]
    path = tmp_path / "people.csv"
    rows = [f"{name};{a:.4f};{b:.4f}" for name, (a, b) in zip(names, X, strict=True)]
    path.write_text("\n".join(["name;height;weight", *rows]) + "\n")
    return path, y


@pytest.fixture
def friends(tmp_path):
    """A list of edges of two circles that share a link, and its path."""
    path = tmp_path / "friends.txt"
    circles = [["ann", "bob", "cem", "dov", "eve"], ["fay", "gil", "hal", "ida", "joe"]]
    edges = [(a, b) for circle in circles for i, a in enumerate(circle) for b in circle[i + 1 :]]
    path.write_text("\n".join(f"{a} {b}" for a, b in [*edges, ("ann", "fay")]) + "\n")
    return path, circles


@pytest.fixture
def letters(tmp_path):
    """A folder of texts about two things."""
    folder = tmp_path / "letters"
    folder.mkdir()
    rng = np.random.default_rng(0)
    words = [["hockey", "puck", "ice", "goal", "skates"], ["orbit", "moon", "rocket", "crater", "probe"]]
    for i in range(40):
        text = " ".join(rng.choice(words[i % 2], 12))
        (folder / f"{i:02d}.txt").write_text(text)
    return folder
