"""One name, one thing: no public class or function shares its name with another one of the package."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import symclust

ROOT = Path(symclust.__file__).parent

# Names that stand for two things on purpose, and why.
ALLOWED = {
    "Hals": "an option called by its class: one factor and two factors have a solver of that name",
    "Multiplicative": "as Hals",
    "ProjectedGradient": "as Hals",
    "Sparse": "an option called by its class: an operator, and a constraint",
    "gram": "the kernel, and the function that takes any form of H",
    "Evidence": "of unlike values beside noise, and of the words about clusters",
    "Found": "in words about clusters, and in tables of papers",
    "Merge": "two centres that become one, and a start",
    "Tree": "a tree of clusters, and the start from one",
    "active_set": "as rank_two",
    "Auto": "an option called by its class: a start, and a way to choose the number of clusters",
    "LowRank": "an operator, and the start that solves the problem on it",
    "pieces": "of each document's experiments",
    "Progress": "of a descent, and of a study of the number of clusters: what a callback gets",
    "rank_two": "an option of splits, and one of the solvers of nonnegative least squares",
    "memberships": "by nonnegative least squares, and on the simplex",
}


def test_no_name_is_defined_twice():
    places = defaultdict(set)
    for path in sorted(ROOT.rglob("*.py")):
        if path.parent.name == "cli":  # a command is a function of its name
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                places[node.name].add(path.relative_to(ROOT).as_posix())
    assert {name: found for name, found in places.items() if len(found) > 1 and name not in ALLOWED} == {}
