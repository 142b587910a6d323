import json

import numpy as np
import pytest

from symclust.reproduce import _run
from symclust.reproduce._pieces import Piece, row_of


@pytest.fixture
def answers(monkeypatch):
    """An experiment with the given numbers in place of all others."""

    def set_up(spectral, ours, files=()):
        class Module:
            @staticmethod
            def pieces(extent):
                numbers = {"Spectral clustering": spectral, "SymNMF": ours}
                yield Piece(
                    "toy", ("symnmf:fig6",), lambda: row_of("symnmf:fig6", "accuracy", numbers), files
                )

        monkeypatch.setattr(_run, "EXPERIMENTS", (Module,))

    return set_up


def test_lists_what_there_is(command):
    status, out, _ = command("reproduce")
    assert status == 0
    assert "thesis:12" in out
    listed = json.loads(command("reproduce", "--json")[1])["tables"]
    assert listed["constrained:II"] == "Normalized mutual information"


def test_exit_codes(command, answers, tmp_path):
    call = ("reproduce", "symnmf:fig6", "--data", tmp_path)
    answers(0.4, 0.8)
    status, out, _ = command(*call, "--results", tmp_path / "a.jsonl")
    assert status == 0
    assert "2 numbers compared: 2 order holds" in out
    answers(0.8, 0.4)
    status, out, _ = command(*call, "--results", tmp_path / "b.jsonl")
    assert status == 4
    assert "symnmf:fig6, accuracy, SymNMF: 0.4, printed 1; no reason is known" in out
    answers(0.4, 0.8, ("zelnik.npz",))
    status, _, errors = command(*call, "--results", tmp_path / "c.jsonl")
    assert status == 1
    assert "No number was compared. Not in the folder of --data: zelnik.npz." in errors
    answers("none", 0.8)
    assert command(*call, "--results", tmp_path / "d.jsonl")[0] == 1
    assert not (tmp_path / "c.jsonl").exists()


def test_some_data_are_missing(command, tmp_path):
    y = np.arange(40) // 20
    np.savez(tmp_path / "voting.npz", K=np.where(y[:, None] == y, 0.9, 0.1), y=y)
    call = (
        "reproduce",
        "leftstochastic:2",
        "--quick",
        "--data",
        tmp_path,
        "--results",
        tmp_path / "kept.jsonl",
    )
    status, _, errors = command(*call)
    assert status == 3
    assert "aural_sonar.npz" in errors
    assert "kept in" in command(*call)[2]


def test_json_and_page(command, answers, tmp_path):
    answers(0.4, 0.8)
    page = tmp_path / "page.md"
    status, out, _ = command(
        "reproduce", "symnmf:fig6", "--results", tmp_path / "a.jsonl", "--page", page, "--json"
    )
    assert status == 0
    found = json.loads(out)
    assert found["counts"] == {"order holds": 2}
    assert found["cells"][1] == {
        "table": "symnmf:fig6", "row": "accuracy", "column": "SymNMF", "ours": 0.8, "printed": 1.0,
        "difference": pytest.approx(-0.2), "verdict": "order holds", "why": "",
    }  # fmt: skip
    assert "303 points" in page.read_text()
    status, out, _ = command("reproduce", "symnmf:fig6", "--results", tmp_path / "a.jsonl", "--stored")
    assert status == 0


def test_unknown_table(command):
    status, _, errors = command("reproduce", "thesis:120")
    assert status == 1
    assert "thesis:12" in errors
