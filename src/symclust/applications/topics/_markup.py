"""Text without HTML, which would otherwise be counted as words."""

from __future__ import annotations

import html
import re
from typing import Final

# Elements of HTML. Other names in angle brackets are text: vector<int>, <stdio.h>, <T>.
NAMES: Final = (
    "a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big "
    "blink blockquote body br button canvas caption center cite code col colgroup dd del "
    "details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form "
    "frame frameset h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label "
    "legend li link main mark marquee menu meta nav nobr noframes noscript object ol optgroup "
    "option p param picture pre q rp rt ruby s samp script section select small source span "
    "strike strong style sub summary sup svg table tbody td template textarea tfoot th thead "
    "title tr track tt u ul var video wbr"
)
ELEMENTS: Final = frozenset(NAMES.split())
WITHIN_WORDS: Final = frozenset({"b", "em", "font", "i", "s", "strong", "sub", "sup", "u", "wbr"})
WITH_CONTENT: Final = frozenset({"script", "style"})  # what they hold is not shown to a reader either
ESCAPES: Final = 3  # as often as escapes were escaped again

# With a semicolon only: R&D, and what follows & in an address, are none. Some collections have lost the &.
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
BARE_ENTITY = re.compile(r"(?<![\w&#])(?:#\d{2,5}|amp|apos|gt|lt|nbsp|quot);")
# A tag has attributes of the form name=value, known ones without a value, or none, so that "if a <b and c> d"
# stays. Nothing here reads past the next "<": the time is linear in the length of a text, whatever it holds.
SWITCHES = (
    "async|autoplay|checked|compact|controls|defer|disabled|hidden|multiple|noshade|nowrap|readonly|selected"
)
ATTRIBUTES = rf"""(?:\s+(?:[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'|[^\s"'<>]+)|(?:{SWITCHES})\b))*"""
MARKUP = re.compile(
    rf"""<!--|<!doctype\b[^<>]*>|<\?xml\b[^<>]*>|<!\[cdata\[
    |<(?P<close>/?)(?P<name>[a-z][a-z0-9]*)(?:{ATTRIBUTES}\s*/?>|(?=\s+[\w-]+\s*=)[^<>]*\Z)""",
    re.IGNORECASE | re.VERBOSE,
)
ADDRESS = re.compile(
    r"""(?<!\w)(?:https?://|ftp://|www\.)[!\#-;=?-~]+  # of printable ASCII without quotes and brackets
    |(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+""",
    re.IGNORECASE | re.VERBOSE,
)


def without_markup(text: str) -> str:
    """A text as a browser would show it: escapes resolved, tags, comments and scripts left out.

    What is escaped is markup too once it is resolved (``&lt;b&gt;``), also if that was done twice. Only
    the characters are looked at: nothing is fetched or run. Names in angle brackets that are no elements of
    HTML, comparisons and code stay.
    """
    text = _resolved(text)
    return _without_tags(text) if "<" in text else text


def without_addresses(text: str) -> str:
    """A text without URLs and e-mail addresses, whose parts (http, www, com) say nothing."""
    if "@" in text or "://" in text or "www." in text.lower():  # ten times faster to ask first
        return ADDRESS.sub(" ", text)
    return text


def _resolved(text: str) -> str:
    for _ in range(ESCAPES):
        before = text
        text = ENTITY.sub(lambda found: html.unescape(found[0]), text)
        if text == before:
            break
    return BARE_ENTITY.sub(lambda found: html.unescape("&" + found[0]), text) if ";" in text else text


def _without_tags(text: str) -> str:
    kept: list[str] = []
    endless: set[str] = set()  # what is opened and never closed again, to be looked for once
    begun = 0
    for found in MARKUP.finditer(text):
        name = (found["name"] or "").lower()
        if found.start() < begun or (name and name not in ELEMENTS):
            continue  # inside of what is left out, or no markup
        kept += text[begun : found.start()], "" if name in WITHIN_WORDS else " "
        begun = _end(text, found, name, endless)
    return "".join([*kept, text[begun:]])


def _end(text: str, found: re.Match[str], name: str, endless: set[str]) -> int:
    """The place at which the text goes on after a tag: behind the end of a comment or script."""
    closing = "-->" if found[0] == "<!--" else rf"</{name}\s*>"
    if found[0] != "<!--" and (name not in WITH_CONTENT or found["close"]):
        return found.end()
    end = None if closing in endless else re.compile(closing, re.IGNORECASE).search(text, found.end())
    if end is None:
        endless.add(closing)
        return found.end()
    return end.end()
