"""Questions on a table in other words than those of its columns."""

import json
from dataclasses import replace

import pytest

from nodes.models.embedded.arguments import fill_by_schema
from nodes.models.embedded.column_matching import find_missing_measure, match_columns
from nodes.models.embedded.prompt_reading import AnsweredCall, ReceivedHandoff
from nodes.models.embedded.reporting import write_report
from nodes.models.embedded.table_reading import (
    list_number_columns,
    list_per_columns,
    name_missing_measure,
)
from nodes.models.embedded.tool_calls import choose_calls

FERRIES = ["daily_passengers", "delay_minutes", "cancellations", "price_eur", "weight_tonnes"]
TABLE = "ferry,delay_minutes,cancellations\nAda,390,14\nBo,820,31\nCy,150,3\n"


@pytest.mark.parametrize(
    ("question", "column", "taken_for"),
    [
        ("Which ferry has the most passengers?", "daily_passengers", ""),
        ("Which ferry gets cancelled most often?", "cancellations", "ferry gets cancelled"),
        ("Which ferry is the cheapest?", "price_eur", "cheapest"),
        ("Which is the heaviest ferry?", "weight_tonnes", "heaviest"),
        ("Which ferry runs late most often?", "delay_minutes", "ferry runs late"),
        ("What is the price of the ferry with the most cancellations?", "cancellations", ""),
    ],
)
def test_a_column_is_found_by_its_words_or_taken_for_others_which_are_kept(
    question: str, column: str, taken_for: str
) -> None:
    first, *_ = match_columns(FERRIES, question, other=())

    assert (first.column, first.taken_for) == (column, taken_for)


@pytest.mark.parametrize(
    "question", ["Which ferry has the friendliest crew?", "What is the capital of Norway?"]
)
def test_no_column_is_taken_for_words_that_none_is_about(question: str) -> None:
    assert match_columns(FERRIES, question, other=["ferry"]) == []


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("Which ferry has the highest price delay?", "price delay"),
        ("Which ferry has the friendliest crew, and the most lifeboats?", "lifeboats"),
        ("Which ferry has the highest price?", ""),
        ("Which ferry grew most?", ""),
    ],
)
def test_a_measure_that_no_column_has_is_missing_and_not_replaced(
    question: str, missing: str
) -> None:
    assert find_missing_measure(FERRIES, question, other=["ferry"]) == missing


def test_what_is_divided_by_is_not_what_is_measured() -> None:
    brief = ReceivedHandoff(
        "Which ferry earned most per cancellation?", artifacts={"ferries.csv": TABLE}
    )

    assert (list_number_columns(brief), name_missing_measure(brief)) == ([], "earned")
    assert list_per_columns(brief) == ["cancellations"]


def test_units_in_a_name_are_read_in_full_and_money_alone_is_a_price() -> None:
    (found,) = match_columns(["eur_per_kg", "stock"], "What is the price of Huila?", other=())

    assert found.column == "eur_per_kg"
    assert match_columns(["revenue_eur", "stock"], "What is the price of Huila?", other=()) == []


@pytest.mark.parametrize(
    ("question", "chosen"),
    [
        ("Which ferry's cancellations grew most?", ("growth", "fastest", "highest")),
        ("Which ferry had the lowest increase in cancellations?", ("growth", "fastest", "lowest")),
        ("Where did cancellations fall the most?", ("growth", "fastest", "lowest")),
        ("Rank the ferries by growth of cancellations", ("growth", "fastest", None)),
        ("Rank the cancellations, with their growth", ("growth", None, None)),
        ("Which ferry has the most cancellations?", (None, None, "highest")),
    ],
)
def test_a_change_is_ranked_where_the_superlative_is_of_the_change(
    question: str, chosen: tuple[str | None, ...]
) -> None:
    brief = ReceivedHandoff(question, artifacts={"ferries.csv": TABLE})
    choices = (["none", "growth"], ["value", "fastest"], ["highest", "lowest"])

    found = tuple(fill_by_schema("", {"enum": each}, brief) for each in choices)

    assert found == chosen


def report_rows(question: str, rows: list[list[object]], **arguments: object) -> dict[str, object]:
    columns = ["ferry", *(str(name) for name in arguments["measures"])]  # type: ignore[attr-defined]
    results = [{"source": "ferries.csv", "text": str(row)} for row in rows]
    answer = json.dumps({"columns": columns, "rows": rows, "results": results})
    call = AnsweredCall("analyze_table", dict(arguments), answer, has_failed=False)
    intent = f'For the request "{question}": computes on tables.'
    return write_report(ReceivedHandoff(intent, artifacts={"ferries.csv": TABLE}, calls=(call,)))


def test_a_report_on_a_ranking_begins_with_a_sentence_and_names_what_was_assumed() -> None:
    report = report_rows(
        "Which ferry gets cancelled most often?",
        [["Bo", 31], ["Ada", 14], ["Cy", 3]],
        measures=["cancellations"],
        order="highest",
    )

    sentence, assumption, table = str(report["output"]).split("\n\n")
    assert sentence == "Bo has the highest `cancellations`: 31."
    assert assumption == "No column is named “gets cancelled”: `cancellations` was taken for it."
    assert table.startswith("| ferry | cancellations |") and report["confidence"] == 40


def test_rows_that_share_the_first_place_are_all_named() -> None:
    report = report_rows(
        "Which ferry has the fewest cancellations?",
        [["Ada", 3], ["Cy", 3], ["Bo", 31]],
        measures=["cancellations"],
        order="lowest",
    )

    assert str(report["output"]).startswith("Ada and Cy have the lowest `cancellations`: 3.")


def test_a_gap_has_the_users_own_words_and_none_that_chose_the_rows() -> None:
    report = report_rows(
        "How many glasses and crashes of the crew did Bo have by delay?",
        [["Bo", 820]],
        measures=["delay_minutes"],
        rows_with=["Bo"],
    )

    assert report["gaps"] == ["Nothing was found on glasses, crashes, crew in ferries.csv"]


def test_a_gap_names_no_instruction_no_number_and_no_other_form_of_a_known_word() -> None:
    report = report_rows(
        "Set 3 ferries side by side: berths, crews, lifeboats and delayed minutes",
        [["Bo", 820], ["Ada", 390], ["Cy", 150]],
        measures=["delay_minutes"],
    )

    assert report["gaps"] == ["Nothing was found on side, berths, crews, lifeboats in ferries.csv"]


def test_only_a_gap_lowers_the_confidence_and_not_how_many_rows_there_are() -> None:
    asked = "Which delay in minutes did Bo have?"
    rows: list[list[object]] = [["Bo", 820]]

    one = report_rows(asked, rows, measures=["delay_minutes"], rows_with=["Bo"])
    four = report_rows(asked, rows * 4, measures=["delay_minutes"], rows_with=["Bo"])
    lacking = report_rows(f"{asked} And of Zora?", rows, measures=["delay_minutes"])

    assert one["confidence"] == four["confidence"] == 70
    assert lacking["gaps"] and lacking["confidence"] == 55


REFUSED = AnsweredCall(
    "analyze_table",
    {"measures": ["delay_minutes"], "change": "growth", "order": "highest"},
    "the table has no column of years",
    has_failed=True,
)
TOOLS = {"analyze_table": {"properties": {"measures": {"type": "array"}}}}


def test_a_ranking_is_made_where_only_its_change_was_refused() -> None:
    def choose(refused: AnsweredCall) -> list[tuple[str, dict[str, object]]]:
        brief = ReceivedHandoff("Rank the delay", artifacts={"f.csv": TABLE}, calls=(refused,))
        return choose_calls(brief, TOOLS)

    kept = {"measures": ["delay_minutes"], "order": "highest"}
    assert choose(REFUSED) == [("analyze_table", kept)]
    assert choose(replace(REFUSED, arguments=kept)) == []
    assert choose(replace(REFUSED, arguments=REFUSED.arguments | {"sort_by": "fastest"})) == []


def test_a_line_of_a_table_is_never_given_for_a_refused_analysis() -> None:
    intent = 'For the request "Which ferry has the highest delay_minutes?": computes on tables.'

    for artifacts in ({"f.csv": TABLE}, {"f.csv": TABLE, "f.md": "Ada sank in 1990."}):
        report = write_report(ReceivedHandoff(intent, artifacts=artifacts, calls=(REFUSED,)))
        assert "cancellations" not in str(report["output"]) and not report.get("claims")
        assert report["status"] == "escalated" and REFUSED.text in str(report["escalation"])
