"""How far a reader walks to follow one call: functions, files, and changes from one file to another.

``python -m benchmarks.walks`` follows four calls through the package. A function counts once, where it is
first entered; a change of file is a function whose predecessor in that order stands in another file. Run with
``--list`` to see the way itself.
"""

from __future__ import annotations

import argparse
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import networkx as nx
from sklearn.datasets import load_digits

import symclust
from symclust import HierarchicalSymNMF, SymNMF, topics

PACKAGE = Path(symclust.__file__).parent
TEXTS = [
    f"{noun} {verb} {place}"
    for noun in ("cats", "dogs", "birds", "prices", "markets", "banks")
    for verb in ("like", "fear", "follow", "rise in", "fall in")
    for place in ("the garden", "the forest", "the town", "spring", "autumn")
]


def digits() -> Any:
    return load_digits().data[:500]


def club() -> nx.Graph:
    return nx.karate_club_graph()


WALKS: dict[str, Callable[[], Any]] = {
    "SymNMF.fit(array)": lambda: SymNMF(10, random_state=0).fit(digits()),
    "SymNMF.fit(graph)": lambda: SymNMF(2, random_state=0).fit(club()),
    "topics(texts)": lambda: topics(TEXTS, 4, random_state=0),
    "HierarchicalSymNMF.fit(graph)": lambda: HierarchicalSymNMF(4, random_state=0).fit(club()),
}


class Walk:
    """The functions of the package that a call enters, in the order of their first visit."""

    def __init__(self) -> None:
        self.steps: dict[tuple[str, str], None] = {}

    def follow(self, call: Callable[[], Any]) -> None:
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            call()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(PACKAGE)) and not code.co_name.startswith("<"):
            self.steps[str(Path(code.co_filename).relative_to(PACKAGE)), code.co_qualname] = None

    @property
    def files(self) -> list[str]:
        return [file for file, _ in self.steps]

    def __str__(self) -> str:
        changes = sum(a != b for a, b in zip(self.files, self.files[1:], strict=False))
        return f"{len(self.steps)} functions in {len(set(self.files))} files, {changes} changes of file"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print every function on the way")
    wanted = parser.parse_args()
    for name, call in WALKS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()  # once before: what is imported or cached on the first call is no part of the way
            walk = Walk()
            walk.follow(call)
        print(f"{name:32} {walk}")
        if wanted.list:
            print(*(f"    {file:36} {function}" for file, function in walk.steps), sep="\n")
    sources = [p for p in PACKAGE.rglob("*") if p.suffix in (".py", ".cpp", ".hpp")]
    print(f"source files: {len(sources)}, lines: {sum(len(p.read_text().splitlines()) for p in sources)}")


if __name__ == "__main__":
    main()
