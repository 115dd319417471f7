"""Chooses the tools to call in a worker's turn, with arguments from the handoff."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.models.embedded.arguments import (
    build_query,
    fill_by_schema,
    fill_numbers,
    find_first_number,
    find_name,
)
from nodes.models.embedded.prompt_reading import AnsweredCall, ReceivedHandoff
from nodes.models.embedded.table_reading import name_missing_measure
from nodes.models.embedded.text_similarity import extract_words
from nodes.text.word_forms import is_generic, is_verb

_SQL = Pattern(r"^\s*(select|with|show|describe)\b", re.IGNORECASE)
_ARITHMETIC = Pattern(
    r"(?<![(\d])[(\d][\d\s.()]{0,40}(?:\s[-+*/]\s|\*\*|[*/])[\d\s.()+*/-]{0,199}[)\d]"
)
_QUOTED = Pattern(r"[\"“]([^\"“”]{3,80})[\"”]")
_SEARCHING = frozenset(("query", "sql", "expression", "url"))
_COMPARING = frozenset(("change", "time_column", "period"))
_ONLINE_TOOL = Pattern(r"web|internet|fetch|browse|http|url", re.IGNORECASE)
MAX_CLAIMS = 300
MAX_FINDINGS = 500
_FILLED_OPTIONAL_ARGUMENTS = ("title", "format", "findings", "earlier_attempt")
"""Optional arguments that have a shared meaning in all tools."""
ToolSchemas = Mapping[str, Mapping[str, Any]]
"""The parameters of each offered tool, as JSON schema, by the tool's name."""


def choose_calls(brief: ReceivedHandoff, tools: ToolSchemas) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls of this turn; none when there is nothing left to try.

    Online tools are called after the local ones, and only if those found nothing. A request that
    comes without materials and shares no word with the worker's card and tools is not for them.
    """
    if not _is_in_scope(brief, tools):
        return []
    local = {name: tools[name] for name in tools if not _ONLINE_TOOL.search(name)}
    calls = _list_fillable_calls(brief, local)
    if calls or any(call.passages for call in brief.calls) or brief.artifacts:
        return calls or _list_fillable_calls(brief, tools if brief.urls else {})
    return _list_fillable_calls(brief, tools)


def fill_arguments(brief: ReceivedHandoff, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a tool's arguments: what shared names mean, else what the task's words give.

    None if a required one is missing. Without a value for a measure that the task names, no other
    argument is filled: another column must not take its place.
    """
    filled: dict[str, Any] = {}
    required = schema.get("required", [])
    parameters = schema.get("properties", {}).values()
    is_measuring = any(
        each.get("items", {}).get("format") == "number_column" for each in parameters
    )
    if is_measuring and not required and name_missing_measure(brief):
        return filled
    numbers = fill_numbers(schema.get("properties", {}), brief)
    for name, parameter in schema.get("properties", {}).items():
        value = numbers.get(name)
        if value is None:
            value = _fill_argument(name, parameter, brief, is_required=name in required)
        if value is None and name in required:
            return None
        if value is not None:
            filled[name] = value
    return filled


def write_document(brief: ReceivedHandoff) -> str:
    """Return a Markdown document of the results of earlier tasks."""
    parts = [f"# {_build_title(brief)}"]
    for report in brief.reports:
        if output := str(report.get("output", "")).strip():
            parts.append(f"## {format_heading(str(report.get('task') or 'Results'))}\n\n{output}")
    if sources := sorted({str(claim["source"]) for claim in brief.claims if claim.get("source")}):
        parts.append("## Sources\n\n" + "\n".join(f"- {source}" for source in sources))
    return "\n\n".join(parts)


def format_heading(identifier: str) -> str:
    """Return a task's id as a heading."""
    text = identifier.replace("_", " ").replace("-", " ").strip()
    return text[:1].upper() + text[1:]


def _is_in_scope(brief: ReceivedHandoff, tools: ToolSchemas) -> bool:
    """Return whether a user's request may be for these tools.

    One that comes with materials may, and so may anything for a search.
    """
    if brief.subject == brief.intent or brief.artifacts or brief.reports:
        return True
    parameters = [
        each for schema in tools.values() for each in schema.get("properties", {}).items()
    ]
    if any(name in _SEARCHING or each.get("format") == "query" for name, each in parameters):
        return True
    card = brief.intent.replace(brief.subject, "", 1)
    known = set(extract_words(f"{card} {json.dumps(tools)}".replace("_", " ")))
    asked = extract_words(brief.subject)
    asked = [word for word in asked if not (is_verb(word) or is_generic(word))]
    return not asked or any(word in known for word in asked)


def _list_fillable_calls(
    brief: ReceivedHandoff, tools: ToolSchemas
) -> list[tuple[str, dict[str, Any]]]:
    calls = []
    for name, schema in tools.items():
        earlier = [call for call in brief.calls if call.tool == name]
        if "sql" in schema.get("properties", {}):
            statement = _choose_next_sql(brief, earlier)
            filled = {"sql": statement} if statement else None
        else:
            filled = _fill_next_arguments(brief, schema, earlier)
        if filled is not None:
            calls.append((name, filled))
    return calls


def _fill_next_arguments(
    brief: ReceivedHandoff, schema: Mapping[str, Any], earlier: list[AnsweredCall]
) -> dict[str, Any] | None:
    """Return the arguments of a tool's next call: one call per material, else one in all."""
    if "material" not in schema.get("required", []):
        filled = fill_arguments(brief, schema)
        if earlier and earlier[-1].is_refusal:
            return _drop_comparison(earlier[-1].arguments)
        # A listing of tables names the columns that the first call could not know.
        has_listing = bool(earlier) and "tables" in earlier[-1].data
        is_new = filled not in [call.arguments for call in earlier]
        return filled if not earlier or (has_listing and is_new) else None
    read = {call.arguments.get("material") for call in earlier}
    left = {name: text for name, text in brief.artifacts.items() if name not in read}
    return fill_arguments(replace(brief, artifacts=left), schema) if left else None


def _drop_comparison(refused: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a refused ranking by values without their change; None if nothing else was asked."""
    if "change" not in refused or not refused.get("measures") or "sort_by" in refused:
        return None
    return {name: value for name, value in refused.items() if name not in _COMPARING}


def _choose_next_sql(brief: ReceivedHandoff, earlier: list[AnsweredCall]) -> str | None:
    """Return the SQL between backticks in the intent; this model writes none itself."""
    given = next((code for code in brief.code_spans if _SQL.search(code)), None)
    return given if given not in [call.arguments.get("sql") for call in earlier] else None


def _fill_argument(
    name: str, schema: Mapping[str, Any], brief: ReceivedHandoff, *, is_required: bool
) -> Any:  # of the type the tool's schema names
    if name in _ARGUMENT_FILLERS and (is_required or name in _FILLED_OPTIONAL_ARGUMENTS):
        return _ARGUMENT_FILLERS[name](brief, schema)
    value = fill_by_schema(name, schema, brief)
    if value is not None or not is_required:
        return value
    if schema.get("enum"):
        return None  # a closed set of which the task names no member
    if schema.get("type") == "string":
        return find_name(brief) or brief.subject
    return find_first_number(schema, brief)


def _build_query(brief: ReceivedHandoff, schema: Mapping[str, Any]) -> str | None:
    return build_query(brief)


def _find_expression(brief: ReceivedHandoff, schema: Mapping[str, Any]) -> str | None:
    plain = Pattern(r"`[^`]*`").sub(" ", brief.intent)
    given = [code for code in brief.code_spans if _ARITHMETIC.fullmatch(code.strip())]
    return next(iter(given + _ARITHMETIC.findall(plain)), None)


def _find_url(brief: ReceivedHandoff, schema: Mapping[str, Any]) -> str | None:
    found = [passage.source for call in brief.calls for passage in call.passages]
    return next((url for url in brief.urls + found if url.startswith("http")), None)


def _list_claim_arguments(
    brief: ReceivedHandoff, schema: Mapping[str, Any]
) -> list[dict[str, str]] | None:
    return [
        {key: str(claim.get(key, "")) for key in ("text", "source", "quote")}
        for claim in brief.claims[:MAX_CLAIMS]
    ] or None


def _find_material(brief: ReceivedHandoff, schema: Mapping[str, Any]) -> str | None:
    return next(iter(brief.artifacts), None)


def _list_finding_arguments(
    brief: ReceivedHandoff, schema: Mapping[str, Any]
) -> list[dict[str, Any]] | None:
    return brief.findings[:MAX_FINDINGS] if brief.reports else None


def _write_markdown(brief: ReceivedHandoff, schema: Mapping[str, Any]) -> str | None:
    return write_document(brief) if brief.reports else None


def _fill_title(brief: ReceivedHandoff, schema: Mapping[str, Any]) -> str:
    return _build_title(brief)


def _find_format(brief: ReceivedHandoff, schema: Mapping[str, Any]) -> str | None:
    choices = [str(choice) for choice in schema.get("enum", ["markdown", "html", "docx"])]
    wanted = brief.subject.replace("Word", "docx").lower()
    return next((choice for choice in choices if choice in wanted), None)


def _read_earlier_attempt(brief: ReceivedHandoff, schema: Mapping[str, Any]) -> str | None:
    return brief.earlier_attempt or None


def _build_title(brief: ReceivedHandoff) -> str:
    quoted = _QUOTED.search(brief.subject)
    return quoted.group(1) if quoted else " ".join(brief.subject.split()[:10]).rstrip(".,:;")


_ARGUMENT_FILLERS = {
    "query": _build_query,
    "expression": _find_expression,
    "url": _find_url,
    "claims": _list_claim_arguments,
    "findings": _list_finding_arguments,
    "material": _find_material,
    "markdown": _write_markdown,
    "title": _fill_title,
    "format": _find_format,
    "earlier_attempt": _read_earlier_attempt,
}
