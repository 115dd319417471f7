"""Which materials are texts to work on, and their sentences."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from nodes.errors import ToolRefused
from nodes.tools.code.modules import OTHER_CODE, PYTHON
from nodes.tools.learning.prose import TABLES_AND_CODE, sentences
from nodes.tools.materials import material_name

GIVEN = "draft"
"""Name of a text that comes as an argument."""
MAX_TEXTS = 12

_NO_PROSE = TABLES_AND_CODE | PYTHON | OTHER_CODE


def texts_of(
    request: str, material: str, text: str, materials: Mapping[str, str] | None
) -> dict[str, str]:
    """Give the texts meant: that of the argument, of a name, named in the request; else all.

    Raises:
        ToolRefused: there is no text of whole sentences.
    """
    held = materials or {}
    if text.strip():
        chosen = {GIVEN: text}
    elif material:
        whole = material_name(material, held)
        chosen = {whole: held[whole]}
    else:
        prose = {name: each for name, each in held.items() if is_prose(name)}
        named = {name: each for name, each in prose.items() if PurePosixPath(name).name in request}
        chosen = named or prose
    chosen = {name: each for name, each in chosen.items() if next(sentences(each), None)}
    if not chosen:
        given = f" in {', '.join(list(held)[:8])}" if held else ""
        raise ToolRefused(
            f"there is no text of whole sentences{given}. Give one with --file, or hand over a "
            "text that was written: without a language model none can be written here"
        )
    return dict(list(chosen.items())[:MAX_TEXTS])


def is_prose(name: str) -> bool:
    """Tell by its name that a material is no table, data or code."""
    return PurePosixPath(name.lower()).suffix not in _NO_PROSE
