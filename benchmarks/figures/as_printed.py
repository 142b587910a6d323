"""What each "as printed" option gives beside ours: objective, accuracy and processor time."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

from benchmarks._tools import table
from symclust import (
    NMF,
    GraphNMF,
    HierarchicalNMF,
    LeftStochastic,
    OffDiagonalSymNMF,
    SphericalKMeans,
    SymmetricFactorization,
    SymNMF,
)
from symclust.datasets import noisy_cliques
from symclust.documents import DocumentWeights
from symclust.graphs import nearest_neighbors
from symclust.k_means import both_phases, plain_k_means
from symclust.metrics import clustering_accuracy, factor_accuracy
from symclust.reproduce._data import labelled
from symclust.reproduce.constrained import inner_products

DATA = Path(os.environ.get("SYMCLUST_DATA", "data"))
SEEDS = 3
COUNTS = ("tr23", "tr11", "tr45")
IMAGES = ("orl_32x32", "coil20")
NEWTON = ("row_descent", "newton", "newton_by_columns", "newton_delayed", "projected_newton")
GREEDY = ("greedy", "greedy_as_printed", "greedy_throughout", "random", "random_as_printed")

Rows = Iterator[dict[str, Any]]


def row(
    data: str, option: str, fit: Callable[[int], Any], score: Callable[[Any], float], seeds: int = SEEDS
) -> Any:
    begun = time.process_time()
    models = [fit(seed) for seed in range(seeds)]
    seconds = (time.process_time() - begun) / seeds
    accuracy = float(np.mean([score(model) for model in models]))
    objective = float(np.mean([getattr(model, "objective_", np.nan) for model in models]))
    values = {"objective": objective, "accuracy": accuracy}
    return {"data": data, "option": option, **values, "seconds": seconds}


def by_labels(y: np.ndarray) -> Callable[[Any], float]:
    return lambda model: clustering_accuracy(y, model.labels_)


def solvers() -> Rows:
    for name in IMAGES:
        X, y = labelled(DATA / f"{name}.npz")
        A, k = nearest_neighbors(X), len(np.unique(y))
        for solver in NEWTON:
            options: dict[str, Any] = {"affinity": "precomputed", "init": "random", "tol": 1e-4}
            yield row(
                name,
                solver,
                lambda s, A=A, k=k, o=options, v=solver: SymNMF(k, solver=v, random_state=s, **o).fit(A),
                by_labels(y),
                1 if name == "coil20" else SEEDS,
            )


def starts() -> Rows:
    for loss in ("absolute", "squared"):
        for init in GREEDY:
            options: dict[str, Any] = {"loss": loss, "init": init, "affinity": "precomputed"}
            for name in COUNTS:
                X, y = labelled(DATA / f"{name}.npz")
                A, k = (normalize(X) @ normalize(X).T).toarray(), len(np.unique(y))
                yield row(
                    f"{name}, {loss}",
                    init,
                    lambda s, A=A, k=k, o=options: OffDiagonalSymNMF(k, tol=1e-4, random_state=s, **o).fit(A),
                    by_labels(y),
                    SEEDS if "random" in init else 1,
                )
            cases = [noisy_cliques([10] * 5, 0.1, random_state=seed) for seed in range(10)]
            models = [
                OffDiagonalSymNMF(5, random_state=seed, **options).fit(A) for seed, (A, _) in enumerate(cases)
            ]
            found = [factor_accuracy(H, one.membership_) for (_, H), one in zip(cases, models, strict=True)]
            yield {
                "data": f"5 cliques of 10, {loss}",
                "option": init,
                "accuracy": float(np.mean(found)),
                "objective": float(np.mean([one.objective_ for one in models])),
                "seconds": "",
            }


def steps() -> Rows:
    for name in IMAGES:
        X, y = labelled(DATA / f"{name}.npz")
        A, k = inner_products(csr_array(X.astype(float)), True), len(np.unique(y))
        for rule in ("accelerated", "adaptive", "lanczos"):
            options: dict[str, Any] = {"step_rule": rule, "affinity": "precomputed", "max_iter": 200}
            yield row(
                name,
                rule,
                lambda s, A=A, k=k, o=options: SymmetricFactorization(k, random_state=s, **o).fit(A),
                by_labels(y),
                1,
            )


def updates() -> Rows:
    for name in ("aural_sonar", "voting"):
        K, y = labelled(DATA / f"{name}.npz")
        for solver in ("rotation", "multiplicative", "multiplicative_as_printed"):
            yield row(
                name,
                solver,
                lambda s, K=K, v=solver: LeftStochastic(
                    2, solver=v, affinity="precomputed", random_state=s
                ).fit(K),
                by_labels(y),
            )
    for name in COUNTS:
        X, y = labelled(DATA / f"{name}.npz")
        X, k = DocumentWeights().fit_transform(X), len(np.unique(y))
        for solver in ("bpp", "active_set", "multiplicative", "multiplicative_as_printed"):
            options: dict[str, Any] = {"init": "random", "max_iter": 200}
            yield row(
                f"NMF, {name}",
                solver,
                lambda s, X=X, k=k, o=options, v=solver: NMF(k, solver=v, random_state=s, **o).fit(X),
                by_labels(y),
            )
        for split in ("rank_two", "active_set"):
            yield row(
                f"tree, {name}",
                split,
                lambda s, X=X, k=k, v=split: HierarchicalNMF(k, split=v, random_state=s).fit(X),
                by_labels(y),
            )
        for phases, fit in (("batch", lambda X, k, s: plain_k_means(X, k, 1, s)), ("both", both_phases)):
            yield row(f"k-means, {name}", phases, lambda s, X=X, k=k, f=fit: f(X, k, s), inertia_and(y))


def inertia_and(y: np.ndarray) -> Callable[[Any], float]:
    def score(model: Any) -> float:
        model.objective_ = model.inertia_
        return clustering_accuracy(y, model.labels_)

    return score


def graphs() -> Rows:
    for name in IMAGES:
        X, y = labelled(DATA / f"{name}.npz")
        X, E, k = normalize(X.astype(float)), nearest_neighbors(X, normalize=False), len(np.unique(y))
        ways: dict[str, dict[str, Any]] = {
            "default": {},
            "λ = 100, 0/1 weights": {"graph": (E > 0).astype(float), "graph_regularization": 100.0},
        }
        ways["the same, as printed"] = {
            **ways["λ = 100, 0/1 weights"],
            "scaled": False,
            "solver": "multiplicative_as_printed",
        }
        for way, options in ways.items():
            fit = lambda s, X=X, k=k, o=options: GraphNMF(  # noqa: E731
                k, init="random", max_iter=200, random_state=s, **o
            ).fit(X)
            yield row(f"GNMF, {name}", f"{way}, argmax", fit, by_labels(y))
            yield row(f"GNMF, {name}", f"{way}, spherical k-means", fit, spherical(y, k))


def spherical(y: np.ndarray, k: int) -> Callable[[Any], float]:
    return lambda model: clustering_accuracy(
        y, SphericalKMeans(k, n_init=1, random_state=0).fit(model.membership_).labels_
    )


def main() -> None:
    warnings.simplefilter("ignore")
    for rows in (solvers, starts, steps, updates, graphs):
        table(f"As printed beside ours: {rows.__name__}", rows())
