"""NMF as libraries offer it, called as in their first example: time, peak memory, error, classes found."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score

from benchmarks._documents import largest_classes
from benchmarks._tools import table
from benchmarks.speed import _matrix_methods as methods
from benchmarks.speed._peers import Outcome, run, stored
from symclust.documents import DocumentWeights

CLUSTERS, SECONDS = 20, 120.0
PEERS = (
    methods.ours,
    methods.sklearn_cd,
    methods.sklearn_mu,
    methods.sklearn_batches,
    methods.gensim_nmf,
    methods.torch_nmf,
    methods.pyplanc_nmf,
    methods.nimfa_nmf,
)
PLOTS = [{"y": "s", "by": "method"}, {"y": "peak (MB)", "by": "method"}]


def main() -> None:
    data = largest_classes("reuters21578_41", CLUSTERS)
    if data is None:
        return
    X, y = sp.csr_array(DocumentWeights().fit_transform(data[0])), data[1][0]
    rows = []
    with stored(X) as folder:
        history: dict[str, np.ndarray] = {}
        for peer in PEERS:
            outcome = run(peer, folder, SECONDS, k=CLUSTERS)
            answer = outcome.answer
            if peer is methods.ours:
                history = {name: answer.pop(name) for name in ("seconds", "objective") if name in answer}
            quality = {} if outcome.failed else _quality(X, y, **answer)
            rows.append({"method": peer.name, **quality, **outcome.facts, **_race(history, quality, outcome)})
            print(rows[-1], flush=True)
    table(f"NMF of Reuters: {X.shape[0]:,} × {X.shape[1]:,}, {CLUSTERS} clusters", rows, PLOTS)


def _race(history: dict[str, np.ndarray], quality: dict[str, Any], outcome: Outcome) -> dict[str, float]:
    """Return how long ours takes to this error, from its start on, and how many times as long this took."""
    reached = np.flatnonzero(history.get("objective", np.empty(0)) <= quality.get("squared error", -1))
    if outcome.failed or not reached.size:
        return {}
    ours = float(history["seconds"][reached[0]])
    return {"ours to this error (s)": ours, "times ours": outcome.facts["s"] / ours}


def _quality(X: sp.csr_array, y: np.ndarray, W: np.ndarray, C: np.ndarray) -> dict[str, Any]:
    """Return ‖X − WCᵀ‖ / ‖X‖, and the NMI of the largest entries of W, with columns of C of length 1."""
    norm = float((X.data**2).sum())
    W, C = W.astype(np.float64), C.astype(np.float64)
    error = norm - 2 * float(np.sum(W * (X @ C))) + float(np.sum((W.T @ W) * (C.T @ C)))
    labels = (W * np.linalg.norm(C, axis=0)).argmax(axis=1)
    nmi = float(normalized_mutual_info_score(y, labels))
    return {"squared error": error, "relative error": float(np.sqrt(error / norm)), "NMI": nmi}


if __name__ == "__main__":
    main()
