"""Chooses the tools to call in a worker's turn, and fills their arguments by their schema."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from extensions.embedded.quantities import Schema, list_numbers, match_numbers
from extensions.embedded.reporting import format_heading
from extensions.embedded.work import Work
from nodes.limits.patterns import Pattern
from nodes.text.phrases import detect_language, say
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


ToolSchemas = Mapping[str, Mapping[str, Any]]
"""The parameters of each offered tool, as JSON schema, by the tool's name."""
Calls = list[tuple[str, dict[str, Any]]]
MAX_ITEMS: Final = 300
MAX_QUESTION_CHARS: Final = 4_000
_URL: Final = Pattern(r"https?://[^\s<>\"'`)\]]+(?<![.,;:])")
_CODE: Final = Pattern(r"`([^`]+)`")
_SQL: Final = Pattern(r"(?<!\s)\s*+(?:select|with|show|describe)\b.*+", re.IGNORECASE | re.DOTALL)
_ARITHMETIC: Final = Pattern(
    r"(?<![(\w.,])[(\d][\d .()]{0,40}(?: [-+*/] |\*\*|[*/])[\d .()+*/-]{0,199}[)\d](?![\w]|[.,]\d)"
)
_BARE: Final = Pattern(r"^[\d\s.()+*/%-]{0,199}\d\s?[-+*/%][\d\s.()+*/%-]{0,199}[\d)]\s{0,9}$")
_ONLINE_TOOL: Final = Pattern(r"web|internet|fetch|browse|http|url", re.IGNORECASE)


def choose_calls(work: Work, tools: ToolSchemas) -> Calls:
    """Return the calls of this turn; none when there is nothing left to try.

    Online tools are called after the local ones: for an address, or if those found nothing.
    """
    local = {name: tools[name] for name in tools if not _ONLINE_TOOL.search(name)}
    has_any = work.handoff.artifacts or any(call.list_objects("results") for call in work.calls)
    calls = _list_calls(work, local)
    return calls or ([] if has_any and not _URL.search(work.text) else _list_calls(work, tools))


def list_uncalled(work: Work, tools: ToolSchemas) -> list[str]:
    """Return a sentence for each tool that the words call for and do not fill.

    Beside a tool of the team's own that was called, only one that the words name counts.
    """
    gaps, language = list[str](), detect_language(work.words)
    called = {call.tool for call in work.calls}
    own = {name: tools[name] for name in tools if not _is_shared(tools[name])}
    for name, schema in own.items():
        missing = [] if name in called else _fill(work, name, schema)[1]
        is_named = {*extract_words(name.replace("_", " "))} <= {*extract_words(work.request)}
        if missing and (is_named or called.isdisjoint(own)):
            key = "its_arguments" if len(missing) > 1 else "its_argument"
            lacking = say(language, key, names=", ".join(missing))
            gaps.append(say(language, "tool_not_called", tool=name, argument=lacking))
    if not work.calls and any("material" in _fill(work, *each)[1] for each in tools.items()):
        gaps.append(say(language, "no_file"))
    gaps += _list_unused_numbers(work, own)
    fresh, unanswered = replace(work, calls=()), replace(work, calls=(), answers={})
    if work.answers and choose_calls(fresh, tools) == choose_calls(unanswered, tools):
        gaps.append(say(language, "answer_unused"))
    return gaps


def _list_unused_numbers(work: Work, own: ToolSchemas) -> list[str]:
    """Return a sentence for the numbers with a unit or word that no call of an own tool took.

    Only of tools that take numbers, and read no question: what they return may ignore a limit.
    """
    numeric = {
        call.tool
        for call in work.calls
        if (schema := own.get(call.tool)) and "question" not in schema.get("properties", {})
        for each in read_parameters(schema)[0].values()
        if each["type"] in ("number", "integer")
    }
    used = [value for call in work.calls for value in call.arguments.values()]
    stated = [each.value for each in list_numbers(work.request) if each.beside]
    texts = dict.fromkeys(f"{n:,g}" for n in stated if n is not None and n not in used)
    if not numeric or not texts:
        return []
    said = {"tool": ", ".join(sorted(numeric)), "numbers": ", ".join(texts)}
    return [say(detect_language(work.words), "numbers_unused", **said)]


def write_document(work: Work) -> str:
    """Return a Markdown document of the results of earlier tasks."""
    done = [report for report in work.handoff.context if report.output.strip()]
    parts = [f"## {format_heading(each.task)}\n\n{each.output.strip()}" for each in done]
    return "\n\n".join([f"# {_build_title(work)}", *parts])


def _list_calls(work: Work, tools: ToolSchemas) -> Calls:
    """Return the next calls of each tool.

    There is one per material where it needs one, and one per question where it found passages.
    """
    calls: Calls = []
    for name, schema in tools.items():
        filled, missing = _fill(work, name, schema)
        files = work.handoff.artifacts if "material" in read_parameters(schema)[1] else ()
        made = [call.arguments for call in work.calls if call.tool == name]
        options = [{**filled, "material": file} for file in files] or [filled]
        if any(call.has_passages for call in work.calls if call.tool == name):
            options += [{**filled, "query": query} for query in work.queries]
        left = [each for each in options if each not in made and not missing]
        calls += [(name, each) for each in (left[:1] if files else left)]
    return calls


def _fill(work: Work, tool: str, schema: Schema) -> tuple[dict[str, Any], list[str]]:
    """Return a tool's arguments, by what shared names mean, else by the words; and what lacks."""
    parameters, required = read_parameters(schema)
    known = [n for n in parameters if n in FILLERS and (n in required or n in _ALWAYS_FILLED)]
    shared = {n: value for n in known if (value := FILLERS[n](work)) is not None}
    # A tool that reads the question fills its own arguments from it.
    is_asked, spoken = "question" in shared, detect_language(work.words)
    if is_asked and spoken in parameters.get("language", {}).get("enum", ()):
        shared["language"] = spoken
    own = {name: each for name, each in parameters.items() if not is_asked and name not in known}
    filled, missing = fill_arguments(tool, own, [name for name in required if name in own], work)
    lacking = [name for name in known if name in required and name not in shared]
    return {**shared, **filled}, [*lacking, *missing]


def _is_shared(schema: Schema) -> bool:
    """Return whether a tool needs what every team's tools need, such as a query or claims."""
    parameters, required = read_parameters(schema)
    return FILLERS.keys() >= {*required} and bool(required or "question" in parameters)


def read_parameters(schema: Schema) -> tuple[dict[str, Schema], list[str]]:
    """Return the parameters of a tool, and the names of those that it requires."""
    parameters = {name: read_type(each) for name, each in (schema.get("properties") or {}).items()}
    return parameters, [name for name in schema.get("required") or () if name in parameters]


def _find_code(work: Work, pattern: Pattern) -> str | None:
    """Return the first part between backticks of the words, or of the task, that is of a form."""
    held = _CODE.findall(f"{work.text}\n{work.handoff.intent}")
    return next(filter(pattern.fullmatch, held), None)


def _find_expression(work: Work) -> str | None:
    plain = _CODE.sub(" ", work.text)
    return _find_code(work, _BARE) or next(map(str.strip, _ARITHMETIC.findall(plain)), None)


def _build_title(work: Work) -> str:
    return " ".join(work.request.split()[:10]).rstrip(".,:;")


FILLERS: Final[Mapping[str, Callable[[Work], Any]]] = {
    "query": lambda work: work.query or None,
    "question": lambda work: work.question[:MAX_QUESTION_CHARS] or None,
    "after": lambda work: work.rows_lead[:MAX_QUESTION_CHARS] or None,
    "sql": lambda work: _find_code(work, _SQL),
    "expression": _find_expression,
    "url": lambda work: next(iter(_URL.findall(work.text)), None),
    "claims": lambda work: work.claims[:MAX_ITEMS] or None,
    "findings": lambda work: work.findings[:MAX_ITEMS] if work.handoff.context else None,
    "material": lambda work: next(iter(work.handoff.artifacts), None),
    "markdown": lambda work: write_document(work) if work.handoff.context else None,
    "title": _build_title,
    "earlier_attempt": lambda work: work.earlier or None,
}
"""What a parameter of this name means in every tool."""
_ALWAYS_FILLED: Final = ("title", "findings", "earlier_attempt", "question", "after")
"""Those that are filled even where they are not required."""
