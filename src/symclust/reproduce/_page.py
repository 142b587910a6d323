"""A page in Markdown with each table: ours beside the printed numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from symclust.reproduce._printed import COMPARED, VERDICTS, Cell, PrintedTable, tables
from symclust.reproduce._run import Reproduction

HEAD = """# The papers, cell by cell

Made by `symclust reproduce {names} --stored --page`, which compares what earlier runs have kept; nothing on
this page is written by hand. A cell has our number, the printed one in brackets, and a mark:

| mark | verdict | cells | |
|---|---|---|---|
"""
MARKS = dict(
    zip(VERDICTS, ("", "≈", "↕", "**below**", "*data*", "–", "no data", "no method", "not run"), strict=True)
)
MEANINGS = {
    "reached": "at least as good as printed, or equal to it, up to rounding",
    "within spread": "off by no more than the spread that the table allows",
    "order holds": "off by more, but in the printed order among its neighbours",
    "below": "not reached; the reason follows the table",
    "data differ": "not reached, with other data than the paper's",
    "no order": "seconds that are tied in print",
    "no data": "the data are not at hand",
    "no method": "the method is not part of this package",
    "not run": "no run of this piece is kept",
}


def write_page(path: Path, found: Reproduction, names: Iterable[str] = ("all",)) -> None:
    """Write the page of a reproduction."""
    path.write_text("\n".join(_lines(found, " ".join(names))) + "\n", encoding="utf-8")


def _lines(found: Reproduction, names: str) -> Iterator[str]:
    yield HEAD.format(names=names) + "\n".join(
        f"| {MARKS[verdict] or 'none'} | {verdict} | {found.counts.get(verdict, 0)} | {MEANINGS[verdict]} |"
        for verdict in VERDICTS
    )
    good = sum(found.counts.get(verdict, 0) for verdict in COMPARED[:3])
    share = (
        f", {100 * good / found.compared:.0f} % of them reached, within the spread or in order"
        if good
        else ""
    )
    yield f"\n{found.compared} numbers are compared{share}."
    yield f"The runs took {found.seconds:,.0f} s of processor time."
    yield "\n| | " + " | ".join(VERDICTS) + " |\n" + "|---" * (len(VERDICTS) + 1) + "|"
    for document in dict.fromkeys(key.partition(":")[0] for key in found.cells):
        verdicts = [
            cell.verdict
            for key, cells in found.cells.items()
            for cell in cells
            if key.partition(":")[0] == document
        ]
        yield f"| {document} | " + " | ".join(str(verdicts.count(verdict)) for verdict in VERDICTS) + " |"
    for key, cells in found.cells.items():
        yield from _section(tables()[key], cells)


def _section(table: PrintedTable, cells: list[Cell]) -> Iterator[str]:
    document, _, number = table.key.partition(":")
    yield f"\n## {document} {number}: {table.title}\n"
    if not any(cell.ours is not None for cell in cells):
        whys = dict.fromkeys(f"{cell.verdict}{': ' + cell.why if cell.why else ''}" for cell in cells)
        yield f"Not compared ({'; '.join(whys)})."
        return
    measured = {cell.key.column for cell in cells if cell.ours is not None}
    columns = [column for column in table.columns if column in measured]
    yield "| | " + " | ".join(columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    at = {(cell.key.row, cell.key.column): cell for cell in cells}
    for row in table.rows:
        shown = [at[row, column] for column in columns]
        if any(cell.ours is not None for cell in shown):
            yield f"| {row} | " + " | ".join(map(_shown, shown)) + " |"
    reasons = _reasons(cells)
    if reasons:
        yield ""
        yield from reasons


def _shown(cell: Cell) -> str:
    if cell.ours is None:
        return MARKS[cell.verdict]
    return f"{_number(cell.ours)} ({_number(cell.printed)}) {MARKS[cell.verdict]}".rstrip()


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _reasons(cells: list[Cell]) -> list[str]:
    """Return a line for each reason, with the cells it is about."""
    places: dict[str, list[str]] = {}
    for cell in cells:
        if cell.verdict not in ("reached", "within spread", "order holds", "no order", "not run"):
            reason = f"{cell.verdict}: {cell.why or 'no reason is known'}"
            places.setdefault(reason, []).append(f"{cell.key.row}, {cell.key.column}")
    return [
        f"- {reason} ({len(some)}: {'; '.join(some[:4])}{'; ...' if len(some) > 4 else ''})"
        for reason, some in places.items()
    ]
