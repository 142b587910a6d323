import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    # Problems of a few dozen samples gain nothing from threads, and lose much of them on a busy machine;
    # test_threads.py compares one with two.
    with threadpool_limits(1, user_api="openmp"):
        yield
