"""The runner: resuming, what is missing, what fails, and the page."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from symclust.reproduce import Kept, _run, choose, reproduce_tables, tables, write_page
from symclust.reproduce._pieces import Extent, Piece, row_of

TABLE = "symnmf:fig6"


@pytest.fixture
def pieces(monkeypatch):
    """Experiments of our own in place of the real ones; returns how often each ran."""
    ran = []

    def work(name, **numbers):
        ran.append(name)
        yield from row_of(TABLE, "accuracy", {"Spectral clustering": numbers["a"], "SymNMF": numbers["b"]})

    class Module:
        """One that works, one that lacks a file, one that is slow, one that fails."""

        chosen = ("good",)

        @classmethod
        def pieces(cls, extent):
            found = {
                "good": Piece("good", (TABLE,), partial(work, "good", a=0.1, b=0.2)),
                "lacking": Piece(
                    "lacking", (TABLE,), partial(work, "lacking", a=1, b=2), ("x.npz",), ("SymNMF",)
                ),
                "slow": Piece("slow", (TABLE,), partial(work, "slow", a=1, b=2), slow=True),
                "bad": Piece("bad", (TABLE,), partial(work, "bad", a=1)),
                "other": Piece("other", ("symnmf:5",), partial(work, "other", a=1, b=2)),
            }
            yield from (found[name] for name in cls.chosen)

    monkeypatch.setattr(_run, "EXPERIMENTS", (Module,))
    return Module, ran


def run(tmp_path, **options):
    return reproduce_tables(choose([TABLE]), tmp_path, Kept(tmp_path / "kept.jsonl"), **options)


def test_runs_once_and_goes_on(pieces, tmp_path):
    _, ran = pieces
    first = run(tmp_path, quick=True)
    assert first.counts == {"order holds": 2}
    assert first.compared == 2
    assert run(tmp_path, quick=True).cells == first.cells
    assert ran == ["good"]
    run(tmp_path)  # a quick result is none for a full run, but a full one is for a quick run
    run(tmp_path, quick=True)
    assert ran == ["good", "good"]
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 2


def test_a_line_that_was_cut_off_is_run_again(pieces, tmp_path):
    _, ran = pieces
    run(tmp_path)
    path = tmp_path / "kept.jsonl"
    path.write_text(path.read_text()[:-20] + "\n")
    assert run(tmp_path).compared == 2
    assert ran == ["good", "good"]


def test_only_what_the_tables_need(pieces, tmp_path):
    module, ran = pieces
    module.chosen = ("other",)
    assert run(tmp_path).counts == {"not run": 2}
    assert ran == []


def test_missing_files_say_so(pieces, tmp_path):
    module, _ = pieces
    module.chosen = ("lacking",)
    found = run(tmp_path)
    assert found.lacking == ["x.npz"]
    spectral, ours = found.cells[TABLE]
    assert (spectral.verdict, ours.verdict) == ("not run", "no data")
    assert "x.npz is not in" in ours.why
    (tmp_path / "x.npz").touch()
    assert run(tmp_path).compared == 2


def test_quick_leaves_out_what_is_slow(pieces, tmp_path):
    module, ran = pieces
    module.chosen = ("slow",)
    assert run(tmp_path, quick=True).compared == 0
    assert run(tmp_path).compared == 2
    assert run(tmp_path, quick=True).compared == 2
    assert ran == ["slow"]


def test_a_failure_loses_nothing_else(pieces, tmp_path):
    module, _ = pieces
    module.chosen = ("bad", "good")
    found = run(tmp_path)
    assert found.compared == 2
    assert found.failed == {"Module: bad": "KeyError: 'b'"}


def test_stored_results_run_nothing(pieces, tmp_path):
    _, ran = pieces
    assert run(tmp_path, run=False).compared == 0
    assert ran == []


def test_page(pieces, tmp_path):
    write_page(tmp_path / "page.md", run(tmp_path))
    text = (tmp_path / "page.md").read_text()
    assert "2 numbers are compared, 100 % of them" in text
    assert "| accuracy | 0.1 (0) ↕ | 0.2 (1) ↕ |" in text


def test_real_pieces_have_numbers_of_printed_cells_and_known_tables():
    names = set()
    for piece in _run._pieces(Extent(Path("nowhere")), set(tables())):
        assert set(piece.tables) <= set(tables()), piece.name
        assert piece.name not in names
        names.add(piece.name)
        for file in piece.files:
            assert file.endswith((".npz", ".jsonl.gz"))


def test_real_experiments_without_data(tmp_path):
    keys = ["offdiagonal:2", "offdiagonal:3"]
    found = reproduce_tables(choose(keys), None, Kept(tmp_path / "kept.jsonl"), quick=True)
    assert found.failed == {}
    assert found.compared + found.counts.get("no order", 0) == 24 + 54  # seconds that are tied in print
    assert found.compared >= 60
    greedy = [cell for cell in found.cells["offdiagonal:3"] if cell.key.column == "greedy OD-ℓ1"]
    assert all(cell.ours > 90 for cell in greedy)


def test_real_experiments_on_small_data(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(60) // 30
    points = rng.normal(size=(60, 2)) * 0.1 + 3 * y[:, None]
    np.savez(tmp_path / "zelnik_toy.npz", X2=points, y2=y)
    blocks = np.where(y[:, None] == y, 0.8, 0.1) + 0.1 * np.eye(60)
    np.savez(tmp_path / "voting.npz", K=blocks, y=y)
    found = reproduce_tables(
        choose(["symnmf:2", "leftstochastic:2", "leftstochastic:5"]),
        tmp_path,
        Kept(tmp_path / "kept.jsonl"),
        quick=True,
    )
    assert found.failed == {}
    assert found.lacking == ["aural_sonar.npz"]
    ours = {
        cell.key.row: cell.ours for cell in found.cells["leftstochastic:5"] if cell.key.column == "Voting"
    }
    assert ours["LSD (Rotation)"] == ours["Norm. Spec"] == 0
    assert None not in ours.values()
    first = found.cells["symnmf:2"][0]
    assert first.ours == pytest.approx(1)
    record = json.loads((tmp_path / "kept.jsonl").read_text().splitlines()[0])
    assert {"piece", "mode", "version", "date", "seconds", "numbers"} == set(record)
