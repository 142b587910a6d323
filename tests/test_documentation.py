"""The documents keep up with the code: every public name has a line, every page a place in the contents."""

import re
from pathlib import Path

import pytest

import symclust
from symclust import constraints, datasets, documents, graphs, metrics, operators

DOCS = Path(__file__).parent.parent / "docs"
README = DOCS.parent / "README.md"

# Parts of the folders' workings that other folders import, and that users have no call for.
INNER = {
    "graphs": {
        "Affinity", "AttributedSimilarity", "Barriers", "Cosine", "Gaussian", "NearestNeighbors",
        "NormalizedCut", "Picture", "RandomWalk", "SelfTuning", "compare_pixels", "find_barriers",
        "first_of_equal", "grouped", "images_library", "pixel_edges", "read_image", "row_keys", "unit_rows",
    },
    "operators": {
        "DUPLICATES", "DenseFactor", "Factor", "RowBlocks", "SparseFactor", "dense_product",
        "gathered_entries", "graph_adjacency", "graph_names", "is_dask", "krylov_spaces", "network_of_edges",
        "network_of_table", "number_nodes", "over_blocks", "read_csr",
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


# For people; the other pages are evidence, or for developers.
PAGES = (
    "index", "install", "first_clusters", "networks", "documents", "expression", "images", "similarities",
    "how_many_clusters", "results", "large_data", "methods",
)  # fmt: skip


@pytest.mark.parametrize("folder", [DOCS, DOCS / "evidence"])
def test_every_page_is_in_the_table_of_contents(folder):
    contents = (folder / "index.md").read_text(encoding="utf-8").splitlines()
    pages = {path.stem for path in folder.glob("*.md")} - {"index"}
    assert pages <= {line.strip() for line in contents}


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_with_a_picture(page):
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    picture = re.search(r"!\[[^\]]+\]\((images/[^)]+)\)", text)
    assert picture is not None
    assert text[: picture.start()].count("\n") < 8
    assert (DOCS / picture[1]).exists()


def test_the_pages_for_people_are_short_and_have_no_dots_in_their_answers():
    texts = {page: (DOCS / f"{page}.md").read_text(encoding="utf-8") for page in PAGES}
    assert sum(len(text.split()) for text in texts.values()) < 25_000
    answers = re.compile(r"^(?!>>>|\.\.\. |    |\$).*\.\.\.", re.MULTILINE)
    examples = {
        page: "".join(re.findall(r"```pycon\n(.*?)```", text, re.DOTALL)) for page, text in texts.items()
    }
    assert {page: found for page, text in examples.items() if (found := answers.findall(text))} == {}


def test_every_estimator_is_in_the_guide():
    guide = (DOCS / "similarities.md").read_text(encoding="utf-8")
    estimators = {
        name for name in symclust.estimators.__all__ if hasattr(getattr(symclust, name, None), "fit")
    }
    assert [name for name in sorted(estimators) if f"`{name}" not in guide] == []


def test_the_readme_is_short_and_names_the_two_commands():
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 150
    assert "make run" in text
    assert "make test" in text
