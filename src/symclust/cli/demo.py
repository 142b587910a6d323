"""`symclust demo`: handwritten digits, clustered in seconds."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score

from symclust.cli._console import screen
from symclust.metrics import clustering_accuracy

if TYPE_CHECKING:
    from symclust import SymNMF

__all__ = ["demo"]


def demo(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", dir_okay=False, help="HTML page to write; an existing one is replaced."
        ),
    ] = Path("symclust-report.html"),
    clusters: Annotated[
        int, typer.Option("--clusters", "-k", min=1, max=1797, help="How many clusters to look for.")
    ] = 10,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**32 - 1, help="The same seed gives the same clusters.")
    ] = 0,
) -> None:
    """Cluster 1,797 handwritten digits and write a page about the clusters.

    The images come with scikit-learn, so nothing is downloaded. The digits' true values are not shown to the
    method; they only serve to measure how well the clusters match them. The page is one file and opens in any
    browser.
    """
    from symclust import SymNMF
    from symclust.report import write_report

    digits = load_digits()
    with screen.status("Clustering 1,797 handwritten digits"):
        start = perf_counter()
        model = SymNMF(n_clusters=clusters, random_state=seed).fit(digits.data)
        seconds = perf_counter() - start
    _draw(model, digits.target, seconds)
    page = write_report(
        output,
        model,
        title="Handwritten digits, clustered",
        summary=f"{len(digits.data):,} images of 8 × 8 pixels, grouped by their similarities alone.",
        labels_true=digits.target,
        images=-digits.images,  # the data counts ink; on the page, ink is dark
        numbers={"graph and fit": f"{seconds:.2f} s"},
    )
    screen.print(f"The page is at [bold]{escape(str(page.resolve()))}[/bold]", soft_wrap=True)


def _draw(model: SymNMF, y: NDArray[np.intp], seconds: float) -> None:
    table = Table(title="Handwritten digits, clustered by SymNMF", show_header=False, title_justify="left")
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    sizes = [len(members) for members in model.communities()]
    table.add_row("accuracy", f"{clustering_accuracy(y, model.labels_):.3f}")
    table.add_row("NMI", f"{normalized_mutual_info_score(y, model.labels_):.3f}")
    table.add_row("cluster sizes", " ".join(map(str, sizes)))
    table.add_row("time", f"{seconds:.2f} s (graph and fit)")
    table.add_row("iterations", str(model.n_iter_))
    table.add_row("stopped", model.stop_reason_)
    screen.print(table)
