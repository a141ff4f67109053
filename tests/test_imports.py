"""The import rule of the project, read from the source, and what importing the package costs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src/napari_cosparse"
MODULES = sorted(SOURCE.rglob("*.py"))
# Which parts of the package a part may import, besides the version; "" is the package's __init__.
MAY_IMPORT = {
    "core": set(),
    "io": {"core"},
    "tiles": {"core"},
    "layers": {"core"},
    "widgets": {"layers", "tiles", "io", "core", "api"},
    "api": {"tiles", "io", "core"},
    "cli": {"widgets", "layers", "tiles", "io", "core", "api"},
    "": {"api"},
}
MAY_IMPORT_IN_CORE = {
    "geometry": set(),
    "descent": set(),
    "operators": {"geometry", "descent"},
    "reconstruction": {"geometry", "descent", "operators"},
    "registration": {"geometry", "descent", "operators"},
}
SHARED_IN_CORE = {path.stem for path in (SOURCE / "core").glob("*.py")}  # these know no folder
# Libraries that only some parts may import. Whatever is not named here is free outside the core.
ONLY_IN = {
    "dask": {"tiles"},
    "zarr": {"tiles", "io"},
    "napari": {"layers", "widgets"},
    "magicgui": {"widgets"},
    "qtpy": {"widgets"},
}
CORE_LIBRARIES = {"numpy", "scipy", "napari_cosparse"} | sys.stdlib_module_names


def part_of(names):
    """Part of the package: a folder, or a file at the top."""
    return names[0] if names else ""


def imports(path):
    """Full names of all modules a file imports, relative ones resolved."""
    parents = path.relative_to(SOURCE.parent).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = parents[: len(parents) - node.level + 1] if node.level else ()
            name = ".".join((*base, *(node.module or "").split("."))).rstrip(".")
            if name == SOURCE.name:  # from napari_cosparse import io: what counts is the part
                yield from (f"{name}.{alias.name}" for alias in node.names)
            else:
                yield name


def own_imports(path):
    """Names after ``napari_cosparse`` of what a file imports from the package."""
    return [name.split(".")[1:] for name in imports(path) if name.split(".")[0] == SOURCE.name]


def inside(path):
    """Names of a file inside the package: folders and module, without ``__init__``."""
    names = path.relative_to(SOURCE).with_suffix("").parts
    return names[:-1] if names[-1] == "__init__" else names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_import_rule(path):
    part = part_of(inside(path))
    assert {part_of(name) for name in own_imports(path)} <= MAY_IMPORT[part] | {part, "__version__"}
    libraries = {name.split(".")[0] for name in imports(path)}
    assert not {name for name in libraries if part not in ONLY_IN.get(name, {part})}
    if part == "core":
        assert libraries <= CORE_LIBRARIES
        home = (*inside(path)[1:], "")[0]
        used = {[*name, ""][1] for name in own_imports(path) if name != ["__version__"]}
        assert used <= MAY_IMPORT_IN_CORE.get(home, set()) | SHARED_IN_CORE | {home}


def test_the_rule_is_read_from_real_imports():
    found = {name for path in MODULES for name in imports(path)}
    assert "napari_cosparse.core.errors" in found
    assert "napari_cosparse.layers._read" in found  # a relative import, resolved


def test_importing_the_package_is_light():
    heavy = ("napari", "qtpy", "PyQt6", "PySide6", "magicgui", "dask", "zarr")
    code = f"import sys, napari_cosparse; print([m for m in {heavy} if m in sys.modules])"
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    assert run.stdout.strip() == "[]"
