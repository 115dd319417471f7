"""Answer a question in words about tables: choose the table, read, compute, and put it in words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from nodes.errors import ToolRefused
from nodes.text.table_defects import TOTAL_ROW
from nodes.tools.sql.table_arguments import read_arguments
from nodes.tools.sql.table_columns import AnalysedTable, Query, quote_name, write_literal
from nodes.tools.sql.table_computation import Computation
from nodes.tools.sql.table_profile import Profile, build_profile
from nodes.tools.sql.table_question import Question
from nodes.tools.tables.answer_phrases import describe_answer, join_names
from nodes.tools.tables.question_reading import list_parts, read_part
from nodes.tools.tables.question_words import OTHER_NAMES, Token, split_question
from nodes.tools.tables.reading import Answered, Reading

MAX_CELL_WORDS: Final = 6
MAX_SPANS: Final = 150
MAX_SEARCHED_COLUMNS: Final = 40
_MARKS: Final = " -./,'"
"""Marks in cells that a question may write in another way."""


def answer_question(
    tables: Sequence[AnalysedTable], asked: Question, query: Query, notes: Sequence[str]
) -> dict[str, Any]:
    """Return the summary of an answer, its rows with their sources, and what was not read.

    Args:
        tables: sampled.
        notes: on the cells that the query has met so far; grows as it is called.
        asked: words, and typed arguments that replace what the words say.
    """
    drops = asked.doubles == "drop"
    profiles = [build_profile(table, query, drops_doubles=drops) for table in tables]
    for profile in profiles:
        profile.prefer_times(split_question(asked.question))
    tried = [_try_table(profile, asked, query) for profile in profiles]
    best = max(tried, key=lambda each: each.score)
    fitting = [each.profile.table.source for each in tried if each.score == best.score]
    if len(fitting) > 1 and not any(each.unread for each in best.readings):
        best.readings[0].doubts.append(f"{join_names(fitting)} fit equally")
    answers = []
    for reading in best.readings:
        try:
            answers.append(Computation(best.profile, reading, query).compute())
        except ToolRefused as refusal:
            reading.doubts.append(str(refusal))
            answers.append(Answered(reading, is_missing=True))
    answered = describe_answer(best.profile, answers, asked.language)
    kept = [note for note in notes if not (best.profile.totals and TOTAL_ROW in note)]
    if kept and answered["summary"]:
        answered["summary"] += f"\n\n{'; '.join(kept)}."
    return answered | ({"notes": kept} if kept else {})


@dataclass
class _Tried:
    """A table, with the question as it reads against it."""

    profile: Profile
    readings: list[Reading]
    score: int


def _try_table(profile: Profile, asked: Question, query: Query) -> _Tried:
    parts = list_parts(asked.question) or [[]]
    readings = _read_parts(profile, parts, query)
    for reading in readings:
        _apply_arguments(reading, profile, asked, query)
    heard = [token.role for part in parts for token in part]
    lacking = sum(len(each.unread) + len(each.doubts) for each in readings)
    named = sum(role in ("column", "cell") for role in heard)
    return _Tried(profile, readings, 2 * heard.count("title") + 2 * named - 10 * lacking)


def _apply_arguments(reading: Reading, profile: Profile, asked: Question, query: Query) -> None:
    """Replace what the words say with what typed arguments say."""
    try:
        read_arguments(reading, profile, asked, query)
    except ToolRefused as refusal:
        reading.doubts.append(str(refusal))
    for text in (*asked.rows_with, *asked.where):
        tokens = split_question(text)
        found = read_part(profile, tokens, _find_cells(profile, tokens, query), None)
        reading.unread += [text] if found.unread or not found.conditions else []
        reading.conditions += found.conditions
    if asked.share:
        reading.is_share = True
        reading.function = "sum" if reading.measure else "count"
        is_grouped = bool(reading.group or reading.bucket)
        reading.part = [each for each in reading.conditions if not each.part and not is_grouped]
        reading.conditions = [each for each in reading.conditions if each not in reading.part]


def _read_parts(profile: Profile, parts: Sequence[list[Token]], query: Query) -> list[Reading]:
    readings = list[Reading]()
    for part in parts:
        cells = _find_cells(profile, part, query)
        before = readings[-1] if readings else None
        reading = read_part(profile, part, cells, before)
        if reading.has_both_ends:
            readings.append(_take_other_end(reading))
        if (
            before is not None
            and not any(token.role in ("column", "cell", "operation", "period") for token in part)
            and not reading.unread
        ):
            continue
        readings.append(reading)
    return readings


def _take_other_end(reading: Reading) -> Reading:
    """Return the reading of the highest, where the given one becomes that of the lowest."""
    is_plain = reading.function == "value" and not (reading.group or reading.bucket)
    if is_plain and not reading.thing:
        reading.function, reading.order = "minimum", ""
        return replace(reading, function="maximum", unread=[], doubts=[])
    return replace(reading, order="highest", unread=[], doubts=[])


def _find_cells(profile: Profile, tokens: Sequence[Token], query: Query) -> list[tuple[str, str]]:
    """Return the columns of labels with those of their cells that may be in a question."""
    words = [token.word for token in tokens]
    spans = {
        "".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(start + MAX_CELL_WORDS, len(words)) + 1)
        if all(word[0].isalnum() for word in words[start:end])
    }
    spans |= {
        OTHER_NAMES.get(word, word).removesuffix(end) for word in words for end in ("s", "es")
    }
    bare = {"".join(character for character in span if character not in _MARKS) for span in spans}
    wanted = ", ".join(f"({write_literal(span)})" for span in sorted(bare, key=len)[:MAX_SPANS])
    if not words or not profile.labels:
        return []
    selects = []
    for name in profile.labels[:MAX_SEARCHED_COLUMNS]:
        text = plain = f"CAST({quote_name(name)} AS VARCHAR(400))"
        for mark in _MARKS:
            plain = f"REPLACE({plain}, {write_literal(mark)}, '')"
        selects.append(
            f"SELECT DISTINCT {write_literal(name)} AS named, {text} AS cell "
            f"FROM {profile.rows_of} WHERE LOWER({plain}) IN (SELECT word FROM asked)"
        )
    sql = f"WITH asked(word) AS (VALUES {wanted}) {' UNION ALL '.join(selects)}"
    return [(str(name), str(cell)) for name, cell in query(sql)["rows"]]
