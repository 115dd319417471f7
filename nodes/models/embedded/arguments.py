"""Fills a tool's arguments from its schema and the words of the task, without knowing the tool.

Numbers are taken by the unit that ends a parameter's name (`max_turnover_percent`, `fee_eur`,
`hours_per_week`), members of closed sets by their words, files, columns, dates and identifiers by
the parameter's `format`. A parameter that the task does not mention is left to its default.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from re import Match
from typing import Any, Final

from dateutil.parser import ParserError  # type: ignore[import-untyped]
from dateutil.parser import parse as parse_date

from nodes.limits.patterns import Pattern
from nodes.models.embedded.prompt_reading import ReceivedHandoff
from nodes.models.embedded.table_reading import (
    list_label_columns,
    list_named_cells,
    list_named_columns,
    list_named_tables,
    list_number_columns,
    list_per_columns,
    list_time_columns,
)
from nodes.models.embedded.text_similarity import extract_words, pair_words

Schema = Mapping[str, Any]
"""A JSON schema."""

_NUMBER: Final = Pattern(r"(?<![\w.,-])-?\d+(?:[,\u00a0 ]\d{3})*(?:\.\d+)?(?:[kKmM](?![A-Za-z]))?")
_SHARE: Final = Pattern(
    r"(?<![\w.])(?P<before>\d{1,3}(?:\.\d{1,4})?) ?(?:%|percent) (?:of |in |for )?"
    r"(?P<after_name>[A-Z][\w.\-]{0,19})"
    r"|(?<![\w.])(?P<name>[A-Z][\w.\-]{0,19})(?: |: ?|=)"
    r"(?P<after>\d{1,3}(?:\.\d{1,4})?) ?(?:%|percent)"
)
_MONTH: Final = (
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(?:uary|ruary|ch|il|e|y|ust|tember"
    r"|ober|ember)?"
)
_DATE: Final = Pattern(
    rf"\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}} {_MONTH} \d{{4}}|{_MONTH} \d{{1,2}}, \d{{4}}"
)
_IDENTIFIER: Final = Pattern(
    r"`([^`\s]+)`|(?<![\w./])([A-Za-z]\w*(?:_\w+|\(\))+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*)"
)
_NAMED: Final = Pattern(
    r"`([^`]{1,80})`|[\"\u201c]([^\"\u201d]{1,80})[\"\u201d]|(?<= )'([^']{2,80})'"
    r"|(?<=[\w,;] )([A-Z][\w\-]+(?:/[A-Z][\w\-]+)*)"
)
_MONEY: Final = r"EUR|USD|GBP|CHF|JPY|euros?|dollars?|pounds?|francs?|[€$£¥]"
_UNITS: Final = {
    "percent": r"%|percent|per cent",
    "amount": _MONEY,
    "usd": r"USD|dollars?|\$",
    "eur": r"EUR|euros?|€",
    "s": r"s|seconds?",
    "ms": r"ms|milliseconds?",
}
"""Units that a text writes in other words than a parameter's name does."""
_WORDS_BY_MEANING: Final = {
    "highest": "most|largest|biggest|greatest|maximum|top|best|longest|heaviest|oldest|tallest"
    "|deepest|widest|hottest|warmest|loudest|strongest|richest|deadliest|farthest",
    "lowest": "least|smallest|fewest|minimum|bottom|worst|shortest|cheapest|youngest|lightest"
    "|slowest|coldest|coolest|quietest|poorest|narrowest|shallowest|weakest",
    "fastest": "steepest|fastest-growing",
    "sum": "total|altogether|combined",
    "average": "mean",
    "count": "how many|number of",
    "growth": "grew|grow|growing|increase|increased|rise|rose|gain|gained",
    "fall": "fell|fallen|falling|shrank|shrunk|shrink|decline|declined|decrease|decreased|drop"
    "|dropped",
    "year": "yearly|annual|annually|year-over-year",
}
"""Words of ordinary English for members of closed sets that are frequent in tools."""
_MEANINGS: Final = {
    form: meaning for meaning, forms in _WORDS_BY_MEANING.items() for form in forms.split("|")
}
_ALIKE: Final = Pattern(rf"\b(?:{'|'.join(_MEANINGS)})\b", re.IGNORECASE)
_MOST_GROWTH: Final = Pattern(
    r"\b(?:(?P<change>growth|fall) (?:the )?(?P<after>highest|lowest)"
    r"|(?P<before>highest|lowest) (?:\w+ )?(?P<changed>growth|fall)|by (?:\w+ )?growth)\b",
    re.IGNORECASE,
)
"""Where a change is ranked, not the last value."""
_FALL: Final = Pattern(r"\bfall\b", re.IGNORECASE)
_OPPOSITE: Final = {"highest": "lowest", "lowest": "highest"}
SMALL_NUMBERS: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_TOP: Final = Pattern(
    r"\b(?:top|first|last|best|worst|which|(?:high|low|larg|small)est) "
    rf"(\d{{1,3}}|{'|'.join(SMALL_NUMBERS)})\b",
    re.IGNORECASE,
)
_MULTIPLES: Final = {"k": 1_000.0, "m": 1_000_000.0}
_NEAR_CHARS: Final = 40
_RATE: Final = Pattern(r" ?[^\W\d_]+ (?:per|a|an|each|every) ")
_CLAUSE_END: Final = Pattern(r"[;!?]|[.,](?!\d)| and ")
_WORD: Final = Pattern(r"[^\W\d_]+")
_BOUNDS: Final = frozenset(("max", "min", "least", "number"))
"""Words that say nothing on what is measured."""
MAX_QUERY_WORDS: Final = 24


def fill_by_schema(name: str, schema: Schema, brief: ReceivedHandoff) -> Any:
    """Return the value of a parameter that the task's words give; None if they give none."""
    schema = _unwrap_optional(schema)
    if "enum" in schema:
        return next(iter(_find_choices(schema["enum"], brief.subject)), None)
    if listed := _BY_FORMAT.get(schema.get("format", "")):
        return next(iter(listed(brief)), None)
    fill = _BY_TYPE.get(schema.get("type", ""))
    return fill(name, schema, brief) if fill else None


def find_first_number(schema: Schema, brief: ReceivedHandoff) -> float | int | None:
    """Return the first number of the task, for a required number that nothing in it names."""
    number = _NUMBER.search(brief.subject)
    if not number or schema.get("type") not in ("number", "integer"):
        return None
    value = _read_number(number.group())
    return int(value) if schema.get("type") == "integer" else value


def find_name(brief: ReceivedHandoff) -> str | None:
    """Return what the task quotes or writes with a capital letter, for a text that it must name."""
    found = _NAMED.search(brief.subject)
    return next(filter(None, found.groups())) if found else None


def build_query(brief: ReceivedHandoff) -> str | None:
    """Return the content words of the task, for a search."""
    plain = Pattern(r"`[^`]*`").sub(" ", brief.subject)
    words = [word.lower() for _, word in pair_words(plain)]
    return " ".join(dict.fromkeys(words[:MAX_QUERY_WORDS])) or None


def list_named_files(brief: ReceivedHandoff) -> list[str]:
    """Return the materials whose file name is in the task."""
    return [name for name in brief.artifacts if _is_named(name.rsplit("/", 1)[-1], brief.subject)]


def list_dates(brief: ReceivedHandoff) -> list[str]:
    """Return the days that the task names, as YYYY-MM-DD."""
    return [day for text in _DATE.findall(brief.subject) if (day := _read_day(text))]


def list_identifiers(brief: ReceivedHandoff) -> list[str]:
    """Return names of code that the task contains, those between backticks first."""
    found = [quoted or bare for quoted, bare in _IDENTIFIER.findall(brief.subject)]
    return sorted(
        dict.fromkeys(name.removesuffix("()") for name in found),
        key=lambda name: f"`{name}" not in brief.subject,
    )


def _unwrap_optional(schema: Schema) -> Schema:
    """Return the schema of a parameter without its null."""
    options = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    return {**schema, **options[0]} if options else schema


def _find_choices(choices: Iterable[Any], text: str) -> list[Any]:
    """Return the members of a closed set whose words are in a text, the most words first."""
    plain = _ALIKE.sub(lambda found: _MEANINGS[found.group().lower()], text)
    plain = _FALL.sub("growth", _MOST_GROWTH.sub(_name_ranked_change, plain))
    asked = [*extract_words(plain), *plain.lower().split()]
    found = []
    for choice in choices:
        words = extract_words(str(choice).replace("_", " ")) or [str(choice)]
        if set(words) <= set(asked):
            found.append((-len(words), asked.index(words[0]), choice))
    return [choice for *_, choice in sorted(found, key=lambda item: item[:2])]


def _name_ranked_change(found: Match[str]) -> str:
    """Return a ranking of changes in the words of the choices; what fell most has least growth."""
    order = (found["after"] or found["before"] or "").lower()
    if "fall" in (found["change"], found["changed"]):
        order = _OPPOSITE[order]
    return f"growth {order} fastest"


def _fill_array(name: str, schema: Schema, brief: ReceivedHandoff) -> list[Any] | None:
    items = schema.get("items", {})
    if "enum" in items:
        return _find_choices(items["enum"], brief.subject) or None
    fill = _BY_FORMAT.get(items.get("format", ""))
    return list(fill(brief)) or None if fill else None


def _fill_object(name: str, schema: Schema, brief: ReceivedHandoff) -> dict[str, float] | None:
    """Return names with their percentages, for a parameter that maps names to numbers."""
    values = schema.get("additionalProperties")
    if not isinstance(values, dict) or values.get("type") not in ("number", "integer"):
        return None
    found = {
        each["name"] or each["after_name"]: float(each["before"] or each["after"])
        for each in _SHARE.finditer(brief.subject)
    }
    return found or None


def _fill_limit(name: str, schema: Schema, brief: ReceivedHandoff) -> int | None:
    """Return how many rows the task wants, for a parameter `limit`."""
    top = _TOP.search(brief.subject) if name == "limit" else None
    if not top:
        return None
    text = top.group(1).lower()
    return SMALL_NUMBERS.index(text) + 2 if text in SMALL_NUMBERS else int(text)


def fill_numbers(parameters: Mapping[str, Schema], brief: ReceivedHandoff) -> dict[str, Any]:
    """Return the numbers of the task by parameter: each goes to the one whose words are nearest."""
    found, used = dict[str, Any](), set[int]()
    for *_, start, name, value in sorted(_rank_numbers(parameters, brief)):
        if name not in found and start not in used:
            found[name] = value
            used.add(start)
    return found


def _rank_numbers(
    parameters: Mapping[str, Schema], brief: ReceivedHandoff
) -> Iterator[tuple[int, bool, int, int, str, float | int]]:
    """Yield each number that may be a parameter's, after how well its words describe it."""
    for name, schema in parameters.items():
        schema = _unwrap_optional(schema)
        if schema.get("type") not in ("number", "integer") or "enum" in schema:
            continue
        measure, unit = _split_unit(name)
        quantities = list(_list_quantities(brief.subject, unit))
        texts = (" ".join(measure), schema.get("description", ""))
        for is_description, text in enumerate(texts):
            words = set(extract_words(text)) - _BOUNDS
            for each in quantities:
                distance, count = _measure_distance(words, each, brief.subject)
                if distance < _NEAR_CHARS:
                    value = int(each.value) if schema["type"] == "integer" else each.value
                    yield distance, bool(is_description), -count, each.start, name, value
        if len(quantities) == 1 and not measure:
            value = quantities[0].value
            value = int(value) if schema["type"] == "integer" else value
            yield _NEAR_CHARS, True, 0, quantities[0].start, name, value


def _split_unit(name: str) -> tuple[list[str], str]:
    """Return the words of a parameter's name, and its unit: `percent`, `hours_per_week`."""
    words = name.split("_")
    size = 3 if "per" in words[-2:-1] else 1
    return words[:-size], "_".join(words[-size:])


def _measure_distance(words: Set[str], quantity: "_Quantity", text: str) -> tuple[int, int]:
    """Return the characters between a number and the nearest of some words, and how many are near.

    Many characters if there is none. A sentence or a comma ends what a number belongs to.
    """
    head = _CLAUSE_END.split(text[: quantity.start])[-1][-_NEAR_CHARS:]
    tail = _CLAUSE_END.split(text[quantity.end :])[0][:_NEAR_CHARS]
    gaps = [len(head) - found.end() for found in _WORD.finditer(head) if _is_one_of(found, words)]
    gaps += [found.start() for found in _WORD.finditer(tail) if _is_one_of(found, words)]
    count = len(words & set(extract_words(f"{head} {tail}")))
    return min(gaps, default=_NEAR_CHARS), count


def _is_one_of(found: Match[str], words: Set[str]) -> bool:
    return not words.isdisjoint(extract_words(found.group()))


def _fill_boolean(name: str, schema: Schema, brief: ReceivedHandoff) -> bool | None:
    """Return true if all words of the parameter's name are in the task."""
    words = set(extract_words(name.replace("_", " ")))
    return True if words and words <= set(extract_words(brief.subject)) else None


@dataclass(frozen=True)
class _Quantity:
    value: float
    start: int
    end: int


def _list_quantities(text: str, unit: str) -> Iterator[_Quantity]:
    """Yield the numbers of a text that have a unit directly before or after them."""
    one, _, each = unit.partition("_per_")
    written = _UNITS.get(one, rf"{re.escape(one.removesuffix('s'))}s?")
    if each:
        link = r"(?:to a|to each|in a|in each|a|per|each|every|/)"
        written = rf"(?:{written})?\s*{link}\s*{re.escape(each)}"
    after = Pattern(rf"[\s-]*(?:{written})(?![A-Za-z])", re.IGNORECASE)
    before = Pattern(rf"(?<![A-Za-z])(?:{written})\s*$", re.IGNORECASE)
    for number in _NUMBER.finditer(text):
        head, tail = text[: number.start()], text[number.end() :]
        is_rate = not each and _RATE.match(tail)
        if (after.match(tail) and not is_rate) or before.search(head):
            yield _Quantity(_read_number(number.group()), *number.span())


def _read_number(text: str) -> float:
    plain = text.replace(",", "").replace("\u00a0", "").replace(" ", "")
    factor = _MULTIPLES.get(plain[-1].lower(), 1.0)
    return float(plain.rstrip("kKmM")) * factor


def _read_day(text: str) -> str:
    try:
        return str(parse_date(text).date())
    except (ParserError, OverflowError):
        return ""


def _is_named(name: str, text: str) -> bool:
    return bool(Pattern(rf"(?<![\w\-.]){re.escape(name)}(?![\w\-])").search(text))


_BY_FORMAT: Final[dict[str, Callable[[ReceivedHandoff], Iterable[Any]]]] = {
    "file": list_named_files,
    "table": list_named_tables,
    "column": list_named_columns,
    "number_column": list_number_columns,
    "per_column": list_per_columns,
    "label_column": list_label_columns,
    "time_column": list_time_columns,
    "cell": list_named_cells,
    "date": list_dates,
    "identifier": list_identifiers,
    "query": lambda brief: filter(None, [build_query(brief)]),
    "text": lambda brief: [brief.subject],
}
_BY_TYPE: Final[dict[str, Callable[[str, Schema, ReceivedHandoff], Any]]] = {
    "array": _fill_array,
    "object": _fill_object,
    "integer": _fill_limit,
    "boolean": _fill_boolean,
}
