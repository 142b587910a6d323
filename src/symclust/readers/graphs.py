"""Graphs: lists of edges as text, GraphML and GML."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np

from symclust._optional import need
from symclust.exceptions import InputError
from symclust.operators import DUPLICATES, network_of_edges, number_nodes
from symclust.readers._delimited import (
    SPACES,
    Layout,
    as_names,
    is_number,
    lay_out,
    line_of,
    parse,
    take_sample,
    without_comments,
)
from symclust.readers._pairs import Described
from symclust.readers._source import Source
from symclust.validation import ENDS, OTHER_ENDS, check_known

__all__ = [
    "choose_columns",
    "edges_have_header",
    "end_places",
    "lay_out_edges",
    "parse_edges",
    "read_edge_weights",
    "read_edges",
    "read_gml",
    "read_graphml",
    "read_side",
]

AUTO = "auto"
LABELS = ("name", "label")  # attributes of nodes that say more than their numbers in the file
# Names that pandas would change to whole numbers: 007, +7, and 7.0 or 1e3 as an end.
PADDED = re.compile(rb"(?:^|[\s,;|])[+-]?(?:0\d|\+)", re.MULTILINE)
BROKEN = re.compile(rb"^[ \t]*(?:[^\s,;|]+[ \t,;|]+)?[^\s,;|]*[.eE]", re.MULTILINE)
ENCODING = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([^"']*)""")
PLAIN = ("utf-8", "us-ascii", "ascii", "iso-8859-1", "latin-1")  # in these a DOCTYPE is found by its letters


def read_edges(
    source: Source,
    kind: str = "graph",
    delimiter: str | None = None,
    header: bool | str = AUTO,
    weight: Any = AUTO,
    duplicates: str = "error",
    encoding: str = "utf-8",
) -> Described:
    """Read a list of edges: one line each, two names and perhaps a weight; comments begin with # or %."""
    check_known("duplicates", duplicates, DUPLICATES)
    data = without_comments(source.text(encoding))
    if not data.strip():
        raise InputError(f"{source.name} holds comments and no edges.")
    layout, has_header, names, ends, column, notes = lay_out_edges(data, source, delimiter, header, weight)
    frame = parse_edges(data, layout, names, has_header, ends, column, source)
    return _build(frame, ends, column, duplicates, source.name, notes, (data, layout, has_header))


def lay_out_edges(
    data: bytes, source: Source, delimiter: str | None, header: bool | str, weight: Any
) -> tuple[Layout, bool, list[Any], tuple[int, int], int | None, list[str]]:
    """Layout of a list of edges, whether it has a header, columns, those of ends and weights, and notes."""
    layout = lay_out(take_sample(data, source.name), source.suffix, delimiter)
    if layout.width < 2:
        raise InputError(
            f"{source.name} has one field per line; an edge needs two names, separated by spaces, a tab or "
            "a comma (or by delimiter=...)."
        )
    has_header = edges_have_header(layout.rows) if header == AUTO else bool(header)
    names = layout.rows[0][: layout.width] if has_header else list(range(layout.width))
    ends, column, notes = choose_columns(names, layout, has_header, weight, source.name)
    return layout, has_header, names, ends, column, layout.notes + notes


def end_places(names: list[Any]) -> tuple[int, int] | None:
    """The places of the two columns that are called as the ends of edges are, or None.

    Examples
    --------
    >>> from symclust.readers.graphs import end_places
    >>> end_places(["Weight", "Source", "Target"])
    (1, 2)
    """
    called = [str(name).strip().lower() for name in names]
    places = [
        next((called.index(word) for word in words if word in called), None) for words in (ENDS, OTHER_ENDS)
    ]
    return None if places[0] is None or places[1] is None else (places[0], places[1])


def edges_have_header(rows: list[list[str]]) -> bool:
    """Whether the first of the rows of a list of edges names the columns."""
    first, others = rows[0], rows[1:]
    if not others:
        return False
    if end_places(first) is not None:
        return True
    weights = [row[2] for row in others if len(row) > 2]
    if len(first) > 2 and weights and all(map(is_number, weights)) and not is_number(first[2]):
        return True
    whole = all(field.isdigit() for row in others for field in row[:2])
    return whole and not any(is_number(field) for field in first[:2])


def choose_columns(
    names: list[Any], layout: Layout, has_header: bool, weight: Any, name: str
) -> tuple[tuple[int, int], int | None, list[str]]:
    """The columns of the ends, that of the weights or None, and notes."""
    ends = (end_places(names) if has_header else None) or (0, 1)
    rest = [place for place in range(layout.width) if place not in ends]
    if weight is None or not rest:
        return ends, None, []
    if weight != AUTO:
        if weight in names:
            return ends, names.index(weight), []
        raise InputError(
            f"{name} has no column {weight!r} for weights; it has {', '.join(map(repr, names))}."
        )
    called = [str(names[place]).strip().lower() for place in rest]
    chosen = rest[called.index("weight")] if "weight" in called else rest[0]
    notes = [f"Weights are in the {_ordinal(chosen)} column{f', {names[chosen]!r}' if has_header else ''}."]
    if len(rest) > 1:
        notes.append(f"{len(rest) - 1} other column{'s were' if len(rest) > 2 else ' was'} not read.")
    return ends, chosen, notes


def _ordinal(place: int) -> str:
    return {0: "first", 1: "second", 2: "third", 3: "fourth"}.get(place, f"{place + 1}th")


def parse_edges(
    data: bytes,
    layout: Layout,
    names: list[Any],
    has_header: bool,
    ends: tuple[int, int],
    column: Any,
    source: Source,
    as_texts: bool = False,
) -> Any:
    """The table: names as whole numbers if all are, which is many times faster, else as texts.

    Weights that are no numbers are texts too, to be named in a message.
    """
    numbers = list(range(len(names)))
    weights = {} if column is None else {column: np.float64}
    may_be_whole = not as_texts and are_whole(data, layout, has_header, ends)
    for kind in (np.int64, str) if may_be_whole else (str,):
        try:
            return parse(
                data, layout, numbers, has_header, dict.fromkeys(ends, kind) | weights, source, gaps=False
            )
        except InputError as error:
            if error.__cause__ is None:  # not about the kind of names and weights
                raise
    return parse(data, layout, numbers, has_header, dict.fromkeys(numbers, str), source, gaps=False)


def are_whole(data: bytes, layout: Layout, has_header: bool, ends: tuple[int, int]) -> bool:
    """Whether names may be read as whole numbers without a loss; a look at the first rows spares a search."""
    rows = layout.rows[has_header:]
    if ends != (0, 1) or not all(field.isdigit() for row in rows for field in row[:2]):
        return False
    # A header is no name, whatever its letters.
    first = data.find(b"\n", len(data) - len(data.lstrip())) + 1 if has_header else 0
    return PADDED.search(data, first) is None and BROKEN.search(data, first) is None


def _build(
    frame: Any,
    ends: tuple[int, int],
    column: int | None,
    duplicates: str,
    name: str,
    notes: list[str],
    text: tuple[bytes, Layout, bool],
) -> Described:
    data, layout, has_header = text

    def place(row: int) -> str:
        return f"line {line_of(data, layout.delimiter, row + has_header):,}"

    weights = None if column is None else read_edge_weights(frame[column], name, place)
    sides = [read_side(frame[end], name, place) for end in ends]
    i, j, names = number_nodes(*sides)
    names = as_names(names) if sides[0].dtype == object else names
    try:
        network, found = network_of_edges(i, j, weights, names, duplicates=duplicates, place=place)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    return Described(network, "graph", network.names, notes + found)


def read_side(column: Any, name: str, place: Any) -> np.ndarray:
    """The names at one end of all edges; none may be missing."""
    if column.dtype == object:
        column = column.str.strip()
        gaps = (column.isna() | (column == "")).to_numpy()
        if gaps.any():
            raise InputError(f"{name}: {place(int(gaps.argmax()))} has an end of an edge without a name.")
    return column.to_numpy()


def read_edge_weights(column: Any, name: str, place: Any) -> np.ndarray:
    """The weights of edges as numbers; what is none is named by its place."""
    if column.dtype != object:
        return column.to_numpy()
    numbers = np.empty(len(column))
    for row, field in enumerate(column):
        try:
            numbers[row] = float(field)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{name}: the weight in {place(row)} is {field!r:.60}, not a number. Fix it, or say "
                "weight=None to give every edge the weight 1."
            ) from error
    return numbers


# Formats that networkx reads --------------------------------------------------------------------------------


def read_graphml(
    source: Source, kind: str = "graph", weight: Any = AUTO, duplicates: str = "error"
) -> Described:
    """Read GraphML by networkx; a file that defines entities of its own is refused before it is parsed."""
    networkx = need("networkx", "graphs", f"Reading {source.name}")
    data = source.text()
    declared = ENCODING.match(data[:200])
    encoding = declared[1].decode("latin-1").lower() if declared else "utf-8"
    if encoding not in PLAIN:
        raise InputError(f"{source.name} says that it is encoded as {encoding!r}. Convert it to UTF-8.")
    if re.search(rb"<!\s*(DOCTYPE|ENTITY)", data, re.IGNORECASE):
        raise InputError(
            f"{source.name} has a DOCTYPE or ENTITY declaration, which GraphML does not need and which lets "
            "a small file fill all memory. Remove it."
        )
    return _from_networkx(networkx.read_graphml, data, source.name, weight, duplicates)


def read_gml(source: Source, kind: str = "graph", weight: Any = AUTO, duplicates: str = "error") -> Described:
    """Read GML by networkx."""
    networkx = need("networkx", "graphs", f"Reading {source.name}")
    return _from_networkx(
        lambda file: networkx.read_gml(file, label="id"), source.text(), source.name, weight, duplicates
    )


def _from_networkx(parser: Any, data: bytes, name: str, weight: Any, duplicates: str) -> Described:
    try:
        graph = parser(io.BytesIO(data))
    except Exception as error:  # networkx raises whatever its parsers meet: KeyError, ParseError, its own
        first = str(error).split("\n")[0][:200]
        raise InputError(f"{name} cannot be read: {type(error).__name__}: {first}.") from error
    if not len(graph):
        raise InputError(f"{name} holds a graph without nodes.")
    notes = ["Edges are directed in the file; their directions were left out."] if graph.is_directed() else []
    number = {node: place for place, node in enumerate(graph)}
    edges = list(graph.edges(data=True))
    i = np.array([number[u] for u, _, _ in edges], dtype=np.intp)
    j = np.array([number[v] for _, v, _ in edges], dtype=np.intp)
    weights = _edge_weights(edges, weight, name, notes)
    try:
        network, found = network_of_edges(
            i, j, weights, _labels(graph, notes), duplicates=duplicates, place=lambda row: f"edge {row + 1:,}"
        )
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    return Described(network, "graph", network.names, notes + found)


def _labels(graph: Any, notes: list[str]) -> list[Any]:
    """The names of the nodes: by an attribute in which all differ, else as the file calls them."""
    for attribute in LABELS:
        labels = [data.get(attribute) for _, data in graph.nodes(data=True)]
        if None not in labels and len({str(label) for label in labels}) == len(labels):
            notes.append(f"Nodes are named by their attribute {attribute!r}.")
            return labels
    return list(graph)


def _edge_weights(edges: list[Any], weight: Any, name: str, notes: list[str]) -> list[float] | None:
    attribute = "weight" if weight == AUTO else weight
    has = [attribute in data for _, _, data in edges]
    if attribute is None or (weight == AUTO and not any(has)):
        return None
    numbers = []
    for place, (u, v, data) in enumerate(edges, 1):
        try:
            numbers.append(float(data[attribute] if weight != AUTO else data.get(attribute, 1)))
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            held = repr(data.get(attribute))
            raise InputError(
                f"{name}: edge {place:,}, between {u!r} and {v!r}, has {held:.60} as {attribute!r}, not a "
                "number. Name another attribute (weight='...'), or say weight=None to give every edge the "
                "weight 1."
            ) from error
    notes.append(f"Weights of edges are their attribute {attribute!r}.")
    return numbers


def looks_like_edges(layout: Layout) -> bool:
    """Whether rows of a text of unknown format are edges: two whole numbers or two names each.

    Two words in every line may also be very short documents: names come back in other lines, most words of
    documents do not.
    """
    rows = layout.rows[1:] if edges_have_header(layout.rows) else layout.rows
    if not 2 <= layout.width <= 4 or any(len(row) != layout.width for row in rows):
        return False
    ends = [field for row in rows for field in row[:2]]
    if all(field.isdigit() for field in ends):
        return True
    if any(is_number(field) for field in ends) or layout.width == 4:
        return False
    if layout.width == 3 and all(is_number(row[2]) for row in rows):
        return True
    return layout.width == 2 and (layout.delimiter != SPACES or len(set(ends)) <= 0.75 * len(ends))
