import numpy as np
import pytest

from symclust.datasets import overlapping_blobs
from symclust.exceptions import OptionError


def test_shape_balance_and_width():
    X, y = overlapping_blobs(n_samples=3001, n_clusters=5, n_features=3, width=1.5, random_state=0)
    assert X.shape == (3001, 3)
    assert sorted(np.bincount(y)) == [600, 600, 600, 600, 601]
    spread = [X[y == c].std(axis=0).mean() for c in range(5)]
    assert np.allclose(spread, 1.5, atol=0.15)
    assert np.abs([X[y == c].mean(axis=0) for c in range(5)]).max() < 10.5
    assert (np.diff(y) != 0).sum() > 2000  # in random order


def test_seed_repeats():
    (X, y), (X2, y2), (X3, _) = (overlapping_blobs(n_samples=50, random_state=seed) for seed in (3, 3, 4))
    assert np.array_equal(X, X2)
    assert np.array_equal(y, y2)
    assert not np.array_equal(X, X3)


@pytest.mark.parametrize("wrong", [{"n_clusters": 0}, {"n_samples": 5}, {"n_features": 0}, {"width": -1}])
def test_refuses_impossible_numbers(wrong):
    with pytest.raises(OptionError, match=f"{next(iter(wrong))}={next(iter(wrong.values()))}"):
        overlapping_blobs(**wrong)
