import json
import signal

import networkx as nx
import pandas as pd
import pytest

from symclust.cli._console import as_options


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("note,year\n" + "some words,2001\n" * 9, (), "--numbers NAME,NAME"),
        ("name,age\nann,1\nbob,2\ncem,3\n", ("--drop", "aeg"), "no column 'aeg'"),
        ("a,b\n1,2\n3\n", (), "ragged"),
        ("", (), "empty"),
        ("a,b\n1,2\n3,4\n", ("-k", 9), "-k 9 is not possible"),
        ("a,b\n1,2\n3,4\n", ("--key", "X"), "--key X is not an option"),
        ("a,b\n1,2\n3,4\n", ("--method", "nmf", "--affinity", "cosine"), "--method nmf"),
        ("a,b\n1,2\n3,4\n", ("--output", "labels.doc"), ".csv or .tsv or .parquet or .json or .xlsx"),
        ("a,b\n1,2\n3,4\n", ("--output", "-", "--json"), "--output - and --json"),
    ],
)
def test_one_line_with_a_hint(command, tmp_path, content, options, said):
    path = tmp_path / "data.csv"
    path.write_text(content)
    status, out, errors = command("cluster", path, "--quiet", *options)
    assert status == 1
    assert not out
    assert errors.startswith("Error: ")
    assert errors.count("\n") == 1
    assert said in errors


def test_slip_in_a_name(command, people):
    status, _, errors = command("cluster", people[0].with_name("poeple.csv"))
    assert status == 1
    assert "Did you mean 'people.csv'?" in errors


@pytest.mark.parametrize(
    "wrong",
    [
        ("--seed", "-1"),
        ("-k", "many"),
        ("-k", "0"),
        ("--threads", "0"),
        ("--method", "magic"),
        ("--no-such",),
    ],
)
def test_wrong_calls_are_refused_before_the_work(command, people, wrong):
    status, out, errors = command("cluster", people[0], *wrong)
    assert status == 2
    assert wrong[0] in errors
    assert not out
    assert "Reading" not in errors


def test_unexpected_errors_ask_for_debug(command, people, monkeypatch):
    def broken(self, X, y=None):
        raise ZeroDivisionError("[bold]oops[/bold]\nsecond line")

    monkeypatch.setattr("symclust.SymNMF.fit", broken)
    status, _, errors = command("cluster", people[0], "-k", 3, "--quiet")
    assert status == 1
    assert errors.startswith("Error: ZeroDivisionError: [bold]oops[/bold] second line")
    assert "--debug" in errors
    assert errors.count("\n") == 1


def test_debug_shows_where(process, people):
    running = process("cluster", people[0], "-k", 900, "--debug", "--quiet")
    _, errors = running.communicate(timeout=120)
    assert running.returncode == 1
    assert "Traceback" in errors
    assert "InputError" in errors or "OptionError" in errors


def test_files_that_cannot_be_written_are_refused_first(command, people, tmp_path):
    (tmp_path / "file").touch()
    for option in ("--output", "--report", "--model"):
        target = tmp_path / "file" / ("x.html" if option == "--report" else "x.csv")
        status, _, errors = command("cluster", people[0], option, target)
        assert status == 1
        assert "is not a folder" in errors
        assert "Reading" not in errors


def test_interrupt_keeps_the_best_and_writes_it(process, tmp_path):
    """The graph has no clusters and the tolerance is zero, so that the descent goes on until it is told."""
    path, table = tmp_path / "random.txt", tmp_path / "labels.csv"
    nx.write_edgelist(nx.gnm_random_graph(1500, 30000, seed=0), path, data=False)
    options = ("-k", 25, "--tol", 0, "--max-iter", 10**7, "--threads", 1, "--output", table, "--json")
    running = process("cluster", path, "--kind", "graph", *options)
    for line in running.stderr:
        if "objective" in line:
            break
    running.send_signal(signal.SIGINT)
    out, errors = running.communicate(timeout=120)
    assert running.returncode == 130, errors
    assert "Interrupted: what was found until now is kept." in errors
    assert "Traceback" not in errors
    found = json.loads(out)
    assert found["interrupted"] is True
    assert found["converged"] is False
    assert len(pd.read_csv(table)) == found["n_nodes"] == 1500


def test_interrupt_with_nothing_to_keep(command, people, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("symclust.SymNMF.fit", interrupted)
    status, out, errors = command("cluster", people[0], "-k", 3)
    assert status == 130
    assert not out
    assert "Interrupted, before there was anything to keep." in errors


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Say kind='graph'.", "Say --kind graph."),
        ("n_clusters=9 is", "-k 9 is"),
        ("or header=False.", "or --no-header."),
        ("Say text_column=....", "Say --text-column NAME."),
        ("stopped at max_iter=10.", "stopped at --max-iter 10."),
        ("tol=0.5 and my_kind='x'", "--tol 0.5 and my_kind='x'"),
    ],
)
def test_words_of_the_command(said, shown):
    assert as_options(said) == shown
