"""SymNMF and OffDiagonalSymNMF as two of scikit-learn's estimators."""

import io
import pickle
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_clusterer
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from symclust import OffDiagonalSymNMF, SymNMF

# The one check that looks at no tag: it hands every clusterer standardised samples × 2 features.
UNSUITED = {
    "precomputed": {"check_clustering": "gives samples × features where a square similarity is due"},
    "cosine": {"check_clustering": "gives negative features, whose cosines are negative"},
}
MODELS = [
    SymNMF(),
    SymNMF(affinity="cosine"),
    SymNMF(affinity="precomputed"),
    OffDiagonalSymNMF(),
    # Most pairs of a sparse graph are zero, and so are its medians: the absolute loss wants a denser one.
    OffDiagonalSymNMF(loss="absolute", affinity="gaussian"),
]


@parametrize_with_checks(MODELS, expected_failed_checks=lambda model: UNSUITED.get(model.affinity, {}))
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_the_unsuited_check_passes_once_its_data_suits(blobs):
    X, y = blobs
    for model, data in [
        (SymNMF(3, affinity="cosine", random_state=0), X),
        (SymNMF(3, affinity="precomputed", random_state=0), X @ X.T),
    ]:
        assert adjusted_rand_score(y, model.fit_predict(data)) == 1
        assert set(model.labels_) == {0, 1, 2}


def test_is_a_clusterer():
    assert is_clusterer(SymNMF())


def test_set_output_gives_named_frames(blobs):
    X, _ = blobs
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=[f"s{i}" for i in range(len(X))])
    model = SymNMF(3, random_state=0).set_output(transform="pandas")
    fitted = model.fit_transform(frame)
    assert list(fitted.columns) == ["symnmf0", "symnmf1", "symnmf2"] == list(model.get_feature_names_out())
    assert list(fitted.index) == list(frame.index)
    pd.testing.assert_frame_equal(model.transform(frame), fitted)
    assert isinstance(model.predict(frame), np.ndarray)


def test_names_of_features_are_remembered_and_compared(blobs):
    frame = pd.DataFrame(blobs[0], columns=["a", "b", "c"])
    model = SymNMF(3, random_state=0).fit(frame)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="The table lacks 'a'"):
        model.predict(frame.rename(columns={"a": "z"}))


def test_a_clone_has_the_parameters_and_nothing_fitted(blobs):
    model = SymNMF(3, affinity_params={"n_neighbors": 5}, random_state=0).fit(blobs[0])
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert not hasattr(twin, "labels_")
    np.testing.assert_array_equal(twin.fit(blobs[0]).membership_, model.membership_)


def test_parameters_are_set_and_got():
    model = SymNMF().set_params(n_clusters=4, tol=1e-3)
    assert (model.get_params()["n_clusters"], model.tol) == (4, 1e-3)
    with pytest.raises(ValueError, match="Invalid parameter 'k'"):
        model.set_params(k=3)


def test_pipeline(blobs):
    X, y = blobs
    pipeline = make_pipeline(StandardScaler(), SymNMF(3, random_state=0)).set_output(transform="pandas")
    assert adjusted_rand_score(y, pipeline.fit_predict(X)) == 1
    np.testing.assert_array_equal(pipeline.predict(X), pipeline[-1].labels_)
    assert pipeline.transform(X).shape == (90, 3)


@pytest.mark.parametrize("scoring", ["adjusted_rand_score", "v_measure_score"])
@pytest.mark.parametrize("affinity", ["nearest_neighbors", "gaussian", "precomputed"])
def test_grid_search_finds_the_number_of_clusters(blobs, affinity, scoring):
    X, y = blobs
    X = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 100) if affinity == "precomputed" else X
    search = GridSearchCV(SymNMF(affinity=affinity, random_state=0), {"n_clusters": [2, 3]}, scoring=scoring)
    search.fit(X, y)
    assert search.best_params_ == {"n_clusters": 3}
    assert search.best_score_ == pytest.approx(1)


def test_grid_search_without_classes_takes_the_score(blobs):
    search = GridSearchCV(SymNMF(random_state=0), {"n_clusters": [1, 2, 3, 4, 6]}).fit(blobs[0])
    assert search.best_params_ == {"n_clusters": 3}
    assert 0.5 < search.best_score_ <= 1


def test_pickle_and_joblib(blobs):
    X, _ = blobs
    model = SymNMF(3, random_state=0).fit(X)
    file = io.BytesIO()
    joblib.dump(model, file)
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(file)):
        np.testing.assert_array_equal(copy.transform(X), model.membership_)
        assert copy.optimality() == model.optimality()
        assert copy.stop_reason_ == model.stop_reason_


def test_another_process_recognises_the_training_samples(blobs, tmp_path):
    X, _ = blobs
    model = SymNMF(3, random_state=0).fit(X)
    model.predict(X)
    joblib.dump((model, X), tmp_path / "model")
    code = (
        "import sys, joblib; model, X = joblib.load(sys.argv[1]); "
        "assert (model.transform(X) == model.membership_).all()"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "model")], check=True, timeout=120)
