import re
from copy import deepcopy
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from symclust.datasets import planted_partition


class Fitted(BaseEstimator):
    """What the report reads of a model, without a solver behind it."""

    def __init__(self, n_clusters=3, note="<b>&"):
        self.n_clusters, self.note = n_clusters, note
        self.affinity_matrix_, self.labels_ = planted_partition(60, 3, degree=8, random_state=0)
        self.membership_ = np.random.default_rng(0).random((60, 3)) + 2 * np.eye(3)[self.labels_]
        steps = np.arange(4)
        self.history_ = np.rec.fromarrays(
            [steps, steps / 10, 9.0 - steps, 0.1**steps], names="iteration,seconds,objective,stationarity"
        )
        self.n_iter_, self.relative_error_ = 3, 0.25
        self.stop_reason_ = "Stationarity fell below <tol>."


@pytest.fixture(scope="module")
def fitted():
    for library in ("jinja2", "matplotlib"):
        pytest.importorskip(library)
    return Fitted()


def sketch(draw, size, **_):
    """Draw, but render nothing: that takes half a second a model and is tried elsewhere."""
    from matplotlib.figure import Figure

    draw(Figure(figsize=size).subplots())
    return b"picture"


@pytest.fixture
def sketched(monkeypatch):
    monkeypatch.setattr("symclust.report._pictures.picture", sketch)


@pytest.fixture
def model(fitted, sketched):
    """A model of the test's own, to change as it likes."""
    return deepcopy(fitted)


class Parsed(HTMLParser):
    """Collects the attributes of each tag and the visible text; complains about unbalanced tags."""

    VOID = ("meta", "img", "input")

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.text = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))  # <path .../> inside a picture

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open) and data.strip():
            self.text.append(" ".join(data.split()))

    @property
    def words(self):
        """All text in one line, without the marks that keep directions apart."""
        return re.sub(r"\s+", " ", " ".join(self.text).replace("\u2068", "").replace("\u2069", ""))

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="session")
def Page():
    """A page taken apart, from its text."""
    return Parsed
