"""Makes true statements of the rows and columns of a table."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from tests.benchmarks.proof.documents import Table
from tests.benchmarks.proof.figures import format_number
from tests.benchmarks.proof.statements import Statement

CELL_FORMS = (
    "{subject} had a {column} of {figure}.",
    "For {subject}, {column} is {figure}.",
    "The {column} of {subject} is {figure}.",
    "In the row {subject}, the column {column} shows {figure}.",
)


def name_column(column: str) -> str:
    """Return a column's name as one writes it."""
    return f"value for {column}" if column.isdigit() else column.replace("_", " ").strip()


def read_cell(table: Table, row: int, column: str) -> float | None:
    """Return the number of a cell, or None where there is none."""
    try:
        return float(table.rows[row][column])
    except ValueError:
        return None


def name_row(table: Table, row: int) -> str:
    """Return the name of a row."""
    return table.rows[row][table.key].strip().rstrip("*")


def count_decimals(table: Table, row: int, column: str) -> int:
    """Return the number of decimals of a cell, without zeros at its end."""
    return len(table.rows[row][column].partition(".")[2].rstrip("0"))


def state_cell(table: Table, random: Random) -> Statement | None:
    """Return a claim about one cell, its figure as it is, grouped, rounded or scaled."""
    row, column = random.randrange(len(table.rows)), random.choice(table.columns)
    value = read_cell(table, row, column)
    if value is None or value == 0:
        return None
    figures = _write_value(value, count_decimals(table, row, column), random)
    names = {"subject": name_row(table, row), "column": name_column(column)}
    text_form, answer_form = random.sample(CELL_FORMS, 2)
    return Statement(
        text_form.format(figure=figures[0], **names),
        answer_form.format(figure=figures[1], **names),
        table.name,
        table.lines[row],
        form="cell",
        subject=names["subject"],
        column=column,
        figure=figures[0],
        values=(value,),
    )


def _write_value(value: float, decimals: int, random: Random) -> tuple[str, str]:
    """Return two ways to write a value; the second one is often the first."""
    ways = [format_number(value, decimals)]
    if abs(value) >= 1e6:
        ways += [f"{value / 1e6:,.1f} million"]
    elif decimals > 1 and abs(value) >= 10:
        ways += [f"about {value:.1f}"]
    elif decimals == 0 and value == int(value):
        ways += [f"{value:.0f}"]
    first = random.choice(ways)
    return first, first if random.random() < 0.7 else random.choice(ways)


def state_direction(table: Table, random: Random) -> Statement | None:
    """Return a claim that compares two cells of a column, in a direction that is right."""
    found = _draw_pair(table, random)
    if found is None:
        return None
    column, (first, second), (left, right) = found
    names, shown = name_column(column), [_show(table, row, column) for row in (first, second)]
    rows = name_row(table, first), name_row(table, second)
    if _is_time(table):
        verb = "rose" if right > left else "fell"
        text = f"{names} {verb} from {shown[0]} in {rows[0]} to {shown[1]} in {rows[1]}."
        wording = f"From {rows[0]} to {rows[1]}, {names} {verb}, from {shown[0]} to {shown[1]}."
    else:
        word = "more" if left > right else "less"
        higher = "higher" if left > right else "lower"
        text = f"{rows[0]} had {word} {names} than {rows[1]} ({shown[0]} against {shown[1]})."
        wording = f"The {names} of {rows[0]} is {higher} than that of {rows[1]}."
    text, wording = (each[0].upper() + each[1:] for each in (text, wording))
    return _build_pair(table, (first, second), column, text, wording, "direction", shown[0])


def state_step(table: Table, random: Random) -> Statement | None:
    """Return a claim with a difference, sum, ratio or growth of two cells of a column."""
    found = _draw_pair(table, random)
    if found is None:
        return None
    column, rows, (left, right) = found
    if min(left, right) <= 0:
        return None
    names = name_column(column)
    subjects = name_row(table, rows[0]), name_row(table, rows[1])
    decimals = max(count_decimals(table, row, column) for row in rows)
    kind = random.choice(
        ("change", "growth") if _is_time(table) else ("difference", "sum", "ratio")
    )
    if kind in ("change", "growth"):
        figure = (
            f"{100 * (right / left - 1):+.1f} %"
            if kind == "growth"
            else f"{right - left:+,.{decimals}f}"
        )
        text = f"From {subjects[0]} to {subjects[1]} the change in {names} was {figure}."
        wording = f"The {names} changed by {figure} from {subjects[0]} to {subjects[1]}."
    elif kind == "ratio":
        high, low = (0, 1) if left > right else (1, 0)
        figure = f"{max(left, right) / min(left, right):.2f}"
        text = f"The {names} of {subjects[high]} is {figure} times that of {subjects[low]}."
        wording = f"{subjects[high]} has {figure} times the {names} of {subjects[low]}."
    else:
        number = abs(left - right) if kind == "difference" else left + right
        figure = format_number(number, decimals)
        phrase = "differ by" if kind == "difference" else "have together"
        text = f"In {names}, {subjects[0]} and {subjects[1]} {phrase} {figure}."
        noun = "difference" if kind == "difference" else "sum"
        wording = f"The {noun} in {names} of {subjects[0]} and {subjects[1]} is {figure}."
    return _build_pair(table, rows, column, text, wording, f"step {kind}", figure)


def _draw_pair(
    table: Table, random: Random
) -> tuple[str, tuple[int, int], tuple[float, float]] | None:
    """Draw a column and two rows whose cells are not about the same, the earlier one first."""
    first, second = sorted(random.sample(range(len(table.rows)), 2))
    if name_row(table, first) > name_row(table, second) and _is_time(table):
        first, second = second, first
    column = random.choice(table.columns)
    left, right = (read_cell(table, row, column) for row in (first, second))
    if left is None or right is None or abs(left - right) <= 0.03 * max(abs(left), abs(right)):
        return None
    return column, (first, second), (left, right)


def _is_time(table: Table) -> bool:
    return table.rows[0][table.key][:4].isdigit()


def _show(table: Table, row: int, column: str) -> str:
    value = read_cell(table, row, column)
    assert value is not None
    return format_number(value, count_decimals(table, row, column))


def _build_pair(
    table: Table,
    rows: tuple[int, int],
    column: str,
    text: str,
    wording: str,
    form: str,
    figure: str,
) -> Statement:
    evidence = "\n".join(table.lines[row] for row in rows)
    subject = name_row(table, rows[0])
    statement = Statement(text, wording, table.name, evidence, form=form, subject=subject)
    cells = [read_cell(table, row, column) for row in rows]
    values = tuple(cell for cell in cells if cell is not None)
    return replace(statement, column=column, figure=figure, values=values)


RowMaker = Callable[[Table, Random], Statement | None]
ROW_MAKERS: tuple[RowMaker, ...] = (state_cell, state_cell, state_direction, state_step)
