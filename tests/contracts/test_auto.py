"""``n_clusters="auto"`` with every estimator, affinity and kind of input: an answer, or a refusal."""

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from symclust import AttributedGraph, SymNMF, select_n_clusters
from symclust.exceptions import InputError, SymclustError
from symclust.operators import Gram, Operator, Sparse
from symclust.selection import _data

from .test_estimators import every_estimator, make, samples

pytestmark = pytest.mark.filterwarnings("ignore")  # small data: some are not done

X = samples(30, 6)
NETWORK = nx.planted_partition_graph(3, 10, 0.8, 0.05, seed=1)
W = nx.to_scipy_sparse_array(NETWORK, dtype=float)
INPUTS = {
    "array": X,
    "csr": sp.csr_array(X),
    "frame": pd.DataFrame(X, index=[f"sample {i}" for i in range(len(X))]),
    "similarities": X @ X.T,
    "networkx": NETWORK,
    "igraph": igraph.Graph.from_networkx(NETWORK),
    "attributed": AttributedGraph(W, np.eye(3)[np.arange(30) // 10] + 0.1),
    "gram": Gram(X, self_edges=False),
    "operator": Sparse(W),
}
OF_FEATURES = ("array", "csr", "frame")
OF_NETWORKS = ("networkx", "igraph", "operator")
ANSWERED = {  # by the kinds of input that an affinity is for; all other combinations are refused
    "auto": (*OF_FEATURES, *OF_NETWORKS, "attributed", "gram"),
    "nearest_neighbors": (*OF_FEATURES, *OF_NETWORKS, "similarities", "gram"),
    "cosine": (*OF_FEATURES, "similarities"),
    "gaussian": ("array", "frame", "similarities"),
    "self_tuning": ("array", "frame", "similarities"),
    "precomputed": ("similarities", *OF_NETWORKS, "gram"),
    "network": ("similarities", "networkx", "igraph"),
    "normalized_cut": (*OF_FEATURES, *OF_NETWORKS, "similarities", "gram"),
    "random_walk": (*OF_FEATURES, *OF_NETWORKS, "similarities"),
}
WITH_EDGES = ("HierarchicalSymNMF", "LinkageClustering")  # methods that look at stored pairs


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("affinity", ANSWERED)
def test_every_affinity_chooses_or_is_refused(affinity, kind):
    model = SymNMF("auto", affinity=affinity, max_iter=3, random_state=0)
    if kind in ANSWERED[affinity]:
        model.fit(INPUTS[kind])
        assert model.membership_.shape == (30, model.selection_.n_clusters)
    else:
        with pytest.raises(SymclustError, match=r"\w"):
            model.fit(INPUTS[kind])


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
@every_estimator
def test_every_estimator_chooses_with_cosines_and_says_the_same_again(cls, form):
    """Those on similarities; the others take features, and choose by neighbours."""
    if "affinity" not in make(cls).get_params():
        first, again = (make(cls, "auto").fit(form(X)) for _ in range(2))
    elif cls.__name__ in WITH_EDGES:
        with pytest.raises(SymclustError, match="Gram"):
            make(cls, "auto").set_params(affinity="cosine").fit(form(X))
        return
    else:
        first, again = (make(cls, "auto").set_params(affinity="cosine").fit(form(X)) for _ in range(2))
    assert first.selection_.sentence == again.selection_.sentence
    np.testing.assert_array_equal(first.labels_, again.labels_)
    np.testing.assert_array_equal(first.membership_, again.membership_)


@pytest.mark.parametrize("form", [np.array, sp.csr_array, Gram])
def test_many_cosines_are_never_written_out(form, monkeypatch):
    written, whole = [], Operator.toarray
    monkeypatch.setattr(Operator, "toarray", lambda A: written.append(A.n) or whole(A))
    monkeypatch.setattr(_data, "LARGEST_DENSE", 60)
    many = samples(90, 6)
    model = SymNMF("auto", affinity="precomputed" if form is Gram else "cosine", max_iter=3, random_state=0)
    assert model.fit(form(many)).selection_.n_clusters == 3
    assert not written
    assert len(model.labels_) == 90
    with pytest.raises(InputError, match="up to 60 samples are written out"):
        select_n_clusters(form(many), model.set_params(n_clusters=2), range(2, 4), "consensus")


@every_estimator
def test_every_estimator_has_a_random_state(cls):
    """The choice of the number is left to chance, whatever the method itself leaves to it."""
    assert make(cls).get_params()["random_state"] == 0
