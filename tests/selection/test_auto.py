"""The method behind "auto": communities of networks, parts of neighbour graphs, the answer in words."""

import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_moons

from symclust import SymNMF, registry, select_n_clusters
from symclust.datasets import lfr, planted_partition
from symclust.exceptions import InputError
from symclust.graphs import nearest_neighbors
from symclust.hierarchy import LeafGraph
from symclust.operators import as_operator
from symclust.selection import Curve, Selection
from symclust.selection._nulls import shuffled_pairs
from symclust.selection.methods import auto
from symclust.selection.methods.auto import Parts, boundaries, in_a_cloud, main_pieces

FAR = make_blobs(150, centers=[[0, 0], [40, 0], [0, 40]], random_state=0)[0]


def number(X, seed=0, **options):
    return select_n_clusters(X, random_state=seed, **options).n_clusters


def of_network(A, seed=0):
    return select_n_clusters(A, SymNMF(affinity="network"), random_state=seed).n_clusters


def test_a_limit_that_is_met_is_said(monkeypatch):
    A = nx.ring_of_cliques(60, 5)
    assert "Not every number" not in str(select_n_clusters(A, SymNMF(), random_state=0))
    monkeypatch.setattr(auto, "MOST_MERGED", 50)
    found = select_n_clusters(A, SymNMF(), random_state=0)
    assert found.n_clusters == 60 and "more than 50 communities are not merged" in str(found)


# Samples ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_blobs(seed):
    X, _ = make_blobs(300, centers=[[0, 0], [8, 0], [0, 8], [8, 8]], random_state=seed)
    assert number(X, seed) == 4


@pytest.mark.parametrize("method", registry.options("selection.methods"))
def test_every_method_finds_three_far_blobs_or_warns(method):
    params = {"gps": {"n_repeats": 6, "n_nulls": 5}, "consensus_init": {"n_starts": 5}}.get(method, {})
    model = SymNMF(init="random", n_init=1) if method == "consensus_init" else SymNMF()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        answer = select_n_clusters(FAR, model, range(2, 7), method, method_params=params, random_state=0)
    assert answer.n_clusters == 3 or any(f"method='{method}'" in str(one.message) for one in seen)


def test_curves():
    assert number(make_moons(400, noise=0.05, random_state=0)[0]) == 2
    angle = np.random.RandomState(0).uniform(0, 2 * np.pi, size=600)
    rings = np.repeat([1.0, 3.0], 300)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    assert number(rings + 0.05 * np.random.RandomState(1).normal(size=rings.shape)) == 2


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(size=(300, 2)),
        lambda rng: rng.normal(size=(200, 10)),
        lambda rng: rng.uniform(size=(300, 2)),
        lambda rng: rng.uniform(size=(150, 5)),
    ],
    ids=["Gaussian 2", "Gaussian 10", "uniform 2", "uniform 5"],
)
def test_clouds_are_one_cluster(draw):
    found = [number(draw(np.random.RandomState(seed)), seed) for seed in range(10)]
    assert found.count(1) >= 9


def test_many_clusters_have_no_ceiling():
    centres = 10 * np.array([(i, j) for i in range(10) for j in range(9)])
    X, _ = make_blobs(90 * 25, centers=centres, random_state=0)
    assert 85 <= number(X) <= 95


def test_similarities_of_all_pairs():
    K = np.exp(-np.square(FAR[:, None] - FAR).sum(axis=2) / 50)
    assert select_n_clusters(K, SymNMF(affinity="precomputed"), random_state=0).n_clusters == 3


def test_too_few_samples():
    answer = select_n_clusters(np.arange(6.0).reshape(3, 2), KMeans(), random_state=0)
    assert answer.n_clusters == 1


def test_candidates_are_kept_to():
    answer = select_n_clusters(FAR, candidates=(2, 4, 5), random_state=0)
    assert answer.candidates.tolist() == [2, 4, 5] and answer.n_clusters in (1, 2, 4, 5)


def test_any_number_of_jobs_gives_the_same_bits():
    one, two = (select_n_clusters(FAR, random_state=1, n_jobs=jobs) for jobs in (1, 2))
    for name, curve in one.curves.items():
        np.testing.assert_array_equal(curve.values, two.curves[name].values)


def test_negative_similarities_are_refused():
    with pytest.raises(InputError, match="negative entries, down to -1"):
        select_n_clusters(-np.ones((9, 9)) + 2 * np.eye(9), SymNMF(affinity="precomputed"), random_state=0)


def test_a_cut_through_a_ball_is_as_the_formula_says():
    """Balls that the formula was not fitted to; its error was 0.46 of the logarithm, most of it in 1-D."""
    for dimensions in (2, 3, 5, 10):
        rng, ratios = np.random.RandomState(dimensions), []
        for _ in range(4):
            X = rng.normal(size=(400, dimensions))
            X *= rng.uniform(size=(400, 1)) ** (1 / dimensions) / np.linalg.norm(X, axis=1, keepdims=True)
            W = nearest_neighbors(X, weights="fuzzy", normalize=False)
            ratios.append(boundaries(W, 2, seed=0)[0][0])
        assert 0.5 < np.exp(np.mean(np.log(ratios))) < 2


@given(st.integers(0, 10**6))
def test_parts_compare_conductances(seed):
    rng = np.random.RandomState(seed)
    A = np.triu(rng.uniform(size=(12, 12)) * (rng.uniform(size=(12, 12)) < 0.6), 1)
    A, labels = A + A.T, np.r_[0, 1, 2, rng.randint(3, size=9)]
    parts = Parts.of(sparse.csr_array(A), labels, seed=0)
    found = parts.ratios(0, np.ones(3, dtype=bool))
    links, shares = A > 0, []
    for own in (0, 1, 2):
        rows = links[labels == own].astype(float)
        shares.append([((rows @ links) * rows).sum(), (rows.sum(axis=1) * (rows.sum(axis=1) - 1)).sum()])
    every = np.sum(shares, axis=0)
    shares = [(closed + every[0] / max(every[1], 1), pairs + 1) for closed, pairs in shares]
    for other in (1, 2):
        both = np.isin(labels, (0, other))
        crossing = A[labels == 0][:, labels == other].sum()
        volumes = [A[labels == own][:, both].sum() for own in (0, other)]
        phi = crossing / min(volumes) if crossing else 0.0
        share = sum(shares[own][0] for own in (0, other)) / sum(shares[own][1] for own in (0, other))
        degree = links[both][:, both].sum() / both.sum()
        density = degree / (2 * min((labels == own).sum() for own in (0, other)))
        expected = phi / np.exp(in_a_cloud(share, density)) if phi else 0.0
        assert np.isclose(found[other], expected, rtol=1e-9, atol=1e-200)


# Networks ---------------------------------------------------------------------------------------------------


def test_hundreds_of_communities():
    A, y = lfr(5000, 0.3, 20, 50, min_community=15, max_community=50, random_state=0)
    known = int(y.max()) + 1
    assert known > 150 and abs(of_network(A) - known) <= 0.05 * known


@pytest.mark.parametrize("mixing", [0.3, 0.5])
def test_a_few_large_communities(mixing):
    A, _ = planted_partition(600, 3, degree=30, mixing=mixing, random_state=0)
    assert of_network(A) == 3


def test_small_communities_are_denser_than_large_ones():
    """One rate of links for all takes small communities together: it finds 180 of these 199."""
    A, y = lfr(5000, 0.3, 15, 50, min_community=10, max_community=50, random_state=0)
    assert abs(of_network(A) - (int(y.max()) + 1)) <= 2


def test_labels_in_doubt_cost_less():
    A, y = planted_partition(600, 3, degree=30, mixing=0.5, random_state=0)
    W = sparse.csr_array(A)
    graph = LeafGraph.whole(as_operator(W))
    exactly, softly = auto._saved(graph, y.astype(np.int32)), auto._saved_softly(W, y.astype(np.int32))
    assert exactly < 0 < softly


@pytest.mark.parametrize("seed", range(3))
def test_long_clouds_are_one_cluster(seed):
    rng = np.random.RandomState(seed)
    assert number(rng.normal(size=(300, 3)) * [8, 1, 1], seed) == 1


@pytest.mark.parametrize("name", ["Erdős-Rényi", "configuration model"])
def test_networks_without_communities(name):
    found = []
    for seed in range(10):
        A = planted_partition(300, 2, 8, 0.5, random_state=seed)[0]
        if name == "configuration model":
            A = shuffled_pairs(lfr(300, 0.3, 8, 40, random_state=seed)[0], np.random.RandomState(seed))
        found.append(of_network(A, seed))
    assert found.count(1) >= 9


def test_units_of_weights_do_not_matter():
    A, _ = planted_partition(300, 4, degree=14, mixing=0.2, random_state=1)
    A.data *= np.repeat(np.random.RandomState(0).uniform(1, 2, size=1), A.nnz)
    first, second = (select_n_clusters(W, SymNMF(affinity="network"), random_state=0) for W in (A, 100 * A))
    assert first.n_clusters == second.n_clusters == 4
    np.testing.assert_allclose(first.scores, second.scores, rtol=1e-6)


def test_a_network_without_edges():
    assert select_n_clusters(nx.empty_graph(5), random_state=0).n_clusters == 1


def test_small_pieces_are_no_clusters():
    graph = nx.disjoint_union(nx.ring_of_cliques(3, 40), nx.path_graph(2))
    assert of_network(graph) == 3
    A = nx.to_scipy_sparse_array(graph)
    assert main_pieces(A).shape == (120, 120)


@given(st.integers(0, 10**6))
def test_what_merged_communities_save_is_what_their_labels_save(seed):
    A, _ = planted_partition(60, 6, degree=8, mixing=0.3, random_state=seed % 50)
    graph = LeafGraph.whole(as_operator(A))
    labels = np.random.RandomState(seed).permutation(np.arange(60) % 8).astype(np.int32)
    found = {k: value for k, value, _ in auto._merged(graph, labels)}
    for _, value, merged in auto._merged(graph, labels):
        assert np.isclose(value, auto._saved(graph, merged))
    assert set(found) == set(range(2, 8))


# The answer -------------------------------------------------------------------------------------------------


def answer(chosen, scores):
    curves = {"score": Curve(np.array(scores))}
    return Selection(chosen, "auto", np.arange(2, 2 + len(scores)), "score", curves, "Three.")


@pytest.mark.parametrize(
    ("scores", "ranking", "words"),
    [
        ([0.95, 1.0, 0.0], [3, 2, 4], "2 is nearly as good."),
        ([0.7, 1.0, 0.0], [3, 2, 4], "2 comes next."),
        ([0.1, 1.0, 0.0], [3, 2, 4], "2 is far behind."),
        ([np.nan, 1.0, 0.9], [3, 4], "4 is nearly as good."),
        ([np.nan, 1.0, np.nan], [3], ""),
    ],
)
def test_a_runner_up(scores, ranking, words):
    found = answer(3, scores)
    assert found.ranking == ranking and found.comparison == words
    assert found.runner_up == (ranking[1] if len(ranking) > 1 else None)
    assert str(found) == f"Three. {words}".rstrip()


def test_a_runner_up_of_one_cluster():
    found = answer(1, [0.2, 0.1])
    assert found.ranking == [2, 3] and np.isnan(found.behind)
    assert found.comparison == "Of the other numbers 2 comes first."


def test_trees_that_disagree_are_named():
    trees = [
        (np.array(ratios), 0.1, 0.4) for ratios in ([0.05, 0.5, 0.9], [0.05, 0.5, 0.9], [0.3, 0.31, 0.9])
    ]
    found = auto._judged((), 50, trees)
    assert found.n_clusters == 2 and "Trees with other random numbers say 3" in str(found)
