"""Keyword arguments of runs as the words of the command line."""

from __future__ import annotations

import inspect
import json
import operator
import os
import re
from typing import Any, Iterable, Mapping

import numpy as np

from . import _raddle
from ._policies import Policy


def _value(value: Any) -> str:
    """As in TOML."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    return str(value)


def _word(value: Any) -> str:
    """The same, but for a text, which is as it is."""
    return value if isinstance(value, str) else _value(value)


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def path_word(file: Any) -> str:
    """A path as text. TypeError for what is none."""
    text = os.fspath(file)
    if not isinstance(text, str):
        raise TypeError(f"expected a path as text, found {file!r}")
    return text


def whole(name: str, value: Any, minimum: int) -> int:
    """The number itself. InputError for what is no whole number, and below the least one."""
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__") or value < minimum:
        raise _raddle.InputError(f"{name}: expected a whole number from {minimum} on, found "
                                 f"'{value}'")
    return operator.index(value)


def settings_words(table: Mapping[str, Any]) -> list[str]:
    """{"l2": {"size_kib": 96}} and {"l2.size_kib": 96} are l2.size_kib=96."""
    return [f"{path}={_value(value)}" for path, value in _flat(table)]


def sweep_words(table: Mapping[str, Any]) -> list[str]:
    """{"l2.size_kib": [96, 192]} is l2.size_kib=96,192; a text is taken as it is."""
    out = []
    for path, values in _flat(table):
        text = values if isinstance(values, str) else ",".join(_word(value) for value in values)
        out.append(f"{path}={text}")
    return out


def parts_of_policy(level: str, policy: Any) -> tuple[Any, str]:
    """A name or class, and its parameters as words. ``policy``: either, or {"name": either,
    parameter: value}."""
    parameters: dict[str, Any] = {}
    if isinstance(policy, Mapping):
        parameters = dict(policy)
        if "name" not in parameters:
            raise ValueError(f"policy {level}: expected an entry 'name', found {policy}")
        policy = parameters.pop("name")
    return policy, ",".join(f"{key}={_word(value)}" for key, value in parameters.items())


def named_policy(level: str, name: str, words: str) -> str:
    separator = "," if ":" in name else ":"
    return f"{level}={name}{separator + words if words else ''}"


class Policies:
    """Those of one call. Classes are registered when all are known: of one name there is one."""

    def __init__(self, simulator: Any) -> None:
        self._simulator = simulator
        self._classes: dict[tuple[str, str], type[Policy]] = {}
        self._named: list[str] = []  # as text

    def word(self, level: str, policy: Any) -> str:
        """A name, a class, or {"name": either, parameter: value}."""
        policy, words = parts_of_policy(level, policy)
        if inspect.isclass(policy) and issubclass(policy, Policy):
            if policy.level != level:
                raise ValueError(f"{policy.__name__} is a policy of level '{policy.level}', "
                                 f"not '{level}'")
            name = policy.called()
            other = self._classes.setdefault((level, name), policy)
            if other is not policy:
                raise _raddle.InputError(_two_classes(level, name, other, policy))
            return named_policy(level, name, words)
        if not isinstance(policy, str):
            raise TypeError(f"policy {level}: expected a name or a class of policies, found "
                            f"{policy!r}")
        self._named.append(f"{level}={policy}")
        return named_policy(level, policy, words)

    def entry(self, policies: Any) -> str:
        """What is compared as one: "gto+block=chunk", or {"warp": "gto", "block": Mine}."""
        if isinstance(policies, str):
            self._named += re.split("[+,]", policies)
            return policies
        if inspect.isclass(policies):
            return self.word(policies.level, policies)
        return "+".join(self.word(level, one) for level, one in policies.items())

    def register(self) -> None:
        """Throws InputError where a text names a class that another one of the call replaces."""
        for text in self._named:
            level, equals, name = text.split(":")[0].rpartition("=")
            for key, policy in self._classes.items():
                before = self._simulator.registered(*key)
                if key[1] == name and level in ("", key[0]) and before not in (None, policy):
                    raise _raddle.InputError(_two_classes(*key, before, policy))
        for policy in self._classes.values():
            self._simulator.add_policy(policy)


def _two_classes(level: str, name: str, first: type, second: type) -> str:
    return (f"two {level} policies of one call are called '{name}': {first.__qualname__} and "
            f"{second.__qualname__}; expected a name of its own for each")


def work_words(workload: Any, *parameters: Mapping[str, Any]) -> list[str]:
    """ "bfs", "bfs size=tiny", ["bfs", "size=tiny"] or ("bfs", {"size": "tiny"})."""
    if isinstance(workload, str):
        words = [workload] if workload.endswith((".ptx", ".rdl", ".g")) else workload.split()
    elif hasattr(workload, "__fspath__"):
        words = [path_word(workload)]
    elif len(workload) == 2 and isinstance(workload[1], Mapping):
        words, parameters = [path_word(workload[0])], (workload[1], *parameters)
    else:
        words = [str(word) for word in workload]
    return words + [f"{key}={_word(value)}" for table in parameters for key, value in table.items()]


def is_recording(words: list[str]) -> bool:
    """Of ``work_words``: what has its parameters already."""
    return bool(words) and words[0].endswith((".rdl", ".g"))


def _counts(**given: Any) -> Iterable[tuple[str, int]]:
    """Those that were given; the library has 0 for the others."""
    for name, value in given.items():
        if value is not None:
            yield name, whole(f"--{name.replace('_', '-')}", value, 1)


def make_settings(simulator: Any, *, gpu: Any = "v100", policy: Mapping[str, Any] | None = None,
                  set: Mapping[str, Any] | None = None, seed: int | None = None,
                  max_cycles: int | None = None, threads: int = 1, functional: bool = False,
                  live: bool = False, skip: bool = True, first_launches: int | None = None,
                  cold_l2: bool = False, sampling_error: float = 0, max_stream_gib: float = 2,
                  checks: Iterable[str] = (), policies: Policies | None = None) -> Any:
    """``policies``: those that the call has beside ``policy``; all of them are registered."""
    out = _raddle.Settings()
    out.gpu = path_word(gpu)
    out.set = settings_words(set or {})
    policies = policies or Policies(simulator)
    out.policy = [policies.word(*item) for item in (policy or {}).items()]
    for name, value in _counts(seed=seed, max_cycles=max_cycles, first_launches=first_launches):
        setattr(out, name, value)
    if not hasattr(threads, "__index__") or threads < 0:
        raise _raddle.InputError("--threads: expected a whole number from 1 to 256, found "
                                 f"{threads}")
    out.threads = operator.index(threads)
    out.functional, out.live, out.no_skip = functional, live, not skip
    out.cold_l2, out.max_stream_gib = cold_l2, max_stream_gib
    out.sampling_error = str(sampling_error) if sampling_error else ""
    if isinstance(checks, str):
        raise TypeError(f"checks: expected a list of names, found {checks!r}")
    out.checks = list(checks)
    policies.register()
    return out
