"""What `pip install .` calls (pyproject.toml): the scripts of ./x build the module and the program, and a wheel of both is packed
here. Nothing is fetched, so that it works without a network."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"


class UnsupportedOperation(Exception):
    """What PEP 517 says for a source distribution that cannot be made: the repository is one."""


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation("the repository itself is what wheels are built from")


def _version() -> str:
    return re.search(r"project\(raddle VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def _compile() -> None:
    steps = ". scripts/common.sh; . scripts/setup.sh; need build page python; build_page; build_python; build_preset release program"
    subprocess.run(["bash", "-euo", "pipefail", "-c", steps], cwd=ROOT, check=True,
                   env={**os.environ, "PYTHON": sys.executable})


def _install(stage: Path) -> Path:
    """The package below `stage`, with the program in it."""
    subprocess.run(["cmake", "--install", BUILD, "--component", "python", "--prefix", stage, "--strip"], check=True,
                   stdout=subprocess.DEVNULL)
    package = next(stage.rglob("__init__.py")).parent
    (package / "bin").mkdir()
    for file in [BUILD / "raddle", *BUILD.glob("libcudart.so.*"), *BUILD.glob("libcuda.so.*")]:
        shutil.copy(file, package / "bin")
        subprocess.run(["strip", "--strip-unneeded", package / "bin" / file.name], check=True)
    return package


def _about(tag: str) -> dict[str, str]:
    """Files of the folder *.dist-info."""
    return {
        "METADATA": f"""Metadata-Version: 2.1
Name: raddle
Version: {_version()}
Summary: A cycle-level GPU simulator and laboratory for scheduling
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: frames
Requires-Dist: pandas; extra == 'frames'
Description-Content-Type: text/markdown

{(ROOT / "README.md").read_text()}""",
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: raddle\nRoot-Is-Purelib: false\nTag: {tag}\n",
        "entry_points.txt": "[console_scripts]\nraddle = raddle._program:main\n",
        "LICENSE": (ROOT / "LICENSE").read_text(),
    }


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None) -> str:
    _compile()
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    tag = f"{python}-{python}-{re.sub('[-.]', '_', sysconfig.get_platform())}"
    about = f"raddle-{_version()}.dist-info"
    name = f"raddle-{_version()}-{tag}.whl"
    rows = io.StringIO()
    record = csv.writer(rows, lineterminator="\n")
    with tempfile.TemporaryDirectory() as stage, \
            zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(path: str, data: bytes, mode: int) -> None:
            entry = zipfile.ZipInfo(path)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode) << 16
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.writerow([path, f"sha256={digest}", len(data)])

        package = _install(Path(stage))
        for file in sorted(package.rglob("*")):
            if file.is_file():
                add(str(file.relative_to(package.parent)), file.read_bytes(), file.stat().st_mode & 0o777)
        for file, text in _about(tag).items():
            add(f"{about}/{file}", text.encode(), 0o644)
        record.writerow([f"{about}/RECORD", "", ""])
        add(f"{about}/RECORD", rows.getvalue().encode(), 0o644)
    return name
