"""Is a confidence of 0.9 right nine times in ten? On all labelled data, with the number of classes given.

A sample is right if its class is that of most of its cluster. Expected calibration error, ten bins, and the
area under the curve of right before wrong, beside those of the share of the largest membership.
SYMCLUST_SELECTION_SETS names beginnings of the names of sets.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks._tools import table
from benchmarks.selection import _sets as sets
from symclust import SymNMF
from symclust.estimators import by_shares

BINS = 10
NAMES = ("right", "mean", "error", "AUC", "error (share)", "AUC (share)")
KINDS = (sets.of_tables, sets.of_vectors, sets.of_networks, sets.of_lfr, sets.of_documents)


def right(y: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return whether each sample has the class that most samples of its cluster have."""
    counts = np.zeros((labels.max() + 1, y.max() + 1))
    np.add.at(counts, (labels, y), 1)
    return counts.argmax(axis=1)[labels] == y


def calibration_error(confidence: np.ndarray, is_right: np.ndarray) -> float:
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = np.bincount(place, confidence - is_right, BINS)
    return float(np.abs(gaps).sum() / len(place))


def measured(confidence: np.ndarray, is_right: np.ndarray) -> dict[str, float]:
    mixed = 0 < is_right.mean() < 1
    return {
        "right": float(is_right.mean()),
        "mean": float(confidence.mean()),
        "error": calibration_error(confidence, is_right),
        "AUC": float(roc_auc_score(is_right, confidence)) if mixed else float("nan"),
    }


def rows() -> Iterator[dict[str, Any]]:
    wanted = tuple(os.environ.get("SYMCLUST_SELECTION_SETS", "").split(","))
    for one in (one for kind in KINDS for one in kind()):
        if not one.name.startswith(wanted):
            continue
        y = one.labels[0]
        model = SymNMF(len(np.unique(y)), random_state=0).fit(one.X)
        labels, confidence = np.asarray(model.labels_), model.confidence
        placed = (labels >= 0) & np.isfinite(confidence)
        is_right = right(y[placed], labels[placed])
        share = by_shares(model.membership_, labels).confidence[placed]
        other = measured(np.nan_to_num(share), is_right)
        kept = {
            **measured(confidence[placed], is_right),
            "error (share)": other["error"],
            "AUC (share)": other["AUC"],
        }
        row = {"group": one.group, "data": one.name, "n": len(y), **kept}
        print(row, flush=True)
        yield row


def main() -> None:
    found = list(rows())
    groups = list(dict.fromkeys(row["group"] for row in found))
    means = []
    for group in groups:
        own = [row for row in found if row["group"] == group]
        mean = {name: float(np.nanmean([row[name] for row in own])) for name in NAMES}
        means.append({"group": group, "sets": len(own), **mean})
    table("Calibration of confidence, by set", found)
    table("Calibration of confidence", means)
