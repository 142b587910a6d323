"""The option --checkpoint: work that goes on where a killed run has left it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from symclust.cli._session import PANEL, Session
from symclust.exceptions import InputError, OptionError


@dataclass(frozen=True)
class Resumable:
    """The option --checkpoint: a file that holds the work."""

    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            help="Keep the work in this file every 30 seconds; if it is there, go on from it.",
            metavar="FILE",
            rich_help_panel=PANEL,
        ),
    ] = None

    @contextmanager
    def kept(self, session: Session, what: Any, params: Mapping[str, Any]) -> Iterator[None]:
        """Keep the work inside, which is that of a class or function with these parameters."""
        if self.checkpoint is None:
            yield
            return
        from symclust.storage import Checkpoint, Task, read_journal, recording, resuming

        if "callback" not in params:
            raise OptionError(f"--checkpoint: {what.__name__} keeps none; choose another --method.")
        journal = read_journal(self.checkpoint) if self.checkpoint.exists() else None
        if journal is not None:
            if not journal.task.is_like(Task.of(what, params)):
                raise InputError(
                    f"{self.checkpoint} is a checkpoint of other work: {journal.task}. Give the options of "
                    "that run, or another file."
                )
            session.note(f"Goes on from {self.checkpoint}.")
        checkpoint = Checkpoint(self.checkpoint)
        try:
            with resuming(journal) if journal else nullcontext(), recording(checkpoint, what, params):
                yield
        finally:
            if session.is_interrupted and self.checkpoint.exists():
                session.note(f"The same command goes on from {self.checkpoint}.")
