"""Fills a tool's arguments where its schema decides, and says which ones the words do not give."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from extensions.embedded.work import Work
from nodes.limits.patterns import Pattern
from nodes.text.quantities import Schema, match_numbers
from nodes.text.similarity import extract_words
from nodes.text.word_lists import NEGATIONS

_DATE: Final = Pattern(r"\b(?:\d{4}-\d\d-\d\d|(?:\d\d?\.? )?[A-Z][a-z]{2,8}(?: \d\d?,)? \d{4})\b")
_IDENTIFIER: Final = Pattern(
    r"`([^`\s]+)`|(?<![\w./])([A-Za-z]\w*(?:_\w+|\(\))+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*)"
)
_QUOTED: Final = Pattern(r"[`\"\u201c]([^`\"\u201c\u201d]{1,80})[`\"\u201d]")
_NAME: Final = Pattern(r"(?<=[\w,;:] )[A-Z][\w\-]+(?: [A-Z][\w\-]+)*")


def fill_arguments(
    tool: str, parameters: Mapping[str, Schema], required: Iterable[str], work: Work
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments that the words give, and those that they lack, each with its type.

    They lack the required ones without a value, and all for which the words have several.
    """
    numeric = {n: s for n, s in parameters.items() if s["type"] in ("number", "integer")}
    numbers = match_numbers(tool, numeric, work.request) | match_numbers(
        tool, numeric, work.answer_text
    )
    texts = [name for name in required if parameters[name]["type"] == "string"]
    arguments, missing = dict[str, Any](), list[str]()
    for name, schema in parameters.items():
        found = _list_candidates(name, schema, work)
        if name in numeric:
            found = [value for value in [numbers.get(name)] if value is not None]
        elif texts == [name] and not {"enum", "format"} & schema.keys():
            found = _list_names(work)
        if len(found) == 1:
            arguments[name] = int(found[0]) if schema["type"] == "integer" else found[0]
        elif found or name in required or name in numbers:
            missing.append(f"{name} ({schema['type'] or 'value'})")
    return arguments, missing


def read_type(schema: Any) -> Schema:
    """Return the schema of a parameter without its null; the type is empty where it has several."""
    schema = schema if isinstance(schema, Mapping) else {}
    options = [each for each in schema.get("anyOf") or () if each.get("type") != "null"]
    schema = {**schema, **options[0]} if len(options) == 1 else schema
    return {**schema, "type": str(schema.get("type") or "")}


def _list_candidates(name: str, schema: Schema, work: Work) -> list[Any]:
    """Return what the words give for a parameter other than a number."""
    asked = set(extract_words(work.text))
    if schema["type"] == "array":
        found = _list_candidates(name, read_type(schema.get("items")), work)
        return [found] if found else []
    if isinstance(schema.get("enum"), list):
        split = [(each, set(extract_words(str(each).replace("_", " ")))) for each in schema["enum"]]
        named = [
            (each, words)
            for each, words in split
            if words and (words <= asked or _is_called(str(each), schema, work.text))
        ]
        return [one for one, words in named if not any(words < more for _, more in named)]
    if schema["type"] == "boolean":
        words = set(extract_words(name.replace("_", " ")))
        denials = NEGATIONS & {*work.text.lower().replace("n't", " not").split()}
        is_asked = words and words <= asked and denials <= {*name.split("_")}
        return [True] if is_asked else []
    listing = _BY_FORMAT.get(str(schema.get("format"))) if schema["type"] == "string" else None
    return list(dict.fromkeys(listing(work))) if listing else []


def _is_called(value: str, schema: Schema, text: str) -> bool:
    """Return whether a text has the name that the description gives a value: "docx (Word)"."""
    found = Pattern(rf"\b{re.escape(value)} \((\w+)\)").search(str(schema.get("description")))
    return found is not None and found.group(1) in Pattern(r"\w+").findall(text)


def _list_names(work: Work) -> list[str]:
    """Return what the words quote; else the capitalized names and the identifiers in them."""
    plain = _DATE.sub(" ", work.text)
    for file in work.handoff.artifacts:
        plain = plain.replace(file, " ")
    found = _QUOTED.findall(work.text) or [*_NAME.findall(plain), *_IDENTIFIER.findall(plain)]
    return list(dict.fromkeys("".join(groups).removesuffix("()") for groups in found))


def _list_files(work: Work) -> list[str]:
    """Return the materials whose file name is in the words."""
    ends = {file: re.escape(file.rsplit("/", 1)[-1]) for file in work.handoff.artifacts}
    found = {
        f: Pattern(rf"(?<![\w\-.]){end}(?![\w\-])").search(work.text) for f, end in ends.items()
    }
    return [file for file, place in found.items() if place]


_BY_FORMAT: Final[Mapping[str, Callable[[Work], Iterable[str]]]] = {
    "file": _list_files,
    "date": lambda work: _DATE.findall(work.text),
    "identifier": lambda work: (
        "".join(g).removesuffix("()") for g in _IDENTIFIER.findall(work.text)
    ),
    "query": lambda work: [work.query],
    "text": lambda work: [work.text],
}
