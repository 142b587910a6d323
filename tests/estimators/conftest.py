import pytest
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    # Problems of a few dozen samples gain nothing from threads, and lose much of them on a busy machine;
    # test_threads.py compares one with two.
    with threadpool_limits(1, user_api="openmp"):
        yield


@pytest.fixture(scope="session")
def blobs():
    """Return 90 positive samples in three clusters, apart in distance and in direction, and their labels."""
    centers = [[20.0, 1.0, 1.0], [1.0, 20.0, 1.0], [1.0, 1.0, 20.0]]
    X, y = make_blobs(90, centers=centers, cluster_std=0.6, random_state=0)
    X = abs(X)
    X.flags.writeable = False
    return X, y
