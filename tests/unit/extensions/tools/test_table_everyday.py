"""Everyday wording: what people ask of the tables that they keep."""

import pytest

from nodes.text.request_parts import needs_earlier_request
from tests.unit.extensions.tools.test_table_questions import analyze
from tests.unit.extensions.tools.test_table_words import find

COACHES = (
    "number,name,kind,built,in_service,last_overhaul,seats,repair_gbp\n"
    "11,Primrose,carriage,1898,yes,2018-02-11,40,210.50\n"
    "13,Foxglove,carriage,1926,no,2009-10-05,56,640\n"
    "22,,wagon,1919,no,,,\n24,,wagon,1944,yes,2011-07-01,,115\n"
)
MEMBERS = (
    "name,voice,joined,birth_year,fee_eur,fee_paid,paid_on,rehearsals_missed\n"
    "Amsel,soprano,2011-10-04,1965,180,yes,2025-03-01,0\n"
    "Feller,alto,2018-03-13,1983,180,no,,2\nHauser,bass,2003-05-20,1949,180,yes,2025-03-28,2\n"
    "Sato,soprano,2024-01-16,1999,90,no,,7\nWilk,bass,2014-02-15,1971,180,yes,2024-12-20,3\n"
)
COURSES = (
    "course_id,course,trainer,locker\nC1,Rope,Aziz,12\nC2,Rope,Aziz,\nC3,Yoga,Aziz,7\nC4,Yoga,Finch,\n"
    "C5,Kids,Finch,3\n"
)
EXPENSES = (
    "date,category,item,amount_eur,reimbursed\n2025-02-11,printing,Flyers,86.40,yes\n"
    "2025-03-04,fees,Conductor,800,yes\n2025-03-27,printing,Posters,119.90,no\n"
    "2025-05-16,food,Snacks,,no\n"
)


@pytest.mark.parametrize(
    ("table", "question", "answer"),
    [
        (COACHES, "Which carriages are out of service?", "Foxglove"),
        (COACHES, "Which carriage was built first?", "**11, Primrose**: **1898**"),
        (COACHES, "Which rows are not in service?", "| 22 |  |"),
        (MEMBERS, "Who missed the most rehearsals?", "**Sato**: **7**"),
        (MEMBERS, "When did Hauser pay?", "**2025-03-28**"),
        (MEMBERS, "How many sopranos have not paid?", "**1**"),
        (EXPENSES, "How much did we spend on printing?", "**206.30 EUR**"),
        (EXPENSES, "How much did we spend in March?", "**919.90 EUR**"),
        (EXPENSES, "Which items have not been reimbursed?", "| Snacks |"),
        (EXPENSES, "Which items still need to be reimbursed?", "| Posters |"),
        (EXPENSES, "How much is the amount in total?", "**1,006.30 EUR**"),
        (COURSES, "How many entries have a locker?", "**3**"),
        (MEMBERS, "Which names have to pay?", "| Feller |"),
        (EXPENSES, "Sum of amount by category", "| fees | 800.00 |"),
    ],
)
def test_an_everyday_question_is_answered(table, question, answer):
    found = find(table, question)

    assert answer in found["summary"] and found["is_complete"], found


@pytest.mark.parametrize(
    ("table", "question"),
    [
        (COACHES, "What is our oldest carriage?"),
        (COACHES, "Which carriages are out of order?"),
        (MEMBERS, "How much is the fee for students?"),
        (MEMBERS, "How much is the fee?"),
        (MEMBERS, "How much do members still owe?"),
        (MEMBERS, "How many members have paid since March?"),
    ],
)
def test_what_may_mean_another_thing_is_not_complete(table, question):
    assert not find(table, question)["is_complete"]


def test_a_year_has_no_mark_between_thousands():
    assert "**1949**" in find(MEMBERS, "What is the birth year of Hauser?")["summary"]


def test_an_empty_amount_is_only_noted_where_its_row_is_left_out():
    note = "(not in any figure)"

    assert note not in find(EXPENSES, "Sum of amount for printing")["summary"]
    assert note in find(EXPENSES, "Sum of amount")["summary"]


def test_rows_without_a_group_are_said_to_be_left_out():
    table = "builder,cost\nHunslet,5\nRuston,6\nHunslet,2\n,7\n"

    assert "without builder, left out: 1" in find(table, "Sum of cost per builder")["summary"]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many courses does Aziz have?", "**3**"),
        ("Which trainer has the most courses?", "**Aziz**: **3**"),
        ("How many different courses are there?", "**3**"),
    ],
)
def test_what_a_table_is_named_after_are_its_rows(question, answer):
    found = find(COURSES, question, name="courses.csv")

    assert answer in found["summary"] and found["is_complete"], found


def test_those_are_the_rows_of_the_question_before():
    found = analyze(
        {"members.csv": MEMBERS},
        question="How many of those are sopranos?",
        after="Which members have not paid the fee?",
    )

    assert "**1**" in found["summary"] and "fee_paid = no" in found["summary"]


@pytest.mark.parametrize(
    ("question", "needs"),
    [
        ("How many people are in those groups?", True),
        ("Which of these are schools?", True),
        ("List those who have not paid", False),
        ("Which of these days is free?", False),
        ("How much is that in total?", True),
        ("How much is that in March?", True),
        ("Which tenor is that?", True),
        ("Who paid that fee?", False),
    ],
)
def test_those_mean_what_is_before_unless_they_are_named(question, needs):
    assert needs_earlier_request(question) is needs
