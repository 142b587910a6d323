"""Text out of the user's data, made fit to be shown and to be written to a file."""

from __future__ import annotations

import re

# Control characters, which end strings or steer terminals, and halves of surrogate pairs, which no encoding
# has: names of files that are not in the system's encoding contain them. Tabs and line ends may stay.
UNSHOWABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def showable(text: str) -> str:
    r"""A text with every character that cannot be shown written as Python writes it."""
    return UNSHOWABLE.sub(lambda found: ascii(found[0])[1:-1], text)
