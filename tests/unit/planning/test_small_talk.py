"""Messages that ask for no work, and requests that look like them."""

import json
from pathlib import Path

import pytest

from nodes.planning.direct_reply import recognize_small_talk

TEAMS = Path(__file__).parents[3] / "teams"


@pytest.mark.parametrize(
    "words",
    [
        "Hello, what can you do?",
        "hi",
        "Hey there 👋",
        "Good morning! Who are you and what can you do?",
        "What kind of questions can you answer?",
        "Hi team, how are you today?",
        "Can you help me?",
        "Please tell me what you can do.",
        "Oh, hello! What can you help me with?",
        "Who's on the team?",
    ],
)
def test_a_greeting_or_a_question_about_the_team_is_recognized(words: str):
    assert recognize_small_talk(words) == "greeting"


@pytest.mark.parametrize(
    "words",
    [
        "thanks",
        "Thank you very much!",
        "Thanks, that's great!",
        "Great, thanks man",
        "No, that's all. See you later!",
    ],
)
def test_thanks_are_recognized(words: str):
    assert recognize_small_talk(words) == "thanks"


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Hello, compare Microsoft and Amazon.",
        "Thanks, now do the same for 2023",
        "What can you do about a broken build?",
        "help me with my taxes",
        "Say hello in French",
        "What is this?",
        "How does this work?",
        "Who are the competitors?",
        "yes",
        "ok",
        "ok, great",
        "yes, help me with my taxes",
        "no",
        "approve",
        "continue",
        "and the second one?",
        "Welcome email for new customers",
        "hello " * 100,
    ],
)
def test_any_other_words_make_it_a_request(words: str):
    assert recognize_small_talk(words) is None


@pytest.mark.needs("teams")
def test_no_request_of_an_exam_is_taken_for_small_talk():
    rows = [
        json.loads(line)
        for path in TEAMS.glob("*/evals.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip()
    ]

    assert len(rows) > 200
    assert [row["request"] for row in rows if recognize_small_talk(row["request"])] == []
