"""The runner: pieces of experiments, each run once and kept."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from symclust.reproduce import constrained, left_stochastic, off_diagonal, symnmf, thesis
from symclust.reproduce._pieces import Extent, Piece
from symclust.reproduce._printed import COMPARED, Cell, Found, Key, PrintedTable, fits, judge

EXPERIMENTS = (symnmf, thesis, constrained, off_diagonal, left_stochastic)


@dataclass
class Kept:
    """Results of pieces in a file of JSON lines, one piece a line; a line that was cut off is left out.

    Attributes
    ----------
    path : Path
        The file; it need not exist.
    records : dict
        The records, by the names of their pieces and "quick" or "full".
    """

    path: Path
    records: dict[tuple[str, str], dict[str, Any]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        for line in lines:
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                continue
            self.records[record["piece"], record["mode"]] = record

    def add(self, record: dict[str, Any]) -> None:
        """Keep a record, at once."""
        self.records[record["piece"], record["mode"]] = record
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")

    def best(self, piece: str, quick: bool) -> dict[str, Any] | None:
        """Return the record of a piece: that of a full run, or for a quick one also of a quick run."""
        modes = ("full", "quick") if quick else ("full",)
        return next((self.records[piece, mode] for mode in modes if (piece, mode) in self.records), None)


@dataclass
class Reproduction:
    """Cells of the chosen tables, and what they took.

    Attributes
    ----------
    cells : dict
        The cells, by table.
    seconds : float
        Processor time of all pieces behind them, also of those that were kept from before.
    lacking : list of str
        Files that are not in the folder.
    failed : dict
        Errors, by the piece that ended with one.
    """

    cells: dict[str, list[Cell]]
    seconds: float
    lacking: list[str]
    failed: dict[str, str]

    @property
    def counts(self) -> dict[str, int]:
        """The number of cells by verdict."""
        verdicts = [cell.verdict for cells in self.cells.values() for cell in cells]
        return {verdict: verdicts.count(verdict) for verdict in dict.fromkeys(sorted(verdicts))}

    @property
    def compared(self) -> int:
        """The number of cells with a number of ours beside a printed one that says something."""
        return sum(cell.verdict in COMPARED for cells in self.cells.values() for cell in cells)

    @property
    def unexplained(self) -> list[Cell]:
        """Cells below the printed number for which no reason is given."""
        cells = (cell for some in self.cells.values() for cell in some)
        return [cell for cell in cells if cell.verdict == "below" and not cell.why]


def reproduce_tables(
    chosen: Sequence[PrintedTable],
    data: Path | None,
    kept: Kept,
    *,
    quick: bool = False,
    run: bool = True,
    note: Callable[[str], object] = lambda text: None,
) -> Reproduction:
    """Run the pieces behind the tables, except those that are kept, and compare.

    Parameters
    ----------
    chosen : sequence of PrintedTable
    data : Path or None
        Folder with the labelled data.
    kept : Kept
        Results from before; new ones are added, piece by piece, so that a run that was ended goes on.
    quick : bool
        Few runs, small sets only.
    run : bool
        False compares what is kept.
    note : callable
        Is called with a line for each piece.

    Examples
    --------
    >>> from pathlib import Path
    >>> from symclust.reproduce import Kept, choose, reproduce_tables
    >>> found = reproduce_tables(choose(["offdiagonal:4"]), None, Kept(Path("kept.jsonl")))
    >>> found.compared, found.counts
    (0, {'no data': 36})
    """
    wanted = {table.key for table in chosen}
    found: dict[Key, Found] = {}
    absent: dict[Key, str] = {}
    lacking: set[str] = set()
    failed: dict[str, str] = {}
    seconds = 0.0
    for piece in _pieces(Extent(data or Path(), quick), wanted):
        record = kept.best(piece.name, quick)
        if record is None and run:
            missing = [name for name in piece.files if data is None or not (data / name).is_file()]
            lacking.update(missing)
            if missing:
                absent |= _cells_of(piece, chosen, f"{', '.join(missing)} is not in {data or '--data'}")
            elif not (quick and piece.slow):
                record = _measure(piece, quick, failed, note)
                if record is not None:
                    kept.add(record)
        if record is not None:
            seconds += record["seconds"]
            found |= {key: Found(key, value, runs) for key, value, runs in _numbers(record)}
    cells = {table.key: judge(table, found, absent) for table in chosen}
    return Reproduction(cells, seconds, sorted(lacking), failed)


def _pieces(extent: Extent, wanted: set[str]) -> Iterator[Piece]:
    for module in EXPERIMENTS:
        prefix = module.__name__.rpartition(".")[2]
        for piece in module.pieces(extent):
            if wanted.intersection(piece.tables):
                yield replace(piece, name=f"{prefix}: {piece.name}")


def _cells_of(piece: Piece, chosen: Iterable[PrintedTable], why: str) -> dict[Key, str]:
    keys = (key for table in chosen if table.key in piece.tables for key, _ in table.printed())
    return {key: why for key in keys if any(fits(place, key) for place in piece.about)}


def _measure(
    piece: Piece, quick: bool, failed: dict[str, str], note: Callable[[str], object]
) -> dict[str, Any] | None:
    begun = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of runs that end at a limit, which the papers have too
            numbers = [[list(key), float(value), runs] for key, value, runs in piece.work()]
    except Exception as error:  # one experiment that fails must not lose the others
        failed[piece.name] = f"{type(error).__name__}: {error}"
        note(f"{piece.name} failed: {failed[piece.name]}")
        return None
    seconds = round(time.process_time() - begun, 2)
    note(f"{piece.name}: {len(numbers)} numbers in {seconds} s")
    about = {"mode": "quick" if quick else "full", "version": version("symclust"), "date": str(date.today())}
    return {"piece": piece.name, **about, "seconds": seconds, "numbers": numbers}


def _numbers(record: dict[str, Any]) -> Iterator[tuple[Key, float, int]]:
    for key, value, runs in record["numbers"]:
        yield Key(*key), value, runs
