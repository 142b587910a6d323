"""select_n_clusters and n_clusters="auto", as a user meets them."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import DBSCAN, KMeans, SpectralClustering
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

import symclust
from symclust import AffineNMF, AttributedGraph, HierarchicalSymNMF, SymNMF, registry, select_n_clusters
from symclust.datasets import planted_partition, simulated_expression
from symclust.exceptions import InputError, InputTypeError, OptionError
from symclust.operators import as_operator
from symclust.selection.methods.gap import Gap

QUICK = {
    "gps": {"n_repeats": 3, "n_nulls": 3, "n_null_repeats": 2},
    "prediction_strength": {"n_repeats": 3},
    "gap": {"n_nulls": 3},
    "consensus": {"n_resamples": 6},
    "consensus_init": {"n_starts": 4},
}
# What easy vectors and similarities are decided by as well; others are rules of thumb.
SURE = ("auto", "consensus", "gps")


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(120, centers=[[0, 0, 0], [9, 0, 0], [0, 9, 0]], random_state=0)[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", registry.options("selection.methods"))
@pytest.mark.parametrize("kind", ["vectors", "network", "similarity"])
def test_every_method_answers(method, kind, blobs):
    given, model = {
        "vectors": (blobs, SymNMF(affinity_params={"n_neighbors": 8})),
        "network": (nx.planted_partition_graph(3, 30, 0.5, 0.03, seed=0), SymNMF()),
        "similarity": (
            np.exp(-np.square(blobs[:, None] - blobs).sum(axis=2)),
            SymNMF(affinity="precomputed"),
        ),
    }[kind]
    options = {"candidates": range(2, 6), "method_params": QUICK.get(method), "random_state": 0}
    answer = select_n_clusters(given, model, method=method, **options)
    if kind == "network" or method in SURE:
        assert answer.n_clusters == 3
    assert answer.n_clusters in (1, 2, 3, 4, 5)
    assert answer.method == method and answer.seconds > 0 and "cluster" in str(answer)
    assert set(answer.to_dataframe()["n_clusters"]) <= {1, 2, 3, 4, 5}
    assert answer.plot().get_xlabel()


def test_the_default_is_a_tree_and_repeatable(blobs):
    first, second = (
        select_n_clusters(blobs, None, range(2, 6), "gps", method_params=QUICK["gps"], random_state=3)
        for _ in "ab"
    )
    assert first.n_clusters == 3
    np.testing.assert_array_equal(first.scores, second.scores)


def test_one_default_for_the_function_and_the_estimators(blobs):
    asked = select_n_clusters(blobs, SymNMF(), random_state=5)
    fitted = SymNMF("auto", random_state=5).fit(blobs).selection_
    assert asked.method == fitted.method == "auto"
    assert (asked.n_clusters, str(asked)) == (fitted.n_clusters, str(fitted))
    np.testing.assert_array_equal(asked.scores, fitted.scores)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", [KMeans(n_init=3), GaussianMixture(), SpectralClustering()], ids=repr)
def test_clusterers_of_scikit_learn(model, blobs):
    answer = select_n_clusters(
        blobs, model, range(2, 5), "gps", method_params={"n_repeats": 3, "n_nulls": 3}, random_state=0
    )
    assert answer.n_clusters == 3


def test_precomputed_similarities_of_scikit_learn(blobs):
    K = np.exp(-np.square(blobs[:, None] - blobs).sum(axis=2) / 9)
    model = SpectralClustering(affinity="precomputed")
    answer = select_n_clusters(K, model, range(2, 5), "prediction_strength", random_state=0)
    assert answer.n_clusters == 3


def test_sparse_words_stay_sparse(monkeypatch):
    rng = np.random.RandomState(0)
    X = sparse.csr_array(np.kron(np.eye(3), rng.uniform(size=(30, 40)) < 0.2) * 1.0)
    monkeypatch.setattr("symclust.selection._data.UniformBox", lambda *_: pytest.fail("made dense"))
    answer = select_n_clusters(X, HierarchicalSymNMF(), range(2, 6), "auto", random_state=0)
    assert answer.n_clusters == 3


def test_an_object_as_method(blobs):
    answer = select_n_clusters(blobs, KMeans(n_init=3), range(2, 5), Gap(4), random_state=0)
    assert answer.method == "gap" and answer.n_clusters == 3


def test_the_estimator_is_not_fitted(blobs):
    model = KMeans(n_clusters=7, n_init=1)
    select_n_clusters(blobs, model, (2, 3), "prediction_strength", random_state=0)
    assert model.n_clusters == 7 and not hasattr(model, "labels_")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"method": "elbow"}, OptionError, "method='elbow' is not known. Choose one of .*'gps'"),
        (
            {"method": "gps", "method_params": {"starts": 3}},
            OptionError,
            "'starts' is not known.*the parameters of method='gps'",
        ),
        ({"method": Gap(3), "method_params": {"n_nulls": 3}}, OptionError, "goes with the name"),
        ({"candidates": (1, 2)}, OptionError, "at least 2"),
        ({"candidates": ()}, OptionError, "at least 2"),
        ({"candidates": 5}, OptionError, "such as range"),
        ({"candidates": (2, 500)}, OptionError, "reach 500, but there are only 120 samples"),
        ({"estimator": 4}, InputTypeError, "the number of clusters is set by candidates"),
        ({"estimator": DBSCAN(), "method": "gap"}, InputError, "DBSCAN has no parameter n_clusters"),
    ],
)
def test_what_cannot_be_done_is_said(arguments, error, words, blobs):
    with pytest.raises(error, match=words):
        select_n_clusters(blobs, **arguments)


def test_graphs_need_an_estimator_on_similarities():
    with pytest.raises(InputTypeError, match="KMeans takes samples × features, not a Graph"):
        select_n_clusters(nx.karate_club_graph(), KMeans())


def test_negative_numbers_are_refused_where_nmf_would():
    with pytest.raises(ValueError, match="Negative values"):
        select_n_clusters(-np.ones((9, 2)), AffineNMF(), (2, 3))


def test_ctrl_c_ends_the_study(blobs, monkeypatch):
    """A fit keeps the best so far at Ctrl-C; a study of thousands of fits must not go on after it."""
    plain, fits = SymNMF.fit, []

    def fit(self, X, y=None):
        fits.append(1)
        return plain(self, X, y)

    def press(progress):
        raise KeyboardInterrupt

    monkeypatch.setattr(SymNMF, "fit", fit)
    with pytest.raises(KeyboardInterrupt):
        select_n_clusters(blobs, SymNMF(callback=press), (2, 3), "prediction_strength", random_state=0)
    assert len(fits) == 1


# n_clusters="auto" ------------------------------------------------------------------------------------------

ESTIMATORS = [
    name for name in symclust.__all__ if name[0].isupper() and hasattr(getattr(symclust, name), "fit")
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_chooses(name, blobs):
    kind, X = getattr(symclust, name), blobs - blobs.min()
    inner = {"estimator": symclust.KernelKMeans(2)} if name == "DivisiveClustering" else {}
    model = kind(n_clusters="auto", **inner).fit(X)
    assert model.selection_.n_clusters == 3
    assert model.get_params()["n_clusters"] == "auto"
    assert len(np.unique(model.labels_[model.labels_ >= 0])) <= 3
    assert model.predict(X[:5]).shape == (5,)
    noise = np.random.RandomState(0).uniform(size=(100, 3))
    assert kind(n_clusters="auto", **inner).fit(noise).labels_.max() == 0
    assert model.set_params(n_clusters=2).fit(X).selection_ is None


def test_networks_choose_and_keep_their_names():
    graph = nx.relabel_nodes(nx.planted_partition_graph(3, 30, 0.5, 0.02, seed=0), "node {}".format)
    model = SymNMF("auto", random_state=0).fit(graph)
    assert len(model.communities()) == 3 and model.communities()[0][0].startswith("node")


def test_callbacks_are_those_of_the_user(blobs):
    class Listener:
        def __init__(self):
            self.calls = 0

        def __call__(self, progress):
            self.calls += 1

    listener = Listener()
    SymNMF("auto", callback=listener, random_state=0).fit(blobs)
    assert listener.calls > 0


def test_a_choice_that_fails_leaves_the_model_as_it_was(blobs):
    model = SymNMF("auto", random_state=0).fit(blobs)
    before = dict(vars(model))
    with pytest.raises(ValueError):
        model.fit(np.full((4, 2), np.nan))
    assert vars(model) == before


def test_operators_and_attributed_graphs():
    A, _ = planted_partition(150, 3, degree=20, mixing=0.1, random_state=0)
    assert SymNMF("auto", random_state=0).fit(as_operator(A)).selection_.n_clusters == 3
    X = np.kron(np.eye(3), np.ones((50, 4))) + np.random.RandomState(0).uniform(size=(150, 12))
    model = SymNMF("auto", random_state=0).fit(AttributedGraph(A, X))
    assert model.selection_.n_clusters == 3


def test_affine_nmf_chooses_by_compiled_parts(monkeypatch):
    X, _ = simulated_expression(3, 0.3, random_state=1)
    params = {"n_repeats": 6, "n_nulls": 4}
    monkeypatch.setattr(AffineNMF, "fit", lambda *_: pytest.fail("fitted one by one"))
    assert (
        select_n_clusters(X, AffineNMF(), range(2, 6), "gps", method_params=params, random_state=0).n_clusters
        == 3
    )
