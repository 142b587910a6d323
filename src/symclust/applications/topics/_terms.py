"""From texts to counts of terms."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from functools import cache
from typing import Any
from unicodedata import category, normalize

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from symclust.exceptions import InputError, OptionError

JOINERS = "\u200c\u200d"  # invisible, and part of the spelling in Persian and Indian languages
# What the pattern leaves of "don't" and the like.
CONTRACTIONS = {
    *("aren", "couldn", "didn", "doesn", "don", "hadn", "hasn", "haven", "isn", "ll", "mustn", "needn"),
    *("shouldn", "ve", "wasn", "weren", "wouldn"),
}
NO_TERMS = ("empty vocabulary", "no terms remain", "max_df corresponds to")  # scikit-learn's words for it
OURS = ("input", "encoding", "decode_error")  # topics() reads files itself, so that it can report


def count_terms(
    texts: list[str], language: str | None, options: dict[str, Any]
) -> tuple[Any, CountVectorizer]:
    """Documents × terms and the vectoriser that made them."""
    vectorizer = make_vectorizer(len(texts), language, options)
    try:
        return vectorizer.fit_transform(texts), vectorizer
    except (ValueError, re.error) as error:
        if not any(words in str(error) for words in NO_TERMS):
            raise OptionError(f"scikit-learn's CountVectorizer: {error}") from error
        raise no_terms_left(len(texts), vectorizer, error) from error


def no_terms_left(n_documents: int, vectorizer: CountVectorizer, reason: object) -> InputError:
    """The error for texts without terms to count."""
    return InputError(
        f"No terms are left in {n_documents} documents: {reason} (used: min_df={vectorizer.min_df!r}, "
        f"max_df={vectorizer.max_df!r}). Lower min_df, raise max_df, or change token_pattern or stop_words."
    )


def make_vectorizer(n_documents: int, language: str | None, options: dict[str, Any]) -> CountVectorizer:
    """Scikit-learn's vectoriser, the user's options before our defaults."""
    known = [name for name in inspect.signature(CountVectorizer).parameters if name not in OURS]
    for name in options:
        if name not in known:
            raise OptionError(
                f"{name!r} is neither an option of topics() nor one that it passes on to scikit-learn's "
                f"CountVectorizer; those are {', '.join(known)}."
            )
    defaults = _default_options(n_documents)
    if options.get("analyzer", "word") == "word":
        defaults["stop_words"] = None if "stop_words" in options else _stop_words_of(language)
    if options.get("analyzer", "word") != "word" or options.get("tokenizer") is not None:
        defaults["token_pattern"] = None  # scikit-learn warns of one that is not used
    words = options.get("stop_words")
    if isinstance(words, Iterable) and not isinstance(words, str):  # scikit-learn refuses sets
        options = {**options, "stop_words": [normalize("NFC", word) for word in words]}
    return CountVectorizer(**{**defaults, **options})


def _default_options(n_documents: int) -> dict[str, Any]:
    """The options of CountVectorizer if the user gives none; small corpora keep rare terms."""
    return {
        "token_pattern": _token_pattern(),
        "min_df": min(3, 1 + n_documents // 50),
        "max_df": 0.5 if n_documents >= 20 else 1.0,
    }


@cache
def _token_pattern() -> str:
    r"""A pattern for words of at least two characters.

    Letters come first, so that numbers and underscores are no words. Python's ``\w`` leaves out the marks
    that Hindi and its neighbours, and Arabic and Hebrew with vowels, are written with: words go on over them.
    """
    within = rf"\w{_mark_ranges()}"
    return rf"\b[^\W\d_][{within}]+(?:[{JOINERS}]+[{within}]+)*"


def _mark_ranges() -> str:
    """All combining marks of Unicode as ranges for a class of characters."""
    # From the accents on; one block of marks, which choose variants of characters, lies far behind the rest.
    codes = [*range(0x0300, 0x20000), *range(0xE0100, 0xE01F0)]
    marks = np.array([code for code in codes if category(chr(code)).startswith("M")])
    runs = np.split(marks, np.flatnonzero(np.diff(marks) > 1) + 1)
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in runs)


def _stop_words_of(language: str | None) -> list[str] | None:
    """The stop words of a language; scikit-learn has English ones only."""
    if language is None:
        return None
    if language != "english":
        raise OptionError(
            f"language={language!r} has no list of stop words: scikit-learn has English ones only. "
            "Give stop_words=[...] with the words of your language, or language=None for none at all."
        )
    return sorted(ENGLISH_STOP_WORDS | CONTRACTIONS)
