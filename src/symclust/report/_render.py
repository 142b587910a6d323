"""From content to HTML; everything that comes from data is escaped here."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import Any

from symclust._optional import need
from symclust._text import showable

__all__ = ["render"]


def render(**content: Any) -> str:
    """Return the page."""
    jinja2 = need("jinja2", "cli", "A report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("symclust.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    script = environment.loader.get_source(environment, "page.js")[0]
    digest = b64encode(sha256(script.encode("utf-8")).digest()).decode("ascii")
    return environment.get_template("page.html").render(script=script, script_hash=digest, **content)


def _shown(value: Any) -> Any:
    """Write what cannot be shown as an escape, before HTML or JSON has its own way with it."""
    return showable(value) if type(value) is str else value
