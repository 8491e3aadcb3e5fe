"""Runs, comparisons, sweeps and recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

from . import _raddle
from ._policies import Policy
from ._progress import make_progress
from ._record import Record
from ._results import Result, Results
from ._settings import make_settings, policies_word, sweep_words, work_words

_SAMPLE_INTERVAL = 256


def make_watch(progress: Any, *, samples: bool | int = False, report: bool = False,
               analyses: Iterable[str] = ()) -> Any:
    out = _raddle.Watch()
    out.progress = progress
    out.sample_interval = _SAMPLE_INTERVAL if samples is True else int(samples)
    out.analyses = list(analyses)
    out.for_page = report
    return out


class Recording:
    """A file of op streams, which may be timed again and again. ``run``, ``compare``, ``sweep`` and
    ``corun`` take it in the place of a workload."""

    def __init__(self, file: Any) -> None:
        self.file = Path(file)
        if not self.file.exists():
            raise _raddle.InputError(f"there is no recording {self.file}")

    def __fspath__(self) -> str:
        return str(self.file)

    def run(self, **keywords: Any) -> Result:
        from . import run
        return run(self, **keywords)

    def __repr__(self) -> str:
        return f"raddle.Recording({str(self.file)!r})"


class Simulator:
    """All there is to run, and the policies that were registered. The functions of the module are
    methods of one that they share."""

    def __init__(self) -> None:
        self._native = _raddle.Simulator()
        self._classes: dict[tuple[str, str], type[Policy]] = {}

    def add_policy(self, policy: type[Policy], replace: bool = False) -> type[Policy]:
        """Registers a class by its ``name``. A class of that name that was registered before gives
        way, as when a notebook's cell is run again; a policy of the program only if ``replace``:
        then results do not tell whose it was."""
        if not policy.name:
            policy.name = policy.__name__.lower()
        key = (policy.level, policy.name)
        if self._classes.get(key) is not policy:
            self._native.add_policy(policy.level, policy, replace or key in self._classes)
            self._classes[key] = policy
        return policy

    def policies(self) -> Record:
        """{level: {name: what it does}}"""
        return self._native.policies()

    def config(self, **settings: Any) -> Record:
        """The machine and run that the keywords of ``run`` describe, all of it."""
        return self._native.config(make_settings(self, **settings))

    def run(self, workload: Any, *, gpu: Any = "v100", policy: Mapping[str, Any] | None = None,
            set: Mapping[str, Any] | None = None, seed: int | None = None,
            max_cycles: int | None = None, threads: int = 1, functional: bool = False,
            live: bool = False, skip: bool = True, first_launches: int | None = None,
            cold_l2: bool = False, sampling_error: float = 0, max_stream_gib: float = 2,
            checks: Iterable[str] = (), samples: bool | int = False, report: bool = False,
            analyses: Iterable[str] = (), progress: Any = None, **parameters: Any) -> Result:
        """Runs a workload, a PTX file or a recording; other keywords are its parameters."""
        words = work_words(workload, parameters)
        settings = make_settings(
            self, gpu=gpu, policy=policy, set=set, seed=seed, max_cycles=max_cycles,
            threads=threads, functional=functional, live=live, skip=skip,
            first_launches=first_launches, cold_l2=cold_l2, sampling_error=sampling_error,
            max_stream_gib=max_stream_gib, checks=checks)
        shown = make_progress(words[0], progress)
        try:
            watch = make_watch(shown, samples=samples, report=report, analyses=analyses)
            return Result(self._native.run(words, settings, watch), " ".join(words))
        finally:
            shown.close()

    def compare(self, workloads: Any, policies: Sequence[Any] = (), *,
                sweep: Mapping[str, Any] | None = None, samples: bool | int = False,
                report: bool = False, progress: Any = None, parameters: Mapping[str, Any] = {},
                **settings: Any) -> Results:
        """Each workload under each entry of ``policies`` with each combination of the values of
        ``sweep``; a workload is executed once for all that see the same of the machine. Other
        keywords are those of ``run``."""
        works = [workloads] if _is_one(workloads) else list(workloads)
        shared = {"size": settings.pop("size")} if "size" in settings else {}
        words = [work_words(one, {} if _is_file(one) else {**shared, **parameters})
                 for one in works]
        names = ",".join(policies_word(self, one) for one in policies)
        sweeps = sweep_words(sweep or {})
        shown = make_progress("compare", progress)
        try:
            watch = make_watch(shown, samples=samples, report=report)
            found = self._native.compare(words, names, sweeps, make_settings(self, **settings),
                                         watch)
        finally:
            shown.close()
        return Results([Result(one) for one in found], "compare " + " ".join(sum(words, [])))

    def sweep(self, workloads: Any, values: Mapping[str, Any], **keywords: Any) -> Results:
        """``compare`` of one or more settings' values: {"l2.size_kib": [96, 192]}, or "4..16:4"."""
        return self.compare(workloads, keywords.pop("policies", ()), sweep=values, **keywords)

    def corun(self, tenants: Sequence[Any], horizon: int, *, warmup: int = 0, alone: bool = True,
              ipc_alone: Sequence[float] = (), samples: bool | int = False, report: bool = False,
              progress: Any = None, **settings: Any) -> Result:
        """Tenants that share the GPU up to cycle ``horizon`` (docs/corun.md)."""
        shown = make_progress("co-run", progress)
        try:
            watch = make_watch(shown, samples=samples, report=report)
            return Result(self._native.corun(
                [work_words(one, {}) for one in tenants], make_settings(self, **settings), horizon,
                warmup, alone, list(ipc_alone), watch))
        finally:
            shown.close()

    def record(self, workload: Any, file: Any, *, progress: Any = None,
               parameters: Mapping[str, Any] = {}, **settings: Any) -> Recording:
        """Executes a workload and keeps its op streams in ``file`` (FILE.rdl)."""
        if "size" in settings:
            parameters = {"size": settings.pop("size"), **parameters}
        words = work_words(workload, parameters)
        shown = make_progress(words[0], progress)
        try:
            self._native.record(words, make_settings(self, **settings), str(file),
                                make_watch(shown))
        finally:
            shown.close()
        return Recording(file)


def _is_one(workloads: Any) -> bool:
    pair = isinstance(workloads, tuple) and len(workloads) == 2
    return (isinstance(workloads, str) or hasattr(workloads, "__fspath__")
            or pair and isinstance(workloads[1], Mapping))


def _is_file(work: Any) -> bool:
    return hasattr(work, "__fspath__") or isinstance(work, str) and work.endswith((".rdl", ".g"))
