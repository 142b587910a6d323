"""From content to HTML; everything that comes from data is escaped here."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib import import_module
from types import ModuleType
from typing import Any

from symclust._text import showable
from symclust.exceptions import MissingExtraError

__all__ = ["check_library", "render"]


def check_library() -> ModuleType:
    """Return jinja2, or raise an error that names the extra."""
    try:
        return import_module("jinja2")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            'Reports need jinja2, which is not installed: pip install "symclust[cli]"'
        ) from error


def render(**content: Any) -> str:
    """Return the page."""
    jinja2 = check_library()
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
