"""From texts to counts of terms."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from symclust.exceptions import InputError, OptionError

__all__ = ["count_terms", "default_options", "stop_words_of"]

# Letters first, so that numbers and underscores are no words; two characters at least.
TOKENS = r"(?u)\b[^\W\d_]\w+\b"
# What the pattern leaves of "don't" and the like.
CONTRACTIONS = {
    *("aren", "couldn", "didn", "doesn", "don", "hadn", "hasn", "haven", "isn", "ll", "mustn", "needn"),
    *("shouldn", "ve", "wasn", "weren", "wouldn"),
}
NO_TERMS = ("empty vocabulary", "no terms remain", "max_df corresponds to")  # scikit-learn's words for it
OURS = ("input", "encoding", "decode_error")  # topics() reads files itself, so that it can report


def default_options(n_documents: int) -> dict[str, Any]:
    """Return the options of CountVectorizer where the user gives none; small corpora keep rare terms."""
    return {
        "token_pattern": TOKENS,
        "min_df": min(3, 1 + n_documents // 50),
        "max_df": 0.5 if n_documents >= 20 else 1.0,
    }


def stop_words_of(language: str | None) -> list[str] | None:
    """Return the stop words of a language; scikit-learn has English ones only."""
    if language is None:
        return None
    if language != "english":
        raise OptionError(
            f"language={language!r} has no list of stop words: scikit-learn ships English ones only. "
            "Give stop_words=[...] with the words of your language, or language=None for none at all."
        )
    return sorted(ENGLISH_STOP_WORDS | CONTRACTIONS)


def make_vectorizer(n_documents: int, language: str | None, options: dict[str, Any]) -> CountVectorizer:
    """Return scikit-learn's vectoriser with our defaults below the user's options."""
    known = [name for name in inspect.signature(CountVectorizer).parameters if name not in OURS]
    for name in options:
        if name not in known:
            raise OptionError(
                f"{name!r} is no option of topics() and none of scikit-learn's CountVectorizer that it passes"
                f" on. Those are {', '.join(known)}."
            )
    defaults = default_options(n_documents)
    if options.get("analyzer", "word") == "word":
        defaults["stop_words"] = None if "stop_words" in options else stop_words_of(language)
    if options.get("analyzer", "word") != "word" or options.get("tokenizer") is not None:
        defaults["token_pattern"] = None  # scikit-learn warns of one that is not used
    words = options.get("stop_words")
    if isinstance(words, Iterable) and not isinstance(words, str):
        options = {**options, "stop_words": list(words)}  # scikit-learn refuses sets
    return CountVectorizer(**{**defaults, **options})


def count_terms(
    texts: list[str], language: str | None, options: dict[str, Any]
) -> tuple[Any, CountVectorizer]:
    """Return documents × terms and the vectoriser that made them."""
    vectorizer = make_vectorizer(len(texts), language, options)
    try:
        return vectorizer.fit_transform(texts), vectorizer
    except (ValueError, re.error) as error:
        if not any(words in str(error) for words in NO_TERMS):
            raise OptionError(f"scikit-learn's CountVectorizer: {error}") from error
        params = vectorizer.get_params()
        shown = ", ".join(f"{name}={params[name]!r}" for name in ("min_df", "max_df", "token_pattern"))
        raise InputError(
            f"No terms are left in {len(texts)} documents: {error} (used: {shown}). Lower min_df, raise "
            "max_df, or change token_pattern or stop_words."
        ) from error
