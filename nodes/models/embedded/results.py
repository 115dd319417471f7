"""Shows what a tool returned: its summary, its rows, a value, or its words in a code block."""

from collections.abc import Iterable
from typing import Any

from nodes.models.embedded.work import AnsweredCall

MAX_QUOTED_CHARS = 800
"""Limit for a quotation; a longer answer is cut at the end of a line."""
MAX_SCALAR_CHARS = 40
MAX_PASSAGES = 3
_KNOWN_KEYS = frozenset(("results", "rows", "tables", "claims", "findings", "gaps", "note"))


def show_result(call: AnsweredCall) -> str:
    """Return a result that a tool computed or made, as Markdown; empty for passages and others."""
    data, text = call.data, call.text.strip()
    if isinstance(summary := data.get("summary"), str):
        return summary
    if data.get("columns") and data.get("rows"):
        rows = [data["columns"], ["---"] * len(data["columns"]), *data["rows"]]
        return "\n".join(f"| {' | '.join(map(_format_cell, row))} |" for row in rows)
    if data.get("path"):
        return f"The document is at {data['path']}."
    if "value" in data:
        return f"{data.get('expression', call.arguments)} = {data['value']}"
    is_scalar = 0 < len(text) <= MAX_SCALAR_CHARS and "\n" not in text
    return f"{call.tool}: {text}" if is_scalar and not data else ""


def quote_result(call: AnsweredCall) -> tuple[str, list[str]]:
    """Return an answer of a form of its own in a code block, and the gap of one that is cut.

    Empty for a form that is known, and for a long answer to a query or an address: its beginning
    need not concern the task.
    """
    text = call.text.strip()
    is_searched = len(text) > MAX_QUOTED_CHARS and {"query", "url"} & {*call.arguments}
    if is_searched or not _KNOWN_KEYS.isdisjoint(call.data):
        return "", []
    shown, gaps = text, list[str]()
    if len(text) > MAX_QUOTED_CHARS:
        cut = text[:MAX_QUOTED_CHARS]
        shown = (cut.rpartition("\n")[0] or cut).rstrip()
        gaps = [
            f"{call.tool}: the first {len(shown)} of {len(text):,} characters of its answer are "
            "quoted"
        ]
    fence = "```"
    while fence in shown:
        fence += "`"
    return f"{call.tool}:\n\n{fence}text\n{shown}\n{fence}", gaps


def choose_passages(calls: Iterable[AnsweredCall]) -> list[dict[str, str]]:
    """Return the best passages of searches, each once, with `source`, `place` and `text`."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for call in calls:
        for item in () if show_result(call) else call.results:
            if text := str(item.get("text") or "").strip():
                source, place = str(item.get("source", "")), str(item.get("place") or "")
                passage = {"source": source, "place": place, "text": text}
                found.setdefault((source, text), passage)
    return list(found.values())[:MAX_PASSAGES]


def list_claims(call: AnsweredCall) -> list[dict[str, Any]]:
    """Return the claims that a tool made, else one for each row that it computed."""
    stated = [each for each in list_objects(call, "claims") if each.get("text")]
    rows = call.results if call.data.get("rows") else []
    return [{key: each[key] for key in each if key != "confidence"} for each in stated] or [
        {"text": str(each["text"]), "source": str(each.get("source", ""))}
        for each in rows
        if each.get("text")
    ]


def list_objects(call: AnsweredCall, name: str) -> list[dict[str, Any]]:
    """Return the objects of a list of an answer."""
    found = call.data.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def list_gaps(call: AnsweredCall) -> list[str]:
    """Return the gaps that a tool names."""
    gaps = call.data.get("gaps")
    return [str(gap) for gap in gaps] if isinstance(gaps, list) else []


def _format_cell(value: object) -> str:
    return "" if value is None else " ".join(str(value).split()).replace("|", "\\|")
