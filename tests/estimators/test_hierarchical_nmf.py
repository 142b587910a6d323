"""HierarchicalNMF: the tree, its labels, and what becomes of odd documents."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from symclust import HierarchicalNMF, load
from symclust.exceptions import InputError, InterruptedWarning, NotConvergedWarning, OptionError

UNSUITED = {"check_clustering": "gives negative features, whatever the tags say"}
MODELS = [HierarchicalNMF(), HierarchicalNMF(split="spherical_k_means")]


@parametrize_with_checks(MODELS, expected_failed_checks=lambda model: UNSUITED)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def documents():
    """Four topics in two pairs: words of a topic, words of a pair, words of everybody; some more frequent."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 30)
    X = np.zeros((120, 300))
    for row, t in zip(X, y, strict=True):
        pair = 100 + 25 * (t // 2)
        for words, count in (
            (slice(25 * t, 25 * t + 25), 25),
            (slice(pair, pair + 25), 15),
            (slice(150, 300), 15),
        ):
            p = np.arange(1, words.stop - words.start + 1) ** -0.7
            row[words] = rng.multinomial(count, p / p.sum())
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("split", ["rank_two", "k_means", "spherical_k_means"])
def test_finds_planted_topics(documents, split, kind):
    X, y = documents
    model = HierarchicalNMF(4, split=split, random_state=0).fit(X.astype(kind))
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert adjusted_rand_score(y // 2, next(model.snapshots())) > 0.9
    assert model.components_.dtype == model.transform(X.astype(kind)).dtype == kind
    assert adjusted_rand_score(y, model.predict(X.astype(kind))) > 0.9


def test_sparse_and_dense_are_the_same(documents):
    X, _ = documents
    dense = HierarchicalNMF(4, random_state=0).fit(X)
    for form in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        sparse = HierarchicalNMF(4, random_state=0).fit(form(X))
        np.testing.assert_array_equal(sparse.labels_, dense.labels_)
        np.testing.assert_array_equal(sparse.components_, dense.components_)
    np.testing.assert_allclose(sparse.flatten().membership_, dense.flatten().membership_, atol=1e-10)


def test_snapshots_are_cuts_of_the_tree(documents):
    model = HierarchicalNMF(6, random_state=0).fit(documents[0])
    shots = list(model.snapshots())
    assert len(shots) == len(model.tree_.leaves()) - 1
    for k, labels in enumerate(shots, start=2):
        np.testing.assert_array_equal(labels, model.tree_.cut(k))
    np.testing.assert_array_equal(shots[-1], model.labels_)


def test_hard_memberships_are_the_labels(documents):
    model = HierarchicalNMF(4, random_state=0).fit(documents[0])
    placed = model.labels_ >= 0
    np.testing.assert_array_equal(model.membership_.sum(axis=1), placed)
    np.testing.assert_array_equal(model.membership_[placed].argmax(axis=1), model.labels_[placed])


@pytest.mark.parametrize("sparse", [False, True])
def test_training_documents_keep_their_labels(documents, sparse, tmp_path):
    X = np.vstack([np.pad(documents[0], ((0, 0), (0, 3))), np.r_[documents[0][0], 40.0, 30.0, 20.0]])
    X[:30] += X[30:60]  # explained better by other leaves than by their own
    given = sp.csr_array(X) if sparse else X
    model = HierarchicalNMF(4, random_state=0).fit(given)
    assert model.outliers_.size
    assert (model.flatten().labels_ != model.labels_).any()
    np.testing.assert_array_equal(model.predict(given), model.labels_)
    np.testing.assert_array_equal(model.predict(given[20:60]), model.labels_[20:60])
    unseen = given * 2
    np.testing.assert_array_equal(model.predict(unseen), model.transform(unseen).argmax(axis=1))
    loaded = load(model.save(tmp_path / "tree", data=False))
    np.testing.assert_array_equal(loaded.predict(given), model.labels_)


def test_flatten_explains_every_document(documents):
    X, y = documents
    strange = np.vstack([np.pad(X, ((0, 0), (0, 3))), np.r_[X[0], 40.0, 30.0, 20.0]])
    model = HierarchicalNMF(4, random_state=0).fit(strange)
    assert model.outliers_.tolist() == [120]
    flat = model.flatten()
    assert (flat.labels_ >= 0).all()
    assert adjusted_rand_score(y, flat.labels_[:-1]) > 0.9
    np.testing.assert_allclose(np.linalg.norm(flat.components_, axis=1), 1)
    gradient = (flat.membership_ @ flat.components_ - strange) @ flat.components_.T
    assert np.abs(np.where((gradient < 0) | (flat.membership_ > 0), gradient, 0)).max() < 1e-8
    np.testing.assert_array_equal(model.transform(strange), flat.membership_)


def test_top_terms(documents):
    model = HierarchicalNMF(4, random_state=0).fit(documents[0])
    names = [f"w{j}" for j in range(300)]
    for numbers, words, row in zip(
        model.top_terms(5), model.top_terms(5, names), model.components_, strict=True
    ):
        assert words == [names[j] for j in numbers]
        np.testing.assert_array_equal(row[numbers], np.sort(row)[::-1][:5])
    with pytest.raises(InputError, match="expected 300"):
        model.top_terms(5, names[:3])


@pytest.mark.filterwarnings("ignore::symclust.exceptions.NotConvergedWarning")
def test_empty_documents_are_reported(documents):
    X = documents[0].copy()
    X[[3, 50]] = 0
    with pytest.warns(UserWarning, match="2 of 120 samples have no feature"):
        model = HierarchicalNMF(4, random_state=0).fit(X)
    assert {3, 50} <= set(model.outliers_.tolist())
    assert model.predict(X)[3] == model.flatten().labels_[3] == -1


@pytest.mark.filterwarnings("ignore:.*have no feature")
@pytest.mark.parametrize(
    "X",
    [
        np.ones((10, 4)),
        np.tile(np.eye(3), (4, 1)),
        np.eye(4, 6).repeat(3, axis=0),
        np.zeros((5, 3)),
        np.ones((6, 1)),
    ],
)
def test_fewer_kinds_of_documents_than_leaves(X):
    with pytest.warns(NotConvergedWarning, match=r"found only \d (leaf|leaves) of 5: no leaf can"):
        model = HierarchicalNMF(5, random_state=0).fit(X)
    assert len(model.components_) == len(model.tree_.leaves()) < 5
    assert not model.converged_
    assert np.isfinite(model.membership_).all()
    assert np.isfinite(model.transform(X)).all()


def test_one_leaf_is_no_leaves():
    with pytest.warns(NotConvergedWarning, match="found only 1 leaf of 5: no leaf can be"):
        model = HierarchicalNMF(5, random_state=0).fit(np.ones((10, 4)))
    assert model.stop_reason_ == "no leaf can be split further, at 1 leaf"


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix, pd.DataFrame])
def test_later_changes_of_the_data_do_not_change_the_model(documents, form):
    X = form(documents[0].copy())
    model = HierarchicalNMF(4, random_state=0).fit(X)
    before = model.flatten().membership_
    if sp.issparse(X):
        X.data[:] = 7
    else:
        X[:] = 7
    np.testing.assert_array_equal(model.flatten().membership_, before)


def test_single_term_documents_do_no_harm(documents):
    X = np.vstack([documents[0], np.eye(300)[::40]])
    model = HierarchicalNMF(4, random_state=0).fit(X)
    assert len(model.tree_.leaves()) == 4
    assert adjusted_rand_score(documents[1], model.labels_[:120]) > 0.8


def test_an_interrupt_keeps_the_tree(documents):
    def interrupt(step):
        if step.iteration == 2:
            raise KeyboardInterrupt

    with pytest.warns(InterruptedWarning, match="interrupted at 3 leaves of 4; the tree so far is kept"):
        model = HierarchicalNMF(4, callback=interrupt, random_state=0).fit(documents[0])
    assert len(model.components_) == 3
    assert not model.converged_
    assert model.flatten().membership_.shape == (120, 3)


@pytest.mark.parametrize("answer", [True, np.True_])
def test_a_callback_stops(documents, answer):
    model = HierarchicalNMF(4, callback=lambda step: answer, random_state=0).fit(documents[0])
    assert len(model.components_) == 2
    assert model.stop_reason_ == "stopped by the callback at 2 leaves"


@pytest.mark.parametrize("scale, dtype", [(1e12, np.float32), (1e-12, np.float64), (1e70, np.float64)])
def test_the_unit_of_the_data_does_not_matter(documents, scale, dtype):
    X = documents[0].astype(dtype)
    labels = [HierarchicalNMF(4, random_state=0).fit(data).labels_ for data in (X, X * dtype(scale))]
    np.testing.assert_array_equal(*labels)


def test_numbers_whose_products_overflow_are_refused(documents):
    for scale in (1e100, 1e-100):
        with pytest.raises(InputError, match="Multiply X by a constant"):
            HierarchicalNMF(4).fit(documents[0] * scale)


def test_threshold_instead_of_a_number(documents):
    model = HierarchicalNMF(None, score_threshold=0.0, random_state=0).fit(documents[0])
    assert len(model.components_) > 4
    assert "threshold" in model.stop_reason_
    with pytest.raises(OptionError, match="score_threshold"):
        HierarchicalNMF(None).fit(documents[0])


@pytest.mark.parametrize(
    "options",
    [{"split": "thirds"}, {"outlier_ratio": 0.5}, {"outlier_trials": -1}, {"callback": 3}, {"tol": -1}],
)
def test_options_that_make_no_sense(documents, options):
    with pytest.raises(OptionError, match=next(iter(options))):
        HierarchicalNMF(2, **options).fit(documents[0])


def test_negative_features_are_refused():
    with pytest.raises(InputError, match="Negative values"):
        HierarchicalNMF(2).fit(-np.eye(4))


def test_pickle(documents):
    model = HierarchicalNMF(4, random_state=0).fit(documents[0])
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.flatten().membership_, model.flatten().membership_)


CODE = """
import hashlib
import numpy as np, scipy.sparse as sp
from symclust import HierarchicalNMF
X = sp.random_array((4000, 2000), density=0.02, rng=np.random.default_rng(0), format="csr")
for split in ("rank_two", "k_means", "spherical_k_means"):  # X has enough entries to be worth threads
    model = HierarchicalNMF(5, split=split, random_state=0).fit(X)
    for array in (model.labels_, np.ascontiguousarray(model.components_)):
        print(split, hashlib.sha256(array.tobytes()).hexdigest())
print(hashlib.sha256(np.ascontiguousarray(model.flatten().membership_).tobytes()).hexdigest())
"""


def test_the_same_bits_on_one_and_two_threads(printed_on):
    assert printed_on(1, CODE).split() == printed_on(2, CODE).split() != []
