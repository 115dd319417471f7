"""What only a terminal can do, and settings, are asides of a message: a page leaves them out."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from nodes.text.phrases import PHRASES
from tests.unit.test_plain_words import ROOT, walk_source

pytestmark = pytest.mark.xdist_group("sources")

ROOMS: Final = (
    *("nodes/execution", "nodes/models", "extensions/tools", "extensions/embedded", "teams"),
)
"""Where what workers report is written; a terminal and a page show it."""
OF_TERMINALS: Final = ("doctor.py",)
ASIDE: Final = re.compile(
    r"\((?:on the command line|setting|path|auf der Kommandozeile|Einstellung): [^()]*\)"
)
"""As in web/src/model/asides.ts."""
TERMINAL_WORDS: Final = re.compile(
    r"(?<![\w-])--(?!git|cc|combined|jinja)[a-z]|\bsupervise [a-z-]{3,}|\bSUPERVISE_[A-Z]"
)


def list_sentences(path: Path) -> Iterator[str]:
    """Yield the texts of a source of more than one word, without docstrings."""
    nodes = walk_source(path.read_text("utf-8"))
    docstrings = {id(each.value) for each in nodes if isinstance(each, ast.Expr)}
    for found in nodes:
        if id(found) in docstrings:
            continue
        if isinstance(found, ast.JoinedStr):
            parts = [str(v.value) if isinstance(v, ast.Constant) else "X" for v in found.values]
            yield "".join(parts)
            docstrings |= {id(part) for part in found.values}
        elif isinstance(found, ast.Constant) and isinstance(found.value, str):
            yield found.value


@pytest.mark.parametrize("room", ROOMS)
def test_a_message_names_options_commands_and_settings_in_asides_alone(room: str):
    sources = [
        each
        for each in (ROOT / room).rglob("*.py")
        if each.name not in OF_TERMINALS and "sample" not in each.parts
    ]
    said = [text for each in sources for text in list_sentences(each) if " " in text]

    assert [text for text in said if TERMINAL_WORDS.search(ASIDE.sub("", text))] == []


@pytest.mark.parametrize("language", PHRASES)
def test_a_phrase_of_an_answer_does_so_too(language: str):
    said = PHRASES[language].values()

    assert [text for text in said if TERMINAL_WORDS.search(ASIDE.sub("", text))] == []


def test_the_page_leaves_out_the_same_asides():
    page = (ROOT / "web/src/model/asides.ts").read_text("utf-8")
    kinds = "on the command line|auf der Kommandozeile|path|setting|Einstellung"

    assert f"({kinds}): [^()]*" in page
    assert set(kinds.split("|")) == set(re.findall(r"[\w ]{4,}(?=[|)]|\): )", ASIDE.pattern))
