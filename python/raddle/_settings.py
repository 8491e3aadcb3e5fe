"""Keyword arguments of runs as the words of the command line."""

from __future__ import annotations

import inspect
import json
from typing import Any, Iterable, Mapping

from . import _raddle
from ._policies import Policy


def _value(value: Any) -> str:
    """As in TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    return str(value)


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def settings_words(table: Mapping[str, Any]) -> list[str]:
    """{"l2": {"size_kib": 96}} and {"l2.size_kib": 96} are l2.size_kib=96."""
    return [f"{path}={_value(value)}" for path, value in _flat(table)]


def sweep_words(table: Mapping[str, Any]) -> list[str]:
    """{"l2.size_kib": [96, 192]} is l2.size_kib=96,192; a text is taken as it is."""
    out = []
    for path, values in _flat(table):
        text = values if isinstance(values, str) else ",".join(
            value if isinstance(value, str) else _value(value) for value in values)
        out.append(f"{path}={text}")
    return out


def policy_word(simulator: Any, level: str, policy: Any) -> str:
    """A name, a class, or {"name": either, parameter: value}."""
    parameters: dict[str, Any] = {}
    if isinstance(policy, Mapping):
        parameters = dict(policy)
        if "name" not in parameters:
            raise ValueError(f"policy {level}: expected an entry 'name', found {policy}")
        policy = parameters.pop("name")
    if inspect.isclass(policy) and issubclass(policy, Policy):
        if policy.level != level:
            raise ValueError(f"{policy.__name__} is a policy of level '{policy.level}', "
                             f"not '{level}'")
        policy = simulator.add_policy(policy).name
    words = ",".join(
        f"{key}={value if isinstance(value, str) else _value(value)}"
        for key, value in parameters.items())
    separator = "," if ":" in policy else ":"
    return f"{level}={policy}{separator + words if words else ''}"


def policies_word(simulator: Any, policies: Any) -> str:
    """What is compared as one entry: "gto+block=chunk", or {"warp": "gto", "block": Mine}."""
    if isinstance(policies, str):
        return policies
    if inspect.isclass(policies):
        return policy_word(simulator, policies.level, policies)
    return "+".join(policy_word(simulator, level, one) for level, one in policies.items())


def work_words(workload: Any, parameters: Mapping[str, Any]) -> list[str]:
    """ "bfs", "bfs size=tiny", ["bfs", "size=tiny"] or ("bfs", {"size": "tiny"})."""
    if isinstance(workload, str):
        words = [workload] if workload.endswith((".ptx", ".rdl", ".g")) else workload.split()
    elif hasattr(workload, "__fspath__"):
        words = [workload.__fspath__()]
    elif len(workload) == 2 and isinstance(workload[1], Mapping):
        words = [workload[0], *(f"{key}={value}" for key, value in workload[1].items())]
    else:
        words = [str(word) for word in workload]
    return words + [
        f"{key}={_value(value) if isinstance(value, bool) else value}"
        for key, value in parameters.items()]


def _counts(**given: Any) -> Iterable[tuple[str, int]]:
    """Those that were given; the library has 0 for the others."""
    for name, value in given.items():
        if value is None:
            continue
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < 1:
            raise _raddle.InputError(f"--{name.replace('_', '-')}: expected a whole number from 1 "
                                     f"on, found '{value}'")
        yield name, value


def make_settings(simulator: Any, *, gpu: Any = "v100", policy: Mapping[str, Any] | None = None,
                  set: Mapping[str, Any] | None = None, seed: int | None = None,
                  max_cycles: int | None = None, threads: int = 1, functional: bool = False,
                  live: bool = False, skip: bool = True, first_launches: int | None = None,
                  cold_l2: bool = False, sampling_error: float = 0, max_stream_gib: float = 2,
                  checks: Iterable[str] = ()) -> Any:
    out = _raddle.Settings()
    out.gpu = gpu if isinstance(gpu, str) else gpu.__fspath__()
    out.set = settings_words(set or {})
    out.policy = [policy_word(simulator, *item) for item in (policy or {}).items()]
    for name, value in _counts(seed=seed, max_cycles=max_cycles, first_launches=first_launches):
        setattr(out, name, value)
    out.threads = threads
    out.functional, out.live, out.no_skip = functional, live, not skip
    out.cold_l2, out.max_stream_gib = cold_l2, max_stream_gib
    out.sampling_error = str(sampling_error) if sampling_error else ""
    out.checks = list(checks)
    return out
