"""Words of texts, counted by compiled code as scikit-learn counts them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any
from unicodedata import category

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from symclust._kernels import count_words
from symclust._types import Array

JOINERS = "\u200c\u200d"  # invisible, and part of the spelling in Persian and Indian languages
LETTER, IN_WORD, GOES_ON, JOINER = 1, 2, 4, 8  # bits of the kernel
ANY_WORD = CountVectorizer().token_pattern  # scikit-learn's
# From the accents on; one block of marks, which choose variants of characters, lies far behind the rest.
MARKS = (*range(0x0300, 0x20000), *range(0xE0100, 0xE01F0))
N_CHARACTERS = 0x110000


class WordCounter(CountVectorizer):
    """Scikit-learn's vectoriser, which leaves single words of the two patterns to a kernel.

    Terms, counts and their order are the same. Phrases, parts of words, and words by other rules are counted
    as scikit-learn does.
    """

    def _count_vocab(self, raw_documents: Iterable[Any], fixed_vocab: bool) -> tuple[dict[str, int], Any]:
        table = _table(self.token_pattern) if self._counts_words() else None
        if table is None:
            return super()._count_vocab(raw_documents, fixed_vocab)
        self.build_analyzer()  # warns of stop words that can never be met
        read = self.build_preprocessor()
        counts, words = _counted(table, [read(self.decode(text)) for text in raw_documents])
        known = self.vocabulary_ if fixed_vocab else {}
        if not fixed_vocab:
            stop_words = self.get_stop_words() or ()
            for word in words:
                if word not in stop_words:
                    known[word] = len(known)
        if not known:
            raise ValueError("empty vocabulary; perhaps the documents only contain stop words")
        columns = np.array([known.get(word, -1) for word in words], dtype=np.int32)
        return known, _renumbered(counts, columns, len(known)).astype(self.dtype, copy=False)

    def _counts_words(self) -> bool:
        return self.analyzer == "word" and self.tokenizer is None and tuple(self.ngram_range) == (1, 1)


def _counted(table: Array, texts: list[str]) -> tuple[sparse.csr_array, list[str]]:
    """Texts × words in the order in which they come, and the words."""
    # Halves of surrogate pairs are in some texts, and in no word.
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts], dtype=np.int64)])
    text = b"".join(parts)
    most = (len(text) + len(parts)) // 3 + 1
    indptr, found = np.empty(len(starts), dtype=np.int64), np.empty(2, dtype=np.int64)
    indices, counts = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
    begins, ends = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    given = np.frombuffer(text, dtype=np.uint8)
    count_words(table, given, starts, indptr, indices, counts, begins, ends, found)
    entries, n_words = found.tolist()
    places = zip(begins[:n_words].tolist(), ends[:n_words].tolist(), strict=True)
    words = [text[begin:end].decode("utf-8") for begin, end in places]
    X = (counts[:entries].copy(), indices[:entries].copy(), indptr)
    return sparse.csr_array(X, shape=(len(parts), n_words)), words


def _renumbered(counts: sparse.csr_array, columns: Array, n_columns: int) -> sparse.csr_array:
    """Counts with new numbers of columns, without those that have none (−1), in rising order."""
    new = columns[counts.indices]
    kept = new >= 0
    before = np.concatenate([[0], np.cumsum(kept)])
    indptr = before[counts.indptr].astype(np.int32 if before[-1] < 2**31 else np.int64)
    parts = counts.data[kept], new[kept].astype(indptr.dtype, copy=False), indptr
    X = sparse.csr_array(parts, shape=(counts.shape[0], n_columns))
    X.sort_indices()
    return X


# Patterns ---------------------------------------------------------------------------------------------------


@cache
def token_pattern() -> str:
    r"""A pattern for words of at least two characters.

    Letters come first, so that numbers and underscores are no words. Python's ``\w`` leaves out the marks
    that Hindi and its neighbours, and Arabic and Hebrew with vowels, are written with: words go on over them.
    """
    marks = _marks()
    runs = np.split(marks, np.flatnonzero(np.diff(marks) > 1) + 1)
    within = r"\w" + "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in runs)
    return rf"\b[^\W\d_][{within}]+(?:[{JOINERS}]+[{within}]+)*"


@cache
def _table(pattern: str | None) -> Array | None:
    """The parts that each character may play in a word of a pattern; None for patterns of the user."""
    if pattern not in (ANY_WORD, token_pattern()):
        return None
    # Python's \w is the underscore and what str.isalnum says, its \d what str.isdecimal says.
    is_word = _which(str.isalnum)
    is_word[ord("_")] = True
    if pattern == ANY_WORD:
        return (is_word * np.uint8(LETTER | IN_WORD | GOES_ON)).astype(np.uint8)
    starts = is_word & ~_which(str.isdecimal)
    starts[ord("_")] = False
    table = is_word * np.uint8(IN_WORD | GOES_ON) | starts * np.uint8(LETTER)
    table[_marks()] |= GOES_ON
    table[[ord(joiner) for joiner in JOINERS]] |= JOINER
    return table


def _which(says: Callable[[str], bool]) -> Array:
    """A mask of all characters."""
    return np.frombuffer(bytes(map(says, map(chr, range(N_CHARACTERS)))), dtype=bool).copy()


@cache
def _marks() -> Array:
    return np.array([code for code in MARKS if category(chr(code)).startswith("M")])
