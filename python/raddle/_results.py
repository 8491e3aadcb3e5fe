"""What came of runs."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, Iterator, Sequence

from . import _charts, _raddle
from ._record import Record
from ._settings import path_word, whole

_MOST_SINGLE_LAUNCHES = 500
_ALL_LAUNCHES = 2**64 - 1


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("frames need pandas (Debian: python3-pandas)") from None
    return pandas


def _flat(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        elif not isinstance(value, list):
            yield prefix + key, value


class Result:
    """One run. Entries of the result JSON are attributes (``totals``, ``kernels``, ``stalls``,
    ``policies``, ``config``, ``state_hash``), and so is what stands in ``totals``: ``cycles``,
    ``ipc``. ``docs/metrics.md`` has them all."""

    def __init__(self, native: Any, command: str = "", *, reads: Sequence[str] = (),
                 sources: Sequence[Any] = ()) -> None:
        self._native, self.command = native, command
        self._reads = reads  # files that it was made of, which are not written over
        self._sources = sources  # kept for the page, which shows their text

    @functools.cached_property
    def tree(self) -> Record:
        """All of it, as a dictionary whose entries are attributes. As the result JSON it has up to
        500 launches one by one, and of more the sums by kernel (``kernels_by_name``)."""
        return self._native.value(_MOST_SINGLE_LAUNCHES)

    @functools.cached_property
    def kernels(self) -> list[Record]:
        """The launches one by one, however many there are."""
        told = self.tree["kernels"]
        return told or self._native.value(_ALL_LAUNCHES)["kernels"]

    def __getitem__(self, name: str) -> Any:
        return self.tree[name]

    def __contains__(self, name: str) -> bool:
        return name in self.tree

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        tree = self.tree
        if name in tree:
            return tree[name]
        if name in tree["totals"]:
            return tree["totals"][name]
        raise AttributeError(f"a result has no '{name}'; there are {' '.join(tree)}, and in "
                             f"totals {' '.join(tree['totals'])}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tree, *self.tree["totals"]]

    def metric(self, name: str) -> float:
        """A number by its name in docs/metrics.md: "ipc", "details.loads", "stalls.memory"."""
        return self._native.metric(name)

    @property
    def label(self) -> str:
        """Its policies or settings among those that were compared."""
        return self._native.label()

    @property
    def correct(self) -> bool | None:
        """Was it right? None: nobody knows."""
        return {"correct": True, "wrong": False}.get(self.tree["workload"]["result"])

    @property
    def difference(self) -> str:
        """What is wrong with the result; "" when nothing is."""
        return self._native.difference()

    @functools.cached_property
    def series(self) -> Record:
        """What was sampled (``samples=``), NumPy arrays by name, one number for each interval:
        start, issued, thread_instructions, ... and stall_<reason>."""
        return Record(self._native.series())

    @functools.cached_property
    def blocks(self) -> Record:
        """Which block ran where and when: arrays launch, block, sm, start, end (in cycles),
        stolen. A block that is under way when a co-run is over ends then."""
        return Record(self._native.blocks())

    def frame(self) -> Any:
        """The kernels as a pandas frame, a row for each launch."""
        return _pandas().DataFrame([dict(_flat(kernel)) for kernel in self.kernels])

    def series_frame(self) -> Any:
        """What was sampled as a pandas frame."""
        return _pandas().DataFrame(self.series)

    def json(self, launches: int = _MOST_SINGLE_LAUNCHES) -> str:
        """The result JSON; up to so many launches are told one by one."""
        return self._native.json(whole("launches", launches, 0))

    def save(self, file: Any) -> None:
        """Writes the result JSON. InputError for a file that the run has read."""
        _write(file, self.json() + "\n", self._reads)

    def page(self, file: Any = None) -> str:
        """The report page, also into a file. What it shows over time and by source line is kept of
        runs with ``report=True``."""
        return _page([self], self.command, file)

    def timeline(self, file: Any = None) -> str:
        """The timeline for ui.perfetto.dev, also into a file."""
        text = _raddle.timeline([self._native])
        if file is not None:
            _write(file, text, self._reads)
        return text

    def summary(self) -> str:
        return self._native.summary()

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        workload = self.tree["workload"]
        return f"<raddle.Result {workload['name']}: {self.tree['totals'].get('cycles')} cycles>"

    def _repr_html_(self) -> str:
        return _charts.result(self)


class Results(Sequence[Result]):
    """Several runs in order: those of ``compare`` and ``sweep``."""

    def __init__(self, results: Sequence[Result], command: str = "") -> None:
        self._results, self.command = list(results), command

    def __getitem__(self, at: Any) -> Any:
        """By position, by label, or by (workload, label)."""
        if isinstance(at, slice):
            return Results(self._results[at], self.command)
        if isinstance(at, int):
            return self._results[at]
        workload, label = at if isinstance(at, tuple) else (None, at)
        among = self._results if workload is None else self.of(workload)._results
        found = [one for one in among if one.label == label]
        if len(found) != 1:
            raise KeyError(f"{at!r} names {len(found)} results; labels: "
                           + ", ".join(dict.fromkeys(one.label for one in self._results)))
        return found[0]

    def __len__(self) -> int:
        return len(self._results)

    @property
    def workloads(self) -> list[str]:
        """Names; where one has several inputs, with the parameters that were given."""
        return list(dict.fromkeys(self._called(one) for one in self._results))

    def of(self, workload: str) -> Results:
        """Those of one workload."""
        name = self._called if workload in self.workloads else self._name
        return Results([one for one in self._results if name(one) == workload], self.command)

    @staticmethod
    def _name(one: Result) -> str:
        return one.tree["workload"]["name"]

    @staticmethod
    def _parameters(one: Result) -> str:
        return json.dumps(one.tree["workload"]["parameters"], sort_keys=True)

    @functools.cached_property
    def _works(self) -> dict[str, dict[str, str]]:
        """By name, what each of its inputs is called."""
        out: dict[str, dict[str, str]] = {}
        for one in self._results:
            name, given = self._name(one), one.tree["workload"]["parameters"]
            title = one._native.work() or " ".join(
                [name, *(f"{key}={value}" for key, value in given.items())])
            out.setdefault(name, {}).setdefault(self._parameters(one), title)
        return out

    def _called(self, one: Result) -> str:
        name = self._name(one)
        inputs = self._works[name]
        return name if len(inputs) == 1 else inputs[self._parameters(one)]

    def _input(self, one: Result) -> tuple[str, Any]:
        return self._called(one), one.tree["config"]["run"]["seed"]

    @functools.cached_property
    def _first(self) -> dict[tuple[str, Any], Result]:
        out: dict[tuple[str, Any], Result] = {}
        for one in self._results:
            out.setdefault(self._input(one), one)
        return out

    def speedup(self, one: Result) -> float | None:
        """How much sooner one of these ends than the first of its workload with its seed, in time;
        None where nothing was timed."""
        return one._native.speedup(self._first[self._input(one)]._native) or None

    def frame(self) -> Any:
        """A pandas frame: a row for each run, with all of ``totals``, and ``speedup`` over the
        first run of the workload with the same seed."""
        return _pandas().DataFrame([
            {"workload": self._called(one), "label": one.label, "speedup": self.speedup(one),
             "result": one.tree["workload"]["result"], **dict(_flat(one.tree["totals"]))}
            for one in self._results])

    def figure(self, file: Any = None, metric: str = "speedup") -> str:
        """Bars as SVG, also into a file: workloads beside one another, a bar for each label.
        ``metric``: a number of ``totals``, or "speedup" over the first of the same seed."""
        labels = list(dict.fromkeys(one.label for one in self._results))
        groups = []
        for name in self.workloads:
            runs = {one.label: one for one in self.of(name)}
            groups.append((name, [
                0.0 if label not in runs else self.speedup(runs[label]) or 0.0
                if metric == "speedup" else float(runs[label].metric(metric))
                for label in labels]))
        text = _charts.grouped(labels, groups, metric)
        if file is not None:
            _write(file, text, _reads_of(self._results))
        return text

    def page(self, file: Any = None) -> str:
        """The report page of all of them, also into a file."""
        return _page(self._results, self.command, file)

    def __str__(self) -> str:
        return "".join(_raddle.comparison([one._native for one in self.of(name)._results])
                       for name in self.workloads)

    def __repr__(self) -> str:
        return f"<raddle.Results of {len(self)} runs: {', '.join(self.workloads)}>"

    def _repr_html_(self) -> str:
        return _charts.results(self)


def _reads_of(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(word for one in results for word in one._reads))


def _write(file: Any, text: str, reads: Sequence[str]) -> None:
    """``reads``: what may name files that are not to be lost."""
    _raddle.keep_inputs(list(reads), path_word(file))
    Path(file).write_text(text, encoding="utf-8")


def _page(results: Sequence[Result], command: str, file: Any) -> str:
    text = _raddle.page([one._native for one in results], command, "")
    if file is not None:
        _write(file, text, _reads_of(results))
    return text


class Page:
    """A report page inside a notebook's cell."""

    def __init__(self, of: Result | Results, height: int = 800) -> None:
        self.text, self.height = of.page(), height

    def _repr_html_(self) -> str:
        return (f'<iframe sandbox="allow-scripts" style="width:100%;height:{self.height}px;'
                f'border:1px solid #ccc" srcdoc="{_charts.escaped(self.text)}"></iframe>')


def show(of: Result | Results, height: int = 800) -> Page:
    """The whole report page, for a notebook."""
    return Page(of, height)
