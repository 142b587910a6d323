"""Graphs: lists of edges as text, and the formats that networkx reads."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
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
from symclust.readers._source import Source, naming_damage
from symclust.validation import ENDS, OTHER_ENDS, check_known

AUTO = "auto"
LABELS = ("name", "label")  # attributes of nodes that say more than their numbers in the file
WEIGHTS = ("weight", "value")
ATTRIBUTED = re.compile(rb"\s*[^\s,]+[ \t,]+[^\s,]+[ \t,]+\{.*\}[ \t]*(?:\n|$)")
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
    if has_attributes(data):
        return _read_attributed(data, source, weight, duplicates)
    layout, has_header, names, ends, column, notes = lay_out_edges(data, source, delimiter, header, weight)
    frame = parse_edges(data, layout, names, has_header, ends, column, source)

    def place(row: int) -> str:
        return f"line {line_of(data, layout.delimiter, row + has_header):,}"

    weights = None if column is None else read_edge_weights(frame[column], source.name, place)
    sides = [read_side(frame[end], source.name, place) for end in ends]
    i, j, nodes = number_nodes(*sides)
    nodes = as_names(nodes) if sides[0].dtype == object else nodes
    return describe_edges(i, j, weights, nodes, duplicates, source.name, notes, place)


def has_attributes(data: bytes) -> bool:
    """Whether the lines of a list of edges end in a dict, as `networkx.write_edgelist` writes them."""
    return ATTRIBUTED.match(data) is not None


def _read_attributed(data: bytes, source: Source, weight: Any, duplicates: str) -> Described:
    networkx, lines = need("networkx", "graphs", f"Reading {source.name}"), data.decode("utf-8").split("\n")
    first = next(line for line in lines if line.strip())
    between = "," if "," in first.partition("{")[0] else None
    with naming_damage(f"{source.name} cannot be read"):  # a graph that keeps repeated edges
        graph = networkx.parse_edgelist(lines, delimiter=between, create_using=networkx.MultiDiGraph)
    graph = networkx.relabel_nodes(graph, dict(zip(graph, as_names(graph), strict=True)))
    found = _of_networkx(graph, source.name, weight, duplicates, [])
    return replace(found, original=networkx.Graph(graph))


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
    """The places of the two columns that are called as the ends of edges are, or None."""
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

Parser = Callable[[Any, bytes], Any]


def read_networkx(
    parse: Parser, source: Source, kind: str = "graph", weight: Any = AUTO, duplicates: str = "error"
) -> Described:
    """Read a graph by networkx: `parse` makes it of the library and the bytes of the file."""
    networkx, name = need("networkx", "graphs", f"Reading {source.name}"), source.name
    data = source.text()
    if b"<" in data[:400]:
        _check_xml(data, name)
    with naming_damage(f"{name} cannot be read"):
        graph = parse(networkx, data)
    if not len(graph):
        raise InputError(f"{name} holds a graph without nodes.")
    notes = ["Edges are directed in the file; their directions were left out."] if graph.is_directed() else []
    return _of_networkx(graph, name, weight, duplicates, notes)


def _check_xml(data: bytes, name: str) -> None:
    """Refuse XML that defines entities of its own, before it is parsed."""
    declared = ENCODING.match(data[:200])
    encoding = declared[1].decode("latin-1").lower() if declared else "utf-8"
    if encoding not in PLAIN:
        raise InputError(f"{name} says that it is encoded as {encoding!r}. Convert it to UTF-8.")
    if re.search(rb"<!\s*(DOCTYPE|ENTITY)", data, re.IGNORECASE):
        raise InputError(
            f"{name} has a DOCTYPE or ENTITY declaration, which no graph needs and which lets a small file "
            "fill all memory. Remove it."
        )


def _parse_node_link(networkx: Any, data: bytes) -> Any:
    """The graph of a dict of nodes and links, as networkx and D3 write it."""
    content = json.loads(data)
    links = content["links" if "links" in content else "edges"]
    return networkx.node_link_graph({**content, "links": links, "edges": links})  # one of them, by version


def _parse_pajek(networkx: Any, data: bytes) -> Any:
    return networkx.parse_pajek(data.decode("utf-8"))


PARSERS: dict[str, Parser] = {
    "graphml": lambda networkx, data: networkx.read_graphml(io.BytesIO(data)),
    "gexf": lambda networkx, data: networkx.read_gexf(io.BytesIO(data)),
    "gml": lambda networkx, data: networkx.read_gml(io.BytesIO(data), label="id"),
    "pajek": _parse_pajek,
    "node_link": _parse_node_link,
}


def _of_networkx(graph: Any, name: str, weight: Any, duplicates: str, notes: list[str]) -> Described:
    number = {node: place for place, node in enumerate(graph)}
    edges = list(graph.edges(data=True))
    i = np.array([number[u] for u, _, _ in edges], dtype=np.intp)
    j = np.array([number[v] for _, v, _ in edges], dtype=np.intp)
    weights = _weights_of(edges, weight, name, notes)
    names = _labels(graph, notes)
    found = describe_edges(i, j, weights, names, duplicates, name, notes, lambda row: f"edge {row + 1:,}")
    return replace(found, original=graph)


def _labels(graph: Any, notes: list[str]) -> list[Any]:
    """The names of the nodes: by an attribute in which all differ, else as the file calls them."""
    for attribute in LABELS:
        labels = [data.get(attribute) for _, data in graph.nodes(data=True)]
        if None not in labels and len({str(label) for label in labels}) == len(labels):
            if labels != list(graph):
                notes.append(f"Nodes are named by their attribute {attribute!r}.")
            return labels
    return list(graph)


def _weights_of(edges: list[Any], weight: Any, name: str, notes: list[str]) -> list[float] | None:
    """The weights of edges by an attribute: "weight", or as D3 and older files call it "value"."""
    has = {attribute for _, _, data in edges for attribute in data}
    attribute = next((a for a in WEIGHTS if a in has), None) if weight == AUTO else weight
    if attribute is None:
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


def describe_edges(
    i: np.ndarray,
    j: np.ndarray,
    weights: Any,
    names: Any,
    duplicates: str,
    name: str,
    notes: list[str],
    place: Callable[[int], str],
) -> Described:
    """Describe edges as a network."""
    try:
        network, found = network_of_edges(i, j, weights, names, duplicates=duplicates, place=place)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    return Described(network, "graph", network.names, notes + found)


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
