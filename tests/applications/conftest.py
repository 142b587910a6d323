"""Made-up documents about three things."""

import numpy as np
import pytest

WORDS = {
    "sport": ["hockey", "team", "ice", "puck", "goal", "player", "season", "league", "coach", "match"],
    "space": ["orbit", "moon", "rocket", "nasa", "launch", "shuttle", "planet", "comet", "mission", "lunar"],
    "food": ["bread", "butter", "oven", "flour", "sugar", "recipe", "bake", "kitchen", "salt", "dough"],
}
COMMON = ["thing", "people", "time", "year", "way", "day", "number", "part", "place", "case"]


@pytest.fixture(scope="session")
def corpus():
    """Return 90 texts and the subject of each; the words above are the frequent ones among many rare ones."""
    rng = np.random.RandomState(0)
    subjects = np.repeat(list(WORDS), 30)
    frequency = 1 / np.arange(1, 311)
    texts = []
    for number, subject in enumerate(subjects):
        words = [*WORDS[subject], *(f"{subject}{rare}" for rare in range(300))]
        words = rng.choice(words, 30, p=frequency / frequency.sum())
        texts.append(" ".join([*words, *rng.choice(COMMON, 4), "the", "of", "42", f"{number}th"]))
    return texts, subjects


@pytest.fixture(scope="session")
def tree(corpus):
    from symclust.applications import topics

    return topics(corpus[0], 3, random_state=0)
