"""What docs/python.md shows is what happens; what the stubs say is there."""

import ast
import doctest
import inspect
from pathlib import Path

import pytest

import raddle

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_does_what_it_says(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False,
                             optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 30 and found.failed == 0


def test_stubs_have_what_the_package_has():
    stub = ast.parse((Path(raddle.__file__).parent / "__init__.pyi").read_text())
    said = {}
    for node in stub.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            said[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            said[node.target.id] = node
    public = {name for name in vars(raddle)
              if not name.startswith("_") and not inspect.ismodule(getattr(raddle, name))
              and name != "annotations"} | {"__version__"}
    assert set(said) >= public, public - set(said)
    assert set(said) <= set(dir(raddle)), set(said) - set(dir(raddle))
    for name, node in said.items():
        if isinstance(node, ast.ClassDef) and hasattr(raddle, name):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    assert hasattr(getattr(raddle, name), inner.name), f"{name}.{inner.name}"
