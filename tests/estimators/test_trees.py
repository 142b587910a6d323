"""What all estimators that grow a tree have in common: SciPy reads it, and Ctrl-C keeps it."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import cut_tree, dendrogram, fcluster, is_valid_linkage
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from symclust import (
    Diana,
    DivisiveClustering,
    HierarchicalLeftStochastic,
    HierarchicalNMF,
    HierarchicalSymNMF,
    LinkageClustering,
    SpectralNJW,
)
from symclust.exceptions import InterruptedWarning, NotConvergedWarning, OptionError
from symclust.hierarchy import Tree

TREES = [
    Diana(5),
    DivisiveClustering(SpectralNJW(random_state=0), 5),
    HierarchicalLeftStochastic(5),
    HierarchicalNMF(5, random_state=0),
    HierarchicalSymNMF(5, random_state=0),
]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    centres = 0.05 + np.kron(np.eye(3), np.ones((1, 4))).repeat(20, axis=0)
    stranger = np.eye(1, 12)  # far from all others: an outlier for HierarchicalNMF
    return np.vstack([centres * rng.random((60, 12)), 9 * stranger])


@pytest.mark.parametrize("model", TREES, ids=lambda model: type(model).__name__)
def test_scipy_cuts_the_tree_as_we_do(model, X):
    tree = model.fit(X).tree_
    placed = np.flatnonzero(model.labels_ >= 0)
    Z = tree.linkage()
    assert is_valid_linkage(Z) and len(Z) == len(placed) - 1
    assert len(dendrogram(Z, no_plot=True)["leaves"]) == len(placed)
    assert len(dendrogram(tree.linkage(of="leaves"), no_plot=True)["leaves"]) == 5
    for k in range(1, 6):
        ours = tree.cut(k)[placed]
        for theirs in (fcluster(Z, k, criterion="maxclust"), cut_tree(Z, k)[:, 0]):
            assert len(set(theirs)) == len(set(zip(ours, theirs, strict=True))) == k


def test_scipy_reads_its_own_merges(X):
    model = LinkageClustering(5).fit(X)
    assert is_valid_linkage(model.linkage_matrix_)
    assert len(set(zip(model.labels_, fcluster(model.linkage_matrix_, 5, "maxclust"), strict=True))) == 5


def interrupt_at(monkeypatch, n_splits):
    """Let Ctrl-C come when the tree has so many splits, and is about to have one more."""
    split = Tree.split

    def interrupted(tree, *args):
        if tree.n_splits == n_splits:
            raise KeyboardInterrupt
        return split(tree, *args)

    monkeypatch.setattr(Tree, "split", interrupted)


@pytest.mark.parametrize("model", TREES, ids=lambda model: type(model).__name__)
def test_an_interrupt_keeps_the_tree(model, X, monkeypatch):
    whole = clone(model).fit(X)
    interrupt_at(monkeypatch, 2)
    with pytest.warns(InterruptedWarning, match="interrupted at 3 leaves of 5; the tree so far is kept"):
        part = clone(model).fit(X)
    assert not part.converged_
    assert part.stop_reason_.startswith("interrupted")
    assert part.membership_.shape == (len(X), 3)
    # Nodes may move once a tree has grown.
    assert adjusted_rand_score(part.labels_, whole.tree_.cut(3)) > 0.9


@pytest.mark.parametrize("model", TREES, ids=lambda model: type(model).__name__)
def test_an_interrupt_before_the_first_split_is_passed_on(model, X, monkeypatch):
    interrupt_at(monkeypatch, 0)
    with pytest.raises(KeyboardInterrupt):
        clone(model).fit(X)


@pytest.mark.parametrize("model", TREES, ids=lambda model: type(model).__name__)
def test_a_time_limit_keeps_the_tree(model, X):
    whole = clone(model).set_params(time_limit=1e3).fit(X)
    assert whole.converged_ and whole.tree_.n_splits == 4
    with pytest.warns(NotConvergedWarning, match=r"stopped at time_limit=1e-09 s, at 2 leaves"):
        part = clone(model).set_params(time_limit=1e-9).fit(X)
    assert not part.converged_
    assert set(part.labels_[part.labels_ >= 0]) == {0, 1}
    with pytest.raises(OptionError, match="time_limit=0"):
        clone(model).set_params(time_limit=0).fit(X)


@pytest.mark.parametrize("model", [HierarchicalNMF(5, random_state=0), HierarchicalSymNMF(5, random_state=0)])
def test_callbacks_of_trees_are_those_of_descents(model, X):
    seen = []
    model = clone(model).set_params(callback=seen.append).fit(X)
    assert [step.iteration for step in seen] == [1, 2, 3, 4]
    assert [step.start for step in seen] == [0] * 4
    assert [step.seconds for step in seen] == sorted(step.seconds for step in seen)
    scores = [node.score for node in model.tree_.nodes if node.split is not None]
    if isinstance(model, HierarchicalNMF):
        assert sorted(step.objective for step in seen[1:]) == sorted(scores[1:])
    else:  # before nodes move
        assert seen[-1].objective == pytest.approx(model.objective_, rel=0.2)
