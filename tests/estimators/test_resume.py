"""A fit that ended early, taken up again, has the bits of one that nothing disturbed."""

import inspect
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pytest
import scipy.sparse as sp

import symclust
from symclust import Checkpoint, registry, resume
from symclust.datasets import planted_partition
from symclust.exceptions import CombinationError, InputError, InputTypeError, InterruptedWarning
from symclust.operators import OnDisk, save_on_disk
from symclust.selection import Selection
from symclust.starts import _base as starts
from symclust.storage import read_journal

pytestmark = pytest.mark.filterwarnings("ignore")  # few iterations: hardly any of them converges

A = planted_partition(300, 5, degree=12, mixing=0.3, random_state=0)[0]
X = np.abs(np.random.RandomState(0).normal(size=(90, 20))) + 3 * np.kron(np.eye(5), np.ones((18, 4)))
FEW = {"random_state": 0, "tol": 1e-6, "max_iter": 10}
PAIRS = {"affinity": "precomputed", **FEW}


class PowerCutError(Exception):
    """Stands for whatever ends a process."""


def at_call(number, error=PowerCutError):
    """A callback that fails when it is called for the so-manieth time."""
    calls = iter(range(1, 10**9))

    def callback(*_):
        if next(calls) == number:
            raise error

    return callback


def content(answer, folder):
    """All that a fitted model or a selection holds except seconds, as the bytes of a file."""
    if hasattr(answer, "history_"):
        answer.history_.seconds = 0
    answer.__dict__.pop("timings_", None)
    if "selection_" in vars(answer):
        answer.selection_ = replace(answer.selection_, seconds=0.0)
    if isinstance(answer, Selection):
        answer = replace(answer, seconds=0.0)
    return answer.save(folder / "answer").read_bytes()


def cut_short(model, data, path, number, every=0):
    """Fit until a callback fails; return whether it did."""
    model.set_params(callback=Checkpoint(path, every, at_call(number)))
    try:
        model.fit(data)
    except PowerCutError:
        return True
    return False


def check(make, data, folder, calls=(1, 4)):
    """Compare fits that fail at some calls of the callback, and are resumed, with one that does not."""
    expected, path = content(make().fit(data), folder), folder / "checkpoint"
    for number in calls:
        assert cut_short(make(), data, path, number)
        assert content(resume(path, data), folder) == expected
        assert content(resume(path, data), folder) == expected  # of the file of a fit that has ended


# Descents ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_init", [1, 3])
@pytest.mark.parametrize("solver", registry.options("solvers"))
def test_every_solver(solver, n_init, tmp_path):
    check(lambda: symclust.SymNMF(5, solver=solver, init="random", n_init=n_init, **PAIRS), A, tmp_path)


@pytest.mark.parametrize("solver", registry.options("two_factors.solvers"))
def test_every_solver_of_two_factors(solver, tmp_path):
    check(lambda: symclust.NMF(5, solver=solver, init="random", n_init=2, **FEW), X, tmp_path)


@pytest.mark.parametrize("init", ["merge", "tree", "low_rank", "spectral", "greedy"])
def test_every_kind_of_start(init, tmp_path):
    check(lambda: symclust.SymNMF(5, init=init, **PAIRS), A, tmp_path, calls=(1,))


@pytest.mark.parametrize("coupling", ["increasing", 0.5])
def test_coupled_factors(coupling, tmp_path):
    check(lambda: symclust.SymNMF(5, solver="hals", coupling=coupling, **PAIRS), A, tmp_path)


@pytest.mark.parametrize("constraint", ["simplex", "orthogonal", "free", "one_per_row"])
def test_sets_other_than_the_orthant(constraint, tmp_path):
    check(lambda: symclust.SymmetricFactorization(4, constraint=constraint, **PAIRS), A, tmp_path)


def test_factor_that_is_held_sparse(tmp_path, monkeypatch):
    monkeypatch.setattr(starts, "MANY_ENTRIES", 1)
    monkeypatch.setattr(starts, "MANY_COLUMNS", 2)
    options = {**PAIRS, "tol": 1e-12}
    assert sp.issparse(symclust.SymNMF(5, **options).fit(A).membership_)
    check(lambda: symclust.SymNMF(5, **options), A, tmp_path, calls=(1, 2))


def test_single_precision(tmp_path):
    dense = A.toarray().astype(np.float32)
    check(lambda: symclust.SymNMF(5, **PAIRS), dense, tmp_path)
    check(lambda: symclust.NMF(5, **FEW), X.astype(np.float32), tmp_path)


def test_similarities_on_disk(tmp_path):
    save_on_disk(A, tmp_path / "similarity")
    similarity = OnDisk(tmp_path / "similarity")
    make = lambda: symclust.SymNMF(5, init="random", **PAIRS)  # noqa: E731
    expected = make().fit(similarity)
    assert cut_short(make(), similarity, tmp_path / "checkpoint", 3)
    found = resume(tmp_path / "checkpoint", similarity)
    np.testing.assert_array_equal(found.membership_, expected.membership_)
    assert found.objective_ == expected.objective_


@pytest.mark.parametrize("random_state", [None, "instance"])
def test_random_numbers_without_a_seed(random_state, tmp_path):
    def make():
        chance = np.random.RandomState(3) if random_state else None
        return symclust.SymNMF(5, init="random", n_init=2, **{**PAIRS, "random_state": chance})

    np.random.seed(7)
    expected = make().fit(A).membership_
    np.random.seed(7)
    assert cut_short(make(), A, tmp_path / "checkpoint", 5)
    np.random.seed(1)
    drawn = np.random.RandomState(1).uniform()
    np.testing.assert_array_equal(resume(tmp_path / "checkpoint", A).membership_, expected)
    assert np.random.uniform() == drawn  # the user's own numbers go on as they would have


def test_a_time_limit_counts_the_seconds_before(tmp_path):
    options = {**PAIRS, "max_iter": 10**6, "tol": 0, "time_limit": 1000.0}
    path, seen = tmp_path / "checkpoint", []
    assert cut_short(symclust.SymNMF(5, **options), A, path, 3)
    before = read_journal(path).states["descent 0"]["seconds"]
    resume(path, A, lambda progress: seen.append(progress.seconds) or True)
    assert 0 < before < seen[0] < 1000


# Trees and choices ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("refine", ["both", "modularity", None])
def test_trees_of_communities(refine, tmp_path):
    options = {"refine": refine, "affinity": "precomputed", "random_state": 0}
    check(lambda: symclust.HierarchicalSymNMF(8, **options), A, tmp_path, calls=(1, 6))


def test_trees_of_topics(tmp_path):
    options = {"random_state": 0}
    check(lambda: symclust.HierarchicalNMF(7, **options), X, tmp_path, calls=(1, 4))
    sparse = sp.csr_array(np.where(X > 2, X, 0))
    check(lambda: symclust.HierarchicalNMF(7, **options), sparse, tmp_path, calls=(3,))


def test_pieces_of_a_tree_are_not_computed_again(tmp_path, monkeypatch):
    from symclust.hierarchy import LeafGraph

    model = symclust.HierarchicalSymNMF(8, affinity="precomputed", random_state=0)
    assert cut_short(model, A, tmp_path / "checkpoint", 6)
    cuts, bisect = [], LeafGraph.bisect
    monkeypatch.setattr(LeafGraph, "bisect", lambda *given: cuts.append(1) or bisect(*given))
    resume(tmp_path / "checkpoint", A)
    after = len(cuts)
    model.set_params(callback=None).fit(A)
    assert after < len(cuts) - after


METHODS = {
    "consensus": {"n_resamples": 4},
    "cross_validation": {"n_folds": 2},
    "gap": {"n_nulls": 3},
    "gps": {"n_repeats": 2, "n_nulls": 3},
    "prediction_strength": {"n_repeats": 2},
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_choices_of_the_number_of_clusters(method, n_jobs, tmp_path):
    given = {"candidates": range(2, 4), "method": method, "method_params": METHODS[method]}
    given |= {"random_state": 0, "n_jobs": n_jobs, "estimator": symclust.HierarchicalSymNMF()}
    data, path, calls = X[:60], tmp_path / "checkpoint", []
    with joblib.parallel_config("threading"):
        expected = content(symclust.select_n_clusters(data, **given), tmp_path)
        with pytest.raises(PowerCutError):
            symclust.select_n_clusters(data, **given, callback=Checkpoint(path, 0, at_call(2)))
        assert content(resume(path, data, calls.append), tmp_path) == expected
        assert content(resume(path, data), tmp_path) == expected
    assert calls  # the callback that `resume` is given is told of progress


def test_a_kernel_that_takes_all_parts_at_once(tmp_path):
    given = {"estimator": symclust.NMF(max_iter=20), "candidates": (2, 3), "random_state": 0}
    given |= {"method": "gps", "method_params": {"n_repeats": 2, "n_nulls": 3}}
    expected, path = content(symclust.select_n_clusters(X, **given), tmp_path), tmp_path / "checkpoint"
    with pytest.raises(PowerCutError):
        symclust.select_n_clusters(X, **given, callback=Checkpoint(path, 0, at_call(2)))
    assert content(resume(path, X), tmp_path) == expected


def test_a_number_of_clusters_that_is_chosen(tmp_path):
    data, path = planted_partition(80, 2, degree=10, mixing=0.1, random_state=0)[0], tmp_path / "checkpoint"
    model = symclust.SymNMF("auto", **PAIRS)
    expected = content(model.fit(data), tmp_path)
    assert cut_short(symclust.SymNMF("auto", **PAIRS), data, path, 2)
    assert content(resume(path, data), tmp_path) == expected


ESTIMATORS = [
    cls
    for cls in (getattr(symclust, name) for name in symclust.__all__)
    if inspect.isclass(cls) and "callback" in inspect.signature(cls).parameters and hasattr(cls, "fit")
]


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_every_estimator_with_a_callback(cls, tmp_path):
    known = inspect.signature(cls).parameters
    options = {name: value for name, value in FEW.items() if name in known}
    expected = content(cls(4, **options).fit(X), tmp_path)
    assert cut_short(cls(4, **options), X, tmp_path / "checkpoint", 2)
    assert content(resume(tmp_path / "checkpoint", X), tmp_path) == expected


# What is written, and when ----------------------------------------------------------------------------------


def test_without_a_checkpoint_nothing_is_written_and_with_one_bits_are_the_same(tmp_path):
    plain = symclust.SymNMF(5, n_init=2, **PAIRS).fit(A)
    kept = symclust.SymNMF(5, n_init=2, callback=Checkpoint(tmp_path / "c", 0), **PAIRS).fit(A)
    assert content(plain, tmp_path) == content(kept, tmp_path)


def test_the_callback_of_the_user_still_decides(tmp_path):
    stop = Checkpoint(tmp_path / "c", callback=lambda progress: progress.iteration == 3)
    model = symclust.SymNMF(5, callback=stop, **PAIRS).fit(A)
    assert model.stop_reason_ == "stopped by the callback after 3 iterations"
    tree = symclust.HierarchicalSymNMF(8, affinity="precomputed", callback=stop, random_state=0).fit(A)
    assert tree.stop_reason_ == f"stopped by the callback at {tree.n_clusters_} leaves"
    assert 2 <= tree.n_clusters_ <= 4 and not tree.converged_


def test_ctrl_c_keeps_a_result_and_a_checkpoint_to_go_on_from(tmp_path):
    path = tmp_path / "checkpoint"
    for model in (symclust.SymNMF(5, **PAIRS), symclust.HierarchicalSymNMF(8, affinity="precomputed")):
        model.set_params(random_state=0)
        expected = content(model.fit(A), tmp_path)
        model.set_params(callback=Checkpoint(path, 1000, at_call(4, KeyboardInterrupt)))
        with pytest.warns(InterruptedWarning):
            model.fit(A)
        assert content(resume(path, A), tmp_path) == expected


def test_nothing_is_written_of_a_sweep_that_was_interrupted(tmp_path, monkeypatch):
    from symclust.solvers.row_descent import RowDescent

    make = lambda: symclust.SymNMF(5, solver="row_descent", init="random", **PAIRS)  # noqa: E731
    expected, path, sweeps = content(make().fit(A), tmp_path), tmp_path / "checkpoint", iter(range(100))
    advance = RowDescent.advance

    def interrupted(self, problem, states):
        advance(self, problem, states)
        if next(sweeps) == 4:
            states[0].H[::2] = 1  # half of the next sweep
            raise KeyboardInterrupt

    monkeypatch.setattr(RowDescent, "advance", interrupted)
    with pytest.warns(InterruptedWarning):
        make().set_params(callback=Checkpoint(path, 0)).fit(A)
    monkeypatch.setattr(RowDescent, "advance", advance)
    assert content(resume(path, A), tmp_path) == expected


def test_a_fit_that_is_refused_leaves_the_file_of_another_as_it_is(tmp_path):
    path = tmp_path / "checkpoint"
    assert cut_short(symclust.SymNMF(5, **PAIRS), A, path, 3)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="solver='best'"):
        symclust.SymNMF(5, solver="best", callback=Checkpoint(path), **PAIRS).fit(A)
    with pytest.raises(InputError):
        symclust.SymNMF(5, callback=Checkpoint(path), **PAIRS).fit(A[:, :4])
    assert path.read_bytes() == before


def test_a_full_disk_is_said_once_and_the_fit_goes_on(tmp_path, monkeypatch):
    from symclust.storage import _checkpoint

    def full(*_):
        raise OSError(28, "No space left on device")

    def fill(progress):
        monkeypatch.setattr(_checkpoint, "write_archive", full)

    model = symclust.SymNMF(5, callback=Checkpoint(tmp_path / "checkpoint", 0, fill), **PAIRS)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(A)
    assert sum("No space left on device. The fit goes on." in str(each.message) for each in said) == 1
    assert model.n_iter_ == 10


# What is refused, at once -----------------------------------------------------------------------------------


def test_what_a_file_cannot_hold_is_refused_before_any_work(tmp_path):
    checkpoint = Checkpoint(tmp_path / "checkpoint")
    with pytest.raises(InputTypeError, match=r"SymNMF\(affinity=...\) is, or holds, a function"):
        symclust.SymNMF(5, affinity=lambda X: X @ X.T, callback=checkpoint).fit(X)

    class Own(symclust.SymNMF):
        pass

    with pytest.raises(InputTypeError, match="cannot hold a Own"):
        Own(5, callback=checkpoint).fit(X)
    from sklearn.cluster import KMeans

    with pytest.raises(InputTypeError, match="holds, a KMeans"):
        symclust.select_n_clusters(X, KMeans(), callback=checkpoint)
    assert not (tmp_path / "checkpoint").exists()
    with pytest.raises(InputError, match=r"cannot be written to .* Choose another path"):
        symclust.SymNMF(5, callback=Checkpoint(tmp_path / "nowhere" / "c")).fit(X)
    with pytest.raises(InputError, match=r"cannot be written to .* Choose another path"):
        symclust.SymNMF(5, callback=Checkpoint(tmp_path)).fit(X)


def test_a_file_that_is_no_checkpoint_is_not_replaced(tmp_path):
    for name, held in {"data.csv": b"a,b\n1,2\n", "model": None}.items():
        path = tmp_path / name
        path.write_bytes(held) if held else symclust.NMF(5, **FEW).fit(X).save(path)
        before = path.read_bytes()
        with pytest.raises(InputError, match="it is there already, and not a checkpoint"):
            symclust.NMF(5, callback=Checkpoint(path), **FEW).fit(X)
        assert path.read_bytes() == before


def test_batches_have_no_checkpoints(tmp_path):
    model = symclust.SymNMF(5, callback=Checkpoint(tmp_path / "c"), random_state=0).fit(X)
    with pytest.raises(CombinationError, match="partial_fit keeps no checkpoints"):
        model.partial_fit(X[:3])


def test_work_of_several_fits_has_no_checkpoints(tmp_path):
    checkpoint = Checkpoint(tmp_path / "c")
    for work in (
        lambda: symclust.topics(["a b", "b c"], model_params={"callback": checkpoint}),
        lambda: symclust.subtypes(X, callback=checkpoint),
        lambda: symclust.segment_image(X, callback=checkpoint),
    ):
        with pytest.raises(CombinationError, match="keeps no checkpoints: it is more than one fit"):
            work()


def test_samples_of_dask_have_no_checkpoints(tmp_path):
    da = pytest.importorskip("dask.array")
    model = symclust.HierarchicalNMF(3, callback=Checkpoint(tmp_path / "c"))
    with pytest.raises(CombinationError, match="lie with workers"):
        model.fit(da.from_array(X, chunks=(30, -1)))


def test_factors_on_a_device_have_no_checkpoints(tmp_path):
    torch = pytest.importorskip("torch")
    model = symclust.SymNMF(5, callback=Checkpoint(tmp_path / "c"), **PAIRS)
    with pytest.raises(CombinationError, match="on a device H stays there"):
        model.fit(torch.from_numpy(A.toarray()))


def test_other_data_are_refused(tmp_path):
    path = tmp_path / "checkpoint"
    assert cut_short(symclust.SymNMF(5, **PAIRS), A, path, 3)
    before = path.read_bytes()
    changed = A.copy()
    changed.data = changed.data.copy()
    i, j = A.nonzero()[0][0], A.nonzero()[1][0]
    changed[[i, j], [j, i]] = 2.0
    for other in (changed, A.astype(np.float32), A[:200, :200]):
        with pytest.raises(InputError, match="checkpoint of other data"):
            resume(path, other)
    assert path.read_bytes() == before


# Kills ------------------------------------------------------------------------------------------------------

KILLS = Path(__file__).with_name("kills.py")


def test_killed_at_random_moments(tmp_path):
    """Two kills of each kind; ``python tests/estimators/kills.py all 50 FOLDER`` does two hundred."""
    command = [sys.executable, KILLS, "all", "2", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
