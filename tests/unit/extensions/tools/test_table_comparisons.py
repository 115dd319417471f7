"""Comparisons with a number in a question about a table: its column, its unit, its direction."""

from typing import Any

import pytest

from tests.unit.extensions.tools.test_table_questions import analyze

MASTS = (
    "mast,length_m,weight_kg,price_eur\n"
    "Ash,9,80,1200\nFir,14,95,2100\nOak,11,140,1700\nPine,16,120,900\n"
)
HALLS = "hall,width_m,range_km\nOld,12,3\nNew,20,8\n"


def ask(question: str, table: str = MASTS) -> dict[str, Any]:
    return analyze({"stock.csv": table}, question=question)


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("Which masts are longer than 10 metres?", "length_m > 10"),
        ("How many masts are shorter than 12 m?", "length_m < 12"),
        ("Which masts are heavier than 100 kilograms?", "weight_kg > 100"),
        ("Which masts have a price of more than 1,000 EUR?", "price_eur > 1000"),
        ("Masts with a length of at least 11 m", "length_m >= 11"),
        ("Welcher mast hat eine weight über 94,5 kg?", "weight_kg > 94.5"),
        ("Which masts are larger than 15 m?", "length_m > 15"),
        ("Welcher mast hat mehr als 100 kg?", "weight_kg > 100"),
        ("Which masts are 11 m long or longer?", "length_m >= 11"),
        ("Which masts are up to 11 m long?", "length_m <= 11"),
        ("Which masts are between 9 and 12 m long?", "length_m >= 9 and length_m <= 12"),
        ("How many masts weigh between 90 and 130 kg?", "weight_kg >= 90 and weight_kg <= 130"),
        ("Which masts are not longer than 11 m?", "length_m <= 11"),
        ("How many masts don't weigh more than 95 kg?", "weight_kg <= 95"),
        ("How many masts don't have a length of more than 12 m?", "length_m <= 12"),
        ("What is the average price of masts over 100 kg?", "weight_kg > 100"),
        ("Which halls are 12 m wide or less?", "width_m <= 12"),
    ],
)
def test_a_number_with_a_unit_is_compared_with_the_column_of_that_unit(question, condition):
    found = ask(question, HALLS if "halls" in question else MASTS)

    assert f"where {condition}" in found["summary"] or f"mit {condition}" in found["summary"]
    assert found["is_complete"]


@pytest.mark.parametrize(
    ("question", "gap"),
    [
        ("Which halls are longer than 15 m?", "“longer” was taken to mean width"),
        ("Which halls are higher than 15 m?", "“higher” was taken to mean width"),
    ],
)
def test_a_column_that_has_only_the_unit_of_what_is_compared_is_named_as_a_doubt(question, gap):
    found = ask(question, HALLS)

    assert not found["is_complete"]
    assert any(each.startswith(gap) for each in found["gaps"])


@pytest.mark.parametrize(
    "question",
    [
        "Which masts have a length shinier than 10?",
        "Which halls have a range farther than 5 km?",
        "Which masts have a length of more than 30 EUR?",
        "How many masts have a length of more than 90 kg?",
        "How many masts have a length of about 10 m?",
        "Which masts have a price of less than 1000 EUR or more than 2000 EUR?",
    ],
)
def test_no_figure_is_shown_for_a_comparison_of_unknown_direction_or_another_unit(question):
    found = ask(question, HALLS if "halls" in question else MASTS)

    assert not found["summary"] and not found["is_complete"]
    assert any("it is unclear how" in each for each in found["gaps"])


def test_no_answer_is_whole_whose_number_may_be_two():
    assert not ask("How many masts have a price of more than 1.000 EUR?")["is_complete"]


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("Which masts have a length of more than 30 feet?", "length_m > 9.144"),
        ("Which masts are heavier than 0.1 tonnes?", "weight_kg > 100"),
        ("How many masts are longer than 1,200 cm?", "length_m > 12"),
    ],
)
def test_a_number_in_another_unit_of_its_column_is_converted(question, condition):
    found = ask(question)

    assert f"where {condition}" in found["summary"]
    assert found["is_complete"]


@pytest.mark.parametrize(
    ("question", "conditions"),
    [
        ("How many boxes have a width and depth over 30 cm?", "width_cm > 30 and depth_cm > 30"),
        ("Which boxes have a width over 30 cm and a depth under 50 cm?", "depth_cm < 50"),
    ],
)
def test_two_columns_share_a_limit_unless_each_has_its_own(question, conditions):
    boxes = "box,width_cm,depth_cm\nA,20,40\nB,40,60\nC,35,32\n"

    found = ask(question, boxes)

    assert "width_cm > 30" in found["summary"] and conditions.split(" and ")[-1] in found["summary"]
    assert found["is_complete"]


@pytest.mark.parametrize(
    "question",
    [
        "How many masts are longer than 10 m or heavier than 100 kg?",
        "How many masts with a price are over 10 m?",
        "How many masts are neither Ash nor Fir or over 10 m?",
    ],
)
def test_no_figure_is_shown_for_an_alternative_of_two_columns_or_a_condition_without_a_limit(
    question,
):
    found = ask(question)

    assert not found["summary"] and not found["is_complete"]


def test_kinds_that_or_joins_are_counted_together():
    paths = "path,grade,distance_km\nA,easy,4\nB,medium,7\nC,hard,9\nD,easy,12\n"

    found = ask("How many easy or medium paths are under 8 km?", paths)

    assert "**2**" in found["summary"] and found["is_complete"]


def test_a_noun_that_no_column_has_is_not_taken_for_the_number_of_a_row():
    trips = "trip_id,skipper,distance_km\nT1,Ada,20\nT2,Bo,30\nT3,Ada,15\n"

    found = ask("Which club has the highest total distance?", trips)

    assert not found["summary"]
    assert any("“club”" in each for each in found["gaps"])


def test_rows_without_a_date_are_found_beside_those_before_one():
    boats = "boat,last_check\nA,2023-05-01\nB,\nC,2025-02-03\n"

    found = ask("Which boats have no last check, or were last checked before 2024?", boats)

    assert "last_check is empty" in found["summary"]
    assert "B" in found["summary"].partition("\n")[0]


VISITS = (
    "patient,age,day,insured,fee_eur\n"
    "Ash,41,2024-03-04,yes,30\nBor,70,2024-04-20,no,80\nCai,29,2024-05-02,no,50\n"
)


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("How many patients came before April 21?", "**2**"),
        ("How many patients came between 1 April and 2 May 2024?", "**2**"),
        ("How many patients came after the 20th of April 2024?", "**1**"),
        ("Wie viele Patienten kamen nach dem 4. März 2024?", "**2**"),
        ("How many patients are non-insured?", "**2**"),
        ("What percent of the patients are not insured?", "**66.67 percent**"),
    ],
)
def test_days_and_denied_answers_are_conditions(question: str, figure: str):
    assert figure in ask(question, VISITS)["summary"]


@pytest.mark.parametrize(
    "question",
    [
        "Who is the oldest patient?",
        "What are the total fees of the uninsured patients?",
        "How many patients have a fee over 40 hl?",
        "How many patients have an age of 41 or better?",
    ],
)
def test_no_figure_is_shown_of_other_rows_than_those_that_are_meant(question: str):
    found = ask(question, VISITS)

    assert "**" not in found["summary"] and not found["is_complete"]


@pytest.mark.parametrize(
    ("question", "masts"),
    [
        ("Which masts weigh more than average?", ["Oak", "Pine"]),
        ("Which masts have a price below average?", ["Ash", "Pine"]),
        ("Which masts have an above average length?", ["Fir", "Pine"]),
        ("Which masts are not heavier than the average?", ["Ash", "Fir"]),
    ],
)
def test_the_average_of_a_column_is_a_limit(question: str, masts: list[str]):
    found = ask(question)

    assert [row[0] for row in found["rows"]] == masts
    assert "average" in found["summary"]


def test_a_unit_after_a_number_is_no_column_of_that_unit():
    servers = "server,disk_tb,memory_gb\nA,2,64\nB,8,128\nC,6,32\n"

    assert "**2**" in ask("How many servers have disks bigger than 5000 GB?", servers)["summary"]


FLEET = (
    "plate,vehicle_type,fuel,payload_kg,price_eur,shift_min\n"
    "A1,van,diesel,900,28000,45\nB2,van,electric,800,36000,90\nC3,car,diesel,,41000,60\n"
    "D4,truck,diesel,7000,90000,150\n"
)


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("How many diesel vehicles do we have?", "**3**"),
        ("How many vehicles have a price between 30k and 45k EUR?", "**2**"),
        ("How many vehicles have a shift longer than an hour?", "**2**"),
        ("How many vehicles have no payload value?", "**1**"),
        ("How many vehicles are missing their payload?", "**1**"),
        ("How much payload is there in vehicles with diesel?", "**7,900"),
    ],
)
def test_what_is_counted_is_the_rows_whose_kind_a_column_says(question: str, figure: str):
    found = ask(question, FLEET)

    assert figure in found["summary"] and found["is_complete"]


def test_areas_of_two_words_and_plurals_of_cells_are_read():
    rooms = "room,kind,area_m2\nA,laboratory,80\nB,laboratory,60\nC,office,90\n"

    found = ask("How many laboratories have an area over 70 square metres?", rooms)

    assert "kind = laboratory and area_m2 > 70" in found["summary"] and "**1**" in found["summary"]


def test_a_short_word_is_not_the_beginning_of_a_column():
    assert "payload" not in ask("How much do we pay for insurance?", FLEET)["summary"]


@pytest.mark.parametrize(
    ("question", "mast"),
    [("Which mast is the longest?", "Pine"), ("Which is the heaviest mast under 12 m?", "Oak")],
)
def test_a_superlative_is_the_end_of_the_column_that_it_means_and_says_so(question: str, mast: str):
    found = ask(question)

    assert f"**{mast}**: " in found["summary"] and "was taken to mean" in found["summary"]
    assert found["is_complete"]  # no other column is of that kind


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How many stones are cheaper than $300?", ""),
        ("How many stones have a price under $300?", ""),
        ("How many stones are cheaper than €300?", "**1**"),
        ("How many stones cost less than 300€?", "**1**"),
        ("How many stones cost between €250 and €500?", "**1**"),
        ("How many stones weigh between 5 kg and 15 kg?", "**1**"),
        ("How many stones cost more than 20 EUR per kg?", ""),
    ],
)
def test_money_is_of_the_only_column_of_money_and_of_its_currency(question: str, rows: str):
    stones = "stone,price_eur,weight_kg\nbasalt,400,10\nslate,200,20\n"

    found = ask(question, stones)

    assert rows in found["summary"] if rows else found["summary"] == ""
    assert found["is_complete"] == bool(rows)


HIRES = (
    "hire_no,day,bike_id,damage\nH1,2025-05-01,B1,\nH2,2025-05-02,B2,scratch\n"
    "H3,2025-05-03,B1,\nH4,2025-05-04,B3,dent\nH5,2025-05-05,B1,\n"
)


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("Which bike is the oldest?", HIRES),
        ("What is its price?", MASTS),
        ("What is the average weight there?", MASTS),
    ],
)
def test_no_figure_of_all_rows_stands_for_one_of_some(question: str, table: str):
    found = ask(question, table)

    assert "**" not in found["summary"] and not found["is_complete"]


def test_the_number_of_different_cells_is_doubted_where_nearly_each_row_has_its_own():
    repairs = "no,item,kind,state\n1,lamp,a,mended\n2,lamp,a,mended\n3,fan,a,mended\n" + "".join(
        f"{at},thing {at},b,open\n" for at in range(4, 12)
    )

    assert not ask("How many items are mended?", repairs)["is_complete"]
    assert "**2**" in ask("How many different items are mended?", repairs)["summary"]
    share = ask("What percentage of the items of kind b are open?", repairs)
    assert "**100 percent**" in share["summary"]


def test_of_two_tables_the_one_named_like_what_is_counted_answers():
    bikes = "bike_id,station\nB1,Dock\nB2,Dock\nB3,Mill\n"
    hires = "hire_no,bike_id,station\nH1,B1,Dock\nH2,B1,Dock\nH3,B2,Dock\nH4,B3,Mill\n"

    found = analyze(
        {"bikes.csv": bikes, "hires.csv": hires}, question="How many bikes are at Dock?"
    )

    assert "**2**" in found["summary"] and found["is_complete"]


def test_which_has_the_most_rows_is_a_count_where_each_row_has_its_number():
    assert "**B1**: **3**" in ask("Which bike_id has the most hires?", HIRES)["summary"]


def test_a_unit_that_a_column_of_a_larger_one_may_be_meant_by_is_named_as_a_doubt():
    runs = "run,distance_km,ascent_m\nA,10,60\nB,5,20\nC,21,300\n"

    assert not ask("How many runs have less than 8000 m?", runs)["is_complete"]
    assert ask("How many runs have more than 8 km?", runs)["is_complete"]
