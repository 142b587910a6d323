"""The terminal that commands draw on, and text made fit for it."""

from __future__ import annotations

import re
from contextlib import suppress

from rich.console import Console
from rich.text import Text

from symclust._text import showable


class _Lasting(Console):
    """A console that goes silent when nobody reads it any more; rich would end the command, files or not."""

    def on_broken_pipe(self) -> None:
        with suppress(SystemExit):
            super().on_broken_pipe()


screen = _Lasting(highlight=False)
errors = _Lasting(stderr=True, highlight=False)

# What messages of the library call an option, and what the command calls it.
OPTIONS = {
    "n_clusters": "-k",
    "n_topics": "-k",
    "n_segments": "--segments",
    "n_subtypes": "-k",
    "n_genes": "--genes",
    **{
        name: f"--{name.replace('_', '-')}"
        for name in (
            "kind", "delimiter", "header", "id_column", "columns", "drop", "numbers", "categories", "scale",
            "text_columns", "missing", "weight",
            "duplicates", "text_column", "key", "encoding", "max_iter", "time_limit", "tol", "affinity",
            "method", "candidates", "orientation", "layer", "way", "preset", "language", "min_df", "max_df",
        )
    },
}  # fmt: skip
NAMED = re.compile(rf"\b({'|'.join(OPTIONS)})=('[^']*'|\"[^\"]*\"|\[\.\.\.\]|\.\.\.|\w[\w.]*)")


def print_line(console: Console, text: str, style: str = "") -> None:
    """Print text of any origin as it is: nothing in it is markup or steers the terminal.

    Lines are broken for a terminal alone; in a file or a pipe a sentence stays one line.
    """
    console.print(Text(showable(text), style=style), soft_wrap=not console.is_terminal)


def as_options(message: str) -> str:
    """A message of the library in the words of the command: ``--id-column none`` for ``id_column=None``."""
    return re.sub(r"\bn_(clusters|topics|subtypes)\b", "-k", NAMED.sub(_as_option, message))


def _as_option(found: re.Match[str]) -> str:
    name, value = found[1], found[2]
    end = "." if value.endswith(".") and not value.endswith("...") else ""
    value = value.removesuffix(".") if end else value
    if name == "header" and value in ("True", "False"):
        return ("--header" if value == "True" else "--no-header") + end
    if value in ("...", "'...'"):
        value = "CHAR" if name == "delimiter" else "NAME"
    known = {"None": "none", "[...]": "NAME,NAME"}
    return f"{OPTIONS[name]} {known.get(value, value.strip(chr(39) + chr(34)))}{end}"
