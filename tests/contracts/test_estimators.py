"""Every estimator that `symclust` exports: what a user may rely on without reading its page.

scikit-learn's own checks run elsewhere, class by class; here is what they do not look at. A new public
estimator is run without being named.
"""

import hashlib
import inspect
import pickle
import sys
import warnings
from functools import cache

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

import symclust
from symclust import DivisiveClustering, GraphNMF, LinkageClustering, SymNMF
from symclust.exceptions import InterruptedWarning, LeftOutError

EXPORTED = [getattr(symclust, name) for name in symclust.__all__]
ESTIMATORS = [thing for thing in EXPORTED if isinstance(thing, type) and issubclass(thing, BaseEstimator)]
every_estimator = pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
pytestmark = pytest.mark.filterwarnings("ignore")  # small data: some are not done, some drop outliers


def make(cls, n_clusters=3):
    model = cls(SymNMF(2), n_clusters) if cls is DivisiveClustering else cls(n_clusters)
    if cls is LinkageClustering:  # by default it compares all pairs, which sparse samples and graphs refuse
        model.set_params(affinity="nearest_neighbors", linkage="single")
    if cls is GraphNMF:
        model.set_params(max_iter=50)  # of a thousand that its default takes on such data
    seeds = {name: 0 for name in model.get_params() if name.endswith("random_state")}
    return model.set_params(**seeds)


def samples(n=120, n_features=6, n_clusters=3, seed=0):
    """Nonnegative, with a third of zeros, in clusters."""
    rng = np.random.default_rng(seed)
    X = 3 * np.eye(n_clusters, n_features)[np.arange(n) * n_clusters // n] + rng.random((n, n_features))
    return np.where(X < 0.3, 0, X)


@cache
def fitted(cls, dtype=np.float64):
    return make(cls).fit(samples().astype(dtype))


def digest(model, new):
    """Every array that a fitted model shows, and what it says of new samples."""
    seen = {name: np.asarray(getattr(model, name)) for name in ("labels_", "membership_")}
    seen |= {name: value for name, value in vars(model).items() if isinstance(value, np.ndarray)}
    seen |= {"transform": model.transform(new), "predict": model.predict(new)}
    seen.pop("history_", None)  # holds seconds
    text = "".join(f"{name}{array.dtype}{array.tolist()}" for name, array in sorted(seen.items()))
    return hashlib.sha256(text.encode()).hexdigest()


def digests(cls):
    data = [form(samples(n=600, n_features=12)) for form in (np.float32, sp.csr_array)]
    return [digest(make(cls).fit(X), X[:50] * 1.01) for X in data]


@every_estimator
def test_the_same_bits_on_one_and_two_threads(cls, on_threads):
    one, two = (on_threads(threads, digests, cls) for threads in (1, 2))
    assert one == two
    assert one[0] != one[1]


@every_estimator
def test_single_precision_stays_single(cls):
    model = fitted(cls, np.float32)
    new = samples()[:5].astype(np.float32)
    assert model.membership_.dtype == model.transform(new).dtype == np.float32
    for name in ("components_", "affinity_matrix_"):
        if hasattr(model, name):
            assert getattr(model, name).dtype == np.float32


def frozen(X):
    """The same data in buffers that nobody can write to."""
    for part in [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]:
        part.flags.writeable = False
    return X


def backwards(X):
    """CSR with the indices of each row in falling order."""
    A = sp.csr_array(X)
    for first, last in zip(A.indptr[:-1], A.indptr[1:], strict=True):
        A.indices[first:last] = A.indices[first:last][::-1].copy()
        A.data[first:last] = A.data[first:last][::-1].copy()
    return A


@pytest.mark.parametrize("form", [np.array, np.asfortranarray, sp.csr_array, sp.csc_matrix, backwards])
@every_estimator
def test_input_is_never_written_to(cls, form):
    X = form(samples())
    before = pickle.dumps(X)
    model = make(cls).fit(frozen(X))
    model.predict(X)
    model.transform(X)
    assert pickle.dumps(X) == before


def overwrite(X):
    """What a program may do to its data once a model has been fitted."""
    values = X if isinstance(X, np.ndarray) else X.data
    values[...] = np.random.default_rng(1).random(values.shape)
    if sp.issparse(X):
        X.indices[:] = X.indices[::-1].copy()


def answers(model, new):
    answer = [model.transform(new), model.predict(new)]
    return [*answer, model.score(new)] if hasattr(model, "score") else answer


@pytest.mark.parametrize("affinity", [None, "precomputed"])
@pytest.mark.parametrize("form", [np.array, sp.csr_array])
@every_estimator
def test_data_changed_after_the_fit_changes_no_answer(cls, form, affinity):
    model, X = make(cls), samples()
    if affinity is not None:
        if "affinity" not in model.get_params():
            pytest.skip("sees samples, not similarities")
        model, X = model.set_params(affinity=affinity), X @ X.T
    given, new = form(X), np.concatenate([X[:60], X[60:80] * 1.01])
    expected = answers(model.fit(given.copy()), new)
    model.fit(given)
    overwrite(given)  # before the first question
    for earlier, later in zip(expected, answers(model, new), strict=True):
        np.testing.assert_array_equal(earlier, later)


class Interrupt:
    """Counts the calls of Python functions, and is Ctrl-C at the chosen one, or the next of ours.

    Python ignores what is raised in callbacks of weak references and the like, which come when they like.
    """

    def __init__(self, at=np.inf):
        self.at, self.calls = at, 0

    def __call__(self, frame, event, argument):
        if event == "call":
            self.calls += 1
            if self.calls >= self.at and "symclust" in frame.f_code.co_filename:
                self.at = np.inf
                raise KeyboardInterrupt

    def __enter__(self):
        sys.setprofile(self)
        return self

    def __exit__(self, *exception):
        sys.setprofile(None)


@every_estimator
def test_an_interrupted_fit_is_the_best_so_far_or_leaves_the_model_as_it_was(cls):
    X, other = samples(n=60), samples(n=50, n_features=4, n_clusters=2, seed=1)
    make(cls).fit(X)  # what is imported or cached at first makes no difference
    with Interrupt() as whole:
        make(cls).fit(X)
    for share in (0.3, 0.7):
        model = make(cls).fit(other)
        before, new = digest(model, other), samples(n=9)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                with Interrupt(int(share * whole.calls)):
                    model.fit(X)
            except KeyboardInterrupt:
                assert digest(model, other) == before
                continue
        assert InterruptedWarning in [warning.category for warning in said]
        assert len(model.labels_) == len(X)
        assert len(model.predict(new)) == len(new)


@every_estimator
def test_a_second_fit_forgets_the_first(cls):
    other = samples(n=50, n_features=4, n_clusters=2, seed=1)
    fresh = make(cls, 2).fit(other)
    firsts = [samples(), nx.karate_club_graph()] if "affinity" in fresh.get_params() else [samples()]
    for first in firsts:
        model = make(cls, 3).fit(first).set_params(n_clusters=2).fit(other)
        assert vars(model).keys() == vars(fresh).keys()
        assert digest(model, other[:5] + 0.1) == digest(fresh, other[:5] + 0.1)


@every_estimator
def test_a_pickled_model_says_the_same(cls):
    model, new = fitted(cls), samples()[:9] * 1.01
    copy = pickle.loads(pickle.dumps(model))
    assert digest(copy, new) == digest(model, new)


@pytest.mark.parametrize("form", [np.float64, np.float32, sp.csr_array])
@every_estimator
def test_a_saved_model_says_the_same(cls, form, tmp_path):
    model, new = make(cls).fit(form(samples())), form(samples()[:9] * 1.01)
    copy = symclust.load(model.save(tmp_path / "model"))
    assert digest(copy, new) == digest(model, new)
    assert copy.get_params().keys() == model.get_params().keys()
    copy.save(tmp_path / "copy")
    assert digest(symclust.load(tmp_path / "copy"), new) == digest(model, new)


@every_estimator
def test_a_model_saved_without_its_data_keeps_its_answer(cls, tmp_path):
    model, X = fitted(cls), samples()
    path = model.save(tmp_path / "model", data=False)
    assert not any(row.tobytes() in path.read_bytes() for row in X)
    copy = symclust.load(path)
    for name in ("labels_", "membership_", "components_", "history_", "tree_"):
        assert hasattr(copy, name) == hasattr(model, name)
    np.testing.assert_array_equal(copy.labels_, model.labels_)
    np.testing.assert_array_equal(copy.membership_, model.membership_)
    if "affinity" in model.get_params():
        with pytest.raises(LeftOutError, match="placing samples"):
            copy.predict(X[:5])
    else:
        np.testing.assert_array_equal(copy.predict(X * 1.01), model.predict(X * 1.01))


def asked(cls):
    """Public methods that answer from a fit, called with what they need."""
    other = ("fit", "partial_fit", "set_", "get_params", "get_metadata_routing")
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        if name.startswith("_") or name.startswith(other):
            continue
        parameters = list(inspect.signature(method).parameters.values())[1:]
        needed = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
        yield name, [samples()[:5]] * len(needed)


@every_estimator
def test_before_fit_questions_are_refused(cls):
    for name, arguments in asked(cls):
        with pytest.raises(NotFittedError):
            answer = getattr(make(cls), name)(*arguments)
            list(answer)  # of a generator
    for name in ("labels_", "membership_", "tree_", "components_", "objective_"):
        assert not hasattr(make(cls), name)
