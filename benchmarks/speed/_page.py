"""One HTML page with the tables and plots of all results that are there; it needs no other file."""

from __future__ import annotations

import ast
import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from io import BytesIO
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

import symclust
from benchmarks._tools import RESULTS, cell

FOLDER = "speed"
REASON = "why not"  # stands where the measures would
OURS, OTHERS = "#1f77b4", "#b0b0b0"
SHADES = ("#1f77b4", "#d95f02", "#2a9d5c", "#7a4fb5", "#a6761d", "#666666")
MARKS = "os^Dvx"
STYLE = """
:root { color-scheme: light; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem 1.25rem 4rem; color: #222; background: #fff;
  font: 16px/1.5 system-ui, sans-serif; }
h1 { margin-bottom: .25rem; } h2 { margin-top: 3rem; border-bottom: 1px solid #ddd; overflow-wrap: anywhere; }
h3 { margin: 1.75rem 0 .5rem; font-size: 1.05rem; }
nav ul { columns: 14rem; padding-left: 1.2rem; } a { color: #1f5f99; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .85rem; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #e4e4e4; text-align: left; vertical-align: top; }
th { border-bottom: 2px solid #999; max-width: 9rem; vertical-align: bottom; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th.number { text-align: right; } td.text { max-width: 20rem; } td.long { min-width: 9rem; }
tr.ours td { background: #eef5fb; } td.why { color: #777; font-style: italic; }
.plots { display: flex; flex-wrap: wrap; gap: 1rem; overflow-x: auto; margin-top: .75rem; }
.plots img { max-width: 100%; height: auto; }
@media (max-width: 40rem) { .plots img { max-width: none; } }
.made { color: #666; font-size: .8rem; margin: .25rem 0; }
"""


def write_page() -> Path:
    """Write the page and return where it is."""
    kept = [json.loads(file.read_text()) for file in sorted(RESULTS.glob("*.json"))]
    found = [one for one in kept if isinstance(one, dict) and one.get("case", "").startswith(f"{FOLDER}/")]
    found.sort(key=lambda one: (one["case"], one["title"]))
    cases = {case: list(group) for case, group in groupby(found, key=lambda one: one["case"])}
    links = "".join(f'<li><a href="#{_anchor(case)}">{escape(_name(case))}</a></li>' for case in cases)
    body = "".join(_section(case, results) for case, results in cases.items())
    page = f"""<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Speed of symclust</title>
<style>{STYLE}</style></head><body><h1>Speed of symclust</h1>
<p>Everything in one table was measured on one machine, other packages included: read the ratios, not the
seconds. Rows of symclust are tinted.</p><nav><ul>{links}</ul></nav>{body}</body></html>"""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "speed.html"
    path.write_text(page, encoding="utf-8")
    return path


def _name(case: str) -> str:
    return case.split("/")[1]


def _anchor(case: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in _name(case))


def _section(case: str, results: Sequence[dict[str, Any]]) -> str:
    file = Path(__file__).parent / f"{_name(case)}.py"
    about = (ast.get_docstring(ast.parse(file.read_text())) or "") if file.exists() else ""
    words = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(about))
    paragraphs = "".join(f"<p>{text}</p>" for text in words.split("\n\n") if text)
    shown = "".join(_result(result) for result in results)
    return f'<section id="{_anchor(case)}"><h2>{escape(_name(case))}</h2>{paragraphs}{shown}</section>'


def _result(result: dict[str, Any]) -> str:
    rows = result["rows"]
    pictures = "".join(_picture(rows, plot) for plot in result["plots"])
    made = ", ".join(f"{name} {value}" for name, value in result["machine"].items())
    return (
        f'<h3>{escape(result["title"])}</h3><div class="wide">{_table(rows)}</div>'
        f'<div class="plots">{pictures}</div><p class="made">{escape(made)}</p>'
    )


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row if name != REASON))
    kinds = {name: {_is_number(row[name]) for row in rows if name in row} for name in names}
    head = "".join(
        f"<th{' class=number' if kinds[name] == {True} else ''}>{escape(name)}</th>" for name in names
    )
    lines = []
    for row in rows:
        shown = list(takewhile(row.__contains__, names)) if REASON in row else names
        cells = "".join(_cell(row.get(name, "")) for name in shown)
        if REASON in row:
            cells += f'<td class="why" colspan="{len(names) - len(shown)}">{escape(row[REASON])}</td>'
        lines.append(f"<tr{' class=ours' if _is_ours(row.get('method', '')) else ''}>{cells}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _cell(value: Any) -> str:
    if _is_number(value):
        return f'<td class="number">{escape(_short(value))}</td>'
    text = str(value)
    return f'<td class="text{" long" if len(text) > 12 else ""}">{escape(text)}</td>'


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _short(value: float) -> str:
    """Return four digits, and no powers of ten where a reader expects none."""
    return f"{value:,.0f}" if isinstance(value, int) or 1000 <= abs(value) < 1e7 else cell(value)


def _is_ours(method: Any) -> bool:
    first = re.split(r"[ ,(]", str(method))[:1]
    return bool(first) and hasattr(symclust, first[0])


def _picture(rows: Sequence[Mapping[str, Any]], plot: Mapping[str, str]) -> str:
    shown = [row for row in rows if _is_number(row.get(plot["y"])) and row[plot["y"]] > 0]
    if not shown:
        return ""
    figure = _lines(shown, plot) if "x" in plot else _bars(shown, plot)
    file = BytesIO()
    with mpl.rc_context({"svg.fonttype": "none", "font.family": "sans-serif"}):
        figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
    width = int(72 * figure.get_figwidth() * 1.1)
    against = f" against {plot['x']}" if "x" in plot else ""
    alt = escape(f"{plot['y']} of each {plot['by']}{against}; the numbers are in the table")
    address = f"data:image/svg+xml;base64,{b64encode(file.getvalue()).decode()}"
    return f'<img width="{width}" alt="{alt}" src="{address}">'


def _bars(rows: Sequence[Mapping[str, Any]], plot: Mapping[str, str]) -> Figure:
    figure = Figure(figsize=(7.2, 0.6 + 0.32 * len(rows)))
    axis = figure.subplots()
    names, values = [str(row[plot["by"]]) for row in rows], [row[plot["y"]] for row in rows]
    shades = [OURS if _is_ours(name) else OTHERS for name in names]
    places = range(len(rows))
    axis.barh(places, values, color=shades, height=0.7)
    if max(values) > 30 * min(values):
        axis.set(xscale="log", xlim=(min(values) / 2, max(values) * 3))
    else:
        axis.set_xlim(0, max(values) * 1.15)
    axis.set_xlabel(plot["y"])
    axis.set_yticks(places, names)
    axis.invert_yaxis()
    for place, value in zip(places, values, strict=True):
        axis.annotate(
            _short(float(f"{value:.3g}")),
            (value, place),
            (4, 0),
            textcoords="offset points",
            va="center",
            size=8,
        )
    axis.spines[["top", "right"]].set_visible(False)
    return figure


def _lines(rows: Sequence[Mapping[str, Any]], plot: Mapping[str, str]) -> Figure:
    figure = Figure(figsize=(5.2, 3.8))
    draw_lines(figure.subplots(), rows, plot)
    return figure


def draw_lines(axis: Any, rows: Sequence[Mapping[str, Any]], plot: Mapping[str, str]) -> None:
    """Draw a line for each method on logarithmic scales, and a grey one for growth in proportion."""
    x, y, by = plot["x"], plot["y"], plot["by"]
    for place, name in enumerate(dict.fromkeys(row[by] for row in rows)):
        own = [row for row in rows if row[by] == name]
        style = {"color": SHADES[place % len(SHADES)], "marker": MARKS[place % len(MARKS)], "label": name}
        axis.plot([row[x] for row in own], [row[y] for row in own], markersize=4, **style)
    least, most = min(row[x] for row in rows), max(row[x] for row in rows)
    low = min(row[y] for row in rows if row[x] == least)
    axis.plot([least, most], [low, low * most / least], ":", color="grey", label="in proportion")
    axis.set(xscale="log", yscale="log", xlabel=x, ylabel=y)
    ticks = sorted({row[x] for row in rows})
    axis.set_xticks(ticks, [_tick(tick) for tick in ticks])
    axis.set_xticks([], minor=True)
    axis.grid(visible=True, which="major", color="#e4e4e4", linewidth=0.6)
    axis.legend(fontsize="small", frameon=False)


def _tick(value: float) -> str:
    if value >= 9e5:
        return f"{value / 1e6:.2g}M"
    return f"{value / 1e3:.3g}k" if value >= 1e4 else f"{value:g}"
