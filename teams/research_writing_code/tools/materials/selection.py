"""Select Python files or texts among the materials: all of them, or those that are named."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath

from extensions.tools.reading.prose_sentences import NON_PROSE_SUFFIXES, split_sentences
from nodes.errors import ToolRefused
from nodes.text.csv_table import is_table_name
from nodes.tools.framework.materials import resolve_material_name

PYTHON_SUFFIXES = frozenset((".py", ".pyi", ".pyw"))
OTHER_CODE_SUFFIXES = frozenset(
    {
        *(".bash", ".c", ".cc", ".cpp", ".cs", ".go", ".h", ".hpp", ".ipynb", ".java", ".jl"),
        *(".js", ".jsx", ".kt", ".lua", ".php", ".pl", ".ps1", ".r", ".rb", ".rs", ".scala"),
        *(".sh", ".sql", ".swift", ".ts", ".tsx"),
    }
)
MAX_MODULES = 20
MAX_MODULE_CHARS = 200_000
MAX_TEXTS = 12


def select_modules(
    code: str, files: Sequence[str], materials: Mapping[str, str] | None
) -> dict[str, str]:
    """Return the code of the argument, else the Python among the named materials; else all Python.

    Raises:
        ToolRefused: there is no Python, or too much of it.
    """
    chosen, names = _select_materials({"code.py": code}, files, materials, is_python)
    if not chosen:
        given = f"; {', '.join(names[:8])} is none" if names else ""
        raise ToolRefused(
            f"there is no Python code{given}. Attach a file (on the command line: --file NAME.py), "
            "or add code to the request: without a language model none can be written here"
        )
    if len(chosen) > MAX_MODULES:
        raise ToolRefused(f"{len(chosen)} modules, of at most {MAX_MODULES}; name one of them")
    for name, text in chosen.items():
        if len(text) > MAX_MODULE_CHARS:
            raise ToolRefused(
                f"{name} has {len(text)} characters, of at most {MAX_MODULE_CHARS}; hand over the "
                "part that matters"
            )
    return chosen


def select_texts(
    text: str, files: Sequence[str], materials: Mapping[str, str] | None
) -> dict[str, str]:
    """Return the text of the argument, else the texts among the named materials; else all texts.

    Raises:
        ToolRefused: there is no text of whole sentences, or there are too many.
    """
    fitting, names = _select_materials({"draft": text}, files, materials, _may_be_prose)
    chosen = {name: each for name, each in fitting.items() if next(split_sentences(each), None)}
    if not chosen:
        given = f" in {', '.join(names[:8])}" if names else ""
        raise ToolRefused(
            f"there is no text of whole sentences{given}. Attach one (on the command line: "
            "--file), or add a text to the request: without a language model none can be written "
            "here"
        )
    if len(chosen) > MAX_TEXTS:
        raise ToolRefused(f"{len(chosen)} texts, of at most {MAX_TEXTS}; name one of them")
    return chosen


def is_python(name: str) -> bool:
    """Return whether a material is Python, by its name."""
    return _get_suffix(name) in PYTHON_SUFFIXES


def list_other_code(materials: Mapping[str, str] | None) -> list[str]:
    """Return the names of the materials that are code in other languages."""
    return [name for name in materials or () if _get_suffix(name) in OTHER_CODE_SUFFIXES]


def _select_materials(
    argument: Mapping[str, str],
    files: Sequence[str],
    materials: Mapping[str, str] | None,
    fits: Callable[[str], bool],
) -> tuple[dict[str, str], list[str]]:
    """Return the argument if it has text, else the materials that fit; and all their names."""
    held = materials or {}
    names = [resolve_material_name(file, held) for file in files] or list(held)
    given = {name: text for name, text in argument.items() if text.strip()}
    return given or {name: held[name] for name in names if fits(name)}, names


def _may_be_prose(name: str) -> bool:
    others = NON_PROSE_SUFFIXES | PYTHON_SUFFIXES | OTHER_CODE_SUFFIXES
    return not is_table_name(name) and _get_suffix(name) not in others


def _get_suffix(name: str) -> str:
    return PurePosixPath(name.lower()).suffix
