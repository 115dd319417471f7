"""Reports the rows of a table: a sentence that states a ranking, what was assumed, the rows."""

from collections.abc import Sequence
from typing import Any

from nodes.models.embedded.column_matching import split_name
from nodes.models.embedded.prompt_reading import AnsweredCall, ReceivedHandoff
from nodes.models.embedded.table_reading import list_tables, match_number_columns
from nodes.models.embedded.text_similarity import extract_words
from nodes.text.counts import format_count
from nodes.text.numbers import write_cell

MAX_ROWS = 20
MAX_STATED_ROWS = 5
"""Of a ranking, in its sentence."""


def report_table(call: AnsweredCall, brief: ReceivedHandoff) -> str:
    """Return a call's rows as a table, after what they say and what was assumed."""
    said = [_state_ranking(call, brief), _describe_assumption(call, brief)]
    after = " ".join(filter(None, [_describe_rows(call), _describe_filter(call, brief)]))
    return "\n\n".join(filter(None, [*said, _format_rows(call.data), after]))


def is_ranking_sentence(text: str) -> bool:
    """Return whether a text is the sentence that a report on a ranking begins with."""
    heads = (f"he {order} {what}" for order in ("highest", "lowest") for what in ("`", "growth"))
    return any(head in text for head in heads) and "\n" not in text


def build_row_claims(call: AnsweredCall) -> list[dict[str, Any]]:
    """Return a claim for each row of a call's result."""
    columns, rows = call.data.get("columns"), call.data.get("rows")
    if not columns or not rows:
        return []
    source = next((passage.source for passage in call.passages if passage.source), call.tool)
    texts = [
        "; ".join(f"{n}: {_format_cell(v)}" for n, v in zip(columns, row, strict=False))
        for row in rows
    ]
    return [
        {"text": text, "source": source, "quote": "", "confidence": 70}
        for text in texts[:MAX_ROWS]
        if text
    ]


def _state_ranking(call: AnsweredCall, brief: ReceivedHandoff) -> str:
    """Return a sentence with the first rows of a ranking; empty if the call asked for none."""
    if call.arguments.get("sort_by") == "fastest":
        return _state_growth(call)
    asked, columns, rows = call.arguments, list(call.data["columns"]), list(call.data["rows"])
    is_ranking = asked.keys() & {"order", "limit", "sort_by"} or "rank" in extract_words(
        brief.subject
    )
    if not is_ranking:
        return ""
    index = _find_ranked_column(asked, columns)
    order = str(asked.get("order", "highest"))
    rows = [row for row in rows if index and isinstance(row[index], int | float)]
    values = [row[index] for row in rows]
    if not values or values != sorted(values, reverse=order == "highest"):
        return ""
    wanted = max(int(asked.get("limit", 1)), values.count(values[0]))
    first = rows[:wanted]
    column = f"`{columns[index]}`"
    if wanted > MAX_STATED_ROWS:
        return f"The {order} {column} is {write_cell(values[0])}."
    names = _name_rows(first, rows, columns, brief)
    if len(set(values[:wanted])) == 1:
        verb = "has" if len(first) == 1 else "have"
        return f"{_join(names)} {verb} the {order} {column}: {write_cell(values[0])}."
    listed = [f"{name} ({write_cell(value)})" for name, value in zip(names, values, strict=False)]
    return f"{_join(listed)} have the {order} {column}."


def _state_growth(call: AnsweredCall) -> str:
    """Return a sentence with the row that grew most or least, for each measure."""
    columns, rows = list(call.data["columns"]), list(call.data["rows"])
    order = str(call.arguments.get("order", "highest"))
    choose = max if order == "highest" else min
    said = []
    for index, name in enumerate(columns):
        known = [row for row in rows if isinstance(row[index], int | float)]
        if not known or not name.startswith("growth"):
            continue
        best = choose(row[index] for row in known)
        names = [
            _format_cell(row[0]) if isinstance(row[0], str) else "The total"
            for row in known
            if row[index] == best
        ]
        first, last = (f"`{columns[place]}`" for place in (index - 2, index - 1))
        who = f"{_join(names)} {'has' if len(names) == 1 else 'have'} the {order} growth"
        said.append(f"{who} from {first} to {last}: {write_cell(best)} percent.")
    return " ".join(said)


def _find_ranked_column(asked: dict[str, Any], columns: Sequence[str]) -> int:
    """Return the place of the column that a call's rows are sorted by; 0 if it is not known."""
    if asked.get("change") == "growth":
        return next(n for n, name in enumerate(columns) if name.startswith("growth")) - 1
    measure = next(iter(asked.get("measures", ())), "")
    computed = (f" of {measure}", f"{measure} per ")
    for index, name in enumerate(columns):
        if measure and (name == measure or any(part in name for part in computed)):
            return index
    return 0


def _name_rows(
    rows: Sequence[Sequence[Any]],
    listed: Sequence[Sequence[Any]],
    columns: Sequence[str],
    brief: ReceivedHandoff,
) -> list[str]:
    """Return the first cell of some rows, with the period where several listed rows have it."""
    times = {name for each in list_tables(brief) for name in each.times}
    place = next((index for index, name in enumerate(columns) if name in times), 0)
    firsts = [row[0] for row in listed]
    return [
        f"{_format_cell(row[0])} in {row[place]}"
        if place and firsts.count(row[0]) > 1
        else _format_cell(row[0])
        for row in rows
    ]


def _describe_assumption(call: AnsweredCall, brief: ReceivedHandoff) -> str:
    """Return which columns were taken for words that are not in their names, or fit as well."""
    used = call.arguments.get("measures") or []
    compared = [name for name in call.data["columns"] if name.startswith("growth of ")]
    if not used and compared:
        return "The question names no column of numbers: the growth of each is shown."
    matches = [each for each in match_number_columns(brief) if each.column in used]
    assumed = [each for each in matches if each.taken_for]
    if assumed:
        names = _join([f"`{each.column}`" for each in assumed])
        verb = "was" if len(assumed) == 1 else "were"
        ranked = f"; the rows are ranked by `{used[0]}`" if len(assumed) > 1 else ""
        return f"No column is named “{assumed[0].taken_for}”: {names} {verb} taken for it{ranked}."
    alike = [name for name in used[1:] if _strip_digits(name) == _strip_digits(used[0])]
    if not alike or not call.arguments.keys() & {"order", "limit"} or "change" in call.arguments:
        return ""
    names = _join([f"`{name}`" for name in alike])
    return f"The rows are ranked by `{used[0]}`; {names} would fit the question as well."


def _describe_rows(call: AnsweredCall) -> str:
    """Return how many rows a result was computed on, and their periods, as the tool says."""
    over = call.data.get("computed_over")
    return f"Computed over {over}." if isinstance(over, str) else ""


def _describe_filter(call: AnsweredCall, brief: ReceivedHandoff) -> str:
    """Return which rows were computed on, where the result does not show it."""
    shown = " ".join(map(str, call.data["rows"])).lower()
    hidden = [str(each) for each in call.arguments.get("rows_with") or ()]
    hidden = [each for each in hidden if each.lower() not in shown]
    gaps = " ".join(map(str, call.data.get("gaps") or ()))
    used = [_find_as_written(each, brief.subject) for each in hidden if repr(each) not in gaps]
    return f"Only of rows with {_join(used)}." if used else ""


def _find_as_written(value: str, text: str) -> str:
    start = text.lower().find(value.lower())
    return text[start : start + len(value)] if start >= 0 else value


def _strip_digits(name: str) -> list[str]:
    return [word for word in split_name(name) if not word.isdigit()]


def _format_rows(data: dict[str, Any]) -> str:
    columns, rows = data["columns"], data["rows"]
    lines = [columns, ["---"] * len(columns), *rows[:MAX_ROWS]]
    shown = ["| " + " | ".join(_format_cell(cell) for cell in line) + " |" for line in lines]
    left = len(rows) - MAX_ROWS
    if data.get("cut"):
        shown.append(f"\nOnly the first {min(len(rows), MAX_ROWS)} rows are shown.")
    elif left > 0:
        shown.append(f"\n{format_count(left, 'more row')}.")
    return "\n".join(shown)


def _format_cell(value: Any) -> str:
    return " ".join(("" if value is None else write_cell(value)).split()).replace("|", "\\|")


def _join(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
