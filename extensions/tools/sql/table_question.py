"""Answer a question in words about tables: choose the table, read, compute.

A question of several parts is answered part by part where each part can be read by itself.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from extensions.tools.sql.table_answer import describe_answer, join_names
from extensions.tools.sql.table_arguments import Question
from extensions.tools.sql.table_cells import count_beside
from extensions.tools.sql.table_columns import AnalysedTable, Query
from extensions.tools.sql.table_computation import Computation
from extensions.tools.sql.table_fit import Tried, try_table
from extensions.tools.sql.table_profile import Profile, build_profile
from extensions.tools.sql.table_rows import find_nearest, show_used
from extensions.tools.sql.whole_table import TOTAL_ROW, translate_note
from extensions.tools.tables.doubts import ALL_PERIODS, Doubt
from extensions.tools.tables.formatting import split_unit
from extensions.tools.tables.question_words import (
    LISTS,
    OPERATIONS,
    is_same_word,
    read_words_of,
    split_name,
    split_question,
)
from extensions.tools.tables.reading import Answered, Condition, Reading
from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.request_parts import (
    find_pronoun,
    goes_on,
    list_asking_parts,
    points_back,
    read_fragment,
)
from nodes.text.units import CURRENCIES, UNITS

_YEAR: Final = Pattern(r"\d{4}")
_MONTH: Final = Pattern(r"\d{4}-(\d\d)")
MONTHS_A_YEAR: Final = 12
_SUMMED: Final = {*CURRENCIES, "area", "bytes", "energy", "mass", "volume"}
"""What several rows of a group may be meant to have together."""


def answer_question(
    tables: Sequence[AnalysedTable], asked: Question, query: Query, notes: Sequence[str]
) -> dict[str, Any]:
    """Return the summary of an answer, its rows with their sources, and what was not read.

    Args:
        tables: sampled.
        notes: on the cells that the query has met so far; grows as it is called.
        asked: words, and typed arguments that replace what the words say.
    """
    said = {token.word for token in split_question(asked.question)}
    is_german = asked.language == "de" or not LISTS["german"].isdisjoint(said)
    with read_words_of("de" if is_german else "en"):
        return _answer_parts(tables, asked, query, notes)


def _answer_parts(
    tables: Sequence[AnalysedTable], asked: Question, query: Query, notes: Sequence[str]
) -> dict[str, Any]:
    drops = asked.doubles == "drop"
    profiles = [build_profile(table, query, drops_doubles=drops) for table in tables]
    best = _choose_table(profiles, asked, query)
    _name_other_tables(best, profiles)
    by_part, tried, answered = _answer_by_part(best, profiles, asked, query)
    kept = [
        translate_note(note, asked.language)
        for note in _select_notes(notes, tried, answered)
        if not (best.profile.totals and TOTAL_ROW in note)
    ]
    said = [each["summary"] for each in answered if each["summary"]]
    said += [f"{'; '.join(kept)}."] if kept and said else []
    joined = answered[0] if len(answered) == 1 else _join(answered)
    about = [each.profile.table.source for each in (best, *by_part) if each.is_about]
    whole = {**joined, "summary": "\n\n".join(said), "about": list(dict.fromkeys(about))}
    found = (find_nearest(each, query, asked.language) for each in tried)
    nearest = {} if said else next(filter(None, found), {})
    return {**whole, **nearest, **({"notes": kept} if kept else {})}


def _answer_by_part(
    best: Tried, profiles: Sequence[Profile], asked: Question, query: Query
) -> tuple[list[Tried], list[Tried], list[dict[str, Any]]]:
    """Return the table of each part, and the tables of the answers with these: whole or by part."""
    texts = list_asking_parts(asked.question) if asked.is_words_only else []
    before = _list_questions(asked.after) if asked.is_words_only else []
    texts = _list_questions(asked.question) if before else texts
    unclear = find_pronoun(asked.question) if asked.is_words_only else ""
    read = best.reading
    is_named = best.rows or read.order or read.group or read.thing or read.conditions
    if unclear and not (texts or is_named):
        best.reading.doubt("unclear_it", word=unclear)
        best.reading.is_of_others = True
    answered = [_answer(best, asked, query)]
    chosen = _choose_tables(profiles, [*before, *texts], asked, query)[len(before) :]
    _doubt_periods([each.reading for each in chosen], texts)
    by_part = [_answer(each, asked, query) for each in chosen]
    harmless = {ALL_PERIODS.write(asked.language)}
    are_read = [bool(each["summary"]) and {*each["gaps"]} <= harmless for each in by_part]
    is_one = answered[0]["is_complete"] or not any(each["summary"] for each in by_part)
    is_better = all(are_read) or not is_one
    is_better |= sum(text.rstrip().endswith("?") for text in texts) > 1  # no question is two
    if before or (texts and is_better):
        return chosen, chosen, by_part
    return chosen, [best], answered


def _select_notes(
    notes: Sequence[str], tried: Sequence[Tried], answered: Sequence[dict[str, Any]]
) -> list[str]:
    """Return the notes without those on columns that were only looked at: `a.csv: fee: …`.

    An empty amount of a row that is not used concerns no figure.
    """
    unused = {
        f"{each.profile.table.source}: {name}: " for each in tried for name in each.profile.columns
    }
    for each, answer in zip(tried, answered, strict=True):
        read = each.reading
        held = [*read.listed, *(one.column for one in read.conditions), read.group]
        used = [*held, *[*read.measures, read.divisor, read.second] * bool(answer.get("left_out"))]
        unused -= {f"{each.profile.table.source}: {name}: " for name in used}
    return [note for note in notes if not note.startswith(tuple(unused))]


def _list_questions(text: str) -> list[str]:
    return list_asking_parts(text) or list(filter(None, [text.strip()]))


def _choose_tables(
    profiles: Sequence[Profile], texts: Sequence[str], asked: Question, query: Query
) -> list[Tried]:
    """Return the table of each part of a request.

    One that points back, as with "it", is of the rows that the part before it names, or ranks
    first; "And in June?" is the part before it with another month.
    """
    chosen, part = list[Tried](), asked
    for text in texts:
        last = chosen[-1] if chosen else None
        if last and (rest := read_fragment(text)):
            chosen.append(_change_last(last, rest, query))
            continue
        last = last if points_back(text) else None
        rows = "" if not last or _lacks_words(last) else _name_rows(last, part, query)
        part = replace(asked, question=f"{text} {rows}".strip())
        tried = _choose_table(profiles, part, query, last)
        if not last and chosen and goes_on(text):
            _keep_rows(chosen[-1], tried, text)
        if last and _lacks_words(last) and tried.profile is last.profile:
            tried = try_table(last.profile, replace(asked, question=text), query)
            tried.reading.conditions += last.reading.conditions
        if last and _is_unclear(last, rows, tried):
            _doubt_rows(tried, text)
        chosen.append(tried)
    return chosen


def _keep_rows(before: Tried, tried: Tried, text: str) -> None:
    """Keep the rows of the question before for one that names none: "And how much income?".

    Not for a total of all, nor for what the rows are divided by.
    """
    read, old = tried.reading, before.reading
    words = [token.word for token in split_question(text) if token.text[0].isalnum()]
    is_total = OPERATIONS.get(words[-1]) == "sum"  # and how many in total
    if tried.profile is not before.profile or read.conditions or is_total:
        return
    read.conditions += [
        each
        for each in old.conditions
        if each.column != read.group and not (each.part and (read.bucket or read.change))
    ]
    if read.conditions and (old.unread or old.is_of_others):
        _doubt_rows(tried, text)


def _lacks_words(last: Tried) -> bool:
    """Return whether its words do not say which rows it is about: those below a limit, and such."""
    held = last.reading.conditions
    is_said = bool(last.rows) and all(each.is_value for each in held)
    return bool(held) and not (last.reading.order or is_said)


def _is_unclear(last: Tried, rows: str, tried: Tried) -> bool:
    """Return whether it is unclear which rows a part names, for one that points back to it."""
    read = last.reading
    if read.order:
        return not rows
    is_elsewhere = tried.profile is not last.profile
    return bool(read.unread) or read.is_of_others or (is_elsewhere and _lacks_words(last))


def _change_last(last: Tried, rest: str, query: Query) -> Tried:
    """Return the last question with what a fragment names instead, of the same table."""
    old = last.reading.conditions
    named = try_table(last.profile, replace(last.asked, question=rest), query)
    if year := _find_year(named.reading.conditions, old):
        dated = replace(last.asked, question=f"{rest.rstrip(' ?.')} {year}")
        named = try_table(last.profile, dated, query)
    new = named.reading
    is_named = new.conditions or new.measure or new.group or new.bucket
    is_unread = last.reading.unread or last.reading.is_of_others
    if new.order and last.reading.order and not (is_named or is_unread or new.unread):
        changed = try_table(last.profile, last.asked, query)  # and the lowest?
        changed.reading.order = new.order
        return changed
    if is_unread or new.unread or not is_named:
        _doubt_rows(named, rest)
        return named
    places = {(each.column, bool(each.part)) for each in new.conditions}
    kept = [each for each in old if (each.column, bool(each.part)) not in places]
    if not new.conditions or (new.measure and new.measure != last.reading.measure):
        words = rest if new.measure else f"{last.asked.question} {rest}"
        changed = try_table(last.profile, replace(last.asked, question=words), query)
    else:
        changed = try_table(last.profile, last.asked, query)
    changed.reading.conditions, changed.rows = [*kept, *new.conditions], ""
    if year and _is_far(new.conditions, old):
        changed.reading.doubt("which_year", period=rest.rstrip(" ?."))  # December, and in January?
    return changed


def _find_year(new: Sequence[Condition], old: Sequence[Condition]) -> str:
    """Return the year of the period before one that names a month or a day alone; else empty."""
    periods = [each.words for each in new if each.part not in ("", "year")]
    years = [found[0] for each in old if each.part and (found := _YEAR.search(each.words))]
    return years[0] if years and any(not _YEAR.search(each) for each in periods) else ""


def _is_far(new: Sequence[Condition], old: Sequence[Condition]) -> bool:
    """Return whether another year's month may be meant, as it is nearer."""
    months = [
        [int(found[1]) for each in held if (found := _MONTH.search(each.words))]
        for held in (new, old)
    ]
    return all(months) and abs(months[0][0] - months[1][0]) > MONTHS_A_YEAR // 2


def _doubt_rows(tried: Tried, text: str) -> None:
    tried.reading.doubt("needs_row", text=text)
    tried.reading.is_of_others = True


def _name_rows(before: Tried, asked: Question, query: Query) -> str:
    """Return the words that say which rows a question is about; empty where two rank first."""
    if not before.reading.order:
        return before.rows
    again = try_table(before.profile, asked, query)  # an answer changes the reading
    answer = _answer(again, asked, query)
    rows = answer.get("rows", [])
    if not rows or (len(rows) > 1 and rows[0][-1] == rows[1][-1]):
        return ""
    cells = zip(answer["columns"], rows[0][:-1], strict=False)
    held = [(name, str(cell)) for name, cell in cells if cell is not None]
    return " ".join(f"{name} {cell}" if cell.isdigit() else cell for name, cell in held)


def _name_other_tables(best: Tried, profiles: Sequence[Profile]) -> None:
    """Doubt words that are columns of other tables: no two tables are joined."""
    for word in [*best.reading.unread]:
        others = [
            profile.table.source
            for profile in profiles
            if profile is not best.profile
            and any(
                is_same_word(word.lower(), part) for n in profile.columns for part in split_name(n)
            )
        ]
        if others:
            best.reading.unread.remove(word)
            best.reading.doubt("elsewhere", word=word, tables=join_names(others))
            best.reading.is_of_others = True


def _choose_table(
    profiles: Sequence[Profile], asked: Question, query: Query, last: Tried | None = None
) -> Tried:
    """Return the table that a question fits best; of several that of the one it points back to."""
    for profile in profiles:
        profile.prefer_times(split_question(asked.question))
    tried = [try_table(profile, asked, query) for profile in profiles]
    before = last.profile if last else None
    best = max(tried, key=lambda each: (each.score, each.profile is before))
    fitting = [each.profile.table.source for each in tried if each.score == best.score]
    if len(fitting) > 1 and not (best.reading.unread or best.profile is before):
        best.reading.doubt("name_one", names=join_names(fitting))
        best.reading.is_of_others = True
    return best


def _answer(best: Tried, asked: Question, query: Query) -> dict[str, Any]:
    if not best.reading.is_both:
        return _answer_one(best, asked, query)
    orders: tuple[Literal["highest", "lowest"], ...] = ("highest", "lowest")
    ends = [replace(best.reading, order=order, doubts=[*best.reading.doubts]) for order in orders]
    answered = [_answer_one(replace(best, reading=each), asked, query) for each in ends]
    return {**_join(answered), "summary": _put_beside(*(each["summary"] for each in answered))}


def _answer_one(best: Tried, asked: Question, query: Query) -> dict[str, Any]:
    _doubt_lists(best, query)
    computation, used = Computation(best.profile, best.reading, query), dict[str, Any]()
    try:
        answer = computation.compute()
        used = show_used(computation, answer)
    except ToolRefused as refusal:
        best.reading.doubt("refused", text=refusal)
        answer = Answered(best.reading, is_missing=True)
    described = describe_answer(best.profile, answer, asked.language)
    dimension, _ = UNITS.get(split_unit(best.reading.measure)[1].lower(), ("", 1))
    if answer.asked.is_of_row and dimension in _SUMMED:
        described = _add_sums(described, best, asked, query)
    return {**described, **used}


def _doubt_lists(best: Tried, query: Query) -> None:
    """Doubt a cell that other rows have in a list of several."""
    read, labels = best.reading, best.profile.labels
    for each in [*read.conditions, *read.part]:
        _, sign, cell = each.words.partition("= " if each.is_value else "≠ ")
        if sign and each.column in labels:
            count = count_beside(best.profile, each.column, cell, query)
            values = {"cell": cell, "column": each.column, "count": count}
            if count and Doubt("beside", values) not in read.doubts:
                read.doubt("beside", **values)


def _add_sums(
    described: dict[str, Any], best: Tried, asked: Question, query: Query
) -> dict[str, Any]:
    """Return an answer on the highest row with the highest sum, as either may be meant."""
    summed = replace(best.reading, function="sum", is_of_row=False, doubts=[])
    answer = Computation(best.profile, summed, query).compute()
    sums = describe_answer(best.profile, answer, asked.language)
    if not sums["summary"]:
        return described
    results = [*described["results"], *sums["results"][:1]]
    said = _put_beside(described["summary"], sums["summary"])
    return {**described, "summary": said, "results": results}


def _put_beside(one: str, other: str) -> str:
    """Return the summary of one answer with the first line of another."""
    first, _, rest = one.partition("\n")
    second, *_ = other.partition("\n")
    return f"{first}\n\n{second}\n{rest}" if one and other else one or other


def _doubt_periods(readings: Sequence[Reading], texts: Sequence[str]) -> None:
    """Doubt the parts without a period where one before, or of their sentence, names one."""
    starts = [0, *(at for at in range(1, len(texts)) if texts[at - 1].rstrip()[-1:] in "?.!")]
    for at, each in enumerate(readings):
        end = min((start for start in starts if start > at), default=len(readings))
        is_list = each.function == "value" and not each.measure
        is_own = each.has_period or each.bucket or each.change or is_list
        if not is_own and any(other.has_period for other in readings[:end]):
            each.doubts.append(ALL_PERIODS)


def _join(answered: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the answers to parts as one; their rows may have different columns."""
    used = [
        {**each["used"], "of": [one["text"] for one in each["results"]]}
        for each in answered
        if "used" in each
    ]
    return {
        **({"used": used} if used else {}),
        "is_complete": all(each["is_complete"] for each in answered),
        "gaps_of_parts": [gap for each in answered if not each["summary"] for gap in each["gaps"]],
        **{
            name: [one for each in answered for one in each.get(name, ())]
            for name in ("gaps", "left_open", "rows", "results")
        },
    }
