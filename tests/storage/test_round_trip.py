"""What is saved comes back: every kind of model, with and without its training data."""

import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import symclust
from symclust import AttributedGraph, AttributedNodes, SymNMF, constraints, operators
from symclust.exceptions import InputError, InputTypeError, LeftOutError
from symclust.storage._archive import Arrays, read_archive, write_archive
from symclust.storage._values import Decoder, Encoder

pytestmark = pytest.mark.filterwarnings("ignore")  # small data: some are not done


def samples(n=60, n_features=5, seed=0):
    rng = np.random.default_rng(seed)
    X = 3 * np.eye(3, n_features)[np.arange(n) * 3 // n] + rng.random((n, n_features))
    return np.where(X < 0.3, 0, X)


X = samples()
NEW = np.concatenate([X[:5], samples(8, seed=1)])
K = X @ X.T


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.symclust"


def identical(a, b):
    assert type(a) is type(b)
    if sp.issparse(a):
        assert a.format == b.format and a.shape == b.shape
        a, b = a.tocsr(), b.tocsr()
        for part in ("data", "indices", "indptr"):
            identical(getattr(a, part), getattr(b, part))
    elif isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()
    else:
        assert a == b or (a != a and b != b)


def same_answers(model, loaded, new=None):
    assert repr(model) == repr(loaded)
    for name in ("labels_", "membership_", "history_", "components_", "affinity_matrix_", "objective_"):
        assert hasattr(model, name) == hasattr(loaded, name)
        value = getattr(model, name, None)
        if not isinstance(value, operators.Operator):
            identical(value, getattr(loaded, name, None))
    if new is not None:
        identical(model.transform(new), loaded.transform(new))
        identical(model.predict(new), loaded.predict(new))
        assert not hasattr(model, "score") or model.score(new) == loaded.score(new)
    for question in ("optimality", "communities"):
        if hasattr(model, question):
            assert getattr(model, question)() == getattr(loaded, question)()


AFFINITIES = ["cosine", "gaussian", "self_tuning", "nearest_neighbors", "random_walk", "normalized_cut"]


@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("affinity", ["auto", *AFFINITIES])
def test_every_affinity(affinity, form, path):
    options = {"n_neighbors": 6} if affinity in ("gaussian", "self_tuning") else None
    model = SymNMF(3, affinity=affinity, affinity_params=options, random_state=0).fit(form(X))
    loaded = symclust.load(model.save(path))
    same_answers(model, loaded, form(NEW))
    same_answers(loaded, symclust.load(loaded.save(path)), form(NEW))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_similarities_as_they_were_given(form, path):
    model = SymNMF(3, affinity="precomputed", random_state=0).fit(form(K))
    same_answers(model, symclust.load(model.save(path)), form(K[:5] * 1.01))


OPERATORS = [
    operators.Gram(X),
    operators.Gram(sp.csr_array(X), self_edges=False),
    operators.LowRank(X[:, :3]),
    operators.Dense(K),
    operators.Shifted(operators.Dense(K), None, -0.1),
    operators.Gram(X).without(sp.csr_array(np.eye(60))),
    operators.Gram(X).scaled(np.linspace(1, 2, 60)),
]


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: type(operator).__name__)
def test_operators(operator, path):
    model = SymNMF(3, random_state=0).fit(operator)
    same_answers(model, symclust.load(model.save(path)), operator.rows([3, 4]) * 1.01)


def test_graphs_with_attributes(path):
    rng = np.random.RandomState(0)
    graph = AttributedGraph(nx.karate_club_graph(), rng.uniform(size=(34, 4)))
    model = SymNMF(2, random_state=0).fit(graph)
    same_answers(
        model, symclust.load(model.save(path)), AttributedNodes(np.eye(34)[:3], rng.uniform(size=(3, 4)))
    )


NAMES = [
    *("ant", "", "\ud800 half", 3, -(10**30), 2.5, True, np.int64(7)),
    *((1, ("a", 2.0)), b"\xff", frozenset({1, 2})),
]


def test_names_of_nodes_are_what_they_were(path):
    graph = nx.relabel_nodes(nx.cycle_graph(len(NAMES)), dict(enumerate(NAMES)))
    model = SymNMF(2, affinity="precomputed", random_state=0).fit(graph)
    loaded = symclust.load(model.save(path, data=False))
    assert loaded.node_names_ == NAMES
    assert list(map(type, loaded.node_names_)) == list(map(type, NAMES))
    assert loaded.communities() == model.communities()


def test_names_of_features(path):
    frame = pd.DataFrame(X, columns=list("abcde"))
    loaded = symclust.load(symclust.NMF(3).fit(frame).save(path))
    assert loaded.feature_names_in_.tolist() == list("abcde")
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize("weight", [0.0, 0.5])
@pytest.mark.parametrize(
    "constraint",
    [
        *("free", "nonnegative", "unit", "sparse", "orthogonal", "l1", "simplex", "one_per_row"),
        *(constraints.Sparse(2), constraints.Unit("columns")),
    ],
    ids=str,
)
def test_every_constraint(constraint, weight, path):
    model = symclust.SymmetricFactorization(
        3, constraint=constraint, graph_regularization=weight, max_iter=50, random_state=0
    )
    model.fit(X)
    same_answers(model, symclust.load(model.save(path)), NEW)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_ignored_pairs(loss, path):
    pairs = sp.diags_array([np.ones(59), np.ones(59)], offsets=[-1, 1], format="csr")
    model = symclust.OffDiagonalSymNMF(3, loss=loss, ignore=pairs, affinity="precomputed", random_state=0)
    model.fit(K * (1 - pairs.toarray()))
    loaded = symclust.load(model.save(path))
    same_answers(model, loaded, K[:4])
    identical(model.impute(), loaded.impute())


def test_a_chosen_number_comes_with_its_reasons(path):
    model = symclust.NMF("auto", random_state=0).fit(X)
    loaded = symclust.load(model.save(path))
    assert str(loaded.selection_) == str(model.selection_)
    assert loaded.selection_.to_dataframe().equals(model.selection_.to_dataframe())
    selection = symclust.select_n_clusters(X, candidates=[2, 3], method="consensus", random_state=0)
    loaded = symclust.load(selection.save(path))
    assert str(loaded) == str(selection)
    identical(loaded.consensus[3].values, selection.consensus[3].values)


def test_random_state_goes_on_where_it_was(path):
    model = SymNMF(3, random_state=np.random.RandomState(5)).fit(X)
    loaded = symclust.load(model.save(path))
    assert loaded.random_state.uniform() == model.random_state.uniform()


def test_trees_and_their_flat_forms(path):
    tree = symclust.HierarchicalSymNMF(4, random_state=0).fit(nx.les_miserables_graph())
    loaded = symclust.load(tree.save(path))
    assert loaded.tree_.to_json() == tree.tree_.to_json()
    identical(loaded.flatten().membership_, tree.flatten().membership_)
    flat = tree.flatten()
    same_answers(flat, symclust.load(flat.save(path)))
    topics = symclust.HierarchicalNMF(3, random_state=0).fit(X).flatten()
    identical(symclust.load(topics.save(path)).membership_, topics.membership_)


# Parameters -------------------------------------------------------------------------------------------------


def test_a_callback_is_left_out(path):
    model = SymNMF(3, callback=lambda state: None, random_state=0).fit(X)
    assert symclust.load(model.save(path)).callback is None
    assert model.callback is not None


class Ours:
    def project(self, H):
        return np.maximum(H, 0)


class MySymNMF(SymNMF):
    pass


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (SymNMF(3, affinity=lambda X: X @ X.T), "affinity is a function, and files of models hold no code"),
        (
            symclust.SymmetricFactorization(3, constraint=Ours(), max_iter=5),
            "constraint is, or holds, a Ours",
        ),
        (symclust.GraphNMF(3, graph=nx.cycle_graph(60), max_iter=5), "GraphNMF.graph is, or holds, a Graph"),
        (MySymNMF(3), "The model is, or holds, a MySymNMF"),
    ],
    ids=["function", "object", "graph", "subclass"],
)
def test_what_no_file_can_hold_is_named(model, words, path):
    with pytest.raises(InputTypeError, match=words):
        model.fit(X).save(path)
    assert not path.exists()


def test_nodes_called_by_other_objects_are_refused(path):
    graph = nx.relabel_nodes(nx.path_graph(5), {0: Ours()})
    with pytest.raises(InputTypeError, match="node_names_ is, or holds, a Ours"):
        SymNMF(2, affinity="precomputed").fit(graph).save(path)


def test_vectorisers_with_functions_are_refused(path):
    tree = symclust.topics(TEXTS, 2, tokenizer=str.split, random_state=0)
    with pytest.raises(InputTypeError, match="a vectoriser with a function of yours"):
        tree.save(path)


# Without the data -------------------------------------------------------------------------------------------


def test_without_data_a_model_keeps_its_answer_and_says_what_it_lacks(path):
    model = SymNMF(3, init=np.ones((60, 3)) + X[:, :3], random_state=0).fit(X)
    row = X[7].tobytes()
    model.predict(NEW)  # makes what places samples
    assert row in model.save(path).read_bytes()
    content = model.save(path, data=False).read_bytes()
    assert row not in content
    loaded = symclust.load(path)
    for name in ("labels_", "membership_", "history_", "inits_"):
        identical(getattr(model, name), getattr(loaded, name))
    assert loaded.init == "auto" and loaded.communities() == model.communities()
    assert not hasattr(loaded, "affinity_matrix_")
    for question in (loaded.predict, loaded.transform, loaded.score):
        with pytest.raises(LeftOutError, match=r"saved without its training data.*placing samples"):
            question(NEW)
    with pytest.raises(LeftOutError, match="the objective"):
        loaded.optimality()
    identical(loaded.fit(X).predict(NEW), SymNMF(3, random_state=0).fit(X).predict(NEW))


@pytest.mark.parametrize("name", ["NMF", "GraphNMF", "HierarchicalNMF", "SphericalKMeans"])
def test_models_of_features_need_no_training_data(name, path):
    model = getattr(symclust, name)(3, random_state=0).fit(X)
    content = model.save(path, data=False).read_bytes()
    assert X[7].tobytes() not in content
    identical(model.predict(NEW), symclust.load(path).predict(NEW))


def test_a_graph_is_training_data(path):
    model = symclust.GraphNMF(3, graph=K, random_state=0, max_iter=20).fit(X)
    assert K[7].tobytes() in model.save(path).read_bytes()
    assert K[7].tobytes() not in model.save(path, data=False).read_bytes()
    loaded = symclust.load(path)
    assert loaded.graph == "nearest_neighbors"
    with pytest.raises(LeftOutError, match="their graph"):
        loaded.graph_  # noqa: B018


def test_memberships_of_a_tree_need_no_data(path):
    model = symclust.HierarchicalSymNMF(3, random_state=0).fit(X.astype(np.float32))
    identical(symclust.load(model.save(path, data=False)).membership_, model.membership_)


def test_an_unfitted_estimator_inside_another(path):
    model = symclust.DivisiveClustering(SymNMF(2, callback=print), 3).fit(X)
    loaded = symclust.load(model.save(path))
    same_answers(model, loaded.set_params(estimator__callback=print), NEW)


# Applications -----------------------------------------------------------------------------------------------

SUBJECTS = {
    "sea": "ship sail wave harbour anchor tide",
    "kitchen": "oven flour butter pan recipe spoon",
    "stars": "orbit comet planet telescope lens sky",
}


def texts():
    rng = np.random.RandomState(0)
    words = [subject.split() for subject in SUBJECTS.values()]
    return [" ".join(rng.choice(words[i % 3], 12)) + f" the {i} secret" for i in range(45)]


TEXTS = texts()


@pytest.mark.parametrize("options", [{}, {"refine": False}, {"ngram_range": (1, 2)}], ids=str)
def test_topics(options, path):
    tree = symclust.topics(TEXTS, 3, random_state=0, **options)
    loaded = symclust.load(tree.save(path))
    assert str(loaded) == str(tree) and loaded.to_json() == tree.to_json()
    assert loaded.draw(n_examples=2) == tree.draw(n_examples=2)
    for one, other in (
        (loaded.place(TEXTS[:9]), tree.place(TEXTS[:9])),
        (loaded.flatten(), tree.flatten()),
    ):
        identical(one.labels_, other.labels_)
        identical(one.membership_, other.membership_)
    flat = tree.flatten()
    assert symclust.load(flat.save(path)).terms == flat.terms


def test_topics_without_their_documents(path):
    tree = symclust.topics(TEXTS, 3, random_state=0)
    assert b"secret" in tree.save(path).read_bytes()
    assert b"the 1 secret" not in tree.save(path, data=False).read_bytes()
    loaded = symclust.load(path)
    identical(loaded.membership_, tree.membership_)
    identical(loaded.place(TEXTS).labels_, tree.place(TEXTS).labels_)
    assert {example.excerpt for topic in loaded for example in topic.examples} == {""}
    with pytest.raises(LeftOutError, match=r"flatten\(\)"):
        loaded.flatten()


def test_topics_of_counts(path):
    counts = np.random.RandomState(0).poisson(0.5, (40, 20))
    tree = symclust.topics(counts, 3, random_state=0)
    identical(symclust.load(tree.save(path)).place(counts).labels_, tree.place(counts).labels_)


@pytest.mark.parametrize("n_subtypes", [3, "auto"])
def test_subtypes(n_subtypes, path):
    rng = np.random.RandomState(0)
    values = rng.gamma(2, 1, (45, 80))
    values[:15, :20] *= 4
    values[15:30, 20:40] *= 4
    table = pd.DataFrame(values, [f"s{i}" for i in range(45)], [f"g{i}" for i in range(80)])
    answer = symclust.subtypes(table, n_subtypes, orientation="samples", random_state=0)
    loaded = symclust.load(answer.save(path))
    assert str(loaded) == str(answer) and loaded.markers() == answer.markers()
    assert loaded.to_dataframe().equals(answer.to_dataframe())
    identical(loaded.place(table[:5]).membership_, answer.place(table[:5]).membership_)


# Values -----------------------------------------------------------------------------------------------------


def there_and_back(value, path):
    encoder = Encoder()
    node = encoder.encode(value)
    write_archive(path, {}, {"model": node, "objects": encoder.objects}, encoder.arrays)
    with path.open("rb") as file:
        _, content, arrays = read_archive(file, path.stat().st_size)
    return Decoder(content["objects"], arrays).decode(content["model"])


of_numpy = [np.float32(0.1), np.int8(-3), np.bool_(True), np.str_("é"), np.dtype("f4")]
scalars = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.slices(9)),
    st.sampled_from([*of_numpy, range(3, 9, 2)]),
)
dtypes = st.sampled_from(["f8", ">f4", "i2", "?", "U3", "M8[s]"])
hashable = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary(),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=5,
)
values = st.recursive(
    scalars | arrays(dtypes, array_shapes(min_side=0, max_side=4)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(hashable, inner, max_size=3)
        | st.sets(hashable, max_size=3)
    ),
    max_leaves=12,
)


def equal(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray | np.generic):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return equal(list(a), list(b)) and equal(list(a.values()), list(b.values()))
    return a == b or (a != a and b != b)


@given(values)
def test_values_come_back_as_they_were(tmp_path_factory, value):
    assert equal(there_and_back(value, tmp_path_factory.getbasetemp() / "value"), value)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("family", ["array", "matrix"])
def test_sparse_arrays_of_all_kinds(kind, family, path):
    A = getattr(sp, f"{kind}_{family}")(X[:4] > 1)
    found = there_and_back(A, path)
    assert type(found) is type(A) and found.dtype == A.dtype
    np.testing.assert_array_equal(found.toarray(), A.toarray())


def test_order_in_memory_and_what_is_shared_are_kept(path):
    big = np.arange(300_000.0).reshape(500, 600)  # has a file to itself
    view = big.T
    names = [f"n{i}" for i in range(100)]
    found = there_and_back([big, view, big, big[:], names, names], path)
    assert found[0].flags.c_contiguous and found[1].flags.f_contiguous
    np.testing.assert_array_equal(found[1], view)
    assert found[0] is found[2] is found[3] and found[4] is found[5]
    assert path.stat().st_size < 2.1 * big.nbytes
    assert found[0].flags.writeable


def test_small_arrays_share_a_file_and_no_memory(path):
    one, other = there_and_back([np.zeros(3), np.ones(4)], path)
    one[:] = 7
    assert other.tolist() == [1, 1, 1, 1]
    arrays = Arrays()
    assert arrays.put(np.zeros(3))[0] == arrays.put(np.ones(4))[0] != arrays.put(np.ones(3, dtype="f4"))[0]


# Files ------------------------------------------------------------------------------------------------------


def test_the_same_model_gives_the_same_bytes(path, tmp_path):
    model = symclust.NMF(3, random_state=0).fit(X)
    first = model.save(path).read_bytes()
    assert model.save(str(tmp_path / "again")).read_bytes() == first
    assert symclust.load(path).save(path).read_bytes() == first


def test_arrays_in_the_file_are_numpys(path):
    model = symclust.NMF(3, random_state=0).fit(X)
    with np.load(model.save(path), allow_pickle=False) as files:
        arrays = [files[name] for name in files.files if name.startswith("arrays/")]
    assert any(np.isin(model.membership_, array).all() for array in arrays if array.dtype == "f8")


def test_a_model_that_cannot_be_written_leaves_the_old_file(path, monkeypatch):
    model = symclust.NMF(3, random_state=0).fit(X)
    before = model.save(path).read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("symclust._files.Path.replace", full)
    with pytest.raises(InputError, match=r"cannot be written to .*No space left"):
        model.fit(X[:30]).save(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_paths_that_are_none(tmp_path):
    model = symclust.NMF(3, random_state=0).fit(X)
    for wrong in (tmp_path, tmp_path / "missing" / "model", tmp_path / "zero\0byte"):
        with pytest.raises(InputError, match="cannot be written"):
            model.save(wrong)
    with pytest.raises(InputTypeError, match="a str or a Path"):
        model.save(3)


def test_saving_warns_of_nothing(path):
    model = SymNMF(3, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        symclust.load(model.save(path))
