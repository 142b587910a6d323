"""How commands end: what is checked first, what is written after a failure, and Ctrl-C at any moment.

Signals are sent by the process to itself, at events that Python audits (an import, a file that is opened, a
rename): the moment is chosen and does not depend on how fast a machine is.
"""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

import symclust
from symclust import select_n_clusters

# Runs the command, and sends Ctrl-C at the given numbers of events of a kind: "open l.csv" counts those that
# open a file of that name.
PROGRAM = """
import json, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where tests run with Ctrl-C ignored
kind, name, moments = json.loads(sys.argv.pop(1))
seen = 0

def watch(event, details):
    global seen
    if event == kind and any(str(one).endswith(name) for one in details):
        seen += 1
        if seen in moments:
            os.kill(os.getpid(), signal.SIGINT)

from symclust.cli import main
sys.addaudithook(watch)
main()
"""
FILES = {"table": "l.csv", "model": "m.symclust", "report": "r.html"}
N = 400


@pytest.fixture(scope="module")
def mid(tmp_path_factory):
    """A table of eight clusters."""
    X, _ = make_blobs(N, n_features=6, centers=8, cluster_std=1.5, random_state=0)
    path = tmp_path_factory.mktemp("data") / "mid.csv"
    pd.DataFrame(X).add_prefix("x").to_csv(path, index=False)
    return path


def run_python(program, *arguments, **options):
    """Run a program with the package under test, installed or not."""
    options["env"] = {**os.environ, "PYTHONPATH": str(Path(symclust.__file__).parents[1])}
    call = [sys.executable, "-c", program, *arguments]
    return subprocess.run(call, check=False, capture_output=True, text=True, timeout=300, **options)


@pytest.fixture
def interrupted(tmp_path):
    """Run the command with Ctrl-C at some events; returns exit code, the last line of errors, and files."""

    def run(event, *arguments):
        done = run_python(PROGRAM, json.dumps(event), *map(str, arguments), cwd=tmp_path)
        assert "Traceback" not in done.stderr, done.stderr
        assert "ignored" not in done.stderr, done.stderr
        return done.returncode, done.stderr.strip().split("\n")[-1], whole_files(tmp_path)

    return run


def whole_files(folder):
    """The files that are there, each of them complete; and nothing else."""
    there = {what for what, name in FILES.items() if (folder / name).exists()}
    if "table" in there:
        assert len(pd.read_csv(folder / FILES["table"])) == N
    if "model" in there:
        assert len(symclust.load(folder / FILES["model"]).labels_) == N
    if "report" in there:
        assert (folder / FILES["report"]).read_text(encoding="utf-8").rstrip().endswith("</html>")
    assert {path.name for path in folder.iterdir()} == {FILES[what] for what in there}
    return there


def said_of(sentence):
    """What a sentence says is written, and is not."""
    written, _, lacking = sentence.partition("Not written:")
    return [{what for what in FILES if f"the {what} " in part} for part in (written, lacking)]


TO = [
    part
    for what, name in zip(("--output", "--model", "--report"), FILES.values(), strict=True)
    for part in (what, name)
]


# Ctrl-C -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", ["typer", "sklearn.base"])
def test_while_libraries_are_loaded(interrupted, mid, module):
    status, last, there = interrupted(("import", module, [1]), "cluster", mid, *TO)
    assert status == 130
    assert last == "Interrupted while symclust was being loaded: nothing was computed or written."
    assert not there


def test_while_the_file_is_read(interrupted, mid):
    status, last, there = interrupted(("open", "mid.csv", [1]), "cluster", mid, *TO)
    assert status == 130
    assert last == "Interrupted, before there was anything to keep: nothing was written."
    assert not there


def test_once_while_results_are_written(interrupted, mid):
    """The first Ctrl-C loses nothing: there is nothing left to compute."""
    status, last, there = interrupted(("os.rename", FILES["table"], [1]), "cluster", mid, "-k", 8, *TO)
    assert status == 130
    assert last.startswith("Interrupted. Written: ")
    assert said_of(last) == [there, set()] == [set(FILES), set()]


def test_twice_while_results_are_written(interrupted, mid):
    """The second one ends the writing."""
    event = ("os.rename", "", [1, 2])  # when the table, then the model is put into its place
    status, last, there = interrupted(event, "cluster", mid, "-k", 8, *TO)
    assert status == 130
    assert there == {"table"}
    assert said_of(last) == [there, set(FILES) - there]
    assert "(interrupted)" in last


@pytest.mark.parametrize("seed", range(3))
def test_at_random_moments(interrupted, mid, seed):
    rng = random.Random(seed)
    event = ("open", "", sorted(rng.sample(range(1, 1500), 1 + seed)))
    status, last, there = interrupted(event, "cluster", mid, *TO)
    if status == 0:  # it was done before
        assert there == set(FILES)
    else:
        assert status == 130
        assert said_of(last)[0] == there


@pytest.fixture
def interrupt_at(monkeypatch):
    """Let the choice of the number of clusters be interrupted at a step of it."""
    from symclust.selection import Study

    def at(stage, number):
        report = Study.report

        def interrupting(self, done, total, name, so_far=None):
            report(self, done, total, name, so_far)
            if name == stage and done == number:
                raise KeyboardInterrupt

        monkeypatch.setattr(Study, "report", interrupting)

    return at


@pytest.mark.parametrize("number", [1, 2])
def test_while_the_number_is_chosen(command, mid, tmp_path, monkeypatch, interrupt_at, number):
    monkeypatch.chdir(tmp_path)
    interrupt_at("trees", number)
    status, out, errors = command("cluster", mid, *TO)
    assert status == 130
    last = errors.strip().split("\n")[-1]
    assert said_of(last)[0] == whole_files(tmp_path) == set(FILES)
    model = symclust.load(tmp_path / FILES["model"])
    assert model.selection_.n_clusters == len(np.unique(model.labels_)) == 8
    assert model.time_limit is None
    assert "Eight clusters in 400 samples." in out


@pytest.mark.parametrize(
    ("method", "stage"),
    [
        ("gps", "data without clusters"),
        ("gap", "data without clusters"),
    ],
)
def test_select_k_keeps_the_answer_so_far(command, mid, tmp_path, interrupt_at, method, stage):
    options = {"method_params": {"n_nulls": 4}}
    expected = select_n_clusters(symclust.read(mid), method=method, random_state=0, **options)
    interrupt_at(stage, 4)
    table = tmp_path / "k.csv"
    status, out, errors = command("select-k", mid, "--method", method, "--output", table, "--json")
    assert status == 130
    found = json.loads(out)
    assert found["n_clusters"] == expected.n_clusters
    np.testing.assert_allclose(found["curves"][expected.score], expected.scores)
    assert found["interrupted"] is True
    assert found["written"] == {"table": str(table)}
    assert list(pd.read_csv(table).n_clusters) == list(expected.candidates)
    assert "So far these are 4." in errors


def test_answers_so_far_come_with_progress(mid):
    steps = []
    final = select_n_clusters(
        symclust.read(mid), candidates=range(2, 11), method="auto", random_state=0, callback=steps.append
    )
    answers = [step.so_far for step in steps]
    assert all(answer.n_clusters == final.n_clusters == 8 for answer in answers)
    np.testing.assert_allclose(answers[-1].scores, final.scores)


# Failures ---------------------------------------------------------------------------------------------------


def test_folders_are_made_for_every_file(command, people, tmp_path):
    folder = tmp_path / "not" / "there"
    targets = [
        ("--output", folder / "l.csv"),
        ("--model", folder / "m.symclust"),
        ("--report", folder / "r.html"),
    ]
    status, _, errors = command("cluster", people[0], "-k", 3, *(part for pair in targets for part in pair))
    assert status == 0, errors
    assert all(path.exists() for _, path in targets)


def test_all_problems_with_targets_are_told_at_once(command, people, tmp_path):
    (tmp_path / "file").touch()
    options = ("--output", tmp_path, "--model", tmp_path / "file" / "m", "--report", tmp_path / "r.txt")
    status, _, errors = command("cluster", people[0], *options)
    assert status == 1
    assert "it is a folder; name a file in it" in errors
    assert "file is not a folder" in errors
    assert "r.txt does not say what to write" in errors
    assert "Reading" not in errors


def test_two_results_need_two_files(command, people, tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "l.csv")
    options = ("--output", tmp_path / "l.csv", "--model", tmp_path / "link.csv")
    status, _, errors = command("cluster", people[0], *options)
    assert status == 1
    assert "The table and the model cannot both be written to" in errors


def test_a_failure_drops_no_other_file(command, people, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "m.symclust")

    monkeypatch.setattr("symclust.SymNMF.save", full)
    options = (
        "--output",
        tmp_path / "l.csv",
        "--model",
        tmp_path / "m.symclust",
        "--report",
        tmp_path / "r.html",
    )
    status, out, errors = command("cluster", people[0], "-k", 3, *options)
    assert status == 1
    last = errors.strip().split("\n")[-1]
    assert said_of(last) == [{"table", "report"}, {"model"}]
    assert "No space left on device" in last
    assert (tmp_path / "l.csv").exists()
    assert (tmp_path / "r.html").exists()
    assert "Wrote the report" in out


def test_summary_names_what_is_missing(command, people, tmp_path, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("symclust.report.write_report", broken)
    options = ("--output", tmp_path / "l.csv", "--report", tmp_path / "r.html", "--json")
    status, out, errors = command("cluster", people[0], "-k", 3, *options)
    assert status == 1
    found = json.loads(out)
    assert list(found["written"]) == ["table"]
    assert found["not_written"] == {"report": "ZeroDivisionError: oops"}
    assert "Not written: the report" in errors


def test_closed_pipe_keeps_files_from_nothing(process, people, tmp_path):
    table, page = tmp_path / "l.csv", tmp_path / "r.html"
    running = process("cluster", people[0], "-k", 3, "--output", table, "--report", page)
    running.stdout.close()  # as `head` does
    running.stderr.read()
    running.wait(300)
    assert table.exists()
    assert page.exists()


def test_interrupts_that_a_destructor_swallows_come_again():
    program = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from symclust.cli._interrupts import interrupts
class Swallows:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
interrupts.take_over()
interrupts.begin_work()
try:
    Swallows()
    while True:
        time.sleep(0.01)
except KeyboardInterrupt:
    print("raised", interrupts.count)
"""
    done = run_python(program)
    assert (done.stdout, done.stderr) == ("raised 1\n", "")
