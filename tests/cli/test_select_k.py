import numpy as np
import pandas as pd
import pytest

import symclust
from symclust.cli.select_k import candidates_of


def test_table_sentence_and_files(command, people, tmp_path):
    table, page = tmp_path / "k.csv", tmp_path / "k.html"
    status, out, errors = command("select-k", people[0], "-c", "2-6", "--output", table, "--report", page)
    assert status == 0, errors
    assert "→         3" in out
    assert "3 clusters" in out
    found = pd.read_csv(table)
    assert list(found.n_clusters) == [2, 3, 4, 5, 6]
    assert list(found.n_clusters[found.chosen]) == [3]
    assert "How many clusters are in people.csv?" in page.read_text(encoding="utf-8")


def test_answer_is_that_of_the_function(summary, people):
    found = summary("select-k", people[0], "-c", "2,3,5", "--method", "prediction_strength", "--seed", 3)
    expected = symclust.select_n_clusters(
        symclust.read(people[0]), candidates=(2, 3, 5), method="prediction_strength", random_state=3
    )
    assert found["n_clusters"] == expected.n_clusters == 3
    assert found["candidates"] == [2, 3, 5]
    np.testing.assert_allclose(found["curves"]["prediction strength"], expected.scores)


@pytest.mark.parametrize(
    ("text", "numbers"), [("2-4", (2, 3, 4)), ("8, 2,4", (2, 4, 8)), ("2-3,7", (2, 3, 7)), ("5", (5,))]
)
def test_candidates(text, numbers):
    assert candidates_of(text) == numbers


@pytest.mark.parametrize("text", ["", "a", "1-3", "2-", "4-2", "-2"])
def test_candidates_that_make_no_sense(command, people, text):
    status, out, errors = command("select-k", people[0], "--candidates", text)
    assert status == 2
    assert "--candidates" in errors
    assert not out
