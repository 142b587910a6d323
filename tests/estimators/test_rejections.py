"""What is refused, and the words a user reads."""

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from symclust import OffDiagonalSymNMF, SpectralNJW, SymmetricFactorization, SymNMF
from symclust.exceptions import CombinationError, InputError, InputTypeError, OptionError
from symclust.operators import Gram

X = np.random.RandomState(0).random_sample((20, 3))
A = X @ X.T


def changed(matrix, value, row=1, column=2):
    matrix = matrix.copy()
    matrix[row, column] = value
    return matrix


FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
AFFINITIES = pytest.mark.parametrize("affinity", ["nearest_neighbors", "precomputed", "cosine", "gaussian"])


@AFFINITIES
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_not_finite(affinity, value, word):
    given = changed(A if affinity == "precomputed" else X, value)
    with pytest.raises(InputError, match=f"X contains {word}.*: 1, the first at row 1, column 2"):
        SymNMF(2, affinity=affinity).fit(given)


def test_nan_in_a_similarity_is_no_case_for_an_imputer():
    with pytest.raises(InputError, match=r"X contains NaN.*ignore= of OffDiagonalSymNMF, with 0") as error:
        SymNMF(2, affinity="precomputed").fit(changed(A, np.nan))
    assert "Imputer" not in str(error.value)
    with pytest.raises(InputError, match="Imputer"):
        SymNMF(2).fit(changed(X, np.nan))


@AFFINITIES
def test_masked_arrays(affinity):
    given = np.ma.masked_greater(A if affinity == "precomputed" else X, 0.9)
    words = "ignore= of OffDiagonalSymNMF" if affinity == "precomputed" else "SimpleImputer"
    with pytest.raises(InputError, match=f"entries of X are masked.*{words}"):
        SymNMF(2, affinity=affinity).fit(given)
    with pytest.raises(InputError, match="masked"):
        SymNMF(2, affinity=lambda X: np.ma.masked_greater(X @ X.T, 0.9)).fit(X)
    with pytest.raises(InputError, match="entries of ignore are masked"):
        OffDiagonalSymNMF(2, ignore=np.ma.masked_equal(np.eye(20), 1)).fit(X)


@FORMS
@pytest.mark.parametrize("model", [SymNMF, OffDiagonalSymNMF, SymmetricFactorization])
@pytest.mark.parametrize("size", [1e-157, 1e-170])
def test_squares_that_vanish(form, model, size):
    with pytest.raises(InputError, match=r"The similarity is of size .*Multiply it by a constant"):
        model(2, affinity="precomputed").fit(form(A * size))


@FORMS
def test_methods_that_need_no_squares_take_small_similarities(form):
    model = SpectralNJW(2, affinity="precomputed", random_state=0)
    np.testing.assert_array_equal(model.fit_predict(form(A * 1e-170)), model.fit_predict(form(A)))


@FORMS
@pytest.mark.parametrize("model", [SymNMF, OffDiagonalSymNMF, SymmetricFactorization, SpectralNJW])
@pytest.mark.parametrize("size", [1e-312, 5e-324])
def test_numbers_without_digits(form, model, size):
    with pytest.raises(InputError, match=r"too small: its largest entry is .*Multiply it by a constant"):
        model(2, affinity="precomputed").fit(form(A * size))


@pytest.mark.parametrize("name", ["ab", 7])
def test_negative_edges_are_named(name):
    graph = nx.Graph([(name, 8, {"weight": -0.5}), (8, 9)])
    with pytest.raises(InputError, match=f"negative weight, such as that between {name!r} and 8"):
        SymNMF(2).fit(graph)
    with pytest.raises(InputError, match=rf"\(-0\.5 at row 0, column 1 \({name!r} and 8\)\)"):
        SymNMF(2, affinity="precomputed").fit(graph)


@pytest.mark.parametrize("weight", ["heavy", None, np.nan])
def test_edges_whose_weight_is_no_number_are_named(weight):
    for graph in (
        nx.Graph([("a", "b", {"weight": 1}), ("b", "c", {"weight": weight})]),
        igraph.Graph.DictList(
            [{"name": node} for node in "abc"],
            [{"source": "a", "target": "b", "weight": 1}, {"source": "b", "target": "c", "weight": weight}],
        ),
    ):
        with pytest.raises(InputError, match=f"'weight'.*between 'b' and 'c' it holds {weight!r}"):
            SymNMF(2).fit(graph)


@FORMS
def test_squares_that_overflow(form):
    with pytest.raises(InputError, match="values whose squares overflow"):
        SymNMF(2, affinity="precomputed").fit(form(A * 1e200))


@FORMS
def test_not_square(form):
    with pytest.raises(InputError, match=r"similarity matrix is square.*got shape \(20, 3\)"):
        SymNMF(2, affinity="precomputed").fit(form(X))


@FORMS
def test_not_symmetric(form):
    given = np.ones((4, 4))
    given[1, 2] = 1.25
    with pytest.raises(InputError, match=r"differ by up to 0\.25 \(entries are as large as 1\.25\)"):
        SymNMF(2, affinity="precomputed").fit(form(given))
    given[1, 2] = 1 + 1e-14  # rounding
    SymNMF(2, affinity="precomputed", random_state=0).fit(form(given))


@pytest.mark.parametrize(
    ("affinity", "given"),
    [
        ("precomputed", -A),
        ("precomputed", sparse.csr_array(-A)),
        ("precomputed", nx.from_numpy_array(-A)),
        ("nearest_neighbors", Gram(X - X.mean())),
        ("cosine", X - X.mean()),
        (lambda X: -X @ X.T, X),
    ],
)
def test_negative_similarities(affinity, given):
    with pytest.raises(InputError, match=r"some similarities are negative.*exp\(.*'nearest_neighbors'"):
        SymNMF(2, affinity=affinity).fit(given)


@pytest.mark.parametrize(
    ("n_clusters", "words"),
    [
        (0, "n_clusters=0 is not possible: give a whole number from 1 on"),
        (-3, "n_clusters=-3 is not possible"),
        (21, "n_clusters=21 is not possible with n_samples=20: give a number from 1 to 20"),
        (2.0, "n_clusters=2.0 must be a whole number from 1 to the number of samples"),
        (True, "n_clusters=True must be a whole number"),
        (None, "n_clusters=None must be a whole number"),
        ("two", r"n_clusters='two' must be a whole number.*or for an estimator 'auto'\.$"),
    ],
)
def test_number_of_clusters(n_clusters, words):
    with pytest.raises(OptionError, match=words):
        SymNMF(n_clusters).fit(X)


@AFFINITIES
@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([], InputError, "Expected 2D array, got 1D array"),
        (np.empty((0, 3)), InputError, "0 sample"),
        (np.empty((3, 0)), InputError, "0 feature"),
        (sparse.csr_array((0, 0)), InputError, "0 sample"),
        (np.ones(4), InputError, "Reshape your data"),
        (np.ones((2, 2, 2)), InputError, "dim 3"),
        (np.ones((4, 4), dtype=complex), InputError, "Complex data not supported"),
        ([["a", "b"], ["c", "d"]], InputError, "could not convert string.*'a'.*Every entry must be a number"),
        (np.array([[{}, 1], [2, 3]], dtype=object), InputTypeError, "'dict'.*Every entry must be a number"),
        (None, InputError, "Expected 2D array"),
    ],
)
def test_not_a_matrix_of_numbers(affinity, given, error, words):
    with pytest.raises(error, match=words):
        SymNMF(2, affinity=affinity).fit(given)


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "precomputed"])
@pytest.mark.parametrize("graph", [nx.Graph(), igraph.Graph()])
def test_empty_graph(graph, affinity):
    with pytest.raises(InputError, match="The Graph has no nodes"):
        SymNMF(2, affinity=affinity).fit(graph)


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "precomputed"])
@pytest.mark.parametrize(
    "graph", [nx.DiGraph([(0, 1), (1, 2)]), igraph.Graph([(0, 1), (1, 2)], directed=True)]
)
def test_directed_graph(graph, affinity):
    way = {nx.DiGraph: r"graph\.to_undirected\(\)", igraph.Graph: r"graph\.as_undirected\(\)"}[type(graph)]
    with pytest.raises(InputError, match=rf"directed (networkx|igraph) graph.*{way}.*\(A \+ A\.T\) / 2"):
        SymNMF(2, affinity=affinity).fit(graph)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"solver": "newtn"}, "solver='newtn' is not known. Choose one of 'auto', 'anls', .*'row_descent'"),
        ({"solver": None}, "solver=None is not known"),
        ({"solver": "newtn", "coupling": 1.0}, "solver='newtn' is not known"),
        (
            {"init": "kmeans"},
            "init='kmeans' is not known.*'auto', 'greedy', .*'tree', 'zero', or give an array",
        ),
        ({"init": None}, "init=None is not known"),
        ({"affinity": "rbf"}, "affinity='rbf' is not known.*'fuzzy', 'gaussian', .*'precomputed'.*function"),
        ({"affinity": "random_walks"}, "affinity='random_walks' is not known.*'random_walk', 'auto'"),
        ({"affinity": A}, "affinity=<ndarray> is not known.*'precomputed' .X holds the similarities"),
        ({"affinity": None}, "affinity=None is not known"),
        ({"affinity_params": {"n_neighbours": 3}}, "'n_neighbours'.*does not fit.*any of 'n_neighbors', "),
        ({"affinity_params": [3]}, r"affinity_params=\[3\] must be a dict"),
        ({"affinity_params": {"n_neighbors": 0}}, "n_neighbors=0 must be a whole number of at least 1"),
        ({"affinity": "gaussian", "affinity_params": {"sigma": -1}}, "sigma=-1 must be a number above 0"),
        (
            {"solver": "anls", "coupling": -1},
            "coupling=-1 is not possible: give 'auto', ",
        ),
        ({"solver": "hals", "coupling": "much"}, "coupling='much' is not possible"),
        ({"solver": "hals", "coupling": None}, "coupling=None is not possible"),
        ({"solver": "hals", "coupling": np.inf}, "coupling=inf is not possible"),
        ({"tol": -1e-3}, "tol=-0.001 must be a number of at least 0"),
        ({"tol": np.nan}, "tol=nan must be a number"),
        ({"tol": "small"}, "tol='small' must be a number"),
        ({"max_iter": 0}, "max_iter=0 must be a whole number of at least 1"),
        ({"max_iter": 10.0}, "max_iter=10.0 must be a whole number"),
        ({"n_init": 0}, "n_init=0 must be a whole number of at least 1"),
        ({"n_init": "auto"}, "n_init='auto' must be a whole number of at least 1"),
        ({"sparsity": -1}, "sparsity=-1 must be a number of at least 0"),
        ({"time_limit": 0}, "time_limit=0 must be a number above 0"),
        ({"time_limit": np.inf}, "time_limit=inf must be a number above 0"),
        ({"callback": 3}, "callback=3 must be a function of one argument, or None"),
    ],
)
def test_options(options, words):
    with pytest.raises(OptionError, match=words):
        SymNMF(2, **options).fit(X)


def test_options_are_refused_before_anything_is_computed():
    def affinity(X):
        raise AssertionError("the similarity was computed")

    for options in ({"n_clusters": 0}, {"solver": "x"}, {"init": "x"}, {"tol": -1}, {"sparsity": -1}):
        with pytest.raises(OptionError):
            SymNMF(**{"affinity": affinity, **options}).fit(X)


@pytest.mark.parametrize(
    ("options", "given", "words"),
    [
        (
            {"coupling": 1.0},
            X,
            "coupling=1.0 has no meaning for solver='auto': it belongs to 'anls', 'columnwise', 'hals'",
        ),
        ({"coupling": "increasing", "solver": "newton"}, X, "coupling='increasing' has no meaning for"),
        ({"affinity": "gaussian"}, sparse.csr_array(X), "20 sparse samples would be a dense.*n_neighbors="),
        ({"affinity": "self_tuning"}, sparse.csr_array(X), "20 sparse samples would be a dense"),
        ({"affinity": "cosine"}, nx.path_graph(5), "affinity='cosine'.*a Graph holds similarities already"),
        ({"affinity": lambda X: X}, Gram(X), "a Gram holds similarities already"),
        (
            {"affinity_params": {"n_neighbors": 3}},
            nx.path_graph(5),
            "no meaning for a network.*Leave it out",
        ),
        ({"affinity_params": {"n_neighbors": 3}}, Gram(X), "has no meaning for a Gram"),
        (
            {"affinity_params": {"k": 3}, "affinity": "precomputed"},
            A,
            "for affinity='precomputed'",
        ),
    ],
)
def test_combinations(options, given, words):
    with pytest.raises(CombinationError, match=words):
        SymNMF(2, **options).fit(given)


@pytest.mark.parametrize(
    ("init", "words"),
    [
        (
            np.ones((3, 2)),
            r"shape \(n_samples, n_clusters\) = \(20, 2\); got shape \(3, 2\)",
        ),
        (np.ones(20), r"got shape \(20,\)"),
        (np.ones((20, 2), dtype=complex), "dtype complex128"),
        (np.full((20, 2), "a"), "dtype <U1"),
        (changed(np.ones((20, 2)), -1e-9, column=1), "finite numbers that are not negative"),
        (changed(np.ones((20, 2)), np.nan, column=1), "finite numbers"),
        (changed(np.ones((20, 2)), np.inf, column=1), "finite numbers"),
    ],
)
def test_init_arrays(init, words):
    with pytest.raises(InputError, match=words):
        SymNMF(2, init=init).fit(X)


def test_frame_of_similarities_in_two_orders():
    names = [f"s{i}" for i in range(20)]
    frame = pd.DataFrame(A, index=names, columns=names)
    SymNMF(2, affinity="precomputed", random_state=0).fit(frame)
    with pytest.raises(InputError, match="index and columns differ"):
        SymNMF(2, affinity="precomputed").fit(frame.iloc[::-1])


@pytest.mark.parametrize(
    ("result", "error", "words"),
    [
        (X, InputError, "square"),
        (np.eye(3), InputError, r"affinity returned a similarity of shape \(3, 3\) for 20 samples"),
        (7, InputTypeError, "Cannot read similarities from int"),
    ],
)
def test_what_an_affinity_function_returns(result, error, words):
    with pytest.raises(error, match=words):
        SymNMF(2, affinity=lambda X: result).fit(X)
