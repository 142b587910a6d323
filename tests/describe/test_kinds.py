"""What sets clusters apart, for each kind of data."""

import networkx as nx
import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_wine

import symclust
from symclust import NMF, HierarchicalSymNMF, SymNMF
from symclust.describe._describing import describe_clusters
from symclust.describe.columns import Columns
from symclust.describe.pixels import Pixels

WINE = load_wine()


def test_columns_with_their_medians_inside_and_outside():
    model = SymNMF(3, random_state=0).fit(WINE.data)
    found = model.describe(feature_names=WINE.feature_names)
    assert found.heading == "3 clusters of 178 samples."
    assert sum(one.size for one in found) == 178
    for one in found:
        first = one.traits[0]
        column = WINE.data[:, WINE.feature_names.index(first.column)]
        assert first.inside == np.median(column[model.labels_ == one.cluster])
        assert first.outside == np.median(column[model.labels_ != one.cluster])
        assert first.short == f"{'high' if first.inside > first.outside else 'low'} {first.column}"
        assert one.name.startswith(first.short)
        assert abs(first.effect) >= 0.33


def test_categories_by_their_shares():
    pandas = pytest.importorskip("pandas")
    size = np.repeat([1.0, 5.0], 20) + np.random.default_rng(0).random(40)
    table = pandas.DataFrame({"size": size, "town": np.repeat(["Ulm", "Bonn"], 20)})
    found = SymNMF(2, random_state=0).fit(table).describe()
    shares = {
        trait.value: (trait.inside, trait.outside) for one in found for trait in one.traits if trait.value
    }
    assert shares == {"Ulm": (1, 0), "Bonn": (1, 0)}
    assert found.traits_dataframe().columns.tolist() == [
        "cluster", "column", "value", "inside", "outside", "effect"
    ]  # fmt: skip


def test_nodes_by_their_links():
    graph = nx.les_miserables_graph()
    model = HierarchicalSymNMF(5, random_state=0).fit(graph)
    names = np.array(list(graph))
    for one in model.describe():
        own = set(names[model.labels_ == one.cluster])
        inside = graph.subgraph(own)
        strength = dict(inside.degree(weight="weight"))
        assert strength[one.name.split(", ")[0]] == max(strength.values())
        outside = nx.cut_size(graph, own)
        assert f"{inside.number_of_edges()} link" in one.words and f"{outside} to others" in one.words


def test_one_cluster_has_nothing_to_be_compared_with():
    found = SymNMF(1).fit(WINE.data).describe()
    assert str(found).splitlines() == ["1 cluster of 178 samples.", "0  – · 178 (100%)"]


def test_a_share_is_never_shown_as_none():
    labels = np.r_[np.zeros(999, int), 1]
    model = KMeans(2)
    model.labels_ = labels
    found = describe_clusters(model, np.column_stack([labels, np.arange(1000)]), feature_names=["a", "b"])
    assert "1 (<1%)" in str(found)


# Pictures ---------------------------------------------------------------------------------------------------


def test_small_pictures_are_drawn():
    digits = load_digits(n_class=4)
    model = SymNMF(4, random_state=0).fit(digits.data)
    found = model.describe()
    for one in found:
        mean = digits.images[model.labels_ == one.cluster].mean(axis=0)
        assert np.allclose(one.picture, mean)
        assert {trait.short.split()[0] for trait in one.traits if trait.short} <= {"dark", "bright"}
    assert str(found).count("█") > 30
    assert "x36" not in str(found)


def test_constant_pixels_may_be_missing_and_factors_will_do():
    digits = load_digits(n_class=4)
    frame = load_digits(n_class=4, as_frame=True).data
    kept = [name for name in frame if frame[name].nunique() > 1]
    assert len(kept) < 64
    found = SymNMF(4, random_state=0).fit(frame[kept]).describe()
    assert all(one.picture.shape == (8, 8) for one in found)
    assert all(one.picture is not None for one in NMF(4, random_state=0).fit(digits.data).describe())


@pytest.mark.parametrize("kind", ["noise", "spectra", "walks", "wine"])
def test_other_columns_are_no_pixels(kind):
    rng = np.random.default_rng(0)
    t = np.linspace(0, 1, 256)
    X = {
        "noise": rng.random((50, 64)),
        "spectra": np.exp(-((t - rng.random((50, 1))) ** 2) / 0.02),
        "walks": np.cumsum(rng.standard_normal((50, 256)), axis=1),
        "wine": WINE.data,
    }[kind]
    assert Pixels.within(Columns(X, [(f"x{j}", None) for j in range(X.shape[1])])) is None


# Shown ------------------------------------------------------------------------------------------------------


def test_a_loaded_model_says_the_same(tmp_path):
    model = SymNMF(3, random_state=0).fit(WINE.data)
    loaded = symclust.load(model.save(tmp_path / "wine.symclust"))
    assert str(loaded.describe()) == str(model.describe())
    bare = symclust.load(model.save(tmp_path / "bare.symclust", data=False))
    assert str(bare.describe(WINE.data)) == str(model.describe(WINE.data))


def test_a_notebook_gets_a_table_without_markup_of_the_data():
    found = SymNMF(2, random_state=0).fit(WINE.data[:, :2]).describe(feature_names=["<b>a", "<b>c"])
    shown = found._repr_html_()
    assert "&lt;b&gt;" in shown and "<b>a" not in shown and "<b>c" not in shown
    assert found.to_dataframe().shape == (2, 5)
