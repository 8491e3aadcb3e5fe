"""Runs, comparisons, sweeps and recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

import numpy as np

from . import _raddle
from ._policies import LEVELS, Policy
from ._progress import make_progress
from ._record import Record
from ._results import Result, Results
from ._settings import (Policies, is_recording, make_settings, path_word, sweep_words, whole,
                        work_words)

_SAMPLE_INTERVAL = 256


def make_watch(progress: Any, *, samples: bool | int = False, report: bool = False,
               analyses: Iterable[str] = ()) -> Any:
    out = _raddle.Watch()
    out.progress = progress
    if isinstance(samples, (bool, np.bool_)):
        out.sample_interval = _SAMPLE_INTERVAL if samples else 0
    else:
        out.sample_interval = whole("samples", samples, 0)
    if isinstance(analyses, str):
        raise TypeError(f"analyses: expected a list of texts, found {analyses!r}")
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
        # With what each declared when it was registered: a notebook may replace that.
        self._classes: dict[tuple[str, str], tuple[type[Policy], Any]] = {}

    def add_policy(self, policy: type[Policy], replace: bool = False) -> type[Policy]:
        """Registers a class by its ``name``. A class of that name that was registered before gives
        way, as when a notebook's cell is run again; a policy of the program only if ``replace``:
        then results do not tell whose it was."""
        if policy in (*LEVELS, Policy) or policy.level == "":
            raise _raddle.InputError(f"{policy.__name__} is what policies derive from: expected a "
                                     "class of your own")
        if policy.__dict__.get("name") != policy.called():
            policy.name, policy._name_is_made = policy.called(), True
        key, declared = (policy.level, policy.name), policy.declared()
        if self._classes.get(key) != (policy, declared):
            self._native.add_policy(policy.level, policy, replace or key in self._classes)
            self._classes[key] = policy, declared
        return policy

    def registered(self, level: str, name: str) -> type[Policy] | None:
        """The class that was registered by that name; None for a policy of the program."""
        return self._classes.get((level, name), (None,))[0]

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
            return Result(self._native.run(words, settings, watch), " ".join(words),
                          reads=_reads(words, settings))
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
        words = [work_words(one) for one in works]
        taking = [one for one in words if not is_recording(one)]
        for one in taking:
            one += work_words((), shared, parameters)
        if words and not taking and (shared or parameters):
            raise _raddle.InputError(f"'{work_words((), shared, parameters)[0]}': a recording has "
                                     "its parameters already")
        chosen = Policies(self)
        names = ",".join(chosen.entry(one) for one in policies)
        sweeps = sweep_words(sweep or {})
        made = make_settings(self, policies=chosen, **settings)
        shown = make_progress("compare", progress)
        try:
            watch = make_watch(shown, samples=samples, report=report)
            found = self._native.compare(words, names, sweeps, made, watch)
        finally:
            shown.close()
        all_words = sum(words, [])
        return Results([Result(one, reads=_reads(all_words, made)) for one in found],
                       "compare " + " ".join(all_words))

    def sweep(self, workloads: Any, values: Mapping[str, Any], **keywords: Any) -> Results:
        """``compare`` of one or more settings' values: {"l2.size_kib": [96, 192]}, or "4..16:4"."""
        return self.compare(workloads, keywords.pop("policies", ()), sweep=values, **keywords)

    def corun(self, tenants: Sequence[Any], horizon: int, *, warmup: int = 0, alone: bool = True,
              ipc_alone: Sequence[float] = (), samples: bool | int = False, report: bool = False,
              progress: Any = None, **settings: Any) -> Result:
        """Tenants that share the GPU up to cycle ``horizon`` (docs/corun.md)."""
        words = [work_words(one) for one in tenants]
        horizon, warmup = whole("horizon", horizon, 0), whole("warmup", warmup, 0)
        made = make_settings(self, **settings)
        shown = make_progress("co-run", progress)
        try:
            watch = make_watch(shown, samples=samples, report=report)
            return Result(self._native.corun(words, made, horizon, warmup, alone, list(ipc_alone),
                                             watch), reads=_reads(sum(words, []), made))
        finally:
            shown.close()

    def record(self, workload: Any, file: Any, *, progress: Any = None,
               parameters: Mapping[str, Any] = {}, **settings: Any) -> Recording:
        """Executes a workload and keeps its op streams in ``file`` (FILE.rdl)."""
        shared = {"size": settings.pop("size")} if "size" in settings else {}
        words, out = work_words(workload, shared, parameters), path_word(file)
        shown = make_progress(words[0], progress)
        try:
            self._native.record(words, make_settings(self, **settings), out, make_watch(shown))
        finally:
            shown.close()
        return Recording(out)


def _reads(words: list[str], settings: Any) -> list[str]:
    """The words of a call that may name files which it reads."""
    return [*words, settings.gpu, *settings.set]


def _is_one(workloads: Any) -> bool:
    pair = isinstance(workloads, tuple) and len(workloads) == 2
    return (isinstance(workloads, str) or hasattr(workloads, "__fspath__")
            or pair and isinstance(workloads[1], Mapping))
