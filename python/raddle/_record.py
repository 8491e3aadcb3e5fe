"""Dictionaries whose entries are attributes, too; those called as a method of dictionaries are not.
"""

from __future__ import annotations

from typing import Any


class Record(dict):
    """A dictionary; ``record.cycles`` is ``record["cycles"]``. What is called as a method of
    dictionaries, such as ``values`` of a figure, is ``record["values"]`` only."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no '{name}'; known: {' '.join(self)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(key for key in self if isinstance(key, str))]
