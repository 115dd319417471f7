"""Select the materials that are texts, all of them or those that are named."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from nodes.errors import ToolRefused
from nodes.tools.framework.materials import resolve_material_name
from nodes.tools.reading.prose_sentences import NON_PROSE_SUFFIXES, split_sentences

from ..code.modules import OTHER_CODE_SUFFIXES, PYTHON_SUFFIXES

ARGUMENT_NAME = "draft"
"""Name for a text that comes as an argument."""
MAX_TEXTS = 12
_NON_PROSE_SUFFIXES = NON_PROSE_SUFFIXES | PYTHON_SUFFIXES | OTHER_CODE_SUFFIXES


def select_texts(
    text: str, files: Sequence[str], materials: Mapping[str, str] | None
) -> dict[str, str]:
    """Return the text of the argument, else the texts among the named materials; else all texts.

    Raises:
        ToolRefused: there is no text of whole sentences, or there are too many.
    """
    held = materials or {}
    names = [resolve_material_name(file, held) for file in files] or list(held)
    chosen = {name: held[name] for name in names if is_prose(name)}
    if text.strip():
        chosen = {ARGUMENT_NAME: text}
    chosen = {name: each for name, each in chosen.items() if next(split_sentences(each), None)}
    if not chosen:
        given = f" in {', '.join(names[:8])}" if names else ""
        raise ToolRefused(
            f"there is no text of whole sentences{given}. Give one with --file, or add a "
            "text to the request: without a language model none can be written here"
        )
    if len(chosen) > MAX_TEXTS:
        raise ToolRefused(f"{len(chosen)} texts, of at most {MAX_TEXTS}; name one of them")
    return chosen


def is_prose(name: str) -> bool:
    """Return whether a material is not a table, data or code, by its name."""
    return PurePosixPath(name.lower()).suffix not in _NON_PROSE_SUFFIXES
