"""Hypothesis for all tests: no clock decides, since machines are busy at times."""

from hypothesis import HealthCheck, settings

# What is not named here stays as it was: where CI is set, the same examples are drawn each time.
settings.register_profile("symclust", settings(deadline=None, suppress_health_check=[HealthCheck.too_slow]))
settings.load_profile("symclust")
