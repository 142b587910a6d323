"""`symclust demo`: digits, documents, an image and a choice of k, on data that are there already."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

import symclust
from symclust._optional import missing
from symclust.cli._console import print_line, screen
from symclust.cli._docstrings import docstrings
from symclust.cli._output import PAGES, aim
from symclust.cli._session import Work

if TYPE_CHECKING:
    from symclust.report import Part

__all__ = ["demo"]

N_TOPICS, N_REGIONS = 24, 12
CANDIDATES = range(2, 21)
# Words that docstrings are made of, whatever they are about.
COMMON = """
array array_like arrays axes axis bool broadcast call called calculate class compute computes default
dimensions dtype example examples false float function given import input int keyword kwargs like method
methods n_features n_samples ndarray none note number object optional optionally otherwise out output
parameter parameters passed return returned returns scalar scipy self set shape sklearn str string true
tuple type ufunc uninitialized use used user using value values version versionadded versionchanged
"""


def demo(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", dir_okay=False, help="HTML page to write; an existing one is replaced."
        ),
    ] = Path("symclust-report.html"),
    *,
    session: Work,
) -> None:
    """Show what symclust does, on data that come with other packages, and write one page about it.

    Clusters 1,797 handwritten digits, chooses how many clusters they have, finds topics in the docstrings of
    NumPy, SciPy and scikit-learn, and divides a photograph into regions. Nothing is downloaded. It takes
    less than a minute on two processors, and the page opens in any browser.
    """
    aim(session, report=(output, PAGES))
    parts: list[Part] = []
    seconds: dict[str, float] = {}
    try:
        _make(session, parts, seconds)
    except KeyboardInterrupt:
        if not parts:
            raise
        session.keep(f"Of {len(PARTS)} parts there {'is' if len(parts) == 1 else 'are'} {len(parts)}.")
    session.begin_writing()
    session.write("report", partial(_write, session, parts))
    session.finish(lambda: {"command": "demo", "parts": seconds})


def _make(session: Work, parts: list[Part], seconds: dict[str, float]) -> None:
    """Make one part after the other, and say what each has found; one that was interrupted is the last."""
    for number, (title, make) in enumerate(PARTS.items(), start=1):
        session.note(f"{number} of {len(PARTS)}: {title}", style="bold")
        start = perf_counter()
        for part in make(session):
            parts.append(part)
            _say_found(session, part)
        seconds[title] = round(perf_counter() - start, 2)
        if session.is_interrupted:
            break


def _write(session: Work, parts: list[Part], path: Path) -> None:
    from symclust.report import write_report

    summary = "Four examples on data that come with installed packages."
    with session.progress("Writing the report"):
        write_report(path, parts, title="symclust at work", summary=summary)


def _digits(session: Work) -> Iterator[Part]:
    from sklearn.datasets import load_digits

    from symclust.report import Part

    digits = load_digits()
    model = symclust.SymNMF(10, random_state=session.seed)
    with session.progress("Clustering 1,797 images of digits") as bar:
        model.set_params(callback=bar.descent(model)).fit(digits.data).set_params(callback=None)
    yield Part(
        model,
        title="Handwritten digits",
        summary="1,797 images of 8 × 8 pixels, grouped by their similarities alone. The true digits, which "
        "the method has not seen, only serve to judge the clusters.",
        labels_true=digits.target,
        images=-digits.images,  # the data count ink; on the page, ink is dark
    )


def _number(session: Work) -> Iterator[Part]:
    from sklearn.datasets import load_digits

    from symclust.report import Part

    with session.progress("Comparing 2 to 20 clusters of digits") as bar:
        selection = symclust.select_n_clusters(
            load_digits().data,
            candidates=CANDIDATES,
            method="auto",
            random_state=session.seed,
            callback=bar.steps,
        )
    yield Part(
        selection,
        title="How many kinds of digits?",
        summary="The same images, without saying that there are ten digits.",
    )


def _documents(session: Work) -> Iterator[Part]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    from symclust.report import Part

    with session.progress("Gathering docstrings"):
        texts = docstrings()
    with session.progress(f"Finding topics in {len(texts):,} docstrings") as bar:
        tree = symclust.topics(
            texts,
            N_TOPICS,
            stop_words=sorted({*ENGLISH_STOP_WORDS, *COMMON.split()}),
            model_params={"callback": bar.leaves(3 * N_TOPICS)},
            random_state=session.seed,
        )
    yield Part(
        tree,
        title="What scientific Python is about",
        summary="What NumPy, SciPy and scikit-learn say of their public functions and classes, as a tree of "
        "topics.",
        n_members=8,
    )


def _picture(session: Work) -> Iterator[Part]:
    from sklearn.datasets import load_sample_image

    from symclust.report import Part

    absent = [library for library in ("skimage", "PIL") if find_spec(library) is None]
    if absent:
        session.note(missing(absent[0], "images", "This part is left out: it"), style="yellow")
        return
    with session.progress("Dividing a photograph into regions") as bar:
        answer = symclust.segment_image(
            load_sample_image("flower.jpg"),
            N_REGIONS,
            preset="fast",
            random_state=session.seed,
            callback=bar.steps,
        )
    yield Part(
        answer,
        title="A photograph in regions",
        summary="One of scikit-learn's sample images. Each pixel was compared with those around it.",
    )


PARTS: dict[str, Callable[[Work], Iterator[Part]]] = {
    "Handwritten digits": _digits,
    "The number of clusters": _number,
    "Topics of documents": _documents,
    "Regions of an image": _picture,
}


def _say_found(session: Work, part: Part) -> None:
    """Say in a sentence or two what a part has found."""
    if hasattr(part.model, "candidates"):
        session.say(part.model.sentence)
        return
    from symclust.report import find, read_clustering

    findings = find(read_clustering(part.model, labels_true=part.labels_true))
    session.say(" ".join([findings.headline, *findings.facts]))
    if hasattr(part.model, "draw") and session.shows_answer:
        print_line(screen, part.model.draw(max(40, screen.width), n_terms=6, max_depth=3))
