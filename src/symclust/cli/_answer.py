"""Words, tables and files about a clustering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from symclust._text import showable
from symclust._threads import cached_property
from symclust.cli._console import errors, screen
from symclust.cli._output import STDOUT, ToFiles, print_table, shows_memberships, write_table
from symclust.cli._session import Session

MOST_ROWS = 20  # clusters that are listed on the screen: the largest
MOST_DOUBTS = 6
N_MEMBERS, N_TERMS = 4, 6
BAR = 16


@dataclass
class Outcome:
    """A fitted model, the names of its samples, and the table that they come from, if it is one."""

    session: Session
    model: Any
    names: Sequence[Any] | None = None
    title: str = ""
    source: Any = None

    @cached_property
    def clustering(self) -> Any:
        """The overview for words and tables; it takes a while for large trees."""
        from symclust.report import read_clustering

        return read_clustering(self.model)

    def write(self, to: ToFiles, extra: Callable[[], dict[str, Any]] = dict) -> None:
        """Write table, model and page, as far as they are wanted."""
        session, table = self.session, lambda: self.table(to.memberships, extra())
        if str(to.output) == STDOUT:
            with session.trying("table"):
                print_table(table())
        session.write("table", lambda path: write_table(path, table()))
        session.write("model", self.model.save)
        self.write_page()

    def write_page(self) -> None:
        """Write the page, if it is wanted."""
        from symclust.report import write_report

        def make(path: Path) -> None:
            with self.session.progress("Writing the report"):
                write_report(path, self.model, title=self.title)

        self.session.write("report", make)

    def table(self, memberships: bool | None, extra: dict[str, Any]) -> Any:
        """One row per sample: name, label, confidence, what else is given, memberships."""
        from scipy.sparse import csr_array

        from symclust.estimators import sample_table

        labels, n = self.model.labels_, len(self.model.labels_)
        shows_all = shows_memberships(n * self.clustering.n_clusters, memberships, self.session)
        # Topics have degrees of membership if they compete for the documents.
        model = self.model.flatten() if hasattr(self.model, "leaves") else self.model
        gives_degrees = model._gives_degrees
        # Labels as zeros and ones are computed at each access, and may be larger than all the rest.
        H = model.membership_ if shows_all or gives_degrees else csr_array((n, 0))
        names = list(range(n) if self.names is None else self.names)
        frame = sample_table(labels, H, names, gives_degrees).reset_index()
        for place, (name, values) in enumerate(extra.items(), start=3):
            frame.insert(place, name, values)
        frame = frame if shows_all else frame.iloc[:, : 3 + len(extra)]
        return frame if self.source is None else self._beside_source(frame)

    def _beside_source(self, frame: Any) -> Any:
        """Return the user's own table with the columns added; rows that were left out have gaps there."""
        names = frame.pop("name").to_list()
        taken = {column: f"{column} (found)" for column in frame.columns if column in self.source.columns}
        whole = self.source.join(frame.rename(columns=taken).set_axis(names, axis=0))
        label = taken.get("label", "label")
        whole[label] = whole[label].astype("Int64" if whole[label].isna().any() else frame.dtypes.iloc[0])
        if "name" not in whole.columns:
            whole.insert(0, "name", whole.index.to_list())
        return whole.reset_index(drop=True)


# In words ---------------------------------------------------------------------------------------------------


def show_findings(answer: Outcome, *, is_on_stdout: bool = True) -> None:
    """Draw what was found: sentences, sizes, and what is doubtful."""
    if answer.session.shows_answer:
        with answer.session.trying("summary"):
            _draw(answer.clustering, screen if is_on_stdout else errors)


def _draw(clustering: Any, console: Console) -> None:
    from symclust.report import find

    findings = find(clustering)
    wrap = not console.is_terminal
    console.print(
        Text(showable(findings.headline), style="bold"),
        Text(showable(" ".join(findings.facts))),
        soft_wrap=wrap,
    )
    console.print(_sizes(clustering))
    for doubt in findings.doubts[:MOST_DOUBTS]:
        console.print(Text(f"! {showable(doubt.text)}", style="yellow"), soft_wrap=wrap)


def _sizes(clustering: Any) -> Table:
    from symclust.report import cluster_rows

    rows = sorted(cluster_rows(clustering, N_MEMBERS, None), key=lambda row: -row.size)[:MOST_ROWS]
    left = clustering.n_clusters - len(rows)
    if not left:
        rows.sort(key=lambda row: row.number)
    noun = clustering.nouns.cluster
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(noun, justify="right")
    table.add_column(f"{clustering.nouns.sample}s", justify="right")
    table.add_column("")
    table.add_column("belong clearly" if any(row.clear for row in rows) else "", justify="right")
    has_terms = any(row.terms for row in rows)
    table.add_column("terms" if has_terms else "typical" if clustering.names is not None else "", ratio=1)
    top = max((row.size for row in rows), default=1) or 1
    for row in rows:
        bar = "█" * max(1, round(BAR * row.size / top)) if row.size else ""
        known = row.terms[:N_TERMS] if has_terms else _typical(clustering, row)
        table.add_row(
            Text(showable(row.name)),
            f"{row.size:,}",
            Text(bar, style="cyan"),
            row.clear,
            Text(", ".join(known)),
        )
    if left:
        table.caption, table.caption_justify = f"and {left:,} smaller {noun}{'s' * (left != 1)}", "left"
    return table


def _typical(clustering: Any, row: Any) -> list[str]:
    if clustering.names is None:
        return []
    return [showable(" ".join(member.name.split()))[:30] for member in row.typical]


# For programs -----------------------------------------------------------------------------------------------


def summary_of(answer: Outcome) -> dict[str, Any]:
    """The findings as plain numbers and sentences, for --json."""
    from symclust.report import find

    model, clustering = answer.model, answer.clustering
    findings = find(clustering)
    run = model if hasattr(model, "stop_reason_") else getattr(model, "model", model)
    known = {
        name: getattr(run, f"{name}_", None)
        for name in ("objective", "relative_error", "n_iter", "converged", "stop_reason", "affinity")
    }
    return {
        f"n_{clustering.nouns.sample}s": clustering.n_samples,
        f"n_{clustering.nouns.cluster}s": clustering.n_clusters,
        "sizes": clustering.sizes,
        "n_outside": int((clustering.labels < 0).sum()),
        "headline": findings.headline,
        "facts": findings.facts,
        "doubts": [doubt.text for doubt in findings.doubts],
        **{name: value for name, value in known.items() if value is not None},
        **({} if clustering.selection is None else {"choice": clustering.selection.sentence}),
    }
