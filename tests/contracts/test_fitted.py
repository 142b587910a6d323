"""One contract for everything that is fitted: estimators, and the answers of applications and flatten()."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import symclust
from symclust.estimators import Fitted, Placement
from symclust.selection import Selection
from symclust.storage._allowed import allowed
from symclust.storage._archive import write_archive
from symclust.storage._values import Encoder

pytestmark = pytest.mark.filterwarnings("ignore")  # small data: some are not done

K, NAMES = 3, [f"s{i}" for i in range(30)]


def samples():
    rng = np.random.default_rng(0)
    X = 3 * np.eye(K, 6)[np.arange(30) % K] + rng.random((30, 6))
    return pd.DataFrame(X, NAMES, list("abcdef"))


X = samples()
WORDS = ["ship sail wave harbour anchor", "oven flour butter pan recipe", "orbit comet planet lens sky"]
TEXTS = {
    name: " ".join(np.random.RandomState(i).choice(WORDS[i % K].split(), 12)) for i, name in enumerate(NAMES)
}
IMAGE = np.kron(np.array([[0.1, 0.5, 0.9]]), np.ones((24, 8)))

ESTIMATORS = {
    name: cls
    for name in symclust.__all__
    if inspect.isclass(cls := getattr(symclust, name)) and hasattr(cls, "fit")
}


def fit(name, k):
    inner = [symclust.SymNMF(2)] if name == "DivisiveClustering" else []
    model = ESTIMATORS[name](*inner, k)
    return (model.set_params(random_state=0) if hasattr(model, "random_state") else model).fit(X)


def subtypes(k):
    table = pd.DataFrame(np.kron(X, np.ones((1, 20))), NAMES, [f"g{j}" for j in range(120)])
    return symclust.subtypes(
        table, k, orientation="samples", n_resamples=3, candidates=[2, 3], random_state=0
    )


# Each is made from a number of clusters or "auto"; and what new samples it places.
MADE = {
    **{name: (lambda k, name=name: fit(name, k), X) for name in ESTIMATORS},
    "topics": (lambda k: symclust.topics(TEXTS, k, random_state=0), TEXTS),
    "topics().flatten()": (lambda k: symclust.topics(TEXTS, k, random_state=0).flatten(), TEXTS),
    "HierarchicalNMF().flatten()": (lambda k: fit("HierarchicalNMF", k).flatten(), X),
    "HierarchicalSymNMF().flatten()": (lambda k: fit("HierarchicalSymNMF", k).flatten(), None),
    "subtypes": (subtypes, pd.DataFrame(np.kron(X, np.ones((1, 20))), NAMES, [f"g{j}" for j in range(120)])),
    "segment_image": (lambda k: symclust.segment_image(IMAGE, k, random_state=0), None),
    "TopicTree.place": (lambda k: symclust.topics(TEXTS, k, random_state=0).place(TEXTS), None),
}
ANSWERS = sorted(set(MADE) - set(ESTIMATORS))


@pytest.fixture(scope="module")
def made():
    return {}


@pytest.fixture(params=list(MADE))
def fitted(request, made):
    if request.param not in made:
        made[request.param] = MADE[request.param][0](K)
    return made[request.param]


def test_every_class_that_is_fitted_is_here():
    from symclust import applications, estimators  # noqa: F401

    found, left = set(), [Fitted]
    while left:
        kinds = left.pop().__subclasses__()
        left += kinds
        found |= {
            kind for kind in kinds if kind.__module__.startswith("symclust.") and kind.__name__[0] != "_"
        }
    public = {kind for kind in found if not kind.__subclasses__() or kind.__name__ in ESTIMATORS}
    inner = {"OneByOne"}  # what `subtypes` fits to resamples
    assert {kind.__name__ for kind in public} - inner == set(ESTIMATORS) | {
        *("FlatTopics", "NamedTopics", "Placement", "Segmentation", "Subtypes", "TopicTree"),
    }


def test_labels_memberships_and_numbers_agree(fitted):
    labels, H = fitted.labels_, fitted.membership_
    assert isinstance(fitted, Fitted)
    assert labels.ndim == 1 and labels.dtype.kind == "i"
    assert H.shape == (len(labels), fitted.n_clusters_) and fitted.n_clusters_ == K
    assert type(fitted.n_clusters_) is int
    assert labels.min() >= -1 and labels.max() < K
    placed = labels >= 0
    if not fitted._gives_degrees:
        dense = H.toarray() if sp.issparse(H) else np.asarray(H)
        np.testing.assert_array_equal(dense.argmax(axis=1)[placed], labels[placed])
        assert set(np.unique(dense)) <= {0, 1}


def test_tables_have_the_same_columns(fitted):
    frame = fitted.to_dataframe()
    columns = ["label", "confidence", *(f"cluster_{number}" for number in range(K))]
    assert list(frame.columns)[: K + 2] == columns
    assert not set(frame.columns[K + 2 :]) - {"stability"}
    np.testing.assert_array_equal(frame["label"], fitted.labels_)
    names = range(len(fitted.labels_)) if fitted.node_names_ is None else fitted.node_names_
    assert frame.index.tolist() == list(names)
    shares = frame["confidence"].dropna()
    if fitted._standing() is None:  # labels without degrees, of features
        assert shares.empty
    else:
        np.testing.assert_array_equal(frame["confidence"].notna(), fitted.labels_ >= 0)
    assert shares.between(0, 1 + 1e-6).all()


def test_members_are_listed(fitted):
    found = fitted.communities()
    assert [len(members) for members in found] == np.bincount(
        fitted.labels_[fitted.labels_ >= 0], minlength=K
    ).tolist()


@pytest.mark.parametrize("data", [True, False])
def test_save_writes_the_model(fitted, data, tmp_path):
    loaded = symclust.load(fitted.save(tmp_path / "model.symclust", data=data))
    assert type(loaded) is type(fitted)
    np.testing.assert_array_equal(loaded.labels_, fitted.labels_)
    assert loaded.n_clusters_ == K
    assert str(loaded).splitlines()[-1] == str(fitted).splitlines()[-1]  # without data no arrays
    assert loaded.to_dataframe().equals(fitted.to_dataframe())


def test_new_samples_are_placed_by_predict_and_transform(made):
    for name, (make, new) in MADE.items():
        if new is None:
            continue
        if name not in made:
            made[name] = make(K)
        fitted = made[name]
        labels, H = fitted.predict(new), fitted.transform(new)
        assert labels.shape == (30,) and labels.dtype.kind == "i", name
        assert H.shape == (30, K), name
        assert labels.min() >= -1 and labels.max() < K, name
        if hasattr(fitted, "place"):
            placed = fitted.place(new)
            np.testing.assert_array_equal(placed.labels_, labels)
            np.testing.assert_array_equal(placed.membership_, H)
            assert placed.node_names_ == NAMES


def test_a_region_is_a_place_in_one_image():
    assert not hasattr(symclust.applications.Segmentation, "predict")


@pytest.mark.parametrize("name", [*ESTIMATORS, "topics", "subtypes", "segment_image"])
def test_the_choice_of_the_number_comes_with_its_reasons(name, made):
    assert (made.get(name) or MADE[name][0](K)).selection_ is None
    if name in ("subtypes", *ESTIMATORS) and name not in ("SymNMF", "NMF", "subtypes"):
        return  # tests/contracts/test_auto.py
    fitted = MADE[name][0]("auto")
    assert isinstance(fitted.selection_, Selection)
    assert fitted.selection_.n_clusters == fitted.n_clusters_


def test_printing_says_what_was_found(fitted):
    text = str(fitted)
    for part in ("3", "30" if len(fitted.labels_) == 30 else "24"):
        assert part in text
    if hasattr(fitted, "fit"):
        first, second = text.rsplit("\n", 1)
        assert first == repr(fitted)
        assert second.startswith("3 clusters of 30 samples")
        unfitted = type(fitted)(**fitted.get_params(deep=False))
        assert str(unfitted) == repr(unfitted)


def test_notebooks_show_what_was_found(fitted):
    html = fitted._repr_html_() if hasattr(fitted, "_repr_html_") else fitted._repr_mimebundle_()["text/html"]
    assert "Three " in html


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("subtypes", "labels", "labels_"),
        ("subtypes", "membership", "membership_"),
        ("topics", "selection", "selection_"),
    ],
)
def test_old_names_lead_to_the_new(name, old, new, made):
    fitted = made.get(name) or MADE[name][0](K)
    with pytest.warns(FutureWarning, match=f"{old} of .* is now called {new}"):
        assert getattr(fitted, old) is getattr(fitted, new)


def test_files_of_earlier_versions_have_the_old_names(made, tmp_path):
    answer = made.get("subtypes") or subtypes(K)
    encoder = Encoder()
    node = encoder.encode(answer)
    (state,) = encoder.objects[node["object"]].values()
    for old in ("labels", "membership", "selection"):
        state[old] = state.pop(f"{old}_")
    about, content = {"model": "applications.Subtypes"}, {"model": node, "objects": encoder.objects}
    write_archive(tmp_path / "old", about, content, encoder.arrays)
    loaded = symclust.load(tmp_path / "old")
    assert loaded.to_dataframe().equals(answer.to_dataframe()) and loaded.selection_ is None
    for old in ("SubtypeAssignment", "TopicAssignment"):
        assert allowed()[f"applications.{old}"] is Placement


def test_unfitted_models_have_none_of_it():
    for cls in ESTIMATORS.values():
        model = cls(symclust.SymNMF(2)) if cls is symclust.DivisiveClustering else cls()
        for name in ("labels_", "membership_", "n_clusters_"):
            assert not hasattr(model, name), (cls, name)
        with warnings.catch_warnings(), pytest.raises(ValueError, match="not fitted"):
            model.to_dataframe()
