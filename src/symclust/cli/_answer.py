"""Words, tables and files about a clustering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from symclust._text import showable
from symclust._threads import cached_property
from symclust.cli._console import errors, screen
from symclust.cli._output import (
    ANNOTATED,
    STDOUT,
    ToFiles,
    print_table,
    shows_memberships,
    write_annotated,
    write_table,
)
from symclust.cli._session import Session

if TYPE_CHECKING:
    from symclust.readers import Described

MOST_ROWS = 20  # clusters that are listed on the screen: the largest
MOST_DOUBTS = 6


@dataclass
class Outcome:
    """A fitted model, the names of its samples, and what was read."""

    session: Session
    model: Any
    names: Sequence[Any] | None = None
    title: str = ""
    found: Described | None = None

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
        session.write("table", lambda path: self._write_rows(path, to.memberships, extra()))
        session.write("model", self.model.save)
        self.write_page()

    def write_page(self) -> None:
        """Write the page, if it is wanted."""
        from symclust.report import write_report

        def make(path: Path) -> None:
            with self.session.progress("Writing the report"):
                write_report(path, self.model, title=self.title)

        self.session.write("report", make)

    def _write_rows(self, path: Path, memberships: bool | None, extra: dict[str, Any]) -> None:
        if self.found is not None and path.suffix.lower() in ANNOTATED:
            cells = len(self.model.labels_) * self.clustering.n_clusters
            write_annotated(
                path, self.model, self.found, shows_memberships(cells, memberships, self.session), extra
            )
        else:
            write_table(path, self.table(memberships, extra))

    def table(self, memberships: bool | None, extra: dict[str, Any]) -> Any:
        """The rows beside the columns of the user's own table, if it is one."""
        frame, source = self.rows(memberships, extra), None if self.found is None else self.found.original
        return self._beside(source, frame) if hasattr(source, "columns") else frame

    def rows(self, memberships: bool | None, extra: dict[str, Any]) -> Any:
        """One row per sample: name, label, confidence, what else is given, memberships."""
        from scipy.sparse import csr_array

        from symclust.estimators import sample_table

        labels, n = self.model.labels_, len(self.model.labels_)
        shows_all = shows_memberships(n * self.clustering.n_clusters, memberships, self.session)
        # Topics have degrees of membership if they compete for the documents.
        model = self.model.flatten() if hasattr(self.model, "leaves") else self.model
        # Labels as zeros and ones are computed at each access, and may be larger than all the rest.
        H = model.membership_ if shows_all else csr_array((n, 0))
        names = list(range(n) if self.names is None else self.names)
        frame = sample_table(labels, H, names, model.confidence).reset_index()
        for place, (name, values) in enumerate(extra.items(), start=3):
            frame.insert(place, name, values)
        return frame if shows_all else frame.iloc[:, : 3 + len(extra)]

    def _beside(self, source: Any, frame: Any) -> Any:
        """Return the user's own table with the columns added; rows that were left out have gaps there."""
        names = frame.pop("name").to_list()
        taken = {column: f"{column} (found)" for column in frame.columns if column in source.columns}
        whole = source.join(frame.rename(columns=taken).set_axis(names, axis=0))
        label = taken.get("label", "label")
        whole[label] = whole[label].astype("Int64" if whole[label].isna().any() else frame.dtypes.iloc[0])
        if "name" not in whole.columns:
            whole.insert(0, "name", whole.index.to_list())
        return whole.reset_index(drop=True)


# In words ---------------------------------------------------------------------------------------------------


def show_findings(answer: Outcome, description: Any = None, *, is_on_stdout: bool = True) -> None:
    """Draw what was found: sentences, the clusters in words, and what is doubtful."""
    if answer.session.shows_answer:
        with answer.session.trying("summary"):
            _draw(answer.clustering, description, screen if is_on_stdout else errors)


def _draw(clustering: Any, description: Any, console: Console) -> None:
    from symclust.report import find

    findings = find(clustering)
    wrap = not console.is_terminal
    console.print(
        Text(showable(findings.headline), style="bold"),
        Text(showable(" ".join(findings.facts))),
        soft_wrap=wrap,
    )
    for line in (description or clustering.description).lines(console.width, MOST_ROWS):
        console.print(Text(line, style="" if line.startswith("   ") else "bold"), soft_wrap=True)
    for doubt in findings.doubts[:MOST_DOUBTS]:
        console.print(Text(f"! {showable(doubt.text)}", style="yellow"), soft_wrap=wrap)


def finish(
    answer: Outcome, to: ToFiles, about: dict[str, Any], extra: Callable[[], dict[str, Any]] = dict
) -> None:
    """Show what was found, write what is wanted, and end."""
    show_findings(answer, is_on_stdout=str(to.output) != STDOUT)
    answer.write(to, extra)
    answer.session.finish(lambda: {**about, **summary_of(answer)})


# For programs -----------------------------------------------------------------------------------------------


def summary_of(answer: Outcome, description: Any = None) -> dict[str, Any]:
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
        "names": [one.name for one in description or clustering.description],
        "n_outside": int((clustering.labels < 0).sum()),
        "headline": findings.headline,
        "facts": findings.facts,
        "doubts": [doubt.text for doubt in findings.doubts],
        **{name: value for name, value in known.items() if value is not None},
        **({} if clustering.selection is None else {"choice": str(clustering.selection)}),
    }
