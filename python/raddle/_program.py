"""What is another process's: CUDA programs, and experiments of the laboratory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Mapping, Sequence

from . import _raddle
from ._record import Record
from ._runs import Recording
from ._settings import named_policy, parts_of_policy, path_word, settings_words


def program() -> str:
    """The program ``raddle``: $RADDLE_PROGRAM, the one this module was built or installed beside,
    or that in PATH. It must be of the same version."""
    here = Path(__file__).resolve().parent
    places = [os.environ.get("RADDLE_PROGRAM"), here / "bin" / "raddle",
              here.parent.parent / "raddle", shutil.which("raddle")]
    for place in places:
        if place is not None and Path(place).is_file() and os.access(place, os.X_OK):
            with open(place, "rb") as file:
                if file.read(4) == b"\x7fELF":  # and not main() as a script
                    return str(place)
    raise _raddle.InputError("the program raddle is not found; name it in RADDLE_PROGRAM")


def main() -> None:
    """The program, as the command ``raddle`` of an installed wheel."""
    os.execv(program(), ["raddle", *sys.argv[1:]])


def _file(path: Any) -> str:
    """As a word that is no option."""
    word = path_word(path)
    return "./" + word if word.startswith("-") else word


def _command(words: Sequence[Any]) -> list[str]:
    """A program and its arguments, behind what keeps these from being raddle's."""
    if isinstance(words, str) or not words:
        raise _raddle.InputError("expected a program and its arguments as a list of words, found "
                                 f"{words!r}")
    return ["--", *(path_word(word) for word in words)]


def _options(gpu: Any, policy: Mapping[str, Any] | None,
             set: Mapping[str, Any] | None) -> list[str]:
    out = ["--gpu", _file(gpu)]
    for text in settings_words(set or {}):
        out += ["--set", text]
    for level, one in (policy or {}).items():
        name, words = parts_of_policy(level, one)
        if not isinstance(name, str):
            raise _raddle.InputError(f"policy {level}: a policy in Python is not known to another "
                                     "process; record the program and run the recording")
        out += ["--policy", named_policy(level, name, words)]
    return out


def _records(value: Any) -> Any:
    if isinstance(value, dict):
        return Record((key, _records(one)) for key, one in value.items())
    return [_records(one) for one in value] if isinstance(value, list) else value


def _call(words: Sequence[str], what: str, document: Path | None = None) -> None:
    """``document``: written also where the program ends with status 1, for what is in it."""
    done = subprocess.run([program(), *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, errors="replace")
    if done.returncode == 0 or done.returncode == 1 and document is not None and document.exists():
        return
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    error = _raddle.InputError if done.returncode == 2 else _raddle.RunError
    told = [line.removeprefix("raddle: ") for line in lines if line.startswith("raddle: ")]
    raise error("\n".join(told or lines[-5:]) or f"{what} ended with status {done.returncode}")


def exec(command: Sequence[str], *, gpu: Any = "v100", policy: Mapping[str, Any] | None = None,
         set: Mapping[str, Any] | None = None) -> Record:
    """Runs an unmodified CUDA program on the simulated GPU; its result as a dictionary."""
    with tempfile.TemporaryDirectory(prefix="raddle-") as folder:
        file = Path(folder) / "result.json"
        _call(["exec", *_options(gpu, policy, set), "--quiet", "--json", str(file),
               *_command(command)], path_word(command[0]))
        return _records(json.loads(file.read_text(encoding="utf-8")))


def record_program(command: Sequence[str], file: Any, *, gpu: Any = "v100",
                   set: Mapping[str, Any] | None = None) -> Recording:
    """Executes a CUDA program and keeps its op streams in ``file``."""
    _call(["record", *_options(gpu, None, set), "--quiet", "-o", _file(file), *_command(command)],
          path_word(command[0]))
    return Recording(file)


def experiment(file: Any, *, results: Any = "raddle-results", scale: str = "quick",
               jobs: int | None = None) -> Record:
    """Runs an experiment file of the laboratory, resumable, its runs being processes of their own;
    its document as a dictionary. It says which runs failed and which statements do not hold."""
    with tempfile.TemporaryDirectory(prefix="raddle-") as folder:
        out = Path(folder) / "document.json"
        jobs_words = [] if jobs is None else ["--jobs", str(jobs)]
        _call(["sweep", _file(file), "--results", _file(results), "--scale", scale, *jobs_words,
               "--quiet", "--json", str(out)], path_word(file), out)
        return _records(json.loads(out.read_text(encoding="utf-8")))
