"""A on workers: the bits of one machine, workers that are lost, and waits that end.

One cluster of three processes serves all tests of this file. Every wait in the operator has an end; should
one nevertheless hang, the timeout of the test ends the process.
"""

import logging
import os
import pickle
import signal
import tempfile
import threading
from contextlib import contextmanager
from itertools import pairwise
from types import SimpleNamespace

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from distributed import CancelledError, Client, KilledWorker, LocalCluster
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from symclust import (
    NMF,
    AffineNMF,
    Diana,
    DivisiveClustering,
    GraphNMF,
    HierarchicalNMF,
    HierarchicalSymNMF,
    KernelKMeans,
    OffDiagonalSymNMF,
    SparseNMF,
    SphericalKMeans,
    SymNMF,
    select_n_clusters,
)
from symclust.exceptions import (
    CombinationError,
    InputError,
    InputTypeError,
    InterruptedWarning,
    OptionError,
    WorkerError,
)
from symclust.graphs import cosine, nearest_neighbors
from symclust.operators import (
    DUPLICATES,
    Dense,
    Masked,
    OnDask,
    RowBlocks,
    Shifted,
    Sparse,
    as_operator,
    network_of_edges,
    number_nodes,
)
from symclust.operators.dask import _workers
from symclust.validation import check_similarity

pytestmark = [
    pytest.mark.timeout(450, method="thread"),
    pytest.mark.xdist_group("dask"),
    pytest.mark.filterwarnings(
        "ignore::symclust.exceptions.DegenerateWarning",
        "ignore::symclust.exceptions.NotConvergedWarning",
        "ignore:The similarity has negative eigenvalues",
    ),
]

SECONDS = 200  # that a pass may take on a busy machine
N, K = 1500, 4


def random_graph(n=N, degree=8, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    A = sp.coo_array(
        (rng.uniform(0.1, 1, n * degree // 2), rng.integers(0, n, (2, n * degree // 2))), shape=(n, n)
    )
    return sp.csr_array((A + A.T).astype(dtype))


def delayed_rows(A, n_blocks=5):
    """Blocks of rows of several sizes. Their data are in the graph, from which lost ones are made again."""
    borders = (np.linspace(0, 1, n_blocks + 1) ** 1.3 * A.shape[0]).astype(int)
    return [dask.delayed(A[a:b]) for a, b in pairwise(borders)]


def start(n=N, dtype=np.float64):
    return np.random.default_rng(1).uniform(size=(n, K)).astype(dtype)


@pytest.fixture(scope="module")
def client():
    options = {"processes": True, "threads_per_worker": 1, "memory_limit": 0, "host": "127.0.0.1"}
    quiet = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "10s"}),
        LocalCluster(n_workers=3, **options, **quiet) as cluster,
        Client(cluster, timeout=60, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def workers(client):
    """The client, as the one in use, of at least one worker."""
    client.wait_for_workers(1, timeout=SECONDS)
    with client.as_current():
        yield client


def on_workers(A, **options):
    return OnDask(delayed_rows(A, **options), timeout=SECONDS)


def kill_a_holder(client, operator):
    """Kill a worker that keeps a block; return its process."""
    holders = {address for found in client.who_has(operator._blocks._blocks).values() for address in found}
    nannies = client.cluster.workers.values()
    pid = next(nanny.pid for nanny in nannies if nanny.worker_address in holders)
    os.kill(pid, signal.SIGKILL)
    return pid


def fit(A, *, solver="anls", affinity="precomputed", **options):
    options = {"max_iter": 8, "tol": 0, "init": start(A.shape[0], A.dtype)} | options
    return SymNMF(K, affinity=affinity, solver=solver, **options).fit(A)


def assert_same(found, expected):
    assert_array_equal(found.membership_, expected.membership_)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-12)
    assert found.n_iter_ == expected.n_iter_


# On a cluster -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_and_checks_are_those_of_one_machine(workers, dtype):
    A = random_graph(dtype=dtype)
    found, expected = on_workers(A), Sparse(A)
    H = start(dtype=dtype)
    assert_array_equal(found @ H, expected @ H)
    H[H < 0.9] = 0  # sent by its nonzeros
    assert_array_equal(found @ H, expected @ H)
    assert_array_equal(found.diagonal(), expected.diagonal())
    assert check_similarity(found) == pytest.approx(check_similarity(expected), rel=1e-12)
    assert found.largest() == expected.largest()
    assert_array_equal(found.rows([3, 1400, 3]), expected.rows([3, 1400, 3]))


@pytest.mark.parametrize("solver", ["anls", "hals", "barzilai_borwein"])
def test_fits_have_the_bits_of_one_machine(workers, solver):
    A = random_graph()
    assert_same(fit(on_workers(A), solver=solver), fit(Sparse(A), solver=solver))


def test_fits_of_dense_blocks_and_normalised_cuts_are_those_of_one_machine(workers):
    A = random_graph(512).toarray()
    dense = da.from_array(A, chunks=(128, 200))
    assert_same(fit(dense), fit(Dense(A)))
    found = fit(dense, affinity="normalized_cut", solver="hals", max_iter=30)
    expected = fit(Dense(A), affinity="normalized_cut", solver="hals", max_iter=30)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    assert_allclose(found.membership_, expected.membership_, atol=1e-8)


def test_h_is_sent_once_for_all_blocks_and_by_its_nonzeros(workers, monkeypatch):
    A, sent = on_workers(random_graph()), []
    scatter = workers.scatter
    monkeypatch.setattr(
        workers, "scatter", lambda data, **options: sent.append(data) or scatter(data, **options)
    )
    H = start()
    A @ H
    assert len(sent) == 1 and sum(len(piece) for piece in sent[0]) == N
    H[H < 0.9] = 0
    A @ H
    assert len(sent) == 2
    bytes_sent = sum(part.nbytes for piece in sent[1] for part in piece[1:])
    assert bytes_sent < 0.25 * H.nbytes


def test_blocks_stay_where_they_are(workers):
    """Each task says where its block is, and at most tasks are stolen: blocks are not spread over workers."""
    operator = on_workers(random_graph(), n_blocks=8)
    asked = []
    submit = workers.submit
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "submit", lambda *given, **how: asked.append(how) or submit(*given, **how))
        operator @ start()
    kept = workers.who_has(operator._blocks._blocks)
    for block, how in zip(operator._blocks._blocks, asked, strict=True):
        assert how["allow_other_workers"]
        assert set(how["workers"]) <= set(kept[block.key])


def test_large_factors_are_sent_in_pieces(workers, monkeypatch):
    monkeypatch.setattr(_workers, "PIECE_BYTES", 10_000)
    A, H = random_graph(), start()
    H[: N // 2][H[: N // 2] < 0.9] = 0  # some pieces by nonzeros, some as they are
    assert_array_equal(on_workers(A) @ H, Sparse(A) @ H)


@pytest.mark.parametrize("solver", ["anls", "hals"])
def test_a_worker_that_is_killed_during_a_fit_changes_nothing(workers, solver):
    """Of three workers there is another one left both times, whether or not lost ones are replaced."""
    A = random_graph()
    operator, killed = on_workers(A), []

    def at_the_third(progress):
        if progress.iteration == 3:
            killed.append(kill_a_holder(workers, operator))

    found = fit(operator, solver=solver, callback=at_the_third)
    assert len(killed) == 1
    assert_same(found, fit(Sparse(A), solver=solver))


def test_blocks_that_were_cancelled_are_made_again(workers):
    A = random_graph()
    operator = on_workers(A)
    workers.cancel(operator._blocks._blocks)
    assert_array_equal(operator @ start(), Sparse(A) @ start())


def test_parts_are_cut_and_made_again_by_the_workers(workers, monkeypatch):
    A, operator = random_graph(), on_workers(random_graph())
    monkeypatch.setattr(OnDask, "_rows", None)  # nothing of A comes here
    index = np.flatnonzero(np.random.default_rng(3).uniform(size=N) < 0.3)
    part, H = operator.submatrix(index), start(index.size)
    expected = Sparse(A[index][:, index])
    assert_array_equal(part @ H, expected @ H)
    assert check_similarity(part) == pytest.approx(check_similarity(expected), rel=1e-12)
    kill_a_holder(workers, part)
    assert_array_equal(part @ H, expected @ H)
    workers.cancel(part._blocks._blocks)
    assert_array_equal(part @ H, expected @ H)


def test_another_client_takes_the_place_of_one_that_was_closed(client):
    A, H = random_graph(), start()
    with Client(client.cluster, timeout=60, set_as_default=False) as first:
        operator = OnDask(delayed_rows(A), client=first, timeout=SECONDS)
    with pytest.raises(WorkerError, match=r"client that kept the 5 blocks of A was closed.*Client\("):
        operator @ H
    with client.as_current():
        assert_array_equal(operator @ H, Sparse(A) @ H)


# Losses of more than a worker -------------------------------------------------------------------------------


@pytest.fixture
def passing(client):
    """A client of its own on the cluster, which a test may lose."""
    with Client(client.cluster, timeout=60, set_as_default=False) as own:
        own.wait_for_workers(1, timeout=SECONDS)
        yield own


def at_iteration(number, act):
    return lambda progress: act() if progress.iteration == number else None


def in_a_thread(act):
    """Somebody else does it: while a pass is waiting for its answer, not between two passes."""
    return lambda: threading.Timer(0.02, act).start()


@pytest.mark.parametrize("when", [lambda act: act, in_a_thread])
def test_a_client_that_is_closed_during_a_fit_is_said_to_be(passing, when):
    operator = OnDask(delayed_rows(random_graph()), client=passing, timeout=SECONDS)
    with pytest.raises(WorkerError, match=r"closed.*distributed\.Client\("):
        fit(operator, max_iter=10**6, callback=at_iteration(3, when(passing.close)))
    with pytest.raises(WorkerError, match="closed"):
        operator.submatrix(np.arange(9))
    with pytest.raises(WorkerError, match=r"distributed\.Client\("):
        OnDask(delayed_rows(random_graph()), client=passing, timeout=SECONDS)


def row_sums(rows, weight):
    return (weight * rows.sum(),)


def test_rows_whose_client_was_closed(passing):
    with passing.as_current():
        blocks = RowBlocks.of(da.full((6, 2), 3.0, chunks=(2, 2))).map(np.copy)
    passing.close()
    for use in (blocks.sum, blocks.gather, blocks.map):
        with pytest.raises(WorkerError, match=r"closed.*distributed\.Client\("):
            use(row_sums, 2.0)


def test_a_client_that_is_closed_while_rows_are_gone_over(passing):
    with passing.as_current():
        blocks = RowBlocks.of(da.ones((6, 2), chunks=(2, 2))).map(np.copy)
        in_a_thread(passing.close)()
        with pytest.raises(WorkerError, match=r"distributed\.Client\("):
            while True:
                blocks.sum(row_sums, 2.0)


def test_a_client_that_is_closed_while_a_tree_of_documents_grows(client):
    passing = Client(client.cluster, timeout=60)  # in use by all threads until it is closed
    X = da.from_array(np.random.default_rng(0).poisson(0.5, (200, 30)).astype(float), chunks=(50, 30))
    options = {"random_state": 0, "max_iter": 12, "callback": lambda step: passing.close()}
    with (
        dask.config.set({"symclust.gathered-entries": 0}),
        pytest.raises(WorkerError, match=r"distributed\.Client\("),
    ):
        HierarchicalNMF(25, **options).fit(X)


def test_a_scheduler_that_is_lost():
    quiet = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL, "host": "127.0.0.1"}
    options = {"n_workers": 1, "processes": True, "threads_per_worker": 1, "memory_limit": 0}
    with LocalCluster(**options, **quiet) as cluster, Client(cluster, timeout=60) as client:
        client.wait_for_workers(1, timeout=SECONDS)
        operator = on_workers(random_graph())
        blocks = RowBlocks.of(da.ones((6, 2), chunks=(2, 2))).map(np.copy)
        with pytest.raises(WorkerError, match=r"distributed\.Client\("):
            fit(operator, max_iter=10**6, callback=at_iteration(3, cluster.close))
        with pytest.raises(WorkerError, match=r"distributed\.Client\("):
            blocks.sum(row_sums, 2.0)


def test_an_error_of_a_task_stays_what_it_is(workers):
    blocks = RowBlocks.of(da.ones((6, 2), chunks=(2, 2)))
    with pytest.raises(FileNotFoundError, match="no such file"):
        blocks.gather(lambda rows: np.load("no such file.npy"))


@pytest.fixture
def interrupt_wait(monkeypatch):
    """Let Ctrl-C come while an answer is waited for; each product has three waits."""
    wait, waits = _workers.HeldByWorkers._wait, []

    def at(number, begun=lambda: True):
        def interrupted(self, begin, end):
            waits.extend([begin] * begun())
            if len(waits) == number:
                waits.append(None)
                os.kill(os.getpid(), signal.SIGINT)
            return wait(self, begin, end)

        monkeypatch.setattr(_workers.HeldByWorkers, "_wait", interrupted)

    return at


@pytest.mark.parametrize("moment", [1, 2, 3, 5, 7])
def test_an_interrupt_keeps_a_point_and_its_true_number(workers, interrupt_wait, moment):
    A, done = random_graph(), []
    operator = on_workers(A)
    interrupt_wait(moment, lambda: bool(done))
    with pytest.warns(InterruptedWarning, match="interrupted after"):
        found = fit(operator, max_iter=10**6, callback=lambda progress: done.append(progress.iteration))
    assert found.n_iter_ == len(done) > 0
    assert f"after {len(done)} iterations" in found.stop_reason_
    expected = np.linalg.norm(A.toarray() - found.membership_ @ found.membership_.T) ** 2
    assert found.objective_ == pytest.approx(expected, rel=1e-8)


def test_an_interrupt_before_there_is_a_point_is_raised(workers, interrupt_wait):
    operator = on_workers(random_graph())
    interrupt_wait(1)
    with pytest.raises(KeyboardInterrupt):
        fit(operator)
    assert_array_equal(operator @ start(), Sparse(random_graph()) @ start())


def test_edges_of_a_parquet_dataset(workers, tmp_path):
    rng = np.random.default_rng(2)
    i, j, w = rng.integers(0, 300, 4000), rng.integers(0, 300, 4000), rng.uniform(size=4000)
    ends = {"source": np.char.add("node ", i.astype(str)), "target": np.char.add("node ", j.astype(str))}
    table = pd.DataFrame(ends | {"weight": w})
    dd.from_pandas(table, npartitions=4, sort=False).to_parquet(tmp_path / "edges")
    found = OnDask.from_edges(tmp_path / "edges", duplicates="sum", n_blocks=3, timeout=SECONDS)
    i, j, names = number_nodes(table.source, table.target)
    expected, _ = network_of_edges(i, j, w, names, duplicates="sum")
    assert found.names == expected.names and found.n_blocks == 3
    H = start(found.n)
    assert_array_equal(found @ H, expected @ H)
    model = SymNMF(K, affinity="normalized_cut", random_state=0, max_iter=5).fit(found)
    assert model.communities()[0][0].startswith("node ")


def test_an_error_on_a_worker_says_what_is_wrong(workers):
    edges = pd.DataFrame({"source": ["a", "b"], "target": ["b", "a"], "weight": [1.0, 2.0]})
    with pytest.raises(InputError, match=r"between '.' and '.' is listed 2 times.*in partition"):
        OnDask.from_edges(dd.from_pandas(edges, npartitions=2), timeout=SECONDS)


def test_a_block_that_cannot_be_made_is_no_lost_worker(workers):
    blocks = [dask.delayed(np.eye(4))[:2], dask.delayed(np.load)("no such file.npy")]
    with pytest.raises(FileNotFoundError, match="no such file"):
        OnDask(blocks, timeout=SECONDS)


def test_a_pickled_operator_finds_its_blocks_again(workers):
    A = random_graph(200)
    again = pickle.loads(pickle.dumps(on_workers(A)))
    assert_array_equal(again @ start(200), Sparse(A) @ start(200))


# Waits that end ---------------------------------------------------------------------------------------------


def test_a_cluster_without_workers_is_given_up():
    quiet = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
    with (
        LocalCluster(n_workers=0, processes=False, **quiet) as cluster,
        Client(cluster, timeout=30, set_as_default=False) as client,
        pytest.raises(WorkerError, match=r"no answer about the 5 blocks.*timeout=0.3 seconds"),
    ):
        OnDask(delayed_rows(random_graph(100)), client=client, timeout=0.3)


class FailingClient:
    """What the operator sees of a client, every answer of which is an error."""

    asynchronous = False

    def __init__(self, error):
        self.error, self.passes = error, 0

    def compute(self, graph):
        return [SimpleNamespace(status="finished", key=number) for number, _ in enumerate(graph)]

    def sync(self, begin, callback_timeout):
        self.passes += 1
        raise self.error


@pytest.mark.parametrize("error", [CancelledError("lost"), OSError("closed"), TimeoutError()])
def test_losses_are_outlasted_a_few_times_only(error):
    client = FailingClient(error)
    with pytest.raises(WorkerError, match=f"5 attempts.*{type(error).__name__}"):
        OnDask(delayed_rows(random_graph(100)), client=client)
    assert client.passes == 5


def test_a_task_that_ends_workers_is_not_tried_again():
    client = FailingClient(KilledWorker("multiply", SimpleNamespace(address="here"), 3))
    with pytest.raises(WorkerError, match=r"ended several workers.*memory"):
        OnDask(delayed_rows(random_graph(100)), client=client)
    assert client.passes == 1


def test_a_timeout_is_a_number_above_zero_and_a_client_one_that_waits():
    with pytest.raises(OptionError, match="timeout=0"):
        OnDask(delayed_rows(random_graph(100)), timeout=0)
    client = FailingClient(None)
    client.asynchronous = True
    with pytest.raises(InputTypeError, match="asynchronous"):
        OnDask(delayed_rows(random_graph(100)), client=client)


@given(
    H=st.integers(1, 300).flatmap(
        lambda k: st.lists(
            st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.5, -2.0]), min_size=k, max_size=k),
            min_size=1,
            max_size=5,
        )
    ),
    dtype=st.sampled_from([np.float32, np.float64]),
)
@settings(max_examples=60)
def test_what_is_sent_is_what_arrives_and_never_larger(H, dtype):
    H = np.array(H, dtype=dtype)
    piece = _workers.encode(H)
    found = _workers.decode([piece])
    assert found.dtype == dtype and found.shape == H.shape
    assert_array_equal(found, H)
    assert isinstance(piece, np.ndarray) or sum(part.nbytes for part in piece[1:]) < H.nbytes


# Without a cluster ------------------------------------------------------------------------------------------


@contextmanager
def nothing_comes_to_the_client():
    def refuse(*args, **options):
        raise AssertionError("A was brought to the client")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(da.Array, "__array__", refuse)
        patch.setattr(da.Array, "compute", refuse)
        yield


@pytest.mark.parametrize("as_chunk", [np.asarray, sp.csr_matrix, sp.coo_array], ids=lambda f: f.__name__)
@pytest.mark.parametrize("affinity", ["precomputed", "normalized_cut"])
def test_estimators_take_dask_arrays(as_chunk, affinity):
    A = random_graph(300)
    X = da.from_array(A.toarray(), chunks=(90, 120)).map_blocks(as_chunk, dtype=float)
    with nothing_comes_to_the_client():
        found = fit(X, affinity=affinity)
        assert SymNMF(K, affinity=affinity, random_state=0, max_iter=3).fit(X).membership_.shape == (300, K)
        assert KernelKMeans(K, affinity=affinity, random_state=0).fit(X).labels_.shape == (300,)
        assert found.predict(A[:4]).shape == (4,)
    expected = fit(Sparse(A), affinity=affinity)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    assert isinstance(found.affinity_matrix_, OnDask) and found.n_features_in_ == 300


def test_chunks_of_unknown_size_and_other_precisions():
    A = random_graph(120)
    X = da.from_array(A.toarray(), chunks=(50, 120))
    X._chunks = ((np.nan,) * 3, (120,))
    assert_array_equal(OnDask(X).toarray(), A.toarray())
    assert as_operator(da.ones((4, 4), dtype=int)).dtype == np.float64
    assert as_operator(da.ones((4, 4), chunks=2), dtype=np.float32).dtype == np.float32


@pytest.mark.parametrize("affinity", ["auto", "nearest_neighbors", "random_walk", "network"])
def test_other_affinities_of_dask_arrays_are_refused(affinity):
    with pytest.raises(CombinationError, match=r"Dask array.*precomputed"):
        SymNMF(2, affinity=affinity).fit(da.ones((4, 4)))


def test_tables_are_not_taken_for_similarities():
    table = dd.from_pandas(pd.DataFrame({"a": [1], "b": [2]}), npartitions=1)
    for call in (OnDask, SymNMF(2, affinity="precomputed").fit):
        with pytest.raises(InputTypeError, match=r"from_edges.*to_dask_array"):
            call(table)


@pytest.mark.parametrize("solver", ["row_descent", "coordinate"])
def test_solvers_that_need_rows_are_refused(solver):
    A = da.from_array(random_graph(60).toarray(), chunks=20)
    with pytest.raises(CombinationError, match=r"lie with workers.*'anls'"):
        fit(A, solver=solver)


@pytest.mark.parametrize("choose", [np.flatnonzero, lambda mask: np.flatnonzero(mask)[::-1], np.asarray])
@pytest.mark.parametrize("d", [None, np.linspace(1, 2, 60)])
def test_parts_in_any_order(choose, d):
    A, index = random_graph(60, degree=20).toarray(), choose(np.arange(60) % 7 > 3)
    operator = OnDask(da.from_array(A, chunks=(2, 60)))  # some blocks have none of the rows
    if d is not None:
        operator, A = operator.scaled(d), d[:, None] * A * d
    part, expected = operator.submatrix(index), A[index][:, index]
    assert part.is_remote
    assert_allclose(part.toarray(), expected)
    assert_allclose(part.submatrix([4, 2]).toarray(), expected[[4, 2]][:, [4, 2]])
    assert part.squared_norm() == pytest.approx((expected**2).sum())
    with pytest.raises(InputError, match="at least one row"):
        operator.submatrix([])


def test_trees_of_parts_bring_nothing_here(monkeypatch):
    A = np.kron(np.eye(3), np.ones((20, 20))) + 0.01
    monkeypatch.setattr(OnDask, "_rows", None)
    half = SymNMF(2, affinity="precomputed", random_state=0)
    model = DivisiveClustering(half, 3, affinity="precomputed").fit(da.from_array(A, chunks=(25, 60)))
    assert sorted(np.bincount(model.labels_)) == [20, 20, 20]
    with pytest.raises(CombinationError, match=r"Diana reads A row by row.*DivisiveClustering"):
        Diana(3, affinity="precomputed").fit(da.from_array(A, chunks=(25, 60)))


def test_a_start_on_another_problem_runs_where_rows_are_not_at_hand():
    A = da.from_array(np.kron(np.eye(K), np.ones((60, 60))), chunks=(70, 240))
    model = fit(A, solver="auto", init="low_rank", tol=1e-2, max_iter=100, random_state=0)
    assert model.converged_ and np.bincount(model.labels_).tolist() == [60] * K


@pytest.mark.parametrize("init", ["greedy", "zero"])
def test_starts_that_visit_all_rows_are_refused(init):
    A = da.from_array(random_graph(60).toarray(), chunks=20)
    with pytest.raises(CombinationError, match=f"init='{init}'.*lie with workers.*'merge'"):
        OffDiagonalSymNMF(2, init=init, affinity="precomputed").fit(A)
    model = OffDiagonalSymNMF(2, init="merge", affinity="precomputed", random_state=0, max_iter=3).fit(A)
    assert model.membership_.shape == (60, 2)
    with pytest.raises(CombinationError, match=r"edges of a graph.*lie with workers.*SymNMF"):
        HierarchicalSymNMF(2, affinity="precomputed").fit(A)


@pytest.mark.parametrize(
    "use",
    [
        *(lambda X, kind=kind: kind(2).fit(X) for kind in (NMF, SparseNMF, AffineNMF, GraphNMF)),
        lambda X: SphericalKMeans(2).fit(X),
        cosine,
        nearest_neighbors,
        lambda X: fit(X).score(X),
        lambda X: fit(X).predict(X[:5]),
        lambda X: fit(X).transform(X[:5].to_dask_dataframe()),
        lambda X: OffDiagonalSymNMF(2, affinity="precomputed", ignore=X > 0.5).fit(random_graph(60)),
    ],
)
def test_what_needs_all_of_an_array_does_not_compute_it_in_silence(use):
    A = da.from_array(random_graph(60).toarray(), chunks=20)
    with nothing_comes_to_the_client(), pytest.raises(InputTypeError, match=r"Dask.*\.compute\(\)"):
        use(A)


def test_a_study_has_the_blocks_made_once():
    A, made = np.kron(np.eye(3), np.ones((15, 15))) + 0.01, []
    counted = dask.delayed(lambda: made.append(1) or A)
    X = da.from_delayed(counted(), (45, 45), dtype=float)
    study = select_n_clusters(X, SymNMF(affinity="precomputed"), candidates=[2, 3, 4], random_state=0)
    assert study.n_clusters == 3 and len(made) == 1


def test_a_scaled_matrix_has_degrees_of_its_own():
    A = OnDask(delayed_rows(random_graph(60)))
    d = np.linspace(1, 2, 60)
    before = A.degrees()
    assert_allclose(A.scaled(d).degrees(), d * (A @ d))
    assert_array_equal(A.degrees(), before)


def test_what_is_made_of_it_is_remote_too():
    A = OnDask(delayed_rows(random_graph(60)))
    mask = sp.csr_array(([1, 1], ([0, 5], [5, 0])), shape=(60, 60))
    made = [A.submatrix(np.arange(30)), Masked(A, mask), Shifted(A, None, 0.1), A.scaled(np.ones(60))]
    assert all(operator.is_remote for operator in made)
    with pytest.raises(CombinationError, match="lie with workers"):
        fit(made[0], solver="row_descent")
    with pytest.raises(CombinationError, match="lie with workers"):
        OffDiagonalSymNMF(2, loss="absolute", affinity="precomputed").fit(A)
    assert fit(A, solver="auto").n_iter_ == 8


def test_what_is_not_symmetric_negative_or_not_finite_is_found():
    for as_chunk in (np.asarray, sp.csr_array):
        A = random_graph(200).toarray()
        A[150, 20] += 0.5
        operator = OnDask(da.from_array(A, chunks=(60, 70)).map_blocks(as_chunk, dtype=float))
        assert operator.asymmetry() == pytest.approx(0.5)
        assert sorted(operator.asymmetric_entry()) == [20, 150]
        with pytest.raises(InputError, match=r"not symmetric.*row 150 and column 20|not symmetric.*20.*150"):
            check_similarity(operator)
        d = np.linspace(1, 2, 200)
        assert operator.scaled(d).asymmetry() == pytest.approx(0.5 * d[150] * d[20])
        A[150, 20] -= 0.5
        A[3, 5] = A[5, 3] = -7
        with pytest.raises(InputError, match="-7"):
            check_similarity(OnDask(da.from_array(A, chunks=60).map_blocks(as_chunk, dtype=float)))
        A[3, 5] = A[5, 3] = np.nan
        with pytest.raises(InputError, match="NaN"):
            check_similarity(OnDask(da.from_array(A, chunks=60).map_blocks(as_chunk, dtype=float)))


def test_asymmetry_by_rounding_is_no_asymmetry():
    rng = np.random.default_rng(0)
    A = rng.uniform(size=(100, 100))
    A = A + A.T
    A[80, 3] = np.nextafter(A[80, 3], 9)
    operator = OnDask(da.from_array(A, chunks=30))
    assert 0 < operator.asymmetry() < 1e-15
    check_similarity(operator)


@pytest.mark.parametrize(
    ("blocks", "error", "words"),
    [
        (da.ones((3, 4)), InputError, r"square.*\(3, 4\)"),
        (da.ones(3), InputError, "square"),
        ([dask.delayed(np.ones((2, 4))), dask.delayed(np.ones((3, 4)))], InputError, "5 rows.*block 0"),
        ([dask.delayed(np.ones((2, 4))), dask.delayed(np.ones((2, 4), np.float32))], InputError, "float32"),
        (np.ones((3, 3)), InputTypeError, "from_array"),
        ([], InputTypeError, "Dask array"),
    ],
)  # fmt: skip
def test_what_is_no_matrix_is_refused(blocks, error, words):
    with pytest.raises(error, match=words):
        OnDask(blocks)


def test_models_of_it_are_saved_without_data(tmp_path):
    model = fit(OnDask(delayed_rows(random_graph(60))))
    with pytest.raises(InputTypeError, match="data=False"):
        model.save(tmp_path / "model")
    model.save(tmp_path / "model", data=False)


# Edges ------------------------------------------------------------------------------------------------------

NUMBERS = st.integers(0, 9) | st.integers(-5, 5) | st.just(10**12)
TEXTS = st.sampled_from(["ann", "bob", "ç", "", "0", "cem dov"])
WEIGHTS = st.sampled_from([0.0, 1.0, 2.0, 0.1, -3.5, 1e-3])


def edge_lists():
    def of(names):
        return st.lists(st.tuples(names, names, WEIGHTS), min_size=1, max_size=40)

    return of(NUMBERS) | of(TEXTS)


@settings(max_examples=60)
@given(
    edges=edge_lists(),
    duplicates=st.sampled_from(DUPLICATES),
    n_parts=st.integers(1, 10),
    n_blocks=st.none() | st.integers(1, 7),
)
def test_edges_become_the_network_that_they_are_on_one_machine(edges, duplicates, n_parts, n_blocks):
    table = pd.DataFrame(edges, columns=["source", "target", "weight"])
    parts = dd.from_pandas(table, npartitions=n_parts, sort=False)
    i, j, names = number_nodes(table.source.to_numpy(), table.target.to_numpy())
    try:
        expected, _ = network_of_edges(i, j, table.weight, names, duplicates=duplicates)
    except InputError:
        with pytest.raises(InputError, match=r"listed \d+ times.*duplicates="):
            OnDask.from_edges(parts, duplicates=duplicates, n_blocks=n_blocks)
        return
    found = OnDask.from_edges(parts, duplicates=duplicates, n_blocks=n_blocks)
    assert list(range(found.n) if found.names is None else found.names) == expected.names
    assert_array_equal(found.toarray(), expected.toarray())


def test_weights_are_ones_or_another_column_and_single_precision_is_kept():
    table = pd.DataFrame({"source": [0, 1], "target": [1, 2], "kilos": [3, 4]})
    parts = dd.from_pandas(table, npartitions=1)
    assert OnDask.from_edges(parts, weight="kilos", dtype=np.float32).rows([1]).tolist() == [[3, 0, 4]]
    assert OnDask.from_edges(parts, weight=None).rows([1]).tolist() == [[1, 0, 1]]
    assert OnDask.from_edges(parts, weight=None).names is None
    with pytest.raises(InputError, match="'kilos'"):
        OnDask.from_edges(parts)


@pytest.mark.parametrize(
    ("columns", "error", "words"),
    [
        ({"source": [0.5], "target": [1.5]}, InputTypeError, "whole numbers or texts.*0.5"),
        ({"source": ["a", None], "target": ["b", "c"]}, InputError, "row 2 of partition 0 has no 'source'"),
        ({"source": [1, 2], "target": [2, 1], "weight": [np.nan, 1]}, InputError, "is nan .in partition 0"),
        ({"source": [], "target": []}, InputError, "no edges"),
        ({"source": [1]}, InputError, "a column for each end"),
    ],
)
def test_edges_that_are_none_are_refused(columns, error, words):
    with pytest.raises(error, match=words):
        OnDask.from_edges(dd.from_pandas(pd.DataFrame(columns), npartitions=1))


def test_paths_without_edges_are_named(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\n1,2\n")
    (tmp_path / "empty").mkdir()
    for name in ("missing", "empty", "edges.csv"):
        with pytest.raises(InputError, match=rf"{name}' cannot be read as edges: .*Parquet file"):
            OnDask.from_edges(tmp_path / name)


def test_edges_are_a_table_or_a_path():
    with pytest.raises(InputTypeError, match=r"Dask DataFrame.*got list"):
        OnDask.from_edges([(0, 1)])
    with tempfile.TemporaryDirectory() as folder, pytest.raises(OptionError, match="duplicates"):
        OnDask.from_edges(folder, duplicates="twice")
