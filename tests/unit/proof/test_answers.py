"""The lines of an answer, proved by the claims they come from."""

import pytest

from nodes.proof import Evidence, prove_answer
from state import Answer, Claim, Report

CLAIMS = (
    Claim(text="Microsoft grew by 12.1 percent.", source="caps.csv", proof="computed"),
    Claim(text="Amazon grew by 48.0 percent.", source="caps.csv", proof="computed"),
    Claim(text="AWS earned 61.7 billion USD.", source="aws.md", proof="quoted"),
    Claim(text="Google Cloud earned 18.5 billion USD.", source="g.md", proof="quoted"),
)


def mark(text: str, *claims: Claim) -> tuple[str, list[str]]:
    report = Report(task="a", claims=claims or CLAIMS)
    proved = prove_answer(Answer(text=text), [report], Evidence("Who grew?"))
    return proved.answer.text, list(proved.gaps)


@pytest.mark.parametrize(
    "text",
    [
        "Microsoft grew by 12.1 percent, Amazon by 48.0 percent.",
        "| company | growth |\n|---|---|\n| Microsoft | 12.1 percent |\n| Amazon | 48 percent |",
        "AWS earned about 3.3 times as much as Google Cloud.",
        "1. Amazon: 48.0 percent (caps.csv)\n2. Microsoft: 12.1 percent",
    ],
)
def test_what_the_claims_say_has_no_mark(text: str) -> None:
    assert mark(text) == (text, [])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Amazon grew by 12.1 percent.", "Amazon"),
        ("Microsoft grew by 13.1 percent.", "13.1"),
        ("Microsoft grew by 12.1 percent and hired 900 people.", "900"),
        ("One in nine of them came from abroad.", "One in 9"),
        ('They said "we will never open the mill again".', "never open"),
        ("Amazon grew by 48.0 percent, see https://a.example/x.", "a.example"),
        ("```\nMicrosoft 17.2 percent\n```", "17.2"),
        ("[Microsoft grew by 19 percent](caps.csv)", "19 percent"),
    ],
)
def test_what_no_claim_says_is_marked_and_a_gap(text: str, named: str) -> None:
    marked, gaps = mark(text)

    assert "(not supported by a source)" in marked
    assert len(gaps) == 1 and named in gaps[0]


def test_what_an_unproved_claim_says_is_marked_once() -> None:
    doubted = Claim(text="The reserve is 75,000 EUR.", source="m.md", proof="unproved")

    marked, gaps = mark("The reserve is 75,000 EUR.", *CLAIMS, doubted)

    assert marked == "The reserve is 75,000 EUR (not supported by a source)." and gaps == []


def test_an_output_whose_worker_made_no_claims_supports_the_answer() -> None:
    output = "Microsoft grew by 12.1 percent. Amazon grew by 48.0 percent."
    found = (Claim(text="Amazon grew by 48.0 percent.", source="caps.csv", proof="computed"),)
    report = Report(task="a", output=output, claims=found, has_found_claims=True)

    proved = prove_answer(Answer(text=output), [report], Evidence("Who grew?"))

    assert (proved.answer.text, dict(proved.gaps)) == (output, {})
    assert proved.answer.claims == found
