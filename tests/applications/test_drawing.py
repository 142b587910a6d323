"""The drawing of a tree."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symclust.applications.topics._topic import Example, Topic, draw_tree, excerpt
from symclust.exceptions import OptionError


def topic(number, children=(), label=None, parent=None, depth=0, words=("ice", "puck", "goal"), size=3):
    example = Example(0, "0", 1.0, "a long text about hockey and ice " * 3)
    terms = tuple((word, 1.0) for word in words)
    return Topic(number, label, parent, tuple(children), depth, np.arange(size), terms, 0.5, -1.0, (example,))


TREE = [
    topic(0, (1, 2), size=1234),
    topic(1, label=0, parent=0, depth=1, size=1000),
    topic(2, (3, 4), parent=0, depth=1, words=("moon", "orbit"), size=234),
    topic(3, label=1, parent=2, depth=2),
    topic(4, label=2, parent=2, depth=2, words=()),
]


def draw(width=100, n_terms=8, max_depth=None, n_examples=0):
    return draw_tree(TREE, "heading", width, n_terms, max_depth, n_examples).splitlines()


def test_branches():
    assert draw() == [
        "heading",
        "├─ [0] ice, puck, goal  (1,000)",
        "└─ moon, orbit  (234)",
        "   ├─ [1] ice, puck, goal  (3)",
        "   └─ [2] no terms  (3)",
    ]


def test_terms_and_depth_are_limited():
    assert draw(n_terms=1)[1] == "├─ [0] ice  (1,000)"
    assert draw(max_depth=1) == draw()[:3]
    assert draw(width=24)[1] == "├─ [0] ice  (1,000)"


def test_examples_stand_below_leaves():
    lines = draw(n_examples=1)
    assert lines[2].startswith("│     · a long text about hockey")
    assert len(lines) == 5 + 3


@given(width=st.integers(20, 60), n_terms=st.integers(1, 5), n_examples=st.integers(0, 2))
@settings(max_examples=40)
def test_no_line_is_wider_than_asked(width, n_terms, n_examples):
    lines = draw(width=width, n_terms=n_terms, n_examples=n_examples)
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


@given(text=st.text(max_size=300), length=st.integers(20, 80))
@settings(max_examples=60)
def test_an_excerpt_is_one_line(text, length):
    line = excerpt(text, length)
    assert len(line) <= length + 2
    assert "\n" not in line and line == line.strip()


def test_options_are_checked(tree):
    assert str(tree) == tree.draw()
    for options in ({"width": 5}, {"n_terms": 0}, {"max_depth": 0}, {"n_examples": -1}):
        with pytest.raises(OptionError, match=next(iter(options))):
            tree.draw(**options)


def test_a_tree_of_one_leaf_shows_it():
    assert draw_tree([topic(0, label=0)], "heading", 100, 2, None, 0) == "heading\n└─ [0] ice, puck  (3)"


def test_an_excerpt_does_not_steer_the_terminal():
    assert excerpt("\x1b[2Jice\x00 \u202epuck") == "[2Jice puck"


def test_an_excerpt_keeps_what_joins_letters():
    assert excerpt("می\u200cخواهم کتاب") == "می\u200cخواهم کتاب"


def test_what_cannot_be_shown_is_escaped_within_the_width():
    strange = topic(0, label=0, words=("\ud800", "a\x00b"))
    example = Example(0, "caf\udce9.txt", 1.0, "")
    drawn = draw_tree([replace(strange, examples=(example,))], "heading", 24, 2, None, 1)
    assert drawn.splitlines()[1:] == ["└─ [0] \\ud800  (3)", "      · caf\\udce9.txt"]
    assert drawn.encode("utf-8")
