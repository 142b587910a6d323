"""What the speed benchmarks share: their graphs and measures, calls in processes of their own, the page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from symclust.metrics import average_normalized_cut

ROOT = Path(__file__).parents[1]

if not (ROOT / "benchmarks").exists():
    pytest.skip("The benchmarks are not part of a source distribution.", allow_module_level=True)


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


def test_quality_of_clusters_chunk_by_chunk(monkeypatch):
    from benchmarks import _graphs

    monkeypatch.setattr(_graphs, "CHUNK", 50)
    A, labels = _graphs.power_law_graph(300, 6, degree=8)
    found = _graphs.graph_quality(A, labels)
    assert found["average normalised cut"] == pytest.approx(average_normalized_cut(A, labels))
    assert found["modularity"] == pytest.approx(_graphs.as_igraph(A).modularity(labels.tolist()))
    assert (found["clusters"], found["in none"]) == (6, 0)
    apart = np.where(labels == 0, -1, labels)
    without = _graphs.graph_quality(A, apart)
    assert (without["clusters"], without["in none"]) == (5, np.count_nonzero(labels == 0))
    assert without["average normalised cut"] == pytest.approx(
        average_normalized_cut(A, np.maximum(apart - 1, -1))
    )


def test_power_law_graph_is_simple_and_has_its_communities():
    from benchmarks._graphs import power_law_graph

    A, y = power_law_graph(5000, 8, degree=12, mixing=0.25)
    i, j = A.nonzero()
    assert (A != A.T).nnz == 0
    assert not A.diagonal().any()
    assert (A.data == 1).all()
    assert A.dtype == np.float32
    assert len(np.unique(y)) == 8
    assert A.nnz / 5000 == pytest.approx(12, rel=0.1)
    by_chance = np.sum((np.bincount(y) / 5000) ** 2)
    assert (y[i] != y[j]).mean() == pytest.approx(0.25 * (1 - by_chance), abs=0.03)


def test_call_in_a_process_of_its_own():
    from benchmarks._graphs import power_law_graph
    from benchmarks.speed._graph_methods import tree
    from benchmarks.speed._peers import run, stored

    A, _ = power_law_graph(400, 4, degree=12, mixing=0.05)
    with stored(A) as folder:
        done = run(tree, folder, k=4)
        late = run(tree, folder, seconds=0.01, k=4)
        wrong = run(tree, folder, k=-3)
    assert done.answer["labels"].shape == (400,)
    assert len(np.unique(done.answer["labels"])) == 4
    assert 0 < done.facts["before (MB)"] <= done.facts["peak (MB)"] < 2000
    assert done.facts["s"] > 0
    assert late.facts == {"why not": "not within 0.01 s"}
    assert wrong.failed
    assert "n_clusters" in wrong.facts["why not"]


def test_memory_of_a_call_is_limited():
    from benchmarks.speed._graph_methods import tree
    from benchmarks.speed._peers import run, stored

    with stored(csr_array(random_array((100, 100), density=0.1))) as folder:
        assert run(tree, folder, memory=30.0, k=2).failed  # MB: less than the libraries need


def test_page_escapes_what_it_shows(monkeypatch, tmp_path):
    from benchmarks import _tools
    from benchmarks.speed import _page

    for module in (_tools, _page):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    rows = [
        {"method": "<script>", "s": 1.5, "n": 10},
        {"method": "SymNMF", "s": 90.0, "n": 20},
        {"method": "a & b", "why not": "not within 3 s"},
    ]
    plots = [{"y": "s", "by": "method"}, {"x": "n", "y": "s", "by": "method"}]
    _tools.table("A < B", rows, plots)
    (file,) = tmp_path.glob("*.json")
    kept = json.loads(file.read_text())
    assert kept["case"].endswith("test_benchmarks")
    assert kept["machine"]["cores"] >= 1
    file.write_text(json.dumps(kept | {"case": "speed/made_up"}))
    page = _page.write_page().read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "A &lt; B" in page
    assert "a &amp; b" in page
    assert page.count("<img ") == 2
    assert page.count("class=ours") == 1


@pytest.mark.parametrize("density", [0.1, 0.97])
def test_bytes_of_the_model_of_dask_are_those_that_are_sent(density):
    from benchmarks.speed.dask_cost import ClusterSpeed, dask_cost_model

    from symclust.operators.dask._workers import encode

    rng = np.random.default_rng(0)
    H = rng.uniform(size=(500, 16)) * (rng.uniform(size=(500, 16)) < density)
    piece = encode(H)
    sent = H.nbytes if isinstance(piece, np.ndarray) else sum(part.nbytes for part in piece[1:])
    share = np.count_nonzero(H) / H.size
    cost = dask_cost_model(500, 1e4, 16, n_workers=3, density=share, speed=ClusterSpeed(hops=1))
    assert cost.sent == pytest.approx(sent)
    assert cost.exchanged == pytest.approx(2 * sent)  # each of the others needs all of H, and has its share
    assert cost.bytes_moved == pytest.approx(3 * sent + H.nbytes)
