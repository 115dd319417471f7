"""Select the materials that are texts, and split them into sentences."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.tools.framework.materials import resolve_material_name, select_named_materials
from nodes.tools.framework.out_of_scope import escalate_out_of_scope
from nodes.tools.reading.prose_sentences import NON_PROSE_SUFFIXES, split_sentences

from ..code.modules import OTHER_CODE_SUFFIXES, PYTHON_SUFFIXES

ARGUMENT_NAME = "draft"
"""Name for a text that comes as an argument."""
MAX_TEXTS = 12

_SEND_REQUEST = Pattern(
    r"^\W*(?:(?:please|can you|could you|now)\W+)*"
    r"(?:send|e-?mail|mail|post|publish|upload|tweet)\b",
    re.IGNORECASE,
)
_WRITE_REQUEST = Pattern(
    r"\b(?:writ|draft|compos|prepar|produc|creat|turn|summari[sz]|condens|shorten|announce|format"
    r"|convert|save|export)",
    re.IGNORECASE,
)
_CHECK_REQUEST = Pattern(
    r"check|proofread|spell|grammar|edit|review|correct|mistake|error|shorten|polish",
    re.IGNORECASE,
)
_NON_PROSE_SUFFIXES = NON_PROSE_SUFFIXES | PYTHON_SUFFIXES | OTHER_CODE_SUFFIXES


def reject_if_out_of_scope(request: str) -> dict[str, Any] | None:
    """Escalate a request to send a text; None if it is for a writer."""
    if not _SEND_REQUEST.search(request):
        return None
    return escalate_out_of_scope("texts are written and checked here; sending one is for a human")


def asks_to_write(request: str) -> bool:
    """Return whether a new text is requested, or the same in another format."""
    return bool(_WRITE_REQUEST.search(request))


def asks_to_check(request: str) -> bool:
    """Return whether a check of an existing text is requested; the default if no new one is."""
    return bool(_CHECK_REQUEST.search(request)) or not asks_to_write(request)


def select_texts(
    request: str, material: str, text: str, materials: Mapping[str, str] | None
) -> dict[str, str]:
    """Return the texts of the argument, of a name, or named in the request; else all.

    Raises:
        ToolRefused: there is no text of whole sentences, or there are too many.
    """
    held = materials or {}
    if text.strip():
        chosen = {ARGUMENT_NAME: text}
    elif material:
        whole = resolve_material_name(material, held)
        chosen = {whole: held[whole]}
    else:
        prose = {name: each for name, each in held.items() if is_prose(name)}
        chosen = select_named_materials(request, prose) or prose
    chosen = {name: each for name, each in chosen.items() if next(split_sentences(each), None)}
    if not chosen:
        given = f" in {', '.join(list(held)[:8])}" if held else ""
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
