"""From files to what `fit` and `topics` take, with names; see `docs/results.md`.

`read` returns the data, `read_described` also their kind and what was assumed. `build_on_disk` makes
a matrix on disk of edges that memory does not hold.
"""

from symclust.readers._pairs import KINDS, Described
from symclust.readers._read import read, read_described
from symclust.readers._source import Source
from symclust.readers.on_disk import build_on_disk
from symclust.readers.texts import Texts, folder_texts, json_texts

# The other names above are for other folders, and no part of the API.
__all__ = ["Described", "build_on_disk", "read", "read_described"]
