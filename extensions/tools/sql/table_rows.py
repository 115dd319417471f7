"""The rows beside an answer: those that figures are computed of, or the nearest without one."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from extensions.tools.sql.numbers import write_flags
from extensions.tools.sql.table_answer import MAX_RESULTS, PHRASES, write_number, write_value
from extensions.tools.sql.table_cells import find_words_in_cells
from extensions.tools.sql.table_columns import Query
from extensions.tools.sql.table_computation import MAX_ROWS, Computation
from extensions.tools.sql.table_fit import Tried
from extensions.tools.sql.tables import format_row, quote_name
from extensions.tools.tables.formatting import format_column
from extensions.tools.tables.reading import Answered, Condition, Reading, describe_conditions
from nodes.errors import ToolRefused
from nodes.tools.framework.tool_report import format_table

MAX_COLUMNS: Final = 12
FEW_COLUMNS: Final = 10
"""So many are shown whether they are named or not."""


def find_nearest(tried: Tried, query: Query, language: str) -> dict[str, Any]:
    """Return the rows that a question's words choose, in the order of the table; empty for none.

    All of them, or none: the first of many rows are not nearer than the others.

    Args:
        tried: the table, with the question as it was read.
    """
    profile = tried.profile
    columns = _choose_columns(tried)
    shown = ", ".join(map(quote_name, columns))
    words = PHRASES.get(language, PHRASES["en"])
    held, rows = _select(tried, shown, query, words["has"])
    if not rows:
        return {}
    where = describe_conditions(held, words["and"], words["or"])
    said = words["nearest" if len(rows) < profile.rows else "all_rows"].format(
        source=profile.table.source,
        where=f" ({words['where'].format(conditions=where)})" if where else "",
        rows=write_number(len(rows), language),
        all=write_number(profile.rows, language),
    )
    write = partial(write_value, profile, language=language)
    cells = [list(map(write, columns, row)) for row in rows]
    table = format_table(list(map(format_column, columns)), cells, MAX_RESULTS)
    results = [{"source": profile.table.source, "text": format_row(columns, row)} for row in rows]
    return {"nearest": {"text": f"{said}\n\n{table}", "results": results}}


def _select(
    tried: Tried, shown: str, query: Query, has: str
) -> tuple[list[Condition], list[list[Any]]]:
    """Return the conditions that choose few rows, and the rows; the first that choose any.

    Those that were read with unread words that cells have, those that were read, named cells.
    """
    profile, read = tried.profile, tried.reading
    held = [*read.conditions, *read.part]
    named = [each for each in held if each.is_value]
    in_cells = [
        Condition(f"{name} {word}", sql, has.format(column=name, word=word), is_value=False)
        for word, (name, sql) in find_words_in_cells(profile, read.unread, query).items()
    ]
    wider = [held, *[named] * (0 < len(named) < len(held))] * (tried.is_about or bool(held))
    for chosen in [*[[*held, *in_cells], in_cells] * bool(in_cells), *wider]:
        if not (chosen or profile.rows <= MAX_RESULTS):
            continue
        with suppress(ToolRefused):
            computation = Computation(profile, Reading(conditions=chosen), query)
            if 0 < len(rows := computation.select_fitting(shown, [])) <= MAX_RESULTS:
                return chosen, rows
    return [], []


def _choose_columns(tried: Tried) -> list[str]:
    """Return what names a row and what the question names; all columns where it names no other."""
    profile, read = tried.profile, tried.reading
    titles = profile.identities[:1] or profile.labels[:1]
    chosen = [each.column for each in (*read.conditions, *read.part)]
    if {*read.named} <= {*titles, *chosen} or len(profile.columns) <= FEW_COLUMNS:
        return profile.columns[:MAX_COLUMNS]
    named = (name for name in (*titles, *read.named, *chosen) if name in profile.columns)
    return [*dict.fromkeys(named)]


MAX_USED_LABELS: Final = 3
MAX_USED_ROWS: Final = 15
MAX_GROUPED_ROWS: Final = 30
"""Of all groups together; of more rows each group shows its first."""


def show_used(computation: Computation, answered: Answered) -> dict[str, Any]:
    """Return the rows that figures are computed of, their number, and the group that divides them.

    Of one figure the first of them; of the figures of groups all, or of each group the first with
    how many it has; none where rows or groups are many, or where rows are shown themselves.
    """
    asked, profile = computation.asked, computation.profile
    is_plain = asked.function != "value" and not (asked.change or asked.is_share)
    is_one = len(answered.rows) == 1 and not answered.labels
    is_grouped = answered.labels == 1 and bool(asked.group) and not asked.is_of_row
    groups = len(answered.rows)
    is_few = is_one or (is_grouped and groups <= MAX_GROUPED_ROWS and answered.rows_used < MAX_ROWS)
    if not (is_plain and is_few and answered.rows_used):
        return {}
    measures = [each for each in (*asked.measures, asked.divisor) if each]
    held = [each.column for each in asked.conditions if not each.part]
    by = [asked.group] if is_grouped else []
    names = [*dict.fromkeys([*profile.columns[:MAX_USED_LABELS], *held, *by, *measures])]
    filled = [f"{profile.read(name)} IS NOT NULL" for name in measures]
    rows = write_flags(computation.select_fitting(", ".join(map(quote_name, names)), filled))
    used = {"columns": names, "rows": rows[:MAX_USED_ROWS], "count": answered.rows_used}
    shared = _share_rows(rows, names.index(asked.group), groups) if by else {}
    return {"used": {**used, **({"by": asked.group} if by else {}), **shared}}


def _share_rows(rows: Sequence[list[Any]], at: int, groups: int) -> dict[str, Any]:
    """Return the rows of all groups, of many the first of each and how many each has.

    Args:
        at: the column that divides them.
    """
    if len(rows) <= MAX_GROUPED_ROWS:
        return {"rows": rows}
    counts, kept = Counter[Any](), list[list[Any]]()
    for row in rows:
        counts[row[at]] += 1
        if counts[row[at]] <= max(1, min(MAX_USED_ROWS, MAX_GROUPED_ROWS // groups)):
            kept.append(row)
    return {"rows": kept, "counts": [list(each) for each in counts.items()]}
