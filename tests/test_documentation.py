"""The documents keep up with the code: every public name has a line, every page a place in the contents."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import symclust

DOCS = Path(__file__).parent.parent / "docs"
README = DOCS.parent / "README.md"
MOST_NAMES = 250  # exported by the package and all its folders together

MODULES = [
    importlib.import_module(f"symclust.{file.name}")
    for file in pkgutil.iter_modules(symclust.__path__)
    if not file.name.startswith("_")
]

FOR_THE_PACKAGE = {
    "symclust.validation": "for the package alone",
    "symclust.reproduce": "for the command of that name",
    "symclust.assign_labels": "the options of a parameter, which estimators describe",
}


def listed():
    """Return the full names on the page of the API."""
    module, names = "", []
    for line in (DOCS / "api" / "index.rst").read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = found[1]
        elif found := re.match(r"   ([\w.]+)$", line):
            names.append(f"{module}.{found[1]}")
    return names


def exported(module):
    """Return the names in `__all__` that are no modules."""
    names = getattr(module, "__all__", ())
    return {name for name in names if not inspect.ismodule(getattr(module, name))}


@pytest.mark.parametrize("module", [symclust, *MODULES], ids=lambda module: module.__name__)
def test_public_is_what_the_page_of_the_api_lists(module):
    if module.__name__ in FOR_THE_PACKAGE:
        pytest.skip(f"is {FOR_THE_PACKAGE[module.__name__]}")
    names = {name.rpartition(".")[2] for name in listed()}
    own = {name.rpartition(".")[2] for name in listed() if name.rpartition(".")[0] == module.__name__}
    assert own <= exported(module) <= names


def test_there_are_no_more_names_than_one_can_remember():
    assert sum(len(exported(module)) for module in [symclust, *MODULES]) < MOST_NAMES


@pytest.mark.parametrize("name", listed())
def test_a_public_function_documents_its_parameters_and_types_them(name):
    module, _, name = name.rpartition(".")
    thing = getattr(importlib.import_module(module), name)
    if inspect.isfunction(thing):
        signature = inspect.signature(thing)
        assert not signature.parameters or "Parameters\n----------" in inspect.getdoc(thing)
        named = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        kinds = [parameter.annotation for parameter in named]
        assert "Any" not in [*kinds, signature.return_annotation]


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
