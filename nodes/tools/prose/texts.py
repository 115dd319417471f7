"""Which materials are texts to work on, and their sentences."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.tools.code.modules import OTHER_CODE, PYTHON
from nodes.tools.learning.prose import TABLES_AND_CODE, sentences
from nodes.tools.materials import material_name, named_in
from nodes.tools.scope import out_of_scope

GIVEN = "draft"
"""Name of a text that comes as an argument."""
MAX_TEXTS = 12

_SENDS = Pattern(
    r"^\W*(?:(?:please|can you|could you|now)\W+)*"
    r"(?:send|e-?mail|mail|post|publish|upload|tweet)\b",
    re.IGNORECASE,
)
_WRITES = Pattern(
    r"\b(?:writ|draft|compos|prepar|produc|creat|turn|summari[sz]|condens|shorten|announce|format"
    r"|convert|save|export)",
    re.IGNORECASE,
)
_CHECKS = Pattern(
    r"check|proofread|spell|grammar|edit|review|correct|mistake|error|shorten|polish",
    re.IGNORECASE,
)
_NO_PROSE = TABLES_AND_CODE | PYTHON | OTHER_CODE


def aside(request: str) -> dict[str, Any] | None:
    """Hand a request back that wants a text sent; None when it is one for a writer."""
    if not _SENDS.search(request):
        return None
    return out_of_scope("texts are written and checked here; sending one is for a person")


def asks_to_write(request: str) -> bool:
    """Tell a request for a new text, or for the same in another format."""
    return bool(_WRITES.search(request))


def asks_to_check(request: str) -> bool:
    """Tell a request on a text that there is; any that does not ask for a new one counts."""
    return bool(_CHECKS.search(request)) or not asks_to_write(request)


def texts_of(
    request: str, material: str, text: str, materials: Mapping[str, str] | None
) -> dict[str, str]:
    """Give the texts meant: that of the argument, of a name, named in the request; else all.

    Raises:
        ToolRefused: there is no text of whole sentences, or there are too many.
    """
    held = materials or {}
    if text.strip():
        chosen = {GIVEN: text}
    elif material:
        whole = material_name(material, held)
        chosen = {whole: held[whole]}
    else:
        prose = {name: each for name, each in held.items() if is_prose(name)}
        chosen = named_in(request, prose) or prose
    chosen = {name: each for name, each in chosen.items() if next(sentences(each), None)}
    if not chosen:
        given = f" in {', '.join(list(held)[:8])}" if held else ""
        raise ToolRefused(
            f"there is no text of whole sentences{given}. Give one with --file, or hand over a "
            "text that was written: without a language model none can be written here"
        )
    if len(chosen) > MAX_TEXTS:
        raise ToolRefused(f"{len(chosen)} texts, of at most {MAX_TEXTS}; name one of them")
    return chosen


def is_prose(name: str) -> bool:
    """Tell by its name that a material is no table, data or code."""
    return PurePosixPath(name.lower()).suffix not in _NO_PROSE
