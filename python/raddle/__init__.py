"""Raddle, a cycle-level GPU simulator and laboratory for scheduling, in Python.

    import raddle
    result = raddle.run("bfs", size="small", gpu="v100", policy={"warp": "gto"})
    result.cycles, result.stalls.memory

``docs/python.md`` has the rest.
"""

from __future__ import annotations

import functools as _functools
import os as _os
import sys as _sys
from typing import Any as _Any

_flags = _sys.getdlopenflags()
_sys.setdlopenflags(_flags | _os.RTLD_GLOBAL)  # plug-ins use the libraries that it brings along
from . import _raddle

_sys.setdlopenflags(_flags)
from ._launch import Array, Gpu, Kernel, Launched, compile_cuda, launch, nvcc
from ._policies import (BlockPolicy, DispatchPolicy, KernelPolicy, MigratePolicy, Policy,
                        SchemePolicy, WarpPolicy, first_from, lowest, members, parameter, statistic)
from ._program import exec, experiment, program, record_program
from ._raddle import InputError, RunError, gpus, workloads
from ._record import Record
from ._results import Page, Result, Results, show
from ._runs import Recording, Simulator

InputError.__module__ = RunError.__module__ = __name__
__version__: str = _raddle.version.split("+")[0]
version: str = _raddle.version  # of the program, with the hash of its sources


@_functools.lru_cache(maxsize=1)
def default_simulator() -> Simulator:
    """The one whose methods the functions here are."""
    return Simulator()


def run(workload: _Any, **keywords: _Any) -> Result:
    return default_simulator().run(workload, **keywords)


def compare(workloads: _Any, policies: _Any = (), **keywords: _Any) -> Results:
    return default_simulator().compare(workloads, policies, **keywords)


def sweep(workloads: _Any, values: _Any, **keywords: _Any) -> Results:
    return default_simulator().sweep(workloads, values, **keywords)


def corun(tenants: _Any, horizon: int, **keywords: _Any) -> Result:
    return default_simulator().corun(tenants, horizon, **keywords)


def record(workload: _Any, file: _Any, **keywords: _Any) -> Recording:
    return default_simulator().record(workload, file, **keywords)


def register(policy: type[Policy] | None = None, *, replace: bool = False) -> _Any:
    """Registers a policy by name; also as a decorator, with or without ``replace``."""
    if policy is None:
        return _functools.partial(register, replace=replace)
    return default_simulator().add_policy(policy, replace)


def policies() -> Record:
    return default_simulator().policies()


def config(**settings: _Any) -> Record:
    return default_simulator().config(**settings)


for _function in (run, compare, sweep, corun, record, policies, config):
    _function.__doc__ = getattr(Simulator, _function.__name__).__doc__
