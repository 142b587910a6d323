"""HierarchicalNMF, DocumentWeights and topics on Dask arrays: the trees of the same data in memory."""

import numpy as np
import pytest
from scipy import sparse

import symclust
from symclust import HierarchicalNMF, select_n_clusters, topics
from symclust.documents import DocumentWeights
from symclust.exceptions import (
    CombinationError,
    DegenerateWarning,
    InputError,
    InputTypeError,
    LeftOutError,
)

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

N, D, SUBJECTS = 400, 90, 6


@pytest.fixture(autouse=True)
def blocks_stay_where_they_are():
    with dask.config.set({"scheduler": "threads", "num_workers": 2, "symclust.gathered-entries": 900}):
        yield


@pytest.fixture(scope="module")
def counts():
    """Counts of words: of six subjects of uneven size, with common words; two documents are empty."""
    rng = np.random.RandomState(0)
    subject = rng.choice(SUBJECTS, size=N, p=np.array([6, 5, 4, 3, 2, 1]) / 21)
    likely = np.where(np.arange(D) % (SUBJECTS + 1) == subject[:, None], 1.5, 0.06)
    likely[:, np.arange(D) % (SUBJECTS + 1) == SUBJECTS] = 0.3
    X = rng.poisson(likely).astype(float)
    X[[11, 300]] = 0
    return sparse.csr_array(X)


def as_dask(X, rows=90, dense=False):
    parts = [
        da.from_delayed(
            dask.delayed(X[i : i + rows].toarray() if dense else X[i : i + rows]),
            shape=(min(rows, X.shape[0] - i), X.shape[1]),
            meta=np.empty((0, 0), X.dtype) if dense else sparse.csr_array((0, 0), dtype=X.dtype),
        )
        for i in range(0, X.shape[0], rows)
    ]
    return da.concatenate(parts)


def same_tree(one, other):
    assert one.tree_.n_splits == other.tree_.n_splits
    for node, twin in zip(one.tree_.walk(), other.tree_.walk(), strict=True):
        assert node.number == twin.number
        assert np.array_equal(node.members, twin.members)
        assert node.score == pytest.approx(twin.score, rel=1e-6, nan_ok=True)
    assert np.array_equal(one.labels_, other.labels_)
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-6)


# Weights ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "options",
    [{}, {"tfidf": "plain"}, {"tfidf": "positive", "log_counts": True}, {"tfidf": False, "unit_norm": False}],
)
def test_weights_are_those_in_memory(counts, options, dtype, dense):
    X = counts.astype(dtype)
    whole, blocks = DocumentWeights(**options), DocumentWeights(**options)
    expected, found = whole.fit_transform(X), blocks.fit_transform(as_dask(X, dense=dense))
    assert np.array_equal(blocks.idf_, whole.idf_)
    np.testing.assert_allclose(blocks.sum_, whole.sum_, rtol=1e-12)
    assert found.dtype == dtype and isinstance(found, da.Array)  # still to be computed
    found = found.compute(scheduler="synchronous")
    assert sparse.issparse(found) != dense
    found = found if dense else found.toarray()
    np.testing.assert_allclose(found, expected.toarray(), rtol=1e-12 if dtype == np.float64 else 1e-6)


def test_counts_that_are_negative_are_refused(counts):
    with pytest.raises(InputError, match="Negative"):
        DocumentWeights().fit(as_dask(-counts))


# Trees ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"criterion": "energy"},
        {"outlier_trials": 0},
        {"outlier_ratio": 2.0, "n_clusters": 9},
    ],
)
def test_the_tree_is_that_in_memory(counts, options):
    X = DocumentWeights().fit_transform(counts)
    options = {"n_clusters": SUBJECTS, "random_state": 0, **options}
    with pytest.warns(DegenerateWarning, match="2 of 400 samples have no feature"):
        one = HierarchicalNMF(**options).fit(as_dask(X))
    with pytest.warns(DegenerateWarning):
        other = HierarchicalNMF(**options).fit(X)
    same_tree(one, other)
    assert one.n_iter_ == other.n_iter_
    np.testing.assert_allclose(one.membership_, other.membership_, atol=1e-6)


@pytest.mark.filterwarnings("ignore::symclust.exceptions.DegenerateWarning")
@pytest.mark.parametrize("limit", [0, 10**6])
def test_the_tree_does_not_depend_on_what_is_gathered(counts, limit):
    X = DocumentWeights().fit_transform(counts)
    with dask.config.set({"symclust.gathered-entries": limit}):
        one = HierarchicalNMF(4, random_state=0).fit(as_dask(X, 130, dense=True))
    same_tree(one, HierarchicalNMF(4, random_state=0).fit(X))


@pytest.mark.filterwarnings("ignore::symclust.exceptions.DegenerateWarning")
def test_single_precision_stays(counts):
    X = DocumentWeights().fit_transform(counts.astype(np.float32))
    model = HierarchicalNMF(SUBJECTS, random_state=0).fit(as_dask(X))
    assert model.components_.dtype == np.float32
    assert np.array_equal(model.labels_, HierarchicalNMF(SUBJECTS, random_state=0).fit(X).labels_)


@pytest.mark.filterwarnings("ignore::symclust.exceptions.DegenerateWarning")
def test_placing_and_flattening(counts, tmp_path):
    X = DocumentWeights().fit_transform(counts)
    model, other = (HierarchicalNMF(4, random_state=0).fit(D) for D in (as_dask(X), X))
    np.testing.assert_allclose(model.transform(as_dask(X, 50)), other.transform(X), atol=1e-8)
    assert np.array_equal(model.predict(X[:20]), other.predict(X)[:20])
    assert np.array_equal(model.flatten().labels_, other.flatten().labels_)
    with pytest.raises(ValueError, match="features"):
        model.predict(as_dask(X[:, :50]))
    with pytest.raises(CombinationError, match="data=False"):
        model.save(tmp_path / "model.symclust")
    loaded = symclust.load(model.save(tmp_path / "model.symclust", data=False))
    assert np.array_equal(loaded.predict(X), other.predict(X))
    with pytest.raises(LeftOutError):
        loaded.flatten()


def test_nothing_that_was_given_is_changed(counts):
    X = counts.copy()
    X.data[0] = 0  # a stored zero
    before = X.copy()
    array = as_dask(X).persist()
    with pytest.warns(DegenerateWarning):
        HierarchicalNMF(2, random_state=0).fit(array)
    after = array.compute(scheduler="synchronous")
    assert after.nnz == before.nnz
    assert np.array_equal(after.data, before.data)


@pytest.mark.parametrize("split", ["k_means", "spherical_k_means"])
def test_splits_that_need_all_samples_are_refused(counts, split):
    with pytest.raises(CombinationError, match="rank_two"):
        HierarchicalNMF(2, split=split).fit(as_dask(counts))
    with dask.config.set({"symclust.gathered-entries": 10**6}), pytest.warns(DegenerateWarning):
        assert HierarchicalNMF(2, split=split, random_state=0).fit(as_dask(counts)).tree_.n_splits == 1


def test_what_is_wrong_with_a_block_is_said_with_its_first_row(counts):
    X = counts.copy()
    X.data[X.indptr[200]] = -1
    with pytest.raises(InputError, match=r"HierarchicalNMF.*first at row 20.*counted from row 180"):
        HierarchicalNMF(2).fit(as_dask(X))
    X.data[X.indptr[200]] = np.nan
    with pytest.raises(InputError, match=r"NaN.*counted from row 180"):
        HierarchicalNMF(2).fit(as_dask(X))


def test_the_number_is_not_chosen_on_a_dask_array(counts):
    for ask in (
        lambda: HierarchicalNMF("auto").fit(as_dask(counts)),
        lambda: select_n_clusters(as_dask(counts), HierarchicalNMF()),
    ):
        with pytest.raises(InputTypeError, match="Dask array"):
            ask()


# Topics -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("refine", [True, False])
def test_topics_are_those_in_memory(counts, refine, tmp_path):
    names = [f"word{i}" for i in range(D)]
    options = {"feature_names": names, "refine": refine, "random_state": 0, "n_examples": 4}
    one, other = (topics(X, 5, **options) for X in (as_dask(counts), counts))
    assert np.array_equal(one.labels_, other.labels_)
    for topic, twin in zip(one, other, strict=True):
        assert (topic.number, topic.children) == (twin.number, twin.children)
        assert np.array_equal(topic.documents, twin.documents)
        assert [term for term, _ in topic.terms] == [term for term, _ in twin.terms]
        assert [e.document for e in topic.examples] == [e.document for e in twin.examples]
        assert topic.coherence == pytest.approx(twin.coherence)
        assert topic.score == pytest.approx(twin.score, rel=1e-6, nan_ok=True)
    for name in ("empty", "outliers", "one_word", "names", "notes", "feature_names"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.array_equal(one.flatten().labels_, other.flatten().labels_)
    np.testing.assert_allclose(one.membership_, other.membership_, atol=1e-7)
    for new in (counts[:30], as_dask(counts[:30], 20)):
        np.testing.assert_allclose(
            one.place(new).membership_, other.place(counts[:30]).membership_, atol=1e-7
        )
    with pytest.raises(CombinationError, match="data=False"):
        one.save(tmp_path / "topics.symclust")
    loaded = symclust.load(one.save(tmp_path / "topics.symclust", data=False))
    assert np.array_equal(loaded.place(counts[:30]).labels_, other.place(counts[:30]).labels_)


def test_a_topic_that_loses_all_its_documents(counts, monkeypatch):
    from symclust.applications.topics._documents import BlockDocuments, Documents, documents_of
    from symclust.estimators import read_rows

    X = counts[np.flatnonzero(np.diff(counts.indptr))]
    one, other = documents_of(read_rows(as_dask(X), "topics")), documents_of(X)
    assert isinstance(one, BlockDocuments) and isinstance(other, Documents)
    rng = np.random.RandomState(3)
    labels = rng.randint(40, size=X.shape[0])  # so many that some are left by all
    labels[rng.rand(len(labels)) < 0.1] = -1
    fill, calls = BlockDocuments._without_empty, []
    monkeypatch.setattr(BlockDocuments, "_without_empty", lambda *given: calls.append(1) or fill(*given))
    found, expected = one.settled(labels), other.settled(labels)
    assert calls
    assert np.array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], atol=1e-12)
    assert np.array_equal(one.placed(*found), other.placed(*expected))
    assert (np.bincount(found[0][found[0] >= 0], minlength=40) > 0).all()


def test_what_topics_cannot_do_with_a_dask_array(counts):
    with pytest.raises(CombinationError, match="n_topics='auto'"):
        topics(as_dask(counts), "auto")
    with pytest.raises(InputError, match="rows of counts"):
        topics(da.from_array(np.array(["one text", "another"], dtype=object), chunks=1), 2)
    with pytest.raises(InputError, match="None of the 400 documents"):
        topics(as_dask(0 * counts), 2)
