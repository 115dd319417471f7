"""What a request asks for and no report holds makes the run partial, with the embedded model."""

from pathlib import Path

import pytest

from tests.team_runs import run_team

pytestmark = pytest.mark.slow

TEAMS = Path(__file__).parents[2] / "teams"
CLOUDS = (
    "Compare the market capitalization of the top 3 cloud providers. Include year-over-year growth "
    "rates and a brief analysis of competitive positioning."
)


@pytest.mark.parametrize(
    ("team", "request_text", "unanswered"),
    [
        ("market_analysis", CLOUDS, ("a brief analysis of competitive positioning",)),
        (
            "competitive_intelligence",
            "Which product has single sign-on, which has an API, and which offers telephone help?",
            ("which offers telephone help",),
        ),
        (
            "organisation",
            "Compare the leases of the shops, and evaluate their websites and parking lots.",
            ("evaluate their websites", "parking lots"),
        ),
    ],
)
async def test_a_run_without_a_part_of_its_request_is_partial(
    team: str, request_text: str, unanswered: tuple[str, ...]
) -> None:
    outcome, answer, _ = await run_team(team, request_text, TEAMS / team / "sample")

    assert (outcome.status, outcome.exit_code) == ("partial", 3)
    assert answer.unanswered == unanswered
    assert {f"not answered: {part}" for part in unanswered} <= set(answer.gaps)
    assert all(report.status == "completed" for report in outcome.results.values())


@pytest.mark.parametrize(
    ("team", "request_text"),
    [
        ("market_analysis", "Rank the companies by market capitalization, and state its growth."),
        ("competitive_intelligence", "Compare the prices, and say which product has an API."),
        ("organisation", "Which shop grew most, and what do its customers want?"),
    ],
)
async def test_a_run_that_answers_each_part_is_done(team: str, request_text: str) -> None:
    outcome, answer, _ = await run_team(team, request_text, TEAMS / team / "sample")

    assert outcome.status == "done" and answer.unanswered == ()
