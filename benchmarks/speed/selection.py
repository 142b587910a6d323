"""One GPS selection beside the same protocol written with scikit-learn's NMF."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
from sklearn.decomposition import NMF as SklearnNMF

from benchmarks._tools import table, timed
from symclust import NMF, AffineNMF, select_n_clusters
from symclust.datasets import simulated_expression
from symclust.selection import Features
from symclust.selection.methods.prediction_strength import agreement

CANDIDATES = range(2, 8)
REPEATS, NULLS, NULL_REPEATS = 50, 20, 5
PEERS = {
    "scikit-learn NMF, defaults": {},
    "scikit-learn NMF, random start, 1,000 iterations": {"init": "random", "max_iter": 1000},
}


def main() -> None:
    table("GPS on the simulation of four clusters", [row for noise in (0.25, 0.35) for row in _rows(noise)])


def _rows(noise: float) -> list[dict[str, object]]:
    X, _ = simulated_expression(4, noise, random_state=0)
    params = {"n_repeats": REPEATS, "n_nulls": NULLS, "n_null_repeats": NULL_REPEATS}
    rows = []
    for model in (NMF(), AffineNMF()):
        ask = partial(select_n_clusters, X, model, CANDIDATES, method_params=params, random_state=0)
        seconds, answer = timed(ask)
        strength = answer.curves["prediction strength"].values
        rows.append(_row(noise, f"symclust {type(model).__name__}", seconds, answer.n_clusters, strength))
    for title, options in PEERS.items():
        seconds, (k, strength) = timed(partial(_protocol, X, options))
        rows.append(_row(noise, title, seconds, k, strength))
    for row in rows:
        row["times symclust NMF"] = row["seconds"] / rows[0]["seconds"]
    return rows


def _row(noise: float, title: str, seconds: float, k: int, strength: np.ndarray) -> dict[str, object]:
    return {"noise": noise, "": title, "seconds": seconds, "answer": k, "strength at 4": float(strength[2])}


def _protocol(X: np.ndarray, options: dict) -> tuple[int, np.ndarray]:
    """Return the answer of (40)-(42) and the prediction strengths."""
    rng, data = np.random.RandomState(0), Features(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = _strengths(X, REPEATS, rng, options).mean(axis=0)
        nulls = [_strengths(data.null(rng).X, NULL_REPEATS, rng, options) for _ in range(NULLS)]
    null = np.concatenate(nulls)
    gap = own - null.mean(axis=0)
    best = int(gap.argmax())
    return (CANDIDATES[best] if gap[best] > null[:, best].std(ddof=1) else 1), own


def _strengths(X: np.ndarray, repeats: int, rng: np.random.RandomState, options: dict) -> np.ndarray:
    found = np.zeros((repeats, len(CANDIDATES)))
    for row in found:
        order = rng.permutation(len(X))
        halves = np.array_split(order, 2)
        for place, k in enumerate(CANDIDATES):
            models = [SklearnNMF(k, random_state=rng.randint(2**31), **options) for _ in halves]
            own = [_labels(m, m.fit_transform(X[half])) for m, half in zip(models, halves, strict=True)]
            predicted = [
                _labels(m, m.transform(X[half])) for m, half in zip(models[::-1], halves, strict=True)
            ]
            row[place] = np.mean([agreement(a, b, k) for a, b in zip(own, predicted, strict=True)])
    return found


def _labels(model: SklearnNMF, W: np.ndarray) -> np.ndarray:
    return (W * np.linalg.norm(model.components_, axis=1)).argmax(axis=1)


if __name__ == "__main__":
    main()
