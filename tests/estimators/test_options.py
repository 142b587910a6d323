"""Every option has an effect in every combination, or is refused or warned of by name."""

import inspect
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

import symclust
from symclust import registry
from symclust.exceptions import CombinationError

rng = np.random.default_rng(0)
X = rng.random((40, 6))
A = X @ X.T + 0.3 * np.kron(np.eye(4), np.ones((10, 10)))
GRAPH = (np.median(A) < A).astype(float)
MASK = np.eye(40)[::-1]
ONES = np.arange(1.0, 41)

SOLVERS = ("auto", *registry.options("solvers"))
OF_FACTORS = registry.options("two_factors.solvers")
# Of each estimator: options that steer which algorithm runs, and options that might not reach some of them.
# `tol` and `max_iter` belong to the common loop, except for methods with loops of their own.
COMBINATIONS = {
    "SymNMF": ({"solver": SOLVERS}, {"coupling": 3.0, "sparsity": 0.5}),
    "OffDiagonalSymNMF": ({"loss": ("squared", "absolute"), "solver": SOLVERS}, {"ignore": MASK}),
    "SymmetricFactorization": (
        {
            "constraint": registry.options("constraints"),
            "solver": ("auto", "projected_gradient", "columnwise"),
        },
        {"step_rule": "adaptive", "coupling": 30.0, "graph_regularization": 0.5},
    ),
    "SparseNMF": ({"solver": OF_FACTORS, "sparsity": (0.0, 0.1)}, {"ridge": 3.0}),
    "GraphNMF": (
        {"solver": OF_FACTORS, "graph": ("nearest_neighbors", GRAPH)},
        {"graph_params": {"n_neighbors": 3}, "graph_regularization": 3.0},
    ),
    "LeftStochastic": ({"solver": ("rotation", "multiplicative")}, {"n_init": 1, "tol": 0.5, "max_iter": 1}),
    "KernelKMeans": (
        {"init": ("samples", "spectral"), "indefinite": ("clip", "shift")},
        {"weights": ONES, "n_init": 1, "max_iter": 1},
    ),
    "KernelConvexNMF": ({"indefinite": ("clip", "shift")}, {"tol": 0.5, "max_iter": 1}),
    "SphericalKMeans": ({}, {"n_init": 1, "max_iter": 1}),
}


def cases():
    for name, (steering, options) in COMBINATIONS.items():
        for values in product(*steering.values()):
            for option, value in options.items():
                steered = dict(zip(steering, values, strict=True))
                words = [name, *map(str, (v for v in values if isinstance(v, str | float))), option]
                yield pytest.param(name, steered, option, value, id="-".join(words))


def outcome(model):
    """Everything that an option can change, without the seconds."""
    model.fit(A if "affinity" in model.get_params() else X)
    history = getattr(model, "history_", None)
    objectives = () if history is None else tuple(history.objective)
    inits = tuple(getattr(model, "inits_", ()))
    return model.membership_.tobytes(), objectives, inits, getattr(model, "converged_", None)


@pytest.mark.parametrize(("name", "steered", "option", "value"), list(cases()))
@pytest.mark.filterwarnings("ignore")
def test_an_option_has_an_effect_or_is_refused_by_name(name, steered, option, value):
    cls = getattr(symclust, name)
    known = inspect.signature(cls).parameters
    params = {"random_state": 0, "affinity": "precomputed", "max_iter": 20, "tol": 1e-9, **steered}
    if "coupling" in known or "loss" in known:
        params["init"] = "random"
    plain = cls(6, **{name: value for name, value in params.items() if name in known})
    try:
        expected = outcome(clone(plain))
    except CombinationError:
        return  # the steering options do not go together
    try:
        found = outcome(plain.set_params(**{option: value}))
    except CombinationError as error:
        assert option in str(error)
        return
    assert found != expected


def test_fit_takes_weights_of_samples_only_if_it_uses_them():
    X = np.random.default_rng(1).random((60, 4))
    weighted = []
    for name in symclust.__all__:
        cls = getattr(symclust, name)
        if "sample_weight" in inspect.signature(getattr(cls, "fit", lambda: None)).parameters:
            plain, other = (cls(4, random_state=0).fit(X, sample_weight=w) for w in (None, np.arange(1, 61)))
            assert plain.objective_ != other.objective_
            weighted.append(name)
    assert weighted == ["KernelKMeans", "SphericalKMeans"]
