"""One question "how many clusters?": the data, the method of clustering, and the jobs."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np
from joblib.parallel import get_active_backend
from sklearn.base import clone

from symclust._threads import raising_interrupts
from symclust._types import Array
from symclust.exceptions import InputError
from symclust.selection._answer import Selection
from symclust.selection._data import NOWHERE, Data, Features
from symclust.storage import recorded, recorded_each

LEAST_NULLS = 3  # data sets without clusters that an answer takes
PARAMETERS = ("n_clusters", "n_components")  # names for the number of clusters


@dataclass(frozen=True)
class Progress:
    """The argument of a callback: steps of a stage, seconds since the beginning, and the answer so far."""

    done: int
    total: int
    stage: str
    seconds: float
    so_far: Selection | None = None


@dataclass(frozen=True)
class Study:
    """The question that every method answers.

    Attributes
    ----------
    data : Data
        The samples.
    estimator : estimator
        Clusters them; used through clones.
    candidates : tuple of int
        Numbers of clusters, rising, all at least 2; empty for all numbers, which "auto" alone can compare.
    rng : RandomState
        The source of all chance: seeds are drawn before work is handed out, so that the answer does not
        depend on the number of jobs.
    n_jobs, callback
        As in `select_n_clusters`.
    """

    data: Data
    estimator: Any
    candidates: tuple[int, ...]
    rng: np.random.RandomState
    n_jobs: int | None = None
    callback: Callable[[Progress], object] | None = None
    began: float = 0.0

    def seeds(self, count: int) -> list[int]:
        """Return seeds for `count` pieces of work."""
        return [int(seed) for seed in self.rng.randint(np.iinfo(np.int32).max, size=count)]

    def on(self, data: Data) -> Study:
        """Return the same study of other data, such as a null."""
        return replace(self, data=data)

    def map(
        self,
        function: Callable[..., Any],
        tasks: Iterable[Sequence[Any]],
        stage: str,
        shared: Sequence[Any] = (),
        so_far: Callable[[list[Any]], Selection | None] = lambda found: None,
    ) -> list[Any]:
        """Return ``function(*shared, *task)`` for all tasks, by joblib; the function is one of a module.

        `so_far` makes an answer of the first results, for the callback. Ctrl-C is raised, whatever a task
        would keep: a score of half a fit would pass for one of a whole.
        """
        tasks, common = list(tasks), _Shared(function, *shared)
        run = joblib.Parallel(n_jobs=self.n_jobs, return_as="generator")

        def answers(done: int) -> Iterator[Any]:
            return run(joblib.delayed(_call)(common, raising_interrupts, *task) for task in tasks[done:])

        found = []
        for answer in recorded_each(stage, answers):
            found.append(answer)
            self.report(len(found), len(tasks), stage, None if self.callback is None else so_far(found))
        return found

    def report(self, done: int, total: int, stage: str, so_far: Selection | None = None) -> None:
        """Call the callback, if there is one."""
        if self.callback is not None:
            self.callback(Progress(done, total, stage, time.perf_counter() - self.began, so_far))

    def over_nulls(
        self, function: Callable[[Study], Any], count: int, answer: Callable[[list[Any]], Selection]
    ) -> Selection:
        """Return the answer to the results of `function` in studies of data without clusters.

        Each null is one job, unless the estimator takes all parts of a null at once, on all processors.
        """
        tasks = [(seed,) for seed in self.seeds(count)]
        # A number of jobs does not keep work from a cluster: there each null has a machine to itself.
        who = replace(self, n_jobs=1) if _takes_parts(self.estimator) and not _on_other_machines() else self

        def so_far(found: list[Any]) -> Selection | None:
            return None if len(found) < LEAST_NULLS else answer_so_far(answer(found), len(found))

        return answer(who.map(_study_null, tasks, "data without clusters", (function, self), so_far))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "callback": None}  # it belongs to the process that asked

    def label_parts(self, parts: Sequence[Array], stage: str, place: bool = True) -> Array:
        """Cluster parts of the samples with each candidate, and place all other samples.

        The labels are n_parts × n_candidates × n_samples. Samples outside a part are placed as by `predict`,
        or have −1 without `place`. Estimators that take all parts of samples × features at once have a method
        `_label_parts` with the same meaning, and a property `_takes_parts`.
        """
        seeds = self.seeds(len(parts))
        if isinstance(self.data, Features) and self.data.is_dense and _takes_parts(self.estimator):
            given = (self.data.X, parts, self.candidates, seeds, place)
            labels = recorded(stage, lambda: self.estimator._label_parts(*given))
            self.report(len(parts), len(parts), stage)
            return labels
        shared = self.estimator, self.data, self.candidates, place
        return np.array(self.map(_label_part, zip(parts, seeds, strict=True), stage, shared)).reshape(
            len(parts), len(self.candidates), self.data.n
        )


class _Shared:
    """Values that many pieces of work have in common.

    joblib sends an argument of more than a kilobyte to a cluster once, if it can find its size: it cannot for
    most objects.
    """

    def __init__(self, *values: Any) -> None:
        self.values = values

    def __sizeof__(self) -> int:
        return 1 << 20


def _on_other_machines() -> bool:
    """Whether the active backend of joblib is one for other machines, such as Dask's."""
    return not type(get_active_backend()[0]).__module__.startswith("joblib._parallel_backends")


def _call(shared: _Shared, function: Callable[..., Any], *task: Any) -> Any:
    """Do a piece of work; on another machine it hands out none itself: no worker waits for another."""
    if not _on_other_machines():
        return function(*shared.values, *task)
    with joblib.parallel_config("sequential"):
        return function(*shared.values, *task)


def answer_so_far(answer: Selection, n_nulls: int) -> Selection:
    """Return an answer with the number of data sets without clusters so far in its sentence."""
    return replace(answer, sentence=f"{answer.sentence} So far these are {n_nulls}.")


def _takes_parts(estimator: Any) -> bool:
    return bool(getattr(estimator, "_takes_parts", False))


def _study_null(function: Callable[[Study], Any], study: Study, seed: int) -> Any:
    rng = np.random.RandomState(seed)
    null = study.data.null(rng)
    return function(replace(study, data=null, rng=rng, n_jobs=1, callback=None))


def with_clusters(estimator: Any, k: int, seed: int | None = None) -> Any:
    """Return a clone for k clusters, with `seed` as its random state if it has one."""
    known = estimator.get_params(deep=False)
    name = next((name for name in PARAMETERS if name in known), None)
    if name is None:
        raise InputError(
            f"{type(estimator).__name__} has no parameter n_clusters (or n_components) to try numbers with."
        )
    chance = {"random_state": seed} if seed is not None and "random_state" in known else {}
    return clone(estimator).set_params(**{name: k}, **chance)


def _label_part(
    estimator: Any, data: Data, candidates: Sequence[int], place: bool, part: Array, seed: int
) -> Array:
    """Return the labels of all samples under each candidate: those of a part by a fit, others by placing."""
    found = np.full((len(candidates), data.n), NOWHERE, dtype=np.int32)
    rest = np.setdiff1d(np.arange(data.n), part) if place else np.arange(0)
    own, tree = data.take(part), None
    possible = [(row, k) for row, k in zip(found, candidates, strict=True) if k <= len(part)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a part that cannot be cut into so many clusters is an answer too
        for row, k in reversed(possible):
            if tree is None:  # that of the largest number holds all others
                model: Any = with_clusters(estimator, k, seed)
                found_here = model.fit_predict(own)
                tree, nowhere = getattr(model, "tree_", None), found_here < 0
            else:
                model, found_here = None, np.where(nowhere, NOWHERE, tree.cut(min(k, tree.n_splits + 1)))
            row[part] = found_here
            if rest.size:
                row[rest] = data.place(model, found_here, part, rest)
    return found
