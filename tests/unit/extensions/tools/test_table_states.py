"""States of rows: what a column with empty cells says of things and people."""

import pytest

from extensions.tools.sql.tables import format_row
from tests.unit.extensions.tools.test_table_questions import analyze
from tests.unit.extensions.tools.test_table_words import LOANS, find

LENT = (
    "object,room,lent_to,until,note\nClock,Hall,Gallery,2025-09-30,\nHelmet,Attic,,,old wood\n"
    "Loom,Hall,,,International Museum Day\nChest,Attic,City,2025-11-30,old wood\n"
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many objects are lent?", "**2**"),
        ("Which objects are lent, to whom and until when?", "| Chest | City | 2025-11-30 |"),
        ("Which objects are not lent?", "| Helmet |"),
        ("Which objects in the Hall have a note?", "Loom"),
        ("How many objects are lent to the Gallery?", "**1**"),
    ],
)
def test_a_column_with_empty_cells_says_what_rows_are_or_have(question, answer):
    found = find(LENT, question)

    assert answer in found["summary"] and found["is_complete"], found


@pytest.mark.parametrize(
    ("fees", "count"), [("5;;;7", "**2**"), ("5;0;;7", "**1**"), ("5;3;2;7", "**0**")]
)
def test_no_amount_is_an_empty_cell_where_no_cell_is_zero(fees, count):
    names = zip("abcd", fees.split(";"), strict=True)
    table = "event,fee\n" + "".join(f"{name},{fee}\n" for name, fee in names)

    found = find(table, "How many events had no fee?")

    assert count in found["summary"] and found["is_complete"], found


CALLS = "call,kind,hurt\nBarn,fire,2\nCat,rescue,0\nFlood,help,0\n"


@pytest.mark.parametrize(
    "question", ["Which calls were no fire?", "Welche call waren kein fire?", "calls, not fire"]
)
def test_a_denial_before_a_cell_leaves_out_its_rows(question):
    found = find(CALLS, question, name="calls.csv")

    assert "| Flood |" in found["summary"] and "| Barn |" not in found["summary"], found


def test_at_which_ones_something_was_is_no_list_of_all():
    found = find(CALLS, "At which calls were there hurt?", name="calls.csv")

    assert not found["is_complete"] and not found["summary"]


def test_of_times_the_named_one_is_meant_without_its_preposition():
    assert "returned_on" in find(LOANS, "Loans returned in April?", name="loans.csv")["summary"]


def test_a_count_that_leaves_a_named_column_out_is_no_answer():
    found = find(LENT, "How many objects until note room?")

    assert not found["summary"] and not found["is_complete"]


def test_where_nothing_is_shown_no_gap_says_what_was_computed():
    gaps = find(LENT, "Which objects are lent, to whom and until when, at the moment?")["gaps"]

    assert gaps and not [gap for gap in gaps if "was computed" in gap or "is shown" in gap]


def test_a_word_is_not_taken_to_mean_a_phrase_of_another_one():
    found = find(LENT, "How many objects came from abroad?")

    assert "Museum Day" not in f"{found['summary']}{found['gaps']}"


def test_a_word_of_another_table_is_named_once():
    tables = {"objects.csv": LENT, "visits.csv": "date,visitors\n2025-05-01,12\n2025-05-02,9\n"}

    gaps = analyze(tables, question="Which objects in the Hall did visitors photograph?")["gaps"]

    assert sum("“visitors”" in gap for gap in gaps) == 1


BOXES = (
    "no,name,price per week,delivery day,joined,paused since,allergies\n"
    "1,Ann Berg,14.5,Tuesday,2020-05-01,2026-09-01,celery\n"
    "2,Bea Ho,19.5,Tuesday,2021-06-02,,none\n3,Cem Aktas,14.5,Friday,2022-07-03,,celery; mustard\n"
    "4,Dora Lind,26,Tuesday,2022-08-04,2026-10-05,\n"
)
ORDERS = (
    "date,product,amount,unit,price,paid\n2026-10-01,Eggs,30,pieces,12,yes\n"
    "2026-10-02,Leeks,3,kg,10.5,no\n2026-11-03,Eggs,12,pieces,5,no\n"
)


@pytest.mark.parametrize(
    ("table", "question", "figure"),
    [
        (BOXES, "How many paused customers are there?", "**2**"),
        (BOXES, "How many customers on Friday are paused?", ""),
        (BOXES, "How many customers have an allergy?", "**2**"),
        (BOXES, "Which day has the most customers?", "**Tuesday**: **3**"),
        (ORDERS, "How many orders do we have?", "**3**"),
        (ORDERS, "How many orders are not paid?", "**2**"),
        (ORDERS, "What is the total amount of eggs?", "**42**"),
    ],
)
def test_things_are_counted_by_their_rows_and_states(table, question, figure):
    found = find(table, question, name="orders.csv" if table is ORDERS else "customers.csv")

    assert figure in found["summary"], found


def test_a_week_is_no_price_per_week():
    found = find(BOXES, "Who has been paused for more than eight weeks?", name="customers.csv")

    assert not found["summary"] and not found["is_complete"]


@pytest.mark.parametrize("question", ["How many have celery?", "How many do not have celery?"])
def test_a_cell_that_others_have_in_a_list_is_a_doubt(question):
    gaps = find(BOXES, question, name="customers.csv")["gaps"]

    assert "other rows of allergies have 'celery' beside something else: 1" in gaps


def test_questions_of_one_request_are_read_one_by_one():
    asked = "Which customers are paused and since when? And how many are on Tuesday?"

    found = find(BOXES, asked, name="customers.csv")

    assert "| Dora Lind | 2026-10-05 |" in found["summary"]
    assert "**3**" in found["summary"]


def test_an_empty_cell_is_left_out_of_a_rows_text():
    assert format_row(["name", "paid on", "eur"], ["Ann", None, 5]) == "name: Ann; eur: 5"


STAFF = (
    "Name,Team,Stunden,Elternzeit_seit,krank_seit\nAda Ott,Nord,30,,\nBea Ro,Nord,20,2025-01-07,\n"
    "Cem Aksoy,Süd,38,,2025-03-18\nDora Lenz,Süd,35,,\n"
)


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("Wie viele sind nicht krank?", "krank_seit ist leer): **3**"),
        ("Wie viele sind weder krank noch in Elternzeit?", "**2**"),
        ("Wer ist gerade krank?", "**Cem Aksoy**"),
    ],
)
def test_states_are_read_in_german(question, figure):
    found = find(STAFF, question, "de")

    assert figure in found["summary"], found


def test_who_did_it_is_not_in_a_row_without_a_person():
    hives = "hive,inspected\nHeather,2024-08-11\nBirch,2024-08-03\n"

    found = find(hives, "Who inspected Heather last?", name="hives.csv")

    assert not found["summary"] and not found["is_complete"]


def test_a_verb_after_i_is_no_column():
    visits = "day,make\n2025-03-01,Kemble\n2025-03-02,Yamaha\n2025-04-02,Yamaha\n"

    summary = find(visits, "How many visits did I make in March?", name="visits.csv")["summary"]

    assert summary.startswith("Number of rows (where month = March): **2**.")


GEAR = (
    "item,kind,price,lent to,fee per year\nQuad,boat,14900,,75\nErg,machine,900,Ada Ott,120\n"
    "Scull,boat,2500,Cem Aksoy,75\n"
)


@pytest.mark.parametrize(
    ("question", "figure"),
    [
        ("Who has the Erg?", "Ada Ott"),
        ("Which items have a price above 2000?", "| Scull |"),
        ("What is the average fee per year?", "**90**"),
        ("What are the total fees per year for each kind?", "| boat | 150 |"),
    ],
)
def test_a_fee_per_year_and_a_limit_that_looks_like_a_year_are_amounts(question, figure):
    found = find(GEAR, question, name="gear.csv")

    assert figure in found["summary"] and found["is_complete"], found


def test_who_has_it_is_a_gap_where_nobody_is_named():
    found = find(GEAR, "Who has the Quad?", name="gear.csv")

    assert "lent to: empty where item = Quad" in found["gaps"] and "14" not in found["summary"]
