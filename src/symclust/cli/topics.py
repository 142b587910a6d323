"""`symclust topics`: a tree of topics in a collection of documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import symclust
from symclust._files import replacing
from symclust.cli._answer import Outcome, summary_of
from symclust.cli._console import errors, screen
from symclust.cli._input import OfTexts, read_input
from symclust.cli._methods import number_of
from symclust.cli._output import PANEL, STDOUT, ToFiles
from symclust.cli._session import Session, Work

__all__ = ["topics"]

LEAVES = 3  # of the tree that is grown before leaves are merged, for each topic


def topics(
    path: Annotated[
        Path,
        typer.Argument(
            help="A folder of text files, a .jsonl or .csv file with a column of texts, a .txt file with one "
            "document per line, or - for standard input.",
            allow_dash=True,
            show_default=False,
        ),
    ],
    n_topics: Annotated[
        str,
        typer.Option(
            "--topics",
            "-k",
            help="How many topics at most, or auto to choose.",
            callback=number_of,
            metavar="K|auto",
        ),
    ] = "20",
    language: Annotated[
        str, typer.Option("--language", help="Whose stop words to leave out: english or none.")
    ] = "english",
    stop_words: Annotated[
        Path | None, typer.Option("--stop-words", help="File with words to leave out instead.")
    ] = None,
    min_df: Annotated[
        int | None,
        typer.Option("--min-df", min=1, help="Documents a word has to be in; 3 in larger collections."),
    ] = None,
    max_df: Annotated[
        float | None,
        typer.Option("--max-df", min=0, max=1, help="Share of documents a word may be in; a half."),
    ] = None,
    phrases: Annotated[
        int, typer.Option("--phrases", min=1, max=4, help="Longest run of words that counts as one term.")
    ] = 1,
    tree: Annotated[
        Path | None,
        typer.Option("--tree", help="The tree with terms and examples, as .json.", rich_help_panel=PANEL),
    ] = None,
    *,
    reading: OfTexts,
    to: ToFiles,
    session: Work,
) -> None:
    """Find topics, and topics within topics, in a collection of documents.

    Ctrl-C keeps the topics found so far, writes them and exits with code 130.

    Example: `symclust topics letters/ -k 20 --report letters.html`
    """
    to.check(session, tree=(tree, (".json",)))
    options = _vectorizer(stop_words, min_df, max_df, phrases)
    found = read_input(session, path, reading, ("texts",), only="texts")
    with session.progress(f"Finding topics in {len(found.data):,} documents") as bar:
        wanted = LEAVES * n_topics if isinstance(n_topics, int) else 1
        answer = symclust.topics(
            found.data,
            n_topics,
            language=None if language == "none" else language,
            model_params={"callback": bar.leaves(wanted)} if wanted > 1 else None,
            random_state=session.seed,
            **options,
        )
    session.begin_writing()
    _finish(session, answer, path, to)


def _vectorizer(
    stop_words: Path | None, min_df: int | None, max_df: float | None, phrases: int
) -> dict[str, Any]:
    options: dict[str, Any] = {"min_df": min_df, "max_df": max_df}
    if stop_words is not None:
        options["stop_words"] = stop_words.read_text(encoding="utf-8").split()
    if phrases > 1:
        options["ngram_range"] = (1, phrases)
    return {name: value for name, value in options.items() if value is not None}


def _finish(session: Session, found: Any, path: Path, to: ToFiles) -> None:
    for note in found.notes:
        session.note(note)
    if session.shows_answer:
        console = errors if str(to.output) == STDOUT else screen
        with session.trying("summary"):
            console.print(found.draw(max(40, console.width)), markup=False, soft_wrap=True)
    answer = Outcome(session, found, found.names, f"Topics in {path.name or path}")
    words = [", ".join(term for term, _ in leaf.terms[:5]) for leaf in found.leaves]
    answer.write(to, lambda: {"terms": [words[label] if label >= 0 else "" for label in found.labels_]})
    session.write("tree", lambda file: _write_tree(file, found))
    about = {"command": "topics", "file": str(path), "terms": words, "notes": found.notes}
    session.finish(lambda: {**about, **summary_of(answer)})


def _write_tree(path: Path, found: Any) -> None:
    with replacing(path) as file:
        file.write(found.to_json(indent=1).encode())
