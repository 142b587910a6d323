"""Thesis 5.6, figures 19-21 and 26: time, NMI at every level and coherence against the number of clusters.

All collections, or those named: `python -m benchmarks.figures.topic_trees tdt2`. After `--` the runs and
the numbers of clusters may follow: `python -m benchmarks.figures.topic_trees tdt2 -- 3 5 10 20`.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks._tools import RESULTS, labelled, table
from benchmarks.figures._topic_methods import METHODS
from symclust.documents import DocumentWeights
from symclust.metrics import nmi_by_level, topic_coherence

RUNS, NUMBERS = 3, (5, 10, 20)
CLASSES = 20  # the largest ones of TDT2 and Reuters


def newsgroups() -> tuple[Any, list[tuple[str, ...]]] | None:
    """Terms in at least three documents, documents of at least five words (thesis 2.2.1)."""
    folder = os.environ.get("SYMCLUST_DATA")
    path = Path(folder or ".") / "20newsgroups_text.jsonl.gz"
    if folder is None or not path.exists():
        print(f"(skipped 20 Newsgroups: set SYMCLUST_DATA to the folder that holds {path.name})")
        return None
    with gzip.open(path, "rt", encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]
    pattern = r"(?u)\b[^\W\d_]\w+\b"
    counter = CountVectorizer(stop_words="english", min_df=3, token_pattern=pattern, dtype=np.float64)
    counts = sparse.csr_array(counter.fit_transform(document["text"] for document in documents))
    long = np.flatnonzero(counts.sum(axis=1) >= 5)
    return counts[long], [tuple(documents[i]["path"][:3]) for i in long]


def largest(name: str) -> tuple[Any, list[tuple[str, ...]]] | None:
    data = labelled(name)
    if data is None:
        return None
    X, y = data
    classes, sizes = np.unique(y, return_counts=True)
    rows = np.flatnonzero(np.isin(y, classes[np.argsort(-sizes, kind="stable")[:CLASSES]]))
    X = X[rows]
    return X[:, np.flatnonzero((X != 0).sum(axis=0) >= 3)], [(str(label),) for label in y[rows]]


COLLECTIONS = {
    "20newsgroups": newsgroups,
    "tdt2": lambda: largest("tdt2"),
    "reuters21578_41": lambda: largest("reuters21578_41"),
}


def measure(
    name: str, counts: Any, paths: list[Any], runs: int, numbers: Sequence[int]
) -> list[dict[str, Any]]:
    X = DocumentWeights().fit_transform(counts)
    print(f"\n{name}: {X.shape[0]} documents, {X.shape[1]} terms, {X.nnz} entries", flush=True)
    rows = []
    for method, run in METHODS.items():
        found: dict[int, list[list[float]]] = {k: [] for k in numbers}
        for seed in range(runs):
            for k, part in zip(numbers, run(X, counts, numbers, seed), strict=True):
                coherence = float(topic_coherence(counts, part.topics).mean())
                found[k].append([part.seconds, coherence, *nmi_by_level(paths, part.labels)])
        for k, values in found.items():
            _, coherence, *levels = np.mean(values, axis=0).tolist()
            seconds = min(value[0] for value in values)  # the least disturbed run
            row = {"method": method, "clusters": k, "s": seconds, "coherence": coherence}
            rows.append(row | {f"NMI {level}": value for level, value in enumerate(levels, start=1)})
            print(
                {key: round(v, 3) if isinstance(v, float) else v for key, v in rows[-1].items()}, flush=True
            )
    return rows


def draw(name: str, rows: list[dict[str, Any]]) -> None:
    import matplotlib.pyplot as plt

    columns = [key for key in rows[0] if key not in ("method", "clusters")]
    fig, axes = plt.subplots(1, len(columns), figsize=(4.2 * len(columns), 4), layout="constrained")
    for ax, column in zip(axes, columns, strict=True):
        for number, method in enumerate(METHODS):
            of = [row for row in rows if row["method"] == method]
            if not of:
                continue
            style = "--" if "flat" in method or method == "lda" else "-"
            x, y = [row["clusters"] for row in of], [row[column] for row in of]
            ax.plot(x, y, style, color=f"C{number}", marker="o", ms=4, label=method)
        ax.set(xlabel="clusters", title="seconds" if column == "s" else column)
        ax.set_xticks(sorted({row["clusters"] for row in rows}))
        if column == "s":
            ax.set_yscale("log")
            ax.yaxis.set_major_formatter("{x:g}")
            ax.yaxis.set_minor_formatter("")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    fig.suptitle(name, x=0.01, ha="left")
    RESULTS.mkdir(exist_ok=True)
    fig.savefig(RESULTS / f"topic_trees_{name}.png", dpi=100)
    plt.close(fig)


def main(arguments: Sequence[str] = ()) -> None:
    warnings.simplefilter("ignore")
    arguments = list(arguments)
    place = arguments.index("--") if "--" in arguments else len(arguments)
    names, options = arguments[:place], [int(option) for option in arguments[place + 1 :]]
    runs, numbers = (options or [RUNS])[0], options[1:] or NUMBERS
    for name in names or COLLECTIONS:
        if name not in COLLECTIONS:
            sys.exit(f"{name!r} is not one of the collections: {', '.join(COLLECTIONS)}.")
        data = COLLECTIONS[name]()
        if data is not None:
            rows = measure(name, *data, runs, numbers)
            table(f"Topic trees {name}, {runs} runs", rows)
            draw(name, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
