"""Rows of a table are ranked, filtered, summed and compared by typed arguments."""

import sqlite3
from typing import Any

import pytest

from extensions.tools.analyze_table import analyze_table
from extensions.tools.sql.table_columns import find_compared
from nodes.errors import NothingToRead, ToolRefused
from nodes.tools.framework.settings import ToolSettings

pytestmark = pytest.mark.slow

FARMS = """\
farm,county,year,sheep,wool_kg
Ash Hill,Kent,2020,40,120
Ash Hill,Kent,2021,44,154
Low Moor,Devon,2020,75,210
Low Moor,Devon,2021,60,180
Top End,Kent,2020,10,
Top End,Kent,2021,30,90
"""
QUARTERS = "shop,quarter,sales\nA,2023-Q4,10\nA,2024-Q1,30\nB,2023-Q4,20\nB,2024-Q1,10\n"


async def analyze(settings: ToolSettings | None = None, **arguments: Any) -> dict[str, Any]:
    materials = {"farms.csv": FARMS, "quarters.csv": QUARTERS}
    found = analyze_table(settings or ToolSettings())
    return dict(await found.ainvoke({"materials": materials, **arguments}))


@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        (
            {"measures": ["sheep"], "aggregate": "sum", "group_by": "county"},
            [["Devon", 135], ["Kent", 124]],
        ),
        (
            {"measures": ["sheep"], "aggregate": "sum", "group_by": "county"}
            | {"order": "lowest", "limit": 1},
            [["Kent", 124]],
        ),
        ({"measures": ["wool_kg"], "aggregate": "average"}, [[150.8]]),
        ({"table": "farms.csv", "aggregate": "count", "rows_with": ["kent"]}, [[4]]),
        (
            {"measures": ["sheep"], "rows_with": ["2021", "Kent"], "group_by": "farm"},
            [["Ash Hill", "Kent", 2021, 44], ["Top End", "Kent", 2021, 30]],
        ),
        (
            {"measures": ["sheep"], "change": "growth", "group_by": "farm"},
            [["Low Moor", 75, 60, -20.0], ["Ash Hill", 40, 44, 10.0], ["Top End", 10, 30, 200.0]],
        ),
        (
            {"measures": ["wool_kg", "sheep"], "change": "growth", "sort_by": "fastest"}
            | {"group_by": "farm"},
            [
                ["Ash Hill", 120, 154, 28.3, 40, 44, 10.0],
                ["Low Moor", 210, 180, -14.3, 75, 60, -20.0],
            ],
        ),
        (
            {"measures": ["sales"], "change": "growth", "period": "year", "sort_by": "fastest"},
            [["A", 10, 30, 200.0], ["B", 20, 10, -50.0]],
        ),
        (
            {"measures": ["wool_kg"], "divide_by": "sheep", "rows_with": ["2020"]}
            | {"group_by": "county"},
            [["Kent", 3], ["Devon", 2.8]],
        ),
        (
            {"measures": ["cap_2024", "cap_2023"], "change": "growth"}
            | {"materials": {"c.csv": "firm,cap_2023,cap_2024\nA,10,12\nB,20,18\n"}},
            [["B", 20, 18, -10.0], ["A", 10, 12, 20.0]],
        ),
    ],
)
async def test_the_rows_are_computed(arguments, rows):
    assert (await analyze(**arguments))["rows"] == rows


@pytest.mark.parametrize(
    ("named", "compared"),
    [
        (["cap 2024"], ("cap 2023", "cap 2024")),
        (["cap 2023"], ("cap 2022", "cap 2023")),
        (["cap 2022"], None),
        (["staff"], None),
        (["cap 2024", "cap 2022"], ("cap 2022", "cap 2024")),
        ([], None),
    ],
)
def test_a_column_is_compared_with_the_one_before_it(named, compared):
    numbers = ["staff", "cap 2024", "cap 2022", "cap 2023", "cape 1"]

    assert find_compared(named, numbers) == compared


async def test_without_arguments_the_tables_are_listed():
    listed = (await analyze())["tables"]

    assert [(each["source"], each["numbers"], each["times"]) for each in listed] == [
        ("farms.csv", ["sheep", "wool_kg"], ["year"]),
        ("quarters.csv", ["sales"], ["quarter"]),
    ]


async def test_the_table_is_the_one_with_the_columns_or_with_the_rows():
    by_column = await analyze(measures=["sales"])
    by_row = await analyze(rows_with=["Low Moor"])

    assert by_column["results"][0]["source"] == "quarters.csv"
    assert {each["source"] for each in by_row["results"]} == {"farms.csv"}


LONG_ROW = {"grow.csv": "city,cups\nGraz,100\nWien,1000,x\n"}
MONTHS = {"a.csv": "month,cups\nJanuary,10\nFebruary,20\nMarch,30\n"}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"table": "nowhere.csv", "measures": ["sheep"]}, "no table is named 'nowhere.csv'"),
        ({"measures": ["goats"]}, "no column is named 'goats'; columns: farm"),
        ({"measures": ['sheep" FROM farms; DROP TABLE farms; --']}, "no column is named"),
        ({"table": "farms.csv", "measures": ["county"]}, "'county' holds no numbers"),
        ({"rows_with": ["Wales"]}, "no row holds 'Wales'"),
        ({"rows_with": ["x' OR '1'='1"]}, "no row holds"),
        (
            {"table": "farms.csv", "measures": ["sheep"], "change": "growth"}
            | {"rows_with": ["2021"]},
            "one period only",
        ),
        (
            {"measures": ["cups"], "change": "growth", "materials": MONTHS},
            "no column of years, quarters, months or dates",
        ),
        (
            {"measures": ["cups"], "materials": LONG_ROW},
            "grow.csv line 3 has 3 cells under 2 column names",
        ),
        (
            {"table": "grow.csv", "materials": LONG_ROW},
            "grow.csv line 3 has 3 cells under 2 column names",
        ),
    ],
)
async def test_an_argument_that_does_not_fit_is_refused_with_what_there_is(arguments, reason):
    with pytest.raises(ToolRefused, match=reason):
        await analyze(**arguments)


async def test_how_a_table_was_read_and_what_was_not_are_gaps() -> None:
    materials = {"a.csv": "city;cups\nGraz;1.200\nLinz;900\n", "b.csv": "x,y\n1,2,3\n"}

    found = await analyze(measures=["cups"], aggregate="sum", materials=materials)

    assert found["rows"] == [[2100]]
    assert [gap.split(" ")[0] for gap in found["gaps"]] == ["Not", "a.csv:"]


async def test_a_last_row_that_is_the_sum_of_the_others_is_named() -> None:
    materials = {"a.csv": "shop,sales\nA,1\nB,2.5\nC,3\nD,3\nTotal,9.5\n"}

    found = await analyze(measures=["sales"], aggregate="sum", materials=materials)

    assert found["gaps"] == ["a.csv: sales: the sum of the cells above it (counted): line 6 '9.5'"]


async def test_a_value_that_only_some_rows_hold_leaves_a_gap_for_the_others():
    found = await analyze(rows_with=["Kent", "Wales"], measures=["sheep"])

    assert found["gaps"] == ["No row of farms.csv holds 'Wales'."]


@pytest.mark.parametrize("cells", [["A12", "12", "13"], ["0043", "0044", "n/a"], ["x", "y", "1"]])
async def test_codes_and_names_are_not_called_numbers(cells) -> None:
    materials = {"a.csv": "firm,made\n" + "".join(f"F,{cell}\n" for cell in cells)}

    assert "gaps" not in await analyze(materials=materials)


async def test_a_database_is_read_as_a_table_is(tmp_path):
    base = sqlite3.connect(tmp_path / "farm.db")
    base.execute("CREATE TABLE flock (farm TEXT, sheep INTEGER)")
    base.executemany("INSERT INTO flock VALUES (?, ?)", [("Ash", 3), ("Low", 8)])
    base.commit()
    settings = ToolSettings(sql_url=str(tmp_path / "farm.db"))

    found = await analyze(settings, table="flock", measures=["sheep"], limit=1)

    assert found["rows"] == [["Low", 8]]


async def test_a_sum_shows_the_rows_that_it_sums_and_how_many_they_are():
    found = await analyze(measures=["wool_kg"], aggregate="sum", rows_with=["Kent"])

    assert found["rows"] == [[364]]
    assert found["used"] == {
        "columns": ["farm", "county", "year", "wool_kg"],
        "rows": [
            ["Ash Hill", "Kent", 2020, 120],
            ["Ash Hill", "Kent", 2021, 154],
            ["Top End", "Kent", 2021, 90],
        ],
        "count": 3,
    }


async def test_at_most_fifteen_rows_of_a_sum_are_shown():
    many = "day,eur\n" + "".join(f"{day},{day}\n" for day in range(1, 41))
    asked = {"materials": {"a.csv": many}, "question": "What is the sum of eur?"}

    found = dict(await analyze_table(ToolSettings()).ainvoke(asked))

    assert (len(found["used"]["rows"]), found["used"]["count"]) == (15, 40)


async def test_the_rows_of_a_count_have_yes_and_no_as_the_table_has_them():
    table = "name,fee_paid\nAnn,yes\nBea,no\nCora,yes\n"
    asked = {"materials": {"a.csv": table}, "question": "How many have fee_paid = yes?"}

    found = dict(await analyze_table(ToolSettings()).ainvoke(asked))

    assert found["used"]["rows"] == [["Ann", "yes"], ["Cora", "yes"]]


async def test_sums_of_groups_show_the_rows_of_all_and_the_column_that_divides_them():
    found = await analyze(measures=["wool_kg"], aggregate="sum", group_by="county")

    used = found["used"]
    sums = dict[str, float]()
    for *_, county, wool in [[row[0], row[1], row[-1]] for row in used["rows"]]:
        sums[county] = sums.get(county, 0) + (wool or 0)
    assert used["by"] == "county" and used["columns"][1] == "county"
    assert sums == dict(found["rows"])


async def test_of_a_request_of_two_parts_each_sum_shows_its_own_rows():
    table = "day,who,eur,kg\nMon,Ann,10,3\nTue,Ann,20,4\nTue,Bea,5,9\n"
    asked = {
        "materials": {"a.csv": table},
        "question": "What is the sum of eur of Ann? And what is the sum of kg of Bea?",
    }

    found = dict(await analyze_table(ToolSettings()).ainvoke(asked))

    assert [(each["of"], each["rows"]) for each in found["used"]] == [
        (["sum of eur: 30"], [["Mon", "Ann", 10], ["Tue", "Ann", 20]]),
        (["sum of kg: 9"], [["Tue", "Bea", 5, 9]]),
    ]


async def test_rows_that_are_shown_themselves_have_none_besides():
    assert "used" not in await analyze(measures=["sheep"], limit=1)


async def test_with_no_table_at_all_there_is_nothing_to_read():
    with pytest.raises(NothingToRead):
        await analyze_table(ToolSettings()).ainvoke({"materials": {"a.md": "text"}})


@pytest.mark.parametrize(
    ("arguments", "over"),
    [
        ({"measures": ["sheep"], "aggregate": "sum"}, "6 rows, year 2020 to 2021"),
        ({"measures": ["wool_kg"], "aggregate": "average"}, "5 rows, year 2020 to 2021"),
        (
            {"measures": ["sheep"], "aggregate": "sum", "rows_with": ["2020", "Kent"]},
            "2 rows, year 2020",
        ),
        (
            {"measures": ["sales"], "change": "growth", "period": "year"},
            "4 rows, quarter 2023-Q4 to 2024-Q1",
        ),
        ({"measures": ["sheep"]}, None),
    ],
)
async def test_a_computed_result_says_over_how_many_rows_and_which_periods(
    arguments: dict[str, Any], over: str | None
) -> None:
    found = await analyze(**arguments)

    assert found.get("computed_over") == over


@pytest.mark.parametrize(
    ("cells", "total", "gap"),
    [
        (
            ["1200", "900", "n/a"],
            2100,
            "no number in 1 of 3 cells (not in any figure): line 4 'n/a'",
        ),
        (["-", "900", "90"], 990, "no number in 1 of 3 cells (not in any figure): line 2 '-'"),
        (["12%", "9%"], 21, "its numbers are in %"),
        (["", "1.5", "$900", "7"], 908.5, "its numbers are in $; 2 cells without it (counted)"),
        (
            ["5", "6", "closed"],
            11,
            "no number in 1 of 3 cells (not in any figure): line 4 'closed'",
        ),
        (["5", "6 kg", "7"], 12, "no number in 1 of 3 cells (not in any figure): line 3 '6 kg'"),
        (["5", "-6", "7", "8", "9", "10"], 33, "below zero, unlike the others (counted)"),
    ],
)
@pytest.mark.parametrize("engine", ["material", "file", "sqlite"])
async def test_a_column_is_computed_without_the_cells_that_hold_no_number(
    cells, total, gap, engine, tmp_path
) -> None:
    text = "firm,staff,made\n" + "".join(f"F,{n},{cell}\n" for n, cell in enumerate(cells))
    (tmp_path / "a.csv").write_text(text)
    sqlite3.connect(tmp_path / "empty.db").close()
    settings = {
        "material": ToolSettings(),
        "file": ToolSettings(sql_url=str(tmp_path / "a.csv")),
        "sqlite": ToolSettings(sql_url=f"sqlite:///{tmp_path / 'empty.db'}"),
    }[engine]
    materials = {} if engine == "file" else {"a.csv": text}

    found = await analyze(settings, measures=["made"], aggregate="sum", materials=materials)
    other = await analyze(settings, measures=["staff"], aggregate="sum", materials=materials)

    assert found["rows"] == [[total]]
    assert any(each.startswith(f"a.csv: made: {gap}") for each in found["gaps"])
    assert "gaps" not in other


async def test_rows_that_repeat_an_earlier_one_are_named_and_count_unless_dropped() -> None:
    materials = {"a.csv": "shop,sales\nA,1\nB,2\nA,1\nA,1\n"}

    counted = await analyze(measures=["sales"], aggregate="sum", materials=materials)
    dropped = await analyze(
        measures=["sales"], aggregate="sum", doubles="drop", materials=materials
    )

    assert (counted["rows"], dropped["rows"]) == ([[5]], [[3]])
    assert counted["gaps"] == ["a.csv: 2 rows repeat an earlier one (counted): line 4, line 5"]
    assert dropped["gaps"] == ["a.csv: 2 rows repeat an earlier one (left out): line 4, line 5"]


async def test_in_a_large_file_what_is_unusual_is_counted(tmp_path) -> None:
    rows = "".join(f"shop {n:040},{n}\n" for n in range(25_000))
    (tmp_path / "a.csv").write_text(f"shop,sales\n{rows}A,n/a\nB,\nC,-5\nD,2.5\nD,2.5\n")
    settings = ToolSettings(sql_url=str(tmp_path / "a.csv"))

    found = await analyze(settings, measures=["sales"], aggregate="sum", materials={})

    assert found["rows"] == [[sum(range(25_000))]]
    assert found["gaps"] == [
        "a.csv: 1 row repeats an earlier one (counted)",
        "a.csv: sales: no number in 2 of 25,005 cells (not in any figure)",
        "a.csv: sales: below zero, unlike the others (counted)",
    ]


async def test_a_column_of_several_units_is_not_computed_and_says_which() -> None:
    materials = {"a.csv": "shop,weight\nA,12 kg\nB,300 g\nC,5 kg\n"}

    with pytest.raises(ToolRefused, match="several units and is not computed: kg in 2 cells, g in"):
        await analyze(measures=["weight"], aggregate="sum", materials=materials)


async def test_a_day_that_is_not_in_the_calendar_is_named() -> None:
    materials = {"a.csv": "day,sales\n2025-02-28,1\n2025-02-30,2\n"}

    found = await analyze(measures=["sales"], materials=materials)

    assert found["gaps"] == ["a.csv: day: these are no days of the calendar: line 3 '2025-02-30'"]


async def test_a_text_among_the_numbers_of_a_database_counts_as_none_and_is_named(tmp_path) -> None:
    base = sqlite3.connect(tmp_path / "a.db")
    base.execute("CREATE TABLE sales (shop TEXT, amount NUMERIC)")
    rows = [("A", 3)] * 250 + [("B", "n/a"), ("B", "2.5.1")]
    base.executemany("INSERT INTO sales VALUES (?, ?)", rows)
    base.commit()
    settings = ToolSettings(sql_url=str(tmp_path / "a.db"))

    found = await analyze(settings, measures=["amount"], aggregate="average", materials={})

    assert found["rows"] == [[3]]
    assert found["gaps"] == [
        "sales: amount: no number in 2 cells (not in any figure): 'n/a', '2.5.1'"
    ]
