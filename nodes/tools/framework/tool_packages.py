"""Import the tools of a team's folder, wherever the folder is."""

import sys
from hashlib import sha256
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Final

PROJECT_ROOT: Final = Path(__file__).resolve().parents[3]
"""Folder of `nodes`: the checkout, or the installed package."""
IMPORT_ROOT: Final = Path(__file__).resolve().parents[__name__.count(".")]
"""Folder on `sys.path` that our modules are found in."""


def name_tool_package(folder: Path) -> str:
    """Return the name under which a folder of tools is imported: one name for one folder."""
    folder = folder.resolve()
    if folder.is_relative_to(PROJECT_ROOT):
        return ".".join(folder.relative_to(IMPORT_ROOT).parts)
    return f"team_tools_{sha256(str(folder).encode()).hexdigest()[:12]}"


def import_tool_module(folder: Path, module: str) -> ModuleType:
    """Import a module of a folder of tools, whose modules may import each other relatively.

    Raises:
        ImportError: the module, or one that it imports, cannot be found.
    """
    package = name_tool_package(folder)
    register_tool_package(package, folder)
    return import_module(f"{package}.{module}")


def register_tool_package(package: str, folder: Path) -> None:
    """Make a folder importable as a package, once."""
    if package not in sys.modules:
        spec = ModuleSpec(package, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        sys.modules[package] = module_from_spec(spec)
    _FOLDERS[package] = folder


def find_tool_package(module: str) -> tuple[str, Path] | None:
    """Return the name and folder of the registered package that a module belongs to."""
    return next(
        (item for item in _FOLDERS.items() if module.startswith(f"{item[0]}.")),
        None,
    )


_FOLDERS: dict[str, Path] = {}
