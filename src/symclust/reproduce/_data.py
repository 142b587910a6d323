"""The data sets behind the tables, from a folder of .npz and .jsonl.gz files."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from symclust._types import Array

Labelled: TypeAlias = tuple[Any, Array]
"""Samples in rows, or a similarity of all pairs, and their classes."""

NEWSGROUPS = "20newsgroups_text.jsonl.gz"


@cache
def labelled(path: Path) -> Labelled:
    """Return the samples (or similarities) of an .npz file, dense or CSR, as float64, and their classes."""
    with np.load(path, allow_pickle=False) as file:
        for name in ("X", "K"):
            if name in file:
                return file[name] * float(file.get("X_scale", 1)), file["y"]
        data, indices, indptr = (file[f"X_{part}"] for part in ("data", "indices", "indptr"))
        return sparse.csr_array((data.astype(float), indices, indptr), shape=tuple(file["X_shape"])), file[
            "y"
        ]


@cache
def documents(path: Path) -> Labelled:
    """Return counts and classes as thesis 2.2.1 prepares them; of other collections the 20 largest classes.

    Terms seen fewer than three times and documents of fewer than five words are dropped, and of posts the
    cited lines and signatures as far as lines are left.
    """
    counts, y = _posts(path) if path.name == NEWSGROUPS else labelled(path)
    if path.name != NEWSGROUPS:
        chosen = np.isin(y, np.argsort(-np.bincount(y), kind="stable")[:20])
        counts, y = counts[chosen], y[chosen]
    counts = sparse.csr_array(counts[:, np.asarray(counts.sum(axis=0)).ravel() >= 3])
    long = np.asarray(counts.sum(axis=1)).ravel() >= 5
    return sparse.csr_array(counts[long]), y[long]


def _posts(path: Path) -> Labelled:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        posts = [json.loads(line) for line in file]
    counts = CountVectorizer(stop_words="english", dtype=np.float64).fit_transform(map(_own_lines, posts))
    return sparse.csr_array(counts), np.unique([post["label"] for post in posts], return_inverse=True)[1]


def _own_lines(post: dict[str, str]) -> str:
    return "\n".join(line for line in post["text"].split("\n") if not line.startswith((">", "--")))
