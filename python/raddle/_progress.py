"""How far a run is, on a terminal or in a notebook."""

from __future__ import annotations

import sys
from typing import Any, Callable


def _text(what: str, now: Any) -> str:
    if "blocks" in now:
        return (f"{what}: {now.kernel}, block {now.block + 1} of {now.blocks}, "
                f"{now.warp_instructions:,} warp instructions executed")
    return f"{what}: launch {now.launches + 1} ({now.kernel}), cycle {now.cycles:,}"


class _Terminal:
    def __init__(self, what: str) -> None:
        self.what, self.shown = what, False

    def __call__(self, now: Any) -> None:
        self.shown = True
        sys.stderr.write("\r\033[K" + _text(self.what, now)[:110])
        sys.stderr.flush()

    def close(self) -> None:
        if self.shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


class _Notebook:
    def __init__(self, what: str, display: Callable[..., Any]) -> None:
        self.what, self.display, self.handle = what, display, None

    def __call__(self, now: Any) -> None:
        text = {"text/plain": _text(self.what, now)}
        if self.handle is None:
            self.handle = self.display(text, raw=True, display_id=True)
        else:
            self.handle.update(text, raw=True)

    def close(self) -> None:
        if self.handle is not None:
            self.handle.update({"text/plain": ""}, raw=True)


class _Call:
    def __init__(self, call: Callable[[Any], Any] | None) -> None:
        self.call = call

    def __call__(self, now: Any) -> None:
        if self.call is not None:
            self.call(now)

    def close(self) -> None: ...


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return found is not None and getattr(found, "kernel", None) is not None


def make_progress(what: str, progress: Any) -> Any:
    """``progress``: None for where it can be seen, true or false, or a function."""
    if callable(progress):
        return _Call(progress)
    if progress is False:
        return _Call(None)
    if _in_notebook():
        from IPython.display import display
        return _Notebook(what, display)
    if progress or sys.stderr is not None and sys.stderr.isatty():
        return _Terminal(what)
    return _Call(None)
