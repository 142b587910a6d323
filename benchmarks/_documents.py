"""Documents with classes, chosen as in 2.2.1 of the thesis."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks._tools import labelled


def enough(counts: Any, terms: int = 3, words: int = 5) -> tuple[sp.csr_array, np.ndarray]:
    """Return the counts of terms in at least three documents, and which documents have five of them."""
    counts = sp.csr_array(counts)
    counts = counts[:, np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) >= terms)]
    return counts, np.diff(counts.indptr) >= words


def newsgroups_counts() -> tuple[sp.csr_array, list[np.ndarray]] | None:
    """Word counts of 20 Newsgroups without citations, signatures and stop words; three levels of labels."""
    folder = os.environ.get("SYMCLUST_DATA")
    path = Path(folder or "") / "20newsgroups_text.jsonl.gz"
    if not folder or not path.exists():
        print(f"(skipped 20 Newsgroups: set SYMCLUST_DATA to the folder that holds {path.name})")
        return None
    texts, paths = [], []
    with gzip.open(path, "rt") as lines:
        for line in lines:
            post = json.loads(line)
            kept = (row for row in post["text"].split("\n") if not row.startswith((">", "--")))
            texts.append("\n".join(kept))
            paths.append(post["path"])
    counts, filled = enough(CountVectorizer(stop_words="english", dtype=np.float64).fit_transform(texts))
    levels = [np.unique([".".join(p[:depth]) for p in paths], return_inverse=True)[1] for depth in (1, 2, 3)]
    return counts[filled], [level[filled] for level in levels]


def labelled_texts(name: str) -> tuple[list[str], list[str]] | None:
    """Return the texts of a collection and their labels, or None with a note where it is not there."""
    folder = os.environ.get("SYMCLUST_DATA")
    path = Path(folder or "") / f"{name}.jsonl.gz"
    if not folder or not path.exists():
        print(f"(skipped {name}: set SYMCLUST_DATA to the folder that holds {path.name})")
        return None
    with gzip.open(path, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    return [row["text"] for row in rows], [row["label"] for row in rows]


def largest_classes(name: str, n_classes: int = 20) -> tuple[sp.csr_array, list[np.ndarray]] | None:
    """Word counts of a collection's largest classes, and their labels."""
    data = labelled(name)
    if data is None:
        return None
    X, y = data
    chosen = np.isin(y, np.argsort(-np.bincount(y), kind="stable")[:n_classes])
    counts, filled = enough(X[chosen])
    return counts[filled], [y[chosen][filled]]
