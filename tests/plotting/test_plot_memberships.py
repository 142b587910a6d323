import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from symclust import SymNMF
from symclust.exceptions import InputError, InputTypeError
from symclust.plotting import plot_memberships


def drawn(ax):
    return np.asarray(ax.images[0].get_array())


@pytest.mark.parametrize("convert", [np.array, csr_array, list])
def test_rows_are_shares_in_the_order_of_clusters(convert):
    H = np.array([[0.0, 2.0], [3.0, 1.0], [0.0, 0.0], [4.0, 0.0], [1.0, 1.5]])
    shares = drawn(plot_memberships(convert(H)))
    assert np.allclose(shares, [[1, 0], [0.75, 0.25], [0, 1], [0.4, 0.6], [0, 0]])


def test_many_samples_are_averaged():
    H = np.repeat(np.eye(4), [100, 200, 300, 400], axis=0)
    shares = drawn(plot_memberships(H, max_size=10))
    assert np.allclose(shares, np.repeat(np.eye(4), [1, 2, 3, 4], axis=0))


def test_a_model_gives_its_labels():
    X = 3 * np.eye(3, 4)[np.arange(30) // 10] + np.random.default_rng(0).random((30, 4))
    model = SymNMF(3, random_state=0).fit(X)
    shares = drawn(plot_memberships(model))
    assert shares.argmax(axis=1).tolist() == sorted(model.labels_.tolist())
    with pytest.raises(NotFittedError):
        plot_memberships(SymNMF(3))


def test_refuses_what_are_no_memberships():
    with pytest.raises(InputTypeError, match="Memberships cannot be read from str"):
        plot_memberships("abc")
    with pytest.raises(InputError, match="labels must be 3 whole numbers"):
        plot_memberships(np.ones((3, 2)), [0, 1, 2])
