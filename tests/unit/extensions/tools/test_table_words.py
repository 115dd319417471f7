"""The forms of words, compounds and pronouns in questions about a table, in English and German."""

import pytest

from extensions.tools.tables.question_words import split_name
from tests.unit.extensions.tools.test_table_questions import analyze

SHOWS = (
    "date,play,seats,tickets_sold,revenue_eur\n"
    "2025-09-12,Storm,180,176,3872\n2025-09-13,Storm,180,150,3170\n"
    "2025-10-03,Moon,60,60,840\n2025-10-18,Moon,60,47,658\n2025-10-25,Snow,180,180,2160\n"
)
LINES = (
    "line,month,passengers,km\n7,April,5200,4100\n7,May,6100,4300\n"
    "12,April,7400,6900\n12,May,7000,7100\n31,April,2100,2500\n31,May,2600,2600\n"
)
TRIPS = "month,line,passengers\nMay,7,80\nJune,7,90\nMay,12,140\nJune,12,150\n"
BUSES = (
    "Wagen;Kennzeichen;Antrieb;Kilometerstand;Nächste HU\n"
    "101;A 1;Diesel;612000;12.03.2026\n104;A 4;Diesel;488000;30.06.2026\n"
    "108;A 8;Elektro;120000;15.01.2026\n"
)
SHIFTS = "Name;Stunden\nAnke;4,5\nTom;7,0\nAnke;5,0\n"
WHEELS = "Radnummer;Modell;Station\nR1;Tour;Hafen\nR2;Load;Hafen\nR3;Tour;Bahnhof\n"


def find(table: str, question: str, language: str = "en", name: str = "table.csv"):
    return analyze({name: table}, question=question, language=language)


@pytest.mark.parametrize(
    ("table", "question", "figure"),
    [
        (SHOWS, "How many tickets did we sell in October 2025?", "**287**"),
        (SHOWS, "Which play sold the most tickets?", "**Storm**: **326**"),
        (SHOWS, "How many tickets were sold on average?", "**122.6**"),
        (LINES, "Which line had the most passengers in April?", "**12**: **7,400**"),
        (SHOWS, "Which play has the largest revenue?", "**Storm**: **3,872 EUR**"),
        (LINES, "Which line has the highest km?", "**12**: **7,100**"),
        (LINES, "What is the average number of passengers per line?", "| 7 | 5,650 |"),
        (TRIPS, "Show me the passengers per line in June", "| 12 | 150 |"),
        (LINES, "Total passengers per km", "**1.1**"),
    ],
)
def test_words_are_known_by_their_forms_and_numbers_that_name_things_as_names(
    table, question, figure
):
    found = find(table, question)

    assert figure in found["summary"] and found["is_complete"], found


@pytest.mark.parametrize(
    ("table", "question", "figure"),
    [
        (BUSES, "Welcher Wagen hat den höchsten Kilometerstand?", "**101**: **612.000**"),
        (BUSES, "Wann ist die nächste HU von Wagen 104?", "**2026-06-30**"),
        (WHEELS, "Wie viele Räder hat die Station Hafen?", "**2**"),
        (WHEELS, "Welche Räder sind am Bahnhof?", "R3"),
    ],
)
def test_german_plurals_and_umlauts_are_known(table, question, figure):
    found = find(table, question, "de", "raeder.csv")

    assert figure in found["summary"] and found["is_complete"], found


@pytest.mark.parametrize(
    ("table", "question", "word"),
    [
        (SHOWS, "Which plays were sold out?", "“out”"),
        (SHIFTS, "Wie viele Stunden hat jeder insgesamt?", "“jeder”"),
        (SHIFTS, "Wie viele Stunden hat jede Person insgesamt?", "“Person”"),
    ],
)
def test_a_word_that_changes_what_is_asked_is_a_gap_without_a_figure(table, question, word):
    found = find(table, question, "de" if "Stunden" in question else "en")

    assert any(word in gap for gap in found["gaps"]) and not found["summary"]


def test_the_lowest_amount_of_a_row_has_the_lowest_sum_beside_it():
    summary = find(SHOWS, "Which play had the lowest revenue?")["summary"]

    assert summary.startswith("Lowest revenue in a single row: **Moon**: **658 EUR**.")
    assert "Lowest sum of revenue: **Moon**: **1,498 EUR**." in summary


def test_the_largest_area_of_a_row_has_the_largest_sum_beside_it_and_a_height_has_not():
    plots = "plot,section,area_m2,hedge_cm\nA,North,90,110\nB,South,60,80\nC,South,70,90\n"

    area = find(plots, "Which section has the largest area?")
    hedge = find(plots, "Which section has the highest hedge?")

    assert "Highest area in a single row: **North**: **90 m2**." in area["summary"]
    assert "Highest sum of area: **South**: **130 m2**." in area["summary"]
    assert "sum" not in hedge["summary"]


def test_a_name_is_split_at_its_capitals_and_not_at_an_umlaut():
    assert split_name("Nächste HU") == ("nächste", "hu")
    assert split_name("HTMLSeite_Größe") == ("html", "seite", "größe")


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("Which jobs are not for Ada or Bo?", "**13**"),
        ("How many kinds came in before March?", "**2** (rows: 3)"),
        ("Durchschnittsgehalt pro Team", "| A | 150 |"),
    ],
)
def test_a_denial_holds_for_both_names_and_a_number_of_kinds_says_its_rows(question, figure):
    jobs = (
        "job,customer,kind,received,gehalt,team\n11,Ada,phone,2025-01-03,100,A\n"
        "12,Bo,phone,2025-02-03,200,A\n13,Cy,tablet,2025-02-09,300,B\n14,Ada,laptop,2025-04-01,50,B\n"
    )
    found = find(jobs, question)

    assert figure in found["summary"] and found["is_complete"], found


@pytest.mark.parametrize(
    "question", ["Which tenants are behind with their rent?", "What is Ida Berg's phone number?"]
)
def test_a_list_of_all_rows_is_no_answer_to_which_ones(question):
    found = find("tenant,rent_gbp,device\nAda,900,phone\nIda Berg,1100,phone\n", question)

    assert not found["is_complete"] and "900" not in found["summary"]


@pytest.mark.parametrize(
    ("table", "figure"),
    [
        ("id,weight_g\nA1,1000\nA2,3000\n", "**1**"),
        ("id,fee_gbp,weight_g\nA1,9,1\nA2,4,1\n", "**1**"),
    ],
)
def test_pounds_are_money_where_the_table_has_some_and_else_a_weight(table, figure):
    assert figure in find(table, "How many rows have more than 5 pounds?")["summary"]


def test_a_note_on_empty_cells_is_german_and_only_on_the_columns_that_were_used():
    rows = "name;number of rooms;fee\nA;k.A.;1,5\nB;3;2,5\nC;4;x\n"

    said = find(rows, "Wie hoch ist fee insgesamt?", "de")["summary"]

    assert "fee: keine Zahl in 1 von 3 Zellen (in keiner Summe): Zeile 4" in said
    assert "number of rooms: " not in said


CLASSES = "class,teacher,weekday,fee_eur\nPottery,Ann Bell,Monday,90\nGlass,Tom Frey,Friday,120\n"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("On which day is Pottery?", "**Monday**"),
        ("When is Glass?", "**Friday**"),
        ("Who teaches Glass?", "**Tom Frey**"),
        ("What does Pottery cost?", "**90 EUR**"),
        ("Which class is the most expensive?", "**Glass**"),
    ],
)
def test_words_for_days_money_and_who_does_it_find_their_columns(question, answer):
    found = find(CLASSES, question)

    assert answer in found["summary"] and found["is_complete"], found


def test_german_words_for_money_find_the_only_column_of_money():
    found = find(CLASSES, "Welche class kostet am wenigsten?", "de")

    assert "**Pottery**" in found["summary"] and found["is_complete"], found


def test_a_table_without_rows_is_said_to_be_empty():
    found = find("month,income\n", "What is the total income?")

    assert found["gaps"] == ["table.csv has column names and no rows"]


MEDICINES = (
    "medicine,kind,quantity,unit,unit_price_eur\nPropofol 10 mg/ml,narcotic,12,bottle,18.5\n"
    "Rabies vaccine,vaccine,40,dose,6.2\nDHPP vaccine,vaccine,60,dose,9.1\n"
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many doses of vaccine do we have?", "**100**"),
        ("How many bottles are there?", "**12**"),
        ("What does Propofol cost?", "**18.50 EUR**"),
    ],
)
def test_a_counted_unit_adds_up_the_quantity_and_a_name_may_be_the_beginning_of_a_cell(
    question, answer
):
    found = find(MEDICINES, question)

    assert answer in found["summary"] and found["is_complete"], found


def test_a_superlative_beside_a_group_is_no_number_of_rows():
    found = find(MEDICINES, "What is the most expensive medicine per unit?")

    assert found["summary"] == "" and not found["is_complete"]


JOBS = (
    "job,customer,repair,mechanic,brought,fee_eur,paid\nJ1,Ada Berg,brakes,Dev,2025-01-03,40,no\n"
    "J2,Jon Ek,wheel,Sian,2025-01-04,20,yes\nJ3,Ada Berg,chain,Dev,2025-02-01,15,yes\n"
)


def test_who_did_something_is_not_what_was_done():
    assert not find(JOBS, "Who repaired Jon Ek's bike?")["is_complete"]


@pytest.mark.parametrize("question", ["Which jobs are not paid yet?", "Which jobs are not paid?"])
def test_yet_changes_nothing_of_what_is_denied(question):
    found = find(JOBS, question)

    assert "J1" in found["summary"] and "J3" not in found["summary"] and found["is_complete"]


def test_what_is_denied_does_not_deny_the_rows_of_the_question_before():
    asked = "Which customer has the highest fee? How many of her jobs are not paid?"

    assert "customer = Ada Berg and paid = no" in find(JOBS, asked)["summary"]


def test_a_thing_that_the_file_is_named_after_is_no_column_of_another_form():
    rows = (
        "product,delivered,cost_eur\nHoney,2025-01-02,90\nMilk,2025-01-03,60\nJam,2025-01-03,50\n"
    )

    found = find(rows, "Which delivery cost the most?", name="deliveries.csv")

    assert "**Honey" in found["summary"] and found["is_complete"], found


def test_who_is_answered_with_names_beside_the_number_of_the_row():
    assert "Ada Berg" in find(JOBS, "Who came on 3 January 2025?")["summary"]


def test_two_rows_that_are_compared_by_an_amount_are_a_gap():
    rows = "name;gewicht_kg;beitrag_eur\nThomas Lange;80;12\nStefan Roth;72;15\n"

    found = find(rows, "Wie viel Kilo wiegt Thomas Lange mehr als Stefan Roth?", "de")

    assert not found["is_complete"]


@pytest.mark.parametrize(
    ("question", "is_complete"),
    [
        ("How many jobs are paid? How much was the total fee in January 2025?", True),
        ("How many jobs came in January 2025? What is the total fee?", False),
        ("What is the total fee, and how many jobs came in January 2025?", False),
    ],
)
def test_a_period_may_be_meant_for_the_questions_after_it_and_for_those_of_its_sentence(
    question, is_complete
):
    assert find(JOBS, question)["is_complete"] == is_complete


LOANS = (
    "loan_no,tool,borrower,carrier,lent_on,returned_on,days\n1,Spade,Ada Berg,UPS,2025-04-01,,\n"
    "2,Spade,Jon Ek,DHL,2025-04-03,2025-04-05,2\n3,Rake,Ida Holm,UPS,2025-04-06,2025-04-10,4\n"
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who has not returned the spade?", "Ada Berg"),
        ("Who did not borrow a spade?", ""),
        ("What is the average number of tools per carrier?", ""),
        ("How many tools were not lent by UPS?", "**1**"),
        ("What is the average number of days the spade was lent?", "**2**"),
        ("Which loans took more than 3 days?", "Rake"),
    ],
)
def test_a_denied_verb_is_no_denied_cell_and_a_verb_no_group(question, answer):
    found = find(LOANS, question, name="loans.csv")

    assert answer in found["summary"] if answer else found["summary"] == ""
    assert found["is_complete"] == bool(answer), found
