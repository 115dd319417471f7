"""Plants one fault in a claim of a table; what it makes is checked to be really false."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from tests.benchmarks.proof.claim_faults import alter_digit, replace_surface
from tests.benchmarks.proof.documents import Table
from tests.benchmarks.proof.figures import format_number, has_value, may_follow
from tests.benchmarks.proof.rows import (
    count_decimals,
    name_column,
    name_row,
    read_cell,
    state_cell,
    state_direction,
    state_step,
)
from tests.benchmarks.proof.statements import Statement

RowFaultMaker = Callable[[Table, Random], Statement | None]
OPPOSITES = (
    *((" rose ", " fell "), (" rose,", " fell,"), (" more ", " less "), (" higher ", " lower ")),
)


def plant_other_column(table: Table, random: Random) -> Statement | None:
    """Give a row the figure of another of its columns."""
    made = state_cell(table, random)
    if made is None:
        return None
    row = table.lines.index(made.evidence)
    column = random.choice([each for each in table.columns if each != made.column])
    return _replace_cell(table, made, row, column)


def plant_other_row(table: Table, random: Random) -> Statement | None:
    """Give a row the figure that another one has in the same column."""
    made = state_cell(table, random)
    if made is None:
        return None
    return _replace_cell(table, made, random.randrange(len(table.rows)), made.column)


def _replace_cell(table: Table, made: Statement, row: int, column: str) -> Statement | None:
    value = read_cell(table, row, column)
    if value is None or has_value(value, made.values) or made.text.count(made.figure) != 1:
        return None
    new = format_number(value, count_decimals(table, row, column))
    return replace_figure(made, new)


def replace_figure(made: Statement, new: str) -> Statement | None:
    """Return a table's statement with another figure in the claim and in the wording."""
    if made.figure not in made.wording or made.text.count(made.figure) != 1:
        return None
    return replace_surface(made, made.figure, new)


def plant_row_digit(table: Table, random: Random) -> Statement | None:
    """Change a digit of a cell's figure."""
    made = state_cell(table, random)
    if made is None or not made.figure.strip("-")[0].isdigit():
        return None
    number = made.figure.split()[0]
    new = alter_digit(number, random)
    scale = 1e6 if "million" in made.figure else 1
    if has_value(float(new.replace(",", "")) * scale, made.values):
        return None
    return replace_figure(made, made.figure.replace(number, new))


def plant_row_scale(table: Table, random: Random) -> Statement | None:
    """Write a cell of millions with a scale a thousand times too large.

    Smaller cells may be in thousands without saying so.
    """
    made = state_cell(table, random)
    if made is None or abs(made.values[0]) < 1e6:
        return None
    return replace_figure(made, f"{made.values[0] / 1e6:,.1f} billion")


def plant_row_arithmetic(table: Table, random: Random) -> Statement | None:
    """State a wrong sum, difference, ratio, change or growth of two cells."""
    made = state_step(table, random)
    if made is None:
        return None
    number = made.figure.removesuffix(" %")
    value = float(number.replace(",", ""))
    decimals = len(number.partition(".")[2])
    changed = value * random.choice((0.6, 0.8, 0.9, 1.1, 1.2, 1.5))
    new = f"{changed:+,.{decimals}f}" if number[0] in "+-" else f"{changed:,.{decimals}f}"
    if may_follow(float(new.replace(",", "")), made.values):
        return None
    return replace_figure(made, new + made.figure[len(number) :])


def plant_sign(table: Table, random: Random) -> Statement | None:
    """State a change or a growth with the wrong sign."""
    made = state_step(table, random)
    if made is None or made.figure[0] not in "+-":
        return None
    number = made.figure.removesuffix(" %")
    if float(number.replace(",", "")) == 0:
        return None
    sign = "-" if made.figure[0] == "+" else "+"
    new = sign + made.figure[1:]
    text, wording = (each.replace(made.figure, new) for each in (made.text, made.wording))
    return replace(made, text=text, wording=wording, figure=new)


def plant_direction(table: Table, random: Random) -> Statement | None:
    """Turn the direction of a comparison round."""
    made = state_direction(table, random)
    if made is None:
        return None
    return replace(made, text=turn_round(made.text), wording=turn_round(made.wording))


def turn_round(text: str) -> str:
    """Return a text with its word of direction turned into the opposite."""
    for up, down in OPPOSITES:
        if up in text:
            return text.replace(up, down)
        if down in text:
            return text.replace(down, up)
    return text


ROW_FAULTS: dict[str, RowFaultMaker] = {
    "altered digit": plant_row_digit,
    "another scale": plant_row_scale,
    "wrong arithmetic": plant_row_arithmetic,
    "wrong sign": plant_sign,
    "wrong direction": plant_direction,
    "another column": plant_other_column,
    "another row": plant_other_row,
}


def state_same_column(table: Table, random: Random) -> tuple[Statement, Statement] | None:
    """Return true claims about two rows of one column, whose figures differ."""
    first, second = state_cell(table, random), state_cell(table, random)
    if first is None or second is None or first.subject == second.subject:
        return None
    row = table.lines.index(second.evidence)
    value = read_cell(table, row, first.column)
    if value is None or value == 0 or has_value(value, first.values):
        return None
    figure = format_number(value, count_decimals(table, row, first.column))
    names = {"subject": name_row(table, row), "column": name_column(first.column)}
    text = "For {subject}, {column} is {figure}.".format(figure=figure, **names)
    wording = "The {column} of {subject} is {figure}.".format(figure=figure, **names)
    return first, replace(
        second, text=text, wording=wording, column=first.column, figure=figure, values=(value,)
    )


def add_cells(first: Statement, second: Statement) -> str:
    """Return the sum of two claims about one column in words, or nothing where one is rounded."""
    figures = [each.figure.replace(",", "") for each in (first, second)]
    if not all(each.replace(".", "", 1).isdigit() for each in figures):
        return ""
    decimals = max(len(each.partition(".")[2]) for each in figures)
    total = format_number(sum(map(float, figures)), decimals)
    names = f"{first.subject} and {second.subject}"
    return f"Together, {names} have {total} as {name_column(first.column)} ({first.source})."
