"""Texts without HTML, and what must not be taken for it."""

import html

import hypothesis
import pytest
from hypothesis import strategies as st

from symclust.applications import topics
from symclust.applications.topics._corpus import read_corpus
from symclust.applications.topics._markup import without_addresses, without_markup


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<p>one</p><p>two</p>", "one two"),
        ("one<br/>two<BR>three", "one two three"),
        ('<a href="http://example.com/a?b=c" target=_top>one</a>', "one"),
        ("<td nowrap align=left>one<option selected>two", "one two"),
        ('<img alt="a > b" src=x.png>one', "one"),
        ("H<sub>2</sub>O and <b>b</b>old", "H2O and bold"),
        ("one<script type='x'>if (a < b) two();</script>three<style>p {}</style>", "one three"),
        ("one <!-- two --> three <!DOCTYPE html><?xml version='1.0'?>", "one three"),
        ("&lt;b&gt;one&lt;/b&gt; &amp;amp; &amp;lt;i&amp;gt;two&amp;lt;/i&amp;gt;", "one & two"),
        ("Schr&ouml;dinger&#39;s C&#x2b;+", "Schrödinger's C++"),
        ("it #39;s quot;so quot; amp; so", 'it \'s "so " & so'),
        ('one <A HREF="http://example.com/cut off', "one"),
        ("one <!-- two", "one two"),
        ("one <script> two", "one two"),
    ],
)
def test_markup_is_left_out(text, words):
    assert without_markup(text).split() == words.split()


@pytest.mark.parametrize(
    "text",
    [
        "a < b and b > c",
        "if a <b and c> d: pass",
        "for (i=0; i<n; i++) { p->q = a && b; }",
        "#include <stdio.h>\nstd::vector<int> v;",
        "Map<String, List<T>> m = f(x<y);",
        "AT&T, R&D; and x&copy=1",
        "<someone@example.com> wrote",
        "<3 <- -> <= >=",
        "",
    ],
)
def test_comparisons_and_code_stay(text):
    assert without_markup(text) == text


@pytest.mark.parametrize(
    "piece",
    ["<a ", "<script>", "<!--", '<a x="', " x=1", "&amp;", "a@", "a.", "http://", "</", " ", "a"],
)
def test_hostile_texts_take_linear_time(piece):
    # A scan that starts again at every piece would take hours here.
    for text in (piece * 200_000, "<a" + piece * 200_000, ("<" + "a" * 400 + piece) * 500):
        without_addresses(without_markup(text))


@hypothesis.given(st.text(st.characters(exclude_characters="<&;")))
def test_text_without_markup_is_left_alone(text):
    assert without_markup(text) == text


@hypothesis.given(st.text(st.characters(exclude_characters=";&")), st.integers(1, 2))
def test_escaped_text_is_what_it_was(text, times):
    escaped = text
    for _ in range(times):
        escaped = html.escape(escaped)
    assert without_markup(escaped) == without_markup(text)


def test_addresses_are_no_words():
    text = "see http://example.com/a-b?c=d, (www.example.org) ftp://x.y/z or mail some.one+x@example.com."
    assert without_addresses(text).split() == ["see", "(", "or", "mail", "."]
    assert without_addresses("(http://example.com/a中文)") == "( 中文)"
    assert without_addresses("a@b, x@ y, 3 @ 4") == "a@b, x@ y, 3 @ 4"


def test_a_corpus_says_what_was_taken_out():
    texts = ["<p>ice", "moon", "&lt;br&gt;"]
    corpus = read_corpus(texts, encoding="utf-8")
    assert [text.strip() for text in corpus.texts] == ["ice", "moon", ""]
    assert corpus.notes == ["HTML was taken out of 2 documents; clean=False would leave it in."]
    untouched = read_corpus(texts, encoding="utf-8", clean=False)
    assert untouched.texts == texts and not untouched.notes and untouched.countable() == texts


def test_topics_of_short_news_are_not_made_of_markup():
    link = '&lt;a href="http://www.example.com/quote.aspx?x={0}" target="_top"&gt;{1}&lt;/a&gt; &amp;nbsp;'
    texts = [f"hockey team puck ice goal {link.format(i, 'Team')}" for i in range(0, 30, 2)]
    texts += ["hockey puck team goal season", "rocket moon orbit launch", "moon rocket lunar orbit"] * 8
    tree = topics(texts, 2, random_state=0)
    assert not {"href", "lt", "gt", "quot", "target", "http", "example", "nbsp"} & set(tree.feature_names)
    assert "http://www.example.com" not in tree.leaves[0].examples[0].excerpt
    kept = topics(texts, 2, random_state=0, clean=False)
    assert {"href", "lt", "http"} <= set(kept.feature_names)
    assert tree.place(["<b>season</b> http://moon.orbit/rocket"]).labels_[0] == tree.labels_[15]
