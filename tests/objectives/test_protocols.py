"""The protocols of each objective, which solvers need."""

import numpy as np
import pytest

from symclust import objectives, registry
from symclust.objectives import Objective
from symclust.operators import Bipartite, Dense
from symclust.two_factors import TwoFactors

PROTOCOLS = {name: getattr(objectives, name) for name in objectives.__all__ if name.startswith("Has")}
EXPECTED = {
    "frobenius": set(PROTOCOLS) - {"HasSurrogate"},
    "off_diagonal": {"HasGradient", "HasParts", "HasRowProblem", "HasColumns", "HasSparseMeasure"},
    "absolute": {"HasColumns", "HasSurrogate"},
}


def test_every_objective_is_expected_here():
    assert sorted(EXPECTED) == sorted(registry.options("objectives"))


@pytest.mark.parametrize("name", EXPECTED)
def test_an_objective_has_the_protocols_of_its_methods(name):
    objective = registry.resolve("objectives", name)(Dense(np.ones((3, 3))))
    assert isinstance(objective, Objective)
    assert {found for found, protocol in PROTOCOLS.items() if isinstance(objective, protocol)} == EXPECTED[
        name
    ]


def test_two_factors_have_no_problem_of_one_row_of_h():
    objective = TwoFactors(Bipartite(np.ones((2, 3))))
    assert not isinstance(objective, objectives.HasRowProblem | objectives.HasColumns)
