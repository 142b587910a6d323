"""Hypothesis for all tests: no clock decides, since machines are busy at times."""

from importlib.util import find_spec

from hypothesis import HealthCheck, Phase, settings

# What is not named here stays as it was: where CI is set, the same examples are drawn each time.
settings.register_profile("symclust", settings(deadline=None, suppress_health_check=[HealthCheck.too_slow]))
settings.load_profile("symclust")
# For `make mutate`: that an example fails is enough, a smaller one is not looked for.
settings.register_profile("mutants", settings(), phases=[Phase.explicit, Phase.generate])

NEED_TORCH = ("_tensor_arrays", "offloaded", "tensors")  # files of operators/


def pytest_configure(config):
    """Leave out the examples of files that need PyTorch where it is not installed."""
    if find_spec("torch") is None:
        given = config.option.ignore_glob or []
        config.option.ignore_glob = [*given, *(f"/*/symclust/operators/{name}.py" for name in NEED_TORCH)]
