"""Clusters written back into the data that a model was fitted to."""

import networkx as nx
import numpy as np
import pytest

import symclust
from symclust import SymNMF, annotate
from symclust.exceptions import InputError, InputTypeError

pandas = pytest.importorskip("pandas")
X = np.kron(np.eye(3), np.ones((8, 2))) + 0.1 * np.random.default_rng(0).random((24, 6))


@pytest.fixture(scope="module")
def frame():
    return pandas.DataFrame(X, columns=[*"abcdef"], index=[f"person {i}" for i in range(24)])


@pytest.fixture(scope="module")
def model(frame):
    return SymNMF(3, random_state=0).fit(frame)


def test_a_table_gets_labels_names_confidence_and_memberships(frame, model):
    found = annotate(frame, model, key="group")
    assert [*found] == [*frame, "group", "group_name", "group_confidence", "group_0", "group_1", "group_2"]
    assert "group" not in frame
    assert np.array_equal(found["group"], model.labels_)
    assert found["group_name"].tolist() == [model.describe()[c].name for c in model.labels_]
    assert [*annotate(frame, model, memberships=False)][-1] == "cluster_confidence"


def test_rows_are_matched_by_name(frame, model):
    more = pandas.concat([frame[::-1], pandas.DataFrame(0.0, columns=[*"abcdef"], index=["a stranger"])])
    found = annotate(more, model)
    assert np.array_equal(found["cluster"][:-1], model.labels_[::-1])
    assert pandas.isna(found["cluster"].iloc[-1])


def test_other_rows_are_refused(frame, model):
    with pytest.raises(InputError, match="names of the samples are not those of the model"):
        annotate(frame.set_axis(range(100, 124)).rename(str), model)
    unnamed = SymNMF(3, random_state=0).fit(X)
    with pytest.raises(InputError, match="The data have 23 samples; the model was fitted to 24"):
        annotate(pandas.DataFrame(X[1:]), unnamed)
    with pytest.raises(InputTypeError, match="no place for labels"):
        annotate(X, unnamed)
    with pytest.raises(InputTypeError, match="expected a fitted model of symclust"):
        annotate(frame, SymNMF(3))


def test_a_networkx_graph():
    graph = nx.les_miserables_graph()
    model = SymNMF(3, random_state=0).fit(graph)
    assert annotate(graph, model) is graph
    assert [label for _, label in graph.nodes(data="cluster")] == model.labels_.tolist()
    assert graph.nodes["Valjean"]["cluster_name"] == model.describe()[graph.nodes["Valjean"]["cluster"]].name


def test_an_igraph_graph():
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph.Famous("Zachary")
    model = SymNMF(2, random_state=0).fit(graph)
    assert annotate(graph, model).vs["cluster"] == model.labels_.tolist()


@pytest.mark.parametrize("is_named", [True, False])
def test_a_dask_table(frame, model, is_named):
    dask = pytest.importorskip("dask.dataframe")
    given = frame if is_named else frame.reset_index(drop=True)
    fitted = model if is_named else SymNMF(3, random_state=0).fit(given)
    found = annotate(dask.from_pandas(given, npartitions=3), fitted)
    assert type(found).__module__.startswith("dask")
    assert np.array_equal(found.compute().loc[given.index, "cluster"].astype(int), fitted.labels_)


def test_an_annotated_matrix(frame):
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(frame)
    model = SymNMF(3, random_state=0).fit(adata)
    assert annotate(adata, model) is adata
    assert adata.obs["cluster"].dtype == "category"
    assert np.array_equal(adata.obs["cluster"].astype(int), model.labels_)
    assert np.allclose(adata.obsm["cluster_membership"], model.membership_)
    assert adata.uns["cluster"]["method"] == "SymNMF"
    assert [*adata.uns["cluster"]["names"].values()] == [one.name for one in model.describe(adata)]


def test_subtypes_and_topics(tmp_path):
    texts = ["ice hockey team", "hockey puck on ice", "orbit of the moon", "a moon rocket in orbit"] * 3
    tree = symclust.topics(texts, 2, random_state=0)
    table = annotate(pandas.DataFrame({"text": texts}), tree)
    assert np.array_equal(table["cluster"], tree.labels_)
    assert set(table["cluster_name"]) == {one.name for one in tree.describe()}
