"""Hypothesis for all tests: no clock decides, since machines are busy at times. Data for several folders."""

from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, Phase, settings
from sklearn.datasets import make_blobs

# What is not named here stays as it was: where CI is set, the same examples are drawn each time.
settings.register_profile("symclust", settings(deadline=None, suppress_health_check=[HealthCheck.too_slow]))
settings.load_profile("symclust")
# For `make mutate`: that an example fails is enough, a smaller one is not looked for.
settings.register_profile("mutants", settings(), phases=[Phase.explicit, Phase.generate])


def pytest_configure(config):
    """Leave out the examples of files that need PyTorch where it is not installed."""
    if find_spec("torch") is None:
        given = config.option.ignore_glob or []
        config.option.ignore_glob = [*given, "/*/symclust/operators/torch/*.py"]


@pytest.fixture(scope="session")
def blobs():
    """Return 90 positive samples in three clusters, apart in distance and in direction, and their labels."""
    centers = [[20.0, 1.0, 1.0], [1.0, 20.0, 1.0], [1.0, 1.0, 20.0]]
    X, y = make_blobs(90, centers=centers, cluster_std=0.6, random_state=0)
    X = abs(X)
    X.flags.writeable = False
    return X, y
