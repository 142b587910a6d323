"""The methods that left-stochastic clustering is compared with."""

import warnings
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.base import clone
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from symclust import (
    Diana,
    DivisiveClustering,
    HierarchicalLeftStochastic,
    KernelConvexNMF,
    KernelKMeans,
    LeftStochastic,
    LinkageClustering,
    SpectralNJW,
    SpectralUnnormalized,
    SpectralYuShi,
    SymNMF,
)
from symclust.exceptions import (
    CombinationError,
    InputError,
    InterruptedWarning,
    NotConvergedWarning,
    OptionError,
)
from symclust.graphs import gaussian, nearest_neighbors, normalized_cut
from symclust.operators import Dense, Gram

MODELS = [
    HierarchicalLeftStochastic(),
    KernelKMeans(n_init=3),
    KernelConvexNMF(max_iter=50),
    Diana(),
    LinkageClustering(),
    LinkageClustering(linkage="single", affinity="nearest_neighbors"),
    SpectralNJW(n_init=2),
    SpectralUnnormalized(n_init=2),
    SpectralYuShi(n_init=2),
    DivisiveClustering(SpectralNJW(n_init=2)),
]


WEIGHTED = {
    f"check_sample_weight_equivalence_on_{form}_data": "takes weights above zero"
    for form in ("dense", "sparse")
}


@parametrize_with_checks(MODELS, expected_failed_checks=lambda model: WEIGHTED)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.filterwarnings("ignore::symclust.exceptions.NotConvergedWarning")
def test_three_clusters_are_found_seen_again_and_extended(model, blobs):
    X, y = blobs
    model.set_params(n_clusters=3)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    train = np.arange(90) % 3 > 0
    labels = model.fit(X[train]).labels_
    assert adjusted_rand_score(y[train], labels) == 1
    assert model.membership_.shape == (60, 3)
    assert_array_equal(model.predict(X[train]), labels)
    assert adjusted_rand_score(y[~train], model.predict(X[~train])) == 1
    assert sorted(map(len, model.communities())) == sorted(np.bincount(labels))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.filterwarnings("ignore")
def test_graphs_and_sparse_matrices_stay_sparse(model):
    graph = nx.disjoint_union(nx.complete_graph(6), nx.complete_graph(7))
    graph.add_edge(0, 12)
    if isinstance(model, LinkageClustering):
        model = LinkageClustering(linkage="single")
    model.set_params(n_clusters=2, affinity="precomputed")
    groups = [sorted(group) for group in model.fit(graph).communities()]
    assert sparse.issparse(model.affinity_matrix_)
    if not isinstance(model, SpectralUnnormalized | LinkageClustering):
        assert sorted(groups) == [list(range(6)), list(range(6, 13))]


# Kernel k-means ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kernel():
    X = np.random.default_rng(0).normal(size=(120, 4)) + np.repeat(np.eye(4) * 3, 30, axis=0)
    return X, X @ X.T


def test_kernel_k_means_with_inner_products_is_k_means(kernel):
    X, K = kernel
    ours = KernelKMeans(4, affinity="precomputed", n_init=20, random_state=0).fit(K)
    theirs = KMeans(4, n_init=20, random_state=0).fit(X)
    assert ours.objective_ == pytest.approx(theirs.inertia_, rel=1e-9)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1
    assert ours.inits_.min() == ours.objective_
    assert ours.converged_


def test_every_form_of_the_kernel_takes_the_same_way(kernel):
    X, K = kernel
    options = {"affinity": "precomputed", "n_init": 4, "random_state": 3, "init": "samples"}
    dense, csr, gram = (KernelKMeans(4, **options).fit(form) for form in (K, sparse.csr_array(K), Gram(X)))
    np.testing.assert_allclose(dense.history_.objective, csr.history_.objective, rtol=1e-9)
    np.testing.assert_allclose(dense.history_.objective, gram.history_.objective, rtol=1e-9)
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(dense.history_.objective))


def test_starts_side_by_side_end_where_they_end_alone(kernel):
    _, K = kernel
    together = KernelKMeans(3, affinity="precomputed", n_init=6, random_state=0).fit(K)
    rng, alone = np.random.RandomState(0), []
    for _ in range(6):
        alone.append(KernelKMeans(3, affinity="precomputed", n_init=1, random_state=rng).fit(K).objective_)
    np.testing.assert_allclose(together.inits_, alone, rtol=1e-9)


def test_degree_weights_give_the_normalised_cut():
    A = nx.to_numpy_array(nx.connected_caveman_graph(4, 6)) + np.eye(24)
    model = KernelKMeans(4, affinity="precomputed", weights="degree", n_init=20, random_state=0).fit(A)
    degrees = A.sum(axis=1)
    association = sum(
        A[np.ix_(model.labels_ == c, model.labels_ == c)].sum() / degrees[model.labels_ == c].sum()
        for c in range(4)
    )
    # Σ w K_ii − Σ_j (association of j), for the kernel before it was made definite
    shiftless = KernelKMeans(
        4, affinity="precomputed", weights="degree", indefinite="ignore", n_init=20, random_state=0
    ).fit(A)
    constant = np.sum(np.diag(A) / degrees)
    if adjusted_rand_score(model.labels_, shiftless.labels_) == 1:
        assert shiftless.objective_ == pytest.approx(constant - association)
    assert adjusted_rand_score(np.arange(24) // 6, model.labels_) == 1


def test_a_shift_changes_the_objective_by_a_constant(kernel):
    _, K = kernel
    indefinite = K - 40 * np.eye(len(K))
    with pytest.warns(UserWarning, match=r"negative eigenvalues \(down to .*adds .* to its diagonal"):
        model = KernelKMeans(4, affinity="precomputed", indefinite="shift", n_init=20, random_state=0).fit(
            indefinite
        )
    best = KernelKMeans(4, affinity="precomputed", n_init=20, random_state=0).fit(K)
    assert adjusted_rand_score(model.labels_, best.labels_) == 1
    with pytest.warns(UserWarning, match=r"KernelKMeans cuts them: .* % of its squared norm"):
        KernelKMeans(4, affinity="precomputed", indefinite="clip").fit(indefinite)


def test_kernel_k_means_has_the_same_bits_on_one_thread_and_on_two(kernel):
    models = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            models.append(KernelKMeans(5, affinity="precomputed", n_init=8, random_state=0).fit(kernel[1]))
    assert_array_equal(models[0].inits_, models[1].inits_)
    assert_array_equal(models[0].labels_, models[1].labels_)


def test_no_cluster_is_empty():
    K = np.ones((12, 12)) + np.diag(np.arange(12.0) % 3)
    model = KernelKMeans(4, affinity="precomputed", n_init=3, random_state=0).fit(K)
    assert set(model.labels_) == {0, 1, 2, 3}


# Kernel convex NMF ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signs", ["nonnegative", "mixed"])
def test_kernel_convex_nmf_descends_on_its_objective(kernel, signs):
    X = kernel[0]
    X = abs(X) if signs == "nonnegative" else X
    model = KernelConvexNMF(4, affinity="precomputed", tol=1e-7, max_iter=2000, random_state=0).fit(X @ X.T)
    W, G = model.weights_, model.membership_
    assert W.min() >= 0
    assert G.min() >= 0
    assert np.linalg.norm(X.T - X.T @ W @ G.T) ** 2 == pytest.approx(model.objective_, rel=1e-9)
    values = model.history_.objective
    assert np.all(np.diff(values) <= 1e-9 * values[0])


def test_negative_similarities_need_a_matrix(kernel):
    with pytest.raises(CombinationError, match="in matrices only"):
        KernelConvexNMF(2).fit(Gram(kernel[0]))


# Linkage ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["single", "complete", "average"])
def test_linkage_is_scipys(method):
    X = np.random.default_rng(0).normal(size=(40, 3))
    K = gaussian(X, sigma=2.0)
    D = K.max() - K
    np.fill_diagonal(D, 0)
    Z = linkage(squareform(D, checks=False), method)
    for k in (1, 2, 5, 40):
        ours = LinkageClustering(k, linkage=method, affinity="precomputed").fit(K)
        assert adjusted_rand_score(fcluster(Z, k, "maxclust"), ours.labels_) == 1
    np.testing.assert_allclose(ours.linkage_matrix_, Z)


def test_single_linkage_of_a_sparse_matrix_is_that_of_the_dense_one():
    X = np.random.default_rng(1).normal(size=(60, 2))
    K = gaussian(X, sigma=0.7)
    K[K < 0.05] = 0
    for k in (2, 4, 9):
        dense, csr = (
            LinkageClustering(k, linkage="single", affinity="precomputed").fit(form)
            for form in (K, sparse.csr_array(K))
        )
        assert adjusted_rand_score(dense.labels_, csr.labels_) == 1


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("scale", [1.0, 1e-20])
def test_single_linkage_of_a_sparse_matrix_with_negative_entries(seed, scale):
    """Pairs that are not stored are more similar than those with a negative similarity."""
    rng = np.random.default_rng(seed)
    K = np.triu(rng.integers(-3, 4, (8, 8)) * (rng.random((8, 8)) < 0.8), 1) * scale
    dense, csr = (
        LinkageClustering(1, linkage="single", affinity="precomputed").fit(form).linkage_matrix_
        for form in (K + K.T, sparse.csr_array(K + K.T))
    )
    np.testing.assert_allclose(csr[:, 2], dense[:, 2])


def test_complete_linkage_of_a_sparse_matrix_is_refused(blobs):
    with pytest.raises(CombinationError, match="needs the similarity of all pairs"):
        LinkageClustering(3, linkage="complete", affinity="nearest_neighbors").fit(blobs[0])
    with pytest.raises(CombinationError, match="Use a dense similarity"):
        LinkageClustering(3, linkage="single", affinity="cosine").fit(abs(blobs[0]))


# Spectral ---------------------------------------------------------------------------------------------------


def test_spectral_methods_agree_with_scikit_learns(blobs):
    K = gaussian(blobs[0], sigma=20.0) + np.eye(90)
    theirs = SpectralClustering(3, affinity="precomputed", random_state=0).fit(K).labels_
    for cls in (SpectralNJW, SpectralYuShi, SpectralUnnormalized):
        assert adjusted_rand_score(theirs, cls(3, affinity="precomputed", random_state=0).fit(K).labels_) == 1


def test_unnormalised_spectral_uses_the_laplacian():
    K = nx.to_numpy_array(nx.barbell_graph(8, 0))
    model = SpectralUnnormalized(2, affinity="precomputed", random_state=0).fit(K)
    _, vectors = np.linalg.eigh(np.diag(K.sum(axis=1)) - K)
    inertia = KMeans(2, n_init=10, random_state=0).fit(vectors[:, :2]).inertia_
    assert model.objective_ == pytest.approx(inertia, rel=1e-6)


def test_the_default_affinity_is_not_normalised_twice(blobs):
    once, given = (
        SpectralNJW(3).fit(blobs[0]),
        SpectralNJW(3, affinity_params={"normalize": True}).fit(blobs[0]),
    )
    assert once.affinity_matrix_.sum(axis=1).max() > 1.5
    assert given.affinity_matrix_.max() < 1


# Trees ------------------------------------------------------------------------------------------------------


def test_hierarchical_left_stochastic_keeps_its_tree(blobs):
    X, y = blobs
    model = HierarchicalLeftStochastic(5, affinity="gaussian", affinity_params={"sigma": 10.0}).fit(X)
    assert len(set(model.tree_.cut(5))) == 5
    assert_array_equal(model.tree_.cut(5), model.labels_)
    assert adjusted_rand_score(y, model.tree_.cut(3)) == 1
    K, labels = model.affinity_matrix_, model.labels_
    assert model.objective_ == pytest.approx(K[labels[:, None] == labels].mean())


@pytest.mark.parametrize("size", [60, 300])
def test_halves_by_lanczos_and_by_a_dense_solver_are_those_of_left_stochastic(size):
    P = np.random.default_rng(0).dirichlet([0.4, 0.6], size)
    K = P @ np.diag([1.0, 2.0]) @ P.T
    two = LeftStochastic(2, affinity="precomputed").fit(K).labels_
    assert adjusted_rand_score(two, HierarchicalLeftStochastic(2, affinity="precomputed").fit(K).labels_) == 1


def test_the_least_similar_leaf_is_split_first():
    K = np.kron(np.diag([5.0, 1.0]), np.ones((4, 4))) + 0.1 * np.eye(8)
    model = Diana(3, affinity="precomputed").fit(K)
    assert len(set(model.labels_[:4])) == 1  # the similar block stays whole
    assert len(set(model.labels_[4:])) == 2


def test_samples_that_nothing_tells_apart_are_not_split():
    K = np.kron(np.eye(2), np.ones((3, 3)))
    with pytest.warns(NotConvergedWarning, match="stopped at 2 clusters of 4") as warned:
        model = HierarchicalLeftStochastic(4, affinity="precomputed").fit(K)
    assert warned[0].filename == __file__
    assert sorted(np.bincount(model.labels_)) == [3, 3]
    assert not model.converged_
    assert "2 clusters of 4" in model.stop_reason_


@pytest.mark.parametrize(
    "splitter",
    [
        KernelKMeans(random_state=0),
        KernelConvexNMF(random_state=0),
        LeftStochastic(random_state=0),
        LinkageClustering(linkage="average"),
        LinkageClustering(linkage="complete"),
        SpectralNJW(random_state=0),
        SpectralUnnormalized(random_state=0),
        SpectralYuShi(random_state=0),
        SymNMF(random_state=0),
        Diana(),
    ],
    ids=lambda splitter: type(splitter).__name__,
)
@pytest.mark.filterwarnings("ignore::symclust.exceptions.NotConvergedWarning")
def test_every_method_splits_by_the_same_rule(splitter, blobs):
    X, y = blobs
    K = gaussian(X, sigma=20.0) + np.eye(90)
    model = DivisiveClustering(splitter, 3, affinity="precomputed").fit(K)
    assert adjusted_rand_score(y, model.labels_) == 1
    two = model.tree_.cut(2)
    # The leaf split second is the one whose samples are less similar to each other.
    within = [K[np.ix_(two == label, two == label)].mean() for label in (0, 1)]
    assert len(set(model.labels_[two == int(np.argmin(within))])) == 2


def test_divisive_clustering_takes_scikit_learns_estimators(blobs):
    X, y = blobs
    K = gaussian(X, sigma=20.0) + np.eye(90)
    splitter = SpectralClustering(affinity="precomputed", random_state=0)
    model = DivisiveClustering(splitter, 3, affinity="precomputed").fit(K)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert splitter.get_params()["n_clusters"] == 8


@pytest.mark.parametrize("split", [1, 2])
def test_an_interrupted_split_is_not_taken_for_a_split(split, blobs):
    """Ctrl-C in the first split is passed on; later it ends the tree at the splits that were whole."""
    K = gaussian(blobs[0], sigma=20.0) + np.eye(90)
    fits = []

    def press(progress):
        fits.append(progress.iteration)
        if fits.count(1) == split:  # the first iteration of that fit
            raise KeyboardInterrupt

    model = DivisiveClustering(
        SymNMF(random_state=0, init="random", callback=press), 3, affinity="precomputed"
    )
    if split == 1:
        with pytest.raises(KeyboardInterrupt):
            model.fit(K)
        assert not hasattr(model, "labels_")
    else:
        with pytest.warns(InterruptedWarning, match="interrupted at 2 leaves of 3"):
            model.fit(K)
        assert not model.converged_
        assert_array_equal(model.labels_, model.tree_.cut(2))


def test_divisive_clustering_passes_on_why_a_method_refuses_the_similarity():
    K = np.kron(np.eye(2), np.ones((4, 4))) - 0.5
    with pytest.raises(InputError, match="some similarities are negative"):
        DivisiveClustering(SpectralNJW(), 2, affinity="precomputed").fit(K)


@pytest.mark.parametrize("estimator", [KMeans(), SpectralNJW, None, "kmeans"])
def test_divisive_clustering_refuses_what_has_no_affinity(estimator, blobs):
    with pytest.raises(OptionError, match="n_clusters and affinity"):
        DivisiveClustering(estimator).fit(blobs[0])


@pytest.mark.parametrize("options", [{"n_clusters": 5}, {"affinity": "cosine"}])
def test_divisive_clustering_refuses_what_a_split_cannot_use(options, blobs):
    with pytest.raises(CombinationError, match=f"{next(iter(options))}=.*leave it out in KernelKMeans"):
        DivisiveClustering(KernelKMeans(**options)).fit(blobs[0])
    plain, same = KernelKMeans(random_state=0), KernelKMeans(2, affinity="precomputed", random_state=0)
    labels = [DivisiveClustering(one, 3).fit(blobs[0]).labels_ for one in (plain, same)]
    assert_array_equal(*labels)


# Refusals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "error", "words"),
    [
        (KernelKMeans(weights="size"), OptionError, "'degree'"),
        (KernelKMeans(weights=[1.0, 2.0]), InputError, "weights above zero"),
        (KernelKMeans(indefinite="cut"), OptionError, "'clip'"),
        (KernelKMeans(indefinite="clip"), CombinationError, "needs all eigenvectors"),
        (LinkageClustering(linkage="ward"), OptionError, "'average'"),
        (SpectralNJW(n_init=0), OptionError, "n_init=0"),
    ],
)
def test_refusals(model, error, words, blobs):
    with pytest.raises(error, match=words):
        model.fit(blobs[0])


def test_no_warnings_about_graphs_that_symclust_makes(blobs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelKMeans(3, random_state=0).fit(blobs[0])
        KernelConvexNMF(3, random_state=0).fit(blobs[0])


def test_dense_operators_are_read_as_they_are(kernel):
    assert KernelKMeans(4, random_state=0).fit(Dense(kernel[1])).labels_.shape == (120,)


@pytest.mark.filterwarnings("ignore")  # points that are alone, mostly
@pytest.mark.parametrize(
    "model",
    [
        SpectralNJW(3),
        SpectralYuShi(3),
        SpectralUnnormalized(3),
        LeftStochastic(3, affinity_params={"sigma": 0.02, "normalize": True}),
        SymNMF(3, init="spectral", affinity_params={"sigma": 0.02, "normalize": True}, max_iter=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_eigenvalues_that_are_hardly_apart(model):
    centres = np.array([[0, 0], [1, 0], [0, 1]])[np.arange(303) // 101]
    X = centres + np.random.default_rng(0).normal(0, 0.12, (303, 2))
    model = clone(model).set_params(affinity="gaussian", random_state=0)
    if model.affinity_params is None:
        model.set_params(affinity_params={"sigma": 0.02})
    first, again = (clone(model).fit(X) for _ in range(2))
    assert len(set(first.labels_)) > 1
    np.testing.assert_array_equal(first.membership_, again.membership_)


def test_kernel_k_means_takes_weights_in_two_places_but_not_in_both():
    K = gaussian(np.random.default_rng(0).normal(size=(30, 2)))
    weights = np.arange(1, 31)
    model = KernelKMeans(3, affinity="precomputed", random_state=0)
    fitted = clone(model).fit(K, sample_weight=weights)
    assert_array_equal(fitted.inits_, clone(model).set_params(weights=weights).fit(K).inits_)
    assert fitted.objective_ != clone(model).fit(K).objective_
    with pytest.raises(CombinationError, match="set weights=None"):
        model.set_params(weights="degree").fit(K, sample_weight=weights)


@pytest.mark.parametrize("model", [SpectralNJW(3, random_state=0), SpectralYuShi(3, random_state=0)])
def test_a_normalised_cut_is_taken_as_it_is_if_asked(model):
    """COIL-20 lost six points of accuracy by a second normalised cut."""
    rng = np.random.default_rng(0)
    K = np.kron(np.eye(3), np.ones((10, 10))) * rng.uniform(0.2, 1, (30, 1)) + rng.uniform(0, 0.3, (30, 30))
    K = K + K.T
    A = normalized_cut(K)
    given = {"affinity": "precomputed"}
    expected = clone(model).set_params(**given).fit(K)
    found = clone(model).set_params(normalize=False, **given).fit(A)
    assert adjusted_rand_score(found.labels_, expected.labels_) == 1
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    assert clone(model).set_params(**given).fit(A).objective_ != pytest.approx(expected.objective_, rel=1e-3)


@pytest.mark.parametrize("cls", [SpectralNJW, SpectralYuShi])
def test_a_second_normalised_cut_is_not_silent(cls):
    X = np.random.default_rng(0).normal(size=(90, 2)) + np.repeat([[0, 0], [4, 0], [0, 4]], 30, axis=0)
    A = nearest_neighbors(X)
    with pytest.warns(UserWarning, match="seems to have been through it already"):
        cls(3, affinity="precomputed", random_state=0).fit(A)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cls(3, affinity="precomputed", normalize=False, random_state=0).fit(A)
        cls(3, affinity="precomputed", random_state=0).fit(nearest_neighbors(X, normalize=False))
        cls(3, random_state=0).fit(X)
        cls(2, affinity="precomputed", random_state=0).fit(np.kron(np.eye(2), np.full((3, 3), 1 / 3)))
