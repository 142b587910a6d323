"""How far the work is: a bar in a terminal, now and then a line elsewhere."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from symclust.cli._console import errors, print_line

PAUSE = 10.0  # seconds between two lines if there is no terminal
SURE = 0.03  # share of the work that is done before the time left is guessed


class Bar:
    """Progress of the work, drawn by `to`."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.began = time.perf_counter()

    def to(self, share: float, detail: str = "") -> None:
        """Draw that a share of the work, from 0 to 1, is done."""

    def left(self, share: float) -> str:
        """A guess of the time left, in words; empty near the start."""
        if not SURE <= share < 1:
            return ""
        seconds = (time.perf_counter() - self.began) * (1 - share) / share
        return f"~{_duration(seconds)} left"

    # Callbacks of estimators ------------------------------------------------------------------------------

    def descent(self, model: Any) -> Callable[[Any], None]:
        """A callback for solvers, whose end is a small gradient, a limit, or both.

        The gradient falls about as fast as a power of the iterations, so that its logarithm measures the way
        that is left; the guess is rough.
        """
        if not hasattr(model, "max_iter"):  # a tree
            return self._splits(model.n_clusters)
        tol = 1e-2 if isinstance(model.tol, str) else max(float(model.tol), 1e-12)
        most = model.max_iter

        def report(step: Any) -> None:
            near = math.log(max(step.stationarity, 1e-300)) / math.log(tol) if tol < 1 else 1.0
            shares = [near, step.iteration / most]
            if model.time_limit is not None:
                shares.append(step.seconds / model.time_limit)
            self.to(min(max(0.0, *shares), 1.0), f"objective {step.objective:.5g}")

        return report

    def _splits(self, wanted: int | None) -> Callable[[Any], None]:
        def report(step: Any) -> None:
            count = step.iteration + 1
            share = count / wanted if isinstance(wanted, int) else 0.0
            self.to(min(share, 1.0), f"{count} leaves, average cut {step.objective:.3g}")

        return report

    def steps(self, step: Any) -> None:
        """Draw what a choice of the number of clusters, or a segmentation, reports of itself."""
        count = f", {step.done} of {step.total}" if step.total > 1 else ""
        self.to(step.done / max(step.total, 1), f"{step.stage}{count}")

    def leaves(self, wanted: int) -> Callable[[Any], None]:
        """A callback for a tree that grows to some number of leaves."""

        def report(step: Any) -> None:
            count = step.iteration + 1
            self.to(min(count / wanted, 1.0), f"{count} of {wanted} leaves")

        return report


class _Drawn(Bar):
    def __init__(self, title: str, progress: Progress) -> None:
        super().__init__(title)
        self.progress = progress
        self.task: TaskID = progress.add_task(title, total=None, detail="", left="")

    def to(self, share: float, detail: str = "") -> None:
        self.progress.update(self.task, total=1.0, completed=share, detail=detail, left=self.left(share))


class _Lines(Bar):
    def __init__(self, title: str) -> None:
        super().__init__(title)
        self.next = 0.0
        print_line(errors, f"{title} ...", "dim")

    def to(self, share: float, detail: str = "") -> None:
        now = time.perf_counter()
        if now >= self.next:
            self.next = now + PAUSE
            parts = (detail, self.left(share))
            print_line(errors, f"  {', '.join(part for part in parts if part)}", "dim")


@contextmanager
def show_progress(title: str, is_shown: bool = True) -> Iterator[Bar]:
    """Show what is being done while the block runs, on standard error."""
    if not is_shown:
        yield Bar(title)
    elif not errors.is_terminal:
        yield _Lines(title)
    else:
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(12))
        rest = (TimeElapsedColumn(), TextColumn("{task.fields[detail]}"), TextColumn("{task.fields[left]}"))
        with Progress(*columns, *rest, console=errors, transient=True) as progress:
            bar = _Drawn(title, progress)
            yield bar
        errors.print(Text(f"✓ {title} ({_duration(time.perf_counter() - bar.began)})", style="dim"))


def _duration(seconds: float) -> str:
    """A time in words.

    Examples
    --------
    >>> from symclust.cli._progress import _duration
    >>> _duration(0.26), _duration(42), _duration(100), _duration(7300)
    ('0.3 s', '42 s', '2 min', '2 h 2 min')
    """
    if seconds < 59.5:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
