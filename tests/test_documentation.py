"""The documents keep up with the code: every public name has a line, every page a place in the contents."""

from pathlib import Path

import pytest

import symclust
from symclust import constraints, datasets, documents, estimators, graphs, metrics, operators

DOCS = Path(__file__).parent.parent / "docs"
README = DOCS.parent / "README.md"

# Parts of the folders' workings that other folders import, and that users have no call for.
INNER = {
    "graphs": {
        "Affinity", "AttributedSimilarity", "Barriers", "Cosine", "Gaussian", "NearestNeighbors",
        "NormalizedCut", "Picture", "RandomWalk", "SelfTuning", "compare_pixels", "find_barriers",
        "first_of_equal", "grouped", "pixel_edges", "read_image", "row_keys", "unit_rows",
    },
    "constraints": {"Custom"},
    "documents": {"weighted_rows"},
}  # fmt: skip


def listed():
    """Return the names on the page of the API, without their modules."""
    page = (DOCS / "api" / "index.rst").read_text(encoding="utf-8")
    return {line.strip().rpartition(".")[2] for line in page.splitlines() if line.startswith("   ")}


def test_every_name_of_the_package_is_on_the_page_of_the_api():
    modules = {"constraints", "datasets", "documents", "graphs", "metrics", "operators"}
    assert set(symclust.__all__) - modules <= listed()


@pytest.mark.parametrize("module", [constraints, datasets, documents, graphs, metrics, operators])
def test_every_name_of_a_public_folder_is_on_the_page_of_the_api(module):
    name = module.__name__.rpartition(".")[2]
    assert set(module.__all__) - INNER.get(name, set()) <= listed()


def test_every_page_is_in_the_table_of_contents():
    contents = (DOCS / "index.md").read_text(encoding="utf-8").splitlines()
    pages = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    assert pages <= {line.strip() for line in contents}


def test_every_estimator_is_in_the_guide():
    guide = (DOCS / "which_estimator.md").read_text(encoding="utf-8")
    guide += (DOCS / "left_stochastic.md").read_text(encoding="utf-8")
    named = {name for name in estimators.__all__ if hasattr(getattr(symclust, name, None), "fit")}
    assert [name for name in sorted(named) if f"`{name}" not in guide] == []


def test_the_readme_is_short_and_names_the_two_commands():
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 150
    assert "make run" in text
    assert "make test" in text
