"""Documents, whatever they were read from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Corpus"]


@dataclass
class Corpus:
    """Documents with names, and what was noticed while reading them.

    Attributes
    ----------
    texts : list of str or None
        None where a matrix of counts was given.
    names : list of str
        One a document: its number, its file, or its line.
    notes : list of str
        Sentences for the user.
    counts : csr_array or None
        Documents × terms, where that is what was given.
    terms : list of str or None
        The names of its columns, if they have any.
    """

    texts: list[str] | None
    names: list[str]
    notes: list[str] = field(default_factory=list)
    counts: Any = None
    terms: list[str] | None = None

    def __len__(self) -> int:
        return len(self.names)
