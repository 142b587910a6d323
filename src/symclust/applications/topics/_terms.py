"""From texts to counts of terms."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any
from unicodedata import normalize

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from symclust.applications.topics._counting import WordCounter, token_pattern
from symclust.exceptions import InputError, OptionError

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
        return _counting(vectorizer).fit_transform(texts), vectorizer
    except (ValueError, re.error) as error:
        if not any(words in str(error) for words in NO_TERMS):
            raise OptionError(f"scikit-learn's CountVectorizer: {error}") from error
        raise no_terms_left(len(texts), vectorizer, error) from error


def counts_of(vectorizer: CountVectorizer, texts: list[str]) -> Any:
    """Further documents × the terms of a vectoriser."""
    return _counting(vectorizer).transform(texts)


def _counting(vectorizer: CountVectorizer) -> WordCounter:
    """The same vectoriser, attributes and all, in the class that counts faster: files hold the other."""
    counter = WordCounter()
    counter.__dict__ = vars(vectorizer)
    return counter


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
        "token_pattern": token_pattern(),
        "min_df": min(3, 1 + n_documents // 50),
        "max_df": 0.5 if n_documents >= 20 else 1.0,
    }


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
