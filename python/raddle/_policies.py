"""Policies in Python: what a class says of itself, and the interfaces of the levels.

The hooks, what they are called with and when, are those of src/raddle/policy/<level>/policy.h. A
set of SMs, warp slots or entries is a whole number, bit i for member i: see ``lowest`` and
``members``.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Iterator, Sequence


def lowest(mask: int) -> int:
    """The lowest member of a set. Precondition: it has one."""
    if mask == 0:
        raise ValueError("an empty set has no lowest member")
    return (mask & -mask).bit_length() - 1


def members(mask: int) -> Iterator[int]:
    """The members of a set, lowest first."""
    while mask:
        bit = mask & -mask
        yield bit.bit_length() - 1
        mask ^= bit


def first_from(mask: int, start: int) -> int:
    """The first member at or after ``start``, else the lowest. Precondition: there is one."""
    return lowest(mask >> start << start or mask)


class Parameter:
    """What ``parameter`` makes. In an object of the class its name is the value."""

    def __init__(self, default: Any, low: float | None, high: float | None, unit: str,
                 meaning: str, choices: Sequence[str] | None) -> None:
        if choices is not None and default not in choices:
            raise ValueError(f"'{default}' is none of {' '.join(choices)}")
        if isinstance(default, (int, float)) and not isinstance(default, bool):
            for bound in (low, high):
                if isinstance(default, int) and bound is not None and bound not in (
                        math.inf, -math.inf) and bound != int(bound):
                    raise ValueError(f"the parameter is a whole number, and its bound {bound} none")
            if not (low is None or low <= default) or not (high is None or default <= high):
                raise ValueError(f"the default {default} is outside of {low} to {high}")
        self.default, self.low, self.high = default, low, high
        self.unit, self.meaning, self.choices = unit, meaning, choices
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name


class Statistic:
    """What ``statistic`` makes. In an object of the class its name is the count so far."""

    def __init__(self, meaning: str, unit: str, start: int | float) -> None:
        if start != 0 or isinstance(start, bool):
            raise ValueError(f"a statistic begins at 0 or 0.0, not at {start!r}")
        self.meaning, self.unit, self.start = meaning, unit, start
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name


def parameter(default: Any, meaning: str, *, low: float | None = None, high: float | None = None,
              unit: str = "", choices: Sequence[str] | None = None) -> Any:
    """A parameter of a policy: a whole number, a number, true or false, a text, or one of
    ``choices``, as ``default`` is one. It is read, checked, and told in results.

    ValueError where ``default`` is none of the choices or not within the bounds, and for a bound of
    a whole number that is none itself."""
    return Parameter(default, low, high, unit, meaning, choices)


def statistic(meaning: str, unit: str = "", start: int | float = 0) -> Any:
    """A number that a policy counts in; summed over its instances and told in results. ``start`` is
    0 or 0.0 and says which kind it is; ValueError for another."""
    return Statistic(meaning, unit, start)


class Policy:
    """What all levels share."""

    level: ClassVar[str] = ""
    name: ClassVar[str] = ""
    _name_is_made: ClassVar[bool] = False

    def __init__(self, context: Any) -> None:
        """``context``: the level's Context. Parameters are attributes already."""

    @classmethod
    def doc(cls) -> str:
        """One line: the first of the class's docstring."""
        return (cls.__doc__ or cls.__name__).strip().splitlines()[0]

    @classmethod
    def called(cls) -> str:
        """Its name: as the class or one that it derives from says, else that of the class."""
        for base in cls.__mro__:
            if vars(base).get("name") and not vars(base).get("_name_is_made"):
                return vars(base)["name"]
        return cls.__name__.lower()

    @classmethod
    def declared(cls) -> tuple[Any, ...]:
        """All that the class says of itself when it is registered."""
        return (cls.doc(), *(tuple(vars(one).items())
                             for one in (*cls.parameters(), *cls.statistics())))

    @classmethod
    def _declared(cls, kind: type) -> list[Any]:
        found: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            for name, value in vars(base).items():
                found.pop(name, None)
                if isinstance(value, kind):
                    value.name = name  # also of one that was put there later
                    found[name] = value
        return list(found.values())

    @classmethod
    def parameters(cls) -> list[Parameter]:
        return cls._declared(Parameter)

    @classmethod
    def statistics(cls) -> list[Statistic]:
        return cls._declared(Statistic)

    @classmethod
    def violations(cls, parameters: Any, machine: Any) -> list[str]:
        """A sentence for each rule between parameters, or with the machine, that is broken."""
        return []


class BlockPolicy(Policy):
    """Which thread block goes to which SM (policy/block/policy.h)."""

    level = "block"

    def blocks_per_cycle(self) -> int:
        return 1

    def on_launch(self, launch: Any) -> None: ...

    def pick(self, view: Any) -> tuple[int, int] | tuple[int, int, bool] | None:
        """``(sm, block)`` of launch ``view.slot``, with ``stolen`` behind it or not; or None."""
        raise NotImplementedError("a block policy has pick(view)")

    def on_block_done(self, sm: int, block: int, slot: int) -> None: ...

    def on_progress(self, sm: int, slot: int, progress: Any) -> None: ...

    def on_kernel_end(self, slot: int) -> None: ...

    def waits_until(self, now: int) -> int | None: ...


class KernelPolicy(Policy):
    """Of which kernel a block goes out next (policy/kernel/policy.h)."""

    level = "kernel"

    def on_launch(self, launch: Any) -> None: ...

    def pick(self, view: Any) -> int | None:
        """A slot in ``view.fits``, or None."""
        raise NotImplementedError("a kernel policy has pick(view)")

    def on_end(self, slot: int) -> None: ...

    def waits_until(self, now: int) -> int | None: ...


class DispatchPolicy(Policy):
    """Which grid takes an entry, and which block of which grid goes to which SM
    (policy/dispatch/policy.h)."""

    level = "dispatch"

    def on_grid(self, grid: Any) -> None: ...

    def join(self, grid: Any, entries: int) -> int | None: ...

    def admit(self, view: Any) -> int | None: ...

    def search_cycles(self, grid: Any) -> int:
        return 0

    def on_enter(self, grid: Any) -> None: ...

    def on_begin(self, grid: int, now: int) -> None: ...

    def access(self) -> tuple[int, int, int, bool] | None: ...

    def on_fetched(self, grid: int, now: int) -> None: ...

    def blocks_per_cycle(self) -> int:
        return 1

    def pick(self, view: Any) -> tuple[int, int, int] | tuple[int, int, int, bool] | None:
        """``(grid, block, sm)``, with ``stolen`` behind it or not; or None."""
        raise NotImplementedError("a dispatch policy has pick(view)")

    def on_block_end(self, grid: int, block: int, sm: int) -> None: ...

    def on_block_progress(self, grid: int, sm: int, progress: Any) -> None: ...

    def on_grid_end(self, grid: int) -> None: ...

    def waits_until(self, now: int) -> int | None: ...

    def refusals(self) -> str:
        return ""


class MigratePolicy(Policy):
    """Which warps leave an SM while they wait, and for which SM (policy/migrate/policy.h)."""

    level = "migrate"

    def passage(self) -> dict[str, Any]:
        """What it costs that warps move: signal_cycles, transfer, shared, orphans, registers."""
        return {}

    def look(self, view: Any) -> int | None:
        """Moves warps. When to look again even if nothing changes; None: never."""
        raise NotImplementedError("a migrate policy has look(view)")

    def settle(self, at: int) -> None: ...


class SchemePolicy(Policy):
    """How tenants share the GPU (policy/scheme/policy.h)."""

    level = "scheme"

    def wants_ipc_alone(self) -> bool:
        return False

    def decides_after(self) -> int:
        return 0

    def look(self, view: Any, knobs: Any) -> int | None:
        """Sets knobs. When to look again; None: when tenants come or go."""
        raise NotImplementedError("a scheme has look(view, knobs)")


class WarpPolicy(Policy):
    """Which ready warp is issued next (policy/warp/policy.h). Asked in nearly every cycle of every
    scheduler: docs/python.md says what that costs."""

    level = "warp"

    def may_decline(self) -> bool:
        return False

    def pick(self, view: Any) -> int | None:
        """A slot in ``view.ready``; None where it may decline."""
        raise NotImplementedError("a warp policy has pick(view)")

    def on_warp_start(self, slot: int) -> None: ...

    def on_warp_end(self, slot: int) -> None: ...


LEVELS = (BlockPolicy, KernelPolicy, DispatchPolicy, MigratePolicy, SchemePolicy, WarpPolicy)
for _level in LEVELS:
    _level.__raddle_base__ = _level  # what a class's hooks are compared with
