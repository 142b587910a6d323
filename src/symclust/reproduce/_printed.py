"""The printed tables, and the verdict on each number of ours beside one of theirs."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from symclust.exceptions import OptionError

DOCUMENTS = ("symnmf", "thesis", "constrained", "offdiagonal", "leftstochastic")
PRINTED_RUNS = 10  # behind a printed share, thesis 4.5
TIED = 0.25  # seconds that differ by less are in no order
COMPARED = ("reached", "within spread", "order holds", "below", "data differ")
VERDICTS = (*COMPARED, "no order", "no data", "no method", "not run")
NOTES = {"absent": "no data", "missing": "no method", "differ": "data differ", "why": "below"}


class Key(NamedTuple):
    """The place of a number: "symnmf:5", row and column."""

    table: str
    row: str
    column: str


class Found(NamedTuple):
    """A number of ours, and how many runs it is the mean of."""

    key: Key
    value: float
    runs: int = 1


class Cell(NamedTuple):
    """A printed number beside ours; `ours` is None if there is none, and `why` explains the verdict."""

    key: Key
    printed: float
    ours: float | None
    verdict: str
    why: str = ""

    @property
    def difference(self) -> float | None:
        """Ours less the printed number."""
        return None if self.ours is None else self.ours - self.printed


@dataclass(frozen=True)
class PrintedTable:
    """A printed table, and what is expected of numbers beside it.

    Attributes
    ----------
    better : {"", "higher", "lower"}
        The direction in which a number is at least as good as the printed one.
    within : Decimal, "binomial" or None
        The spread that is allowed; "binomial" is twice the standard error of two shares. None: order only.
    order : {"", "row", "column"}
        The neighbours that a number is ranked among if it is off by more.
    order_only : tuple of str
        Columns that are compared by their order within a row alone: seconds, in tables of other numbers.
    notes : mapping
        Explanations by their kind (`NOTES`), and for each by a row, a column, "row, column" or the beginning
        or end of one; "*" stands for all.
    """

    key: str
    title: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[Decimal, ...]]
    better: str = ""
    within: Decimal | str | None = None
    order: str = ""
    order_only: tuple[str, ...] = ()
    notes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def printed(self) -> Iterator[tuple[Key, Decimal]]:
        """Yield the place and the number of each cell."""
        for row, numbers in self.rows.items():
            for column, number in zip(self.columns, numbers, strict=True):
                yield Key(self.key, row, column), number

    def note(self, kind: str, key: Key) -> str | None:
        """Return the explanation of a kind for a cell; the first that fits."""
        notes = self.notes.get(kind, {}).items()
        return next((text for place, text in notes if fits(place, key)), None)

    def ranks_alone(self, column: str) -> bool:
        """Whether a column is compared by its order only."""
        return column in self.order_only or (self.within is None and bool(self.order))


def fits(place: str, key: Key) -> bool:
    """Whether a place in words is that of a cell: a row, a column, both, or whole words at either's edge."""
    _, row, column = key
    if place in ("*", f"{row}, {column}"):
        return True
    return any(f" {name} ".startswith(f" {place} ") or name.endswith(f" {place}") for name in (row, column))


@cache
def tables() -> dict[str, PrintedTable]:
    """Return all printed tables, by names such as "symnmf:5".

    Examples
    --------
    >>> from symclust.reproduce import tables
    >>> table = tables()["symnmf:5"]
    >>> table.title, str(dict(zip(table.columns, table.rows["TDT2"]))["SymNMF"])
    ('Average clustering accuracy', '0.8934')
    """
    found = {}
    for document in DOCUMENTS:
        text = (files("symclust.reproduce") / "printed" / f"{document}.toml").read_text(encoding="utf-8")
        content = tomllib.loads(text, parse_float=Decimal)
        for name, entries in content["tables"].items():
            found[f"{document}:{name}"] = _table(f"{document}:{name}", entries, content)
    return found


def _table(key: str, entries: dict[str, Any], content: Mapping[str, Any]) -> PrintedTable:
    notes = {kind: {**entries.pop(kind, {}), **content.get(kind, {})} for kind in NOTES}
    rows = {row: tuple(map(Decimal, numbers)) for row, numbers in entries.pop("rows").items()}
    columns, alone = tuple(entries.pop("columns")), tuple(entries.pop("order_only", ()))
    return PrintedTable(key, columns=columns, rows=rows, order_only=alone, notes=notes, **entries)


def choose(names: list[str]) -> list[PrintedTable]:
    """Return the printed tables of these names.

    Parameters
    ----------
    names : list of str
        "symnmf:5", a document such as "thesis", or "all".

    Examples
    --------
    >>> from symclust.reproduce import choose
    >>> [table.key for table in choose(["leftstochastic:5", "symnmf:5"])]
    ['leftstochastic:5', 'symnmf:5']
    """
    known = tables()
    chosen: dict[str, PrintedTable] = {}
    for name in names:
        fitting = {key: one for key, one in known.items() if name in ("all", key, key.partition(":")[0])}
        if not fitting:
            near = [key for key in known if key.startswith(name.partition(":")[0] + ":")] or [
                "all",
                *DOCUMENTS,
            ]
            raise OptionError(f"There is no printed table {name!r}. Choose one of {', '.join(near)}.")
        chosen |= fitting
    return list(chosen.values())


def judge(table: PrintedTable, found: Mapping[Key, Found], absent: Mapping[Key, str]) -> list[Cell]:
    """The cells of a table with their verdicts.

    By its place, `found` holds our number and `absent` the reason why there is none: a file that is missing.
    """
    return [_cell(table, key, number, found, absent) for key, number in table.printed()]


def _cell(
    table: PrintedTable, key: Key, number: Decimal, found: Mapping[Key, Found], absent: Mapping[Key, str]
) -> Cell:
    printed, ours = float(number), found.get(key)
    if ours is None:
        for kind in ("absent", "missing"):
            if (note := table.note(kind, key)) is not None:
                return Cell(key, printed, None, NOTES[kind], note)
        return Cell(key, printed, None, "no data" if key in absent else "not run", absent.get(key, ""))
    verdict = _verdict(table, number, ours, found)
    if verdict != "below":
        return Cell(key, printed, ours.value, verdict)
    for kind in ("differ", "why"):
        if (note := table.note(kind, key)) is not None:
            return Cell(key, printed, ours.value, NOTES[kind], note)
    return Cell(key, printed, ours.value, verdict)


def _verdict(table: PrintedTable, number: Decimal, ours: Found, found: Mapping[Key, Found]) -> str:
    if table.ranks_alone(ours.key.column):
        holds = _order_holds(table, number, ours, found)
        return "no order" if holds is None else "order holds" if holds else "below"
    gain = ours.value - float(number)
    rounding = unit(number) / 2 * (1 + 1e-9)
    if {"higher": gain, "lower": -gain}.get(table.better, -abs(gain)) >= -rounding:
        return "reached"
    if abs(gain) <= _spread(table, float(number), ours) + rounding:
        return "within spread"
    return "order holds" if table.order and _order_holds(table, number, ours, found) else "below"


def unit(number: Decimal) -> float:
    """Return one unit of the last printed digit."""
    return 10.0 ** int(number.as_tuple().exponent)


def _spread(table: PrintedTable, printed: float, ours: Found) -> float:
    if table.within != "binomial":
        return float(table.within or 0)
    runs = PRINTED_RUNS + ours.runs  # one success and one failure more, so that 0 of 1 is not certainty
    share = (PRINTED_RUNS * printed + ours.runs * ours.value + 1) / (runs + 2)
    return 2 * math.sqrt(share * (1 - share) * (1 / PRINTED_RUNS + 1 / ours.runs))


def _order_holds(
    table: PrintedTable, number: Decimal, ours: Found, found: Mapping[Key, Found]
) -> bool | None:
    """Whether ours stands to all its neighbours as printed; None if the printed numbers are in no order."""
    agreements = []
    alone = table.ranks_alone(ours.key.column)
    same_row = table.order != "column" or ours.key.column in table.order_only
    for key, other in table.printed():
        is_neighbour = key.row == ours.key.row if same_row else key.column == ours.key.column
        if key == ours.key or key not in found or not is_neighbour or table.ranks_alone(key.column) != alone:
            continue
        gap = float(number - other)
        tie = TIED * float(max(number, other)) if alone else _spread(table, float(number), ours)
        if abs(gap) > max(tie, unit(number)):
            agreements.append(gap * (ours.value - found[key].value) > 0)
    return all(agreements) if agreements else None
