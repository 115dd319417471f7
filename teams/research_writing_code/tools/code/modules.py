"""Select the Python materials, all of them or those that are named."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from nodes.errors import ToolRefused
from nodes.tools.framework.materials import resolve_material_name

PYTHON_SUFFIXES = frozenset((".py", ".pyi", ".pyw"))
OTHER_CODE_SUFFIXES = frozenset(
    {
        *(".bash", ".c", ".cc", ".cpp", ".cs", ".go", ".h", ".hpp", ".ipynb", ".java", ".jl"),
        *(".js", ".jsx", ".kt", ".lua", ".php", ".pl", ".ps1", ".r", ".rb", ".rs", ".scala"),
        *(".sh", ".sql", ".swift", ".ts", ".tsx"),
    }
)
ARGUMENT_NAME = "code.py"
"""Name for code that comes as an argument."""
MAX_MODULES = 20
MAX_MODULE_CHARS = 200_000


def select_modules(
    code: str, files: Sequence[str], materials: Mapping[str, str] | None
) -> dict[str, str]:
    """Return the code of the argument, else the Python among the named materials; else all Python.

    Raises:
        ToolRefused: there is no Python, or too much of it.
    """
    held = materials or {}
    names = [resolve_material_name(file, held) for file in files] or list(held)
    chosen = {name: held[name] for name in names if is_python(name)}
    if code.strip():
        chosen = {ARGUMENT_NAME: code}
    if not chosen:
        given = f"; {', '.join(names[:8])} is none" if names else ""
        raise ToolRefused(
            f"there is no Python code{given}. Give a file with --file NAME.py, or add code "
            "to the request: without a language model none can be written here"
        )
    _check_size(chosen)
    return chosen


def is_python(name: str) -> bool:
    """Return whether a material is Python, by its name."""
    return PurePosixPath(name.lower()).suffix in PYTHON_SUFFIXES


def list_other_code(materials: Mapping[str, str] | None) -> list[str]:
    """Return the names of the materials that are code in other languages."""
    names = materials or {}
    return [name for name in names if PurePosixPath(name.lower()).suffix in OTHER_CODE_SUFFIXES]


def _check_size(chosen: Mapping[str, str]) -> None:
    if len(chosen) > MAX_MODULES:
        raise ToolRefused(f"{len(chosen)} modules, of at most {MAX_MODULES}; name one of them")
    for name, text in chosen.items():
        if len(text) > MAX_MODULE_CHARS:
            raise ToolRefused(
                f"{name} has {len(text)} characters, of at most {MAX_MODULE_CHARS}; hand over the "
                "part that matters"
            )
