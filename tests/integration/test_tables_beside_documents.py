"""A request with tables and documents, without a model: documents answer what tables leave open."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from graph import aresume, arun
from graph.runs.outcome import Outcome
from graph.settings import Settings

TABLE = "depot,buses,drivers,lead\nNorth,41,88,Ida Three\nHarbour,27,60,Bo Lund\nAirport,12,35,\n"
MINUTES = (
    "# Minutes of the works council\n\nThe depot at the harbour gets a new canteen in May. "
    "The buses of the depots are washed every night.\n\n"
    "Overtime is paid after the tenth hour of a shift, and the council approved the rota.\n"
)
Ask = Callable[[str], Awaitable[Outcome]]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    files = {"fleet.csv": TABLE, "minutes.md": MINUTES}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    settings = Settings(home=tmp_path / "home")

    async def run(request: str) -> Outcome:
        given = [tmp_path / name for name in files]
        return await arun(request, team="market_analysis", files=given, settings=settings)

    return run


def read_text(outcome: Outcome) -> str:
    return outcome.answer.text if outcome.answer else ""


async def test_no_passage_is_shown_where_a_table_answers_every_word(ask: Ask) -> None:
    outcome = await ask("Which depot has the most drivers?")

    assert outcome.status == "done"
    assert "**North**: **88**" in read_text(outcome)
    assert "canteen" not in read_text(outcome)
    assert outcome.answer is not None
    assert outcome.answer.sources == ("fleet.csv",)


async def test_a_table_is_asked_also_where_documents_have_the_words_of_its_cells(
    tmp_path: Path,
) -> None:
    note = "# Notes\n\nIn March the harbour bought new boats, and the canteen sold soup.\n"
    sales = "item,sold_on,amount_eur\nrope,2025-03-02,12\nsail,2025-03-09,30\noar,2025-04-01,7\n"

    outcome = await arun(
        "What did we sell in March?",
        team="market_analysis",
        materials={"sales.csv": sales, "notes.md": note},
        settings=Settings(home=tmp_path / "home"),
    )

    assert "| rope | 12 |\n| sail | 30 |" in read_text(outcome)


async def test_a_follow_up_that_no_table_answers_shows_the_rows_that_it_is_about(
    tmp_path: Path,
) -> None:
    settings, given = Settings(home=tmp_path / "home"), {"fleet.csv": TABLE, "minutes.md": MINUTES}

    async def run(request: str) -> str:
        team = "market_analysis"
        return read_text(
            await arun(request, team=team, materials=given, settings=settings, thread="one")
        )

    await run("Which depots have more than 50 drivers?")

    text = await run("Who painted those, and when?")

    assert "No answer was computed" in text
    assert "Ida Three" in text and "Bo Lund" in text and "Airport" not in text


async def test_what_was_not_used_beside_passages_is_named_and_makes_nothing_partial(
    ask: Ask,
) -> None:
    outcome = await ask("When is overtime of the drivers of a shift paid, and who approved it?")

    assert outcome.status == "passages"
    assert "after the tenth hour" in read_text(outcome)
    assert outcome.answer is not None
    assert outcome.answer.gaps == (
        "no answer from fleet.csv (no column or cell for: overtime, shift, paid, approved)",
        "Nothing in minutes.md has the words: drivers",
    )


async def test_no_table_is_named_where_the_documents_have_every_word(ask: Ask) -> None:
    outcome = await ask("After which hour is overtime of a depot paid?")

    assert outcome.answer is not None
    assert not outcome.answer.gaps


async def test_a_table_that_has_no_word_of_the_question_is_not_named(ask: Ask) -> None:
    outcome = await ask("After which hour of a shift is overtime paid?")

    assert outcome.status == "passages"
    assert outcome.answer is not None
    assert not outcome.answer.gaps


async def test_a_table_that_no_task_was_given_is_named_where_the_answer_is_not_whole(
    ask: Ask,
) -> None:
    outcome = await ask("Which zeppelin captain did the council approve for Vienna?")

    assert outcome.status == "partial" and outcome.answer is not None
    assert "no answer from fleet.csv (none of the words asked for)" in outcome.answer.gaps


async def test_passages_that_have_the_fewest_words_of_a_question_are_no_whole_answer(
    ask: Ask,
) -> None:
    outcome = await ask("How many otters bit the gardeners of the council?")

    assert outcome.status == "partial"
    assert outcome.answer is not None
    assert any("otters, gardeners" in gap for gap in outcome.answer.gaps)


async def test_documents_are_searched_for_what_a_table_leaves_open(ask: Ask) -> None:
    outcome = await ask("How many buses does the Harbour depot have, and when is its canteen due?")

    assert outcome.status != "done"
    assert "27" in read_text(outcome)
    assert "new canteen in May" in read_text(outcome)


async def test_a_part_that_documents_answer_is_no_gap_of_the_table(ask: Ask) -> None:
    outcome = await ask("Which depot has the most drivers, and after which hour is overtime paid?")

    assert (outcome.status, outcome.answer and outcome.answer.gaps) == ("passages", ())
    assert "**North**: **88**" in read_text(outcome)
    assert "after the tenth hour" in read_text(outcome)


async def test_a_figure_that_is_asked_for_without_a_verb_takes_no_writer(tmp_path: Path) -> None:
    shows = "title,takings\nHerons,12\nKettle,30\nHerons,5\n"

    outcome = await arun(
        "Sum of takings by title",
        team="market_analysis",
        materials={"shows.csv": shows, "minutes.md": MINUTES},
        settings=Settings(home=tmp_path / "home"),
    )

    assert outcome.status == "done" and outcome.plan is not None
    assert "writer" not in [task.worker for task in outcome.plan.tasks]


async def test_the_words_of_a_table_that_it_cannot_answer_stay_a_gap(ask: Ask) -> None:
    outcome = await ask("Which depot has the fewest tram drivers?")

    assert outcome.status == "partial"
    assert outcome.answer is not None
    assert any("tram" in gap for gap in outcome.answer.gaps)


async def test_a_cell_of_words_needs_no_other_check(ask: Ask) -> None:
    outcome = await ask("Who is the lead of the North depot?")

    assert outcome.status == "done"
    assert "Ida Three" in read_text(outcome)
    assert "checked" not in read_text(outcome)


async def test_who_checks_is_no_gap_where_nothing_was_found(ask: Ask) -> None:
    outcome = await ask("Who is the lead of the Airport depot?")

    assert outcome.status == "partial"
    assert outcome.answer is not None
    assert any("lead: empty where depot = Airport" in gap for gap in outcome.answer.gaps)
    assert not any("reviewer" in gap for gap in outcome.answer.gaps)


async def test_a_file_of_a_folder_that_has_no_text_is_a_gap_of_the_answer(tmp_path: Path) -> None:
    (tmp_path / "minutes.md").write_text(MINUTES)
    (tmp_path / "run.html").write_text("<script>draw()</script>")
    settings = Settings(home=tmp_path / "home")

    outcome = await arun(
        "When is overtime paid?", team="market_analysis", files=tmp_path, settings=settings
    )

    assert outcome.status == "partial"
    assert "after the tenth hour" in read_text(outcome)
    assert outcome.answer is not None
    assert "not read: run.html (no text in it)" in outcome.answer.gaps


async def test_a_number_of_rows_is_given_with_their_names_where_both_are_asked(ask: Ask) -> None:
    outcome = await ask("How many depots have more than 50 drivers, and which ones?")

    assert outcome.status == "done"
    assert "**2**" in read_text(outcome)
    assert "| depot |\n| --- |\n| North |\n| Harbour |" in read_text(outcome)


async def test_documents_are_searched_for_all_where_the_question_to_the_tables_is_edited(
    tmp_path: Path,
) -> None:
    settings = Settings(home=tmp_path / "home")
    waiting = await arun(
        "How many drivers does the Harbour depot have, and when is its canteen due?",
        team="market_analysis",
        materials={"fleet.csv": TABLE, "minutes.md": MINUTES},
        settings=settings,
        context={"approve_plan": True},
    )
    assert waiting.plan is not None
    plan = waiting.plan.model_dump(mode="json")
    for task in plan["tasks"]:
        if task["worker"] == "analyst":
            task["description"] = "How many buses does the North depot have?"

    outcome = await aresume(waiting.thread, answer=json.dumps(plan), settings=settings)

    assert outcome.status != "done"
    assert "**41**" in read_text(outcome)
    assert "new canteen in May" in read_text(outcome)


async def test_no_passage_is_shown_where_no_document_has_what_a_table_leaves_open(ask: Ask) -> None:
    outcome = await ask("Which depot trained the most drivers?")

    assert "Leaving out “trained”: Highest drivers: North: 88." in read_text(outcome)
    assert "canteen" not in read_text(outcome)
    assert outcome.answer is not None
    assert any("trained" in gap for gap in outcome.answer.gaps)


async def test_a_follow_up_is_read_with_the_requests_before_it_in_the_thread(
    tmp_path: Path,
) -> None:
    (tmp_path / "fleet.csv").write_text(TABLE)
    settings, files = Settings(home=tmp_path / "home"), [tmp_path / "fleet.csv"]

    async def run(request: str) -> str:
        team = "market_analysis"
        return read_text(
            await arun(request, team=team, files=files, settings=settings, thread="one")
        )

    await run("Which depot has the most drivers?")

    assert "**Ida Three**" in await run("And who is its lead?")
    assert "**41**" in await run("How many buses does it have?")
    assert "**27**" in await run("And at Harbour?")


async def test_rows_that_answer_nothing_prove_no_answer(tmp_path: Path) -> None:
    (tmp_path / "fleet.csv").write_text(TABLE)
    given, settings = [tmp_path / "fleet.csv"], Settings(home=tmp_path / "home")

    request = "Which depot has a nice day with North?"
    outcome = await arun(request, team="market_analysis", files=given, settings=settings)

    assert outcome.status == "partial" and "nearest rows" in read_text(outcome)
    assert outcome.answer is not None and not outcome.answer.claims
    assert next(report.claims for report in outcome.results.values())
