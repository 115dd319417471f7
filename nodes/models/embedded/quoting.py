"""Quotes tools' answers whose form is their own: prose or JSON that no rule reads."""

from nodes.models.embedded.prompt_reading import AnsweredCall

MAX_QUOTED_CHARS = 800
"""Limit for a quotation; a longer answer is cut at the end of a line."""
_KNOWN_KEYS = frozenset(
    ("results", "rows", "tables", "claims", "findings", "gaps", "failures", "note", "checked")
)
_SEARCHING_ARGUMENTS = frozenset(("query", "url"))


def quote_answer(call: AnsweredCall) -> str:
    """Return an answer of a form of its own, in a code block if it has several lines.

    Empty for a form that is known, and for a long answer to a query or an address: its beginning
    need not concern the task.
    """
    text = call.text.strip()
    is_searched = len(text) > MAX_QUOTED_CHARS and not _SEARCHING_ARGUMENTS.isdisjoint(
        call.arguments
    )
    if is_searched or not _KNOWN_KEYS.isdisjoint(call.data):
        return ""
    shown = _cut_at_a_line(text)
    if "\n" not in shown:
        return f"{call.tool}: {shown}"
    fence = "```"
    while fence in shown:
        fence += "`"
    return f"{call.tool}:\n\n{fence}text\n{shown}\n{fence}"


def describe_cut(call: AnsweredCall) -> str:
    """Return the gap of a quotation that is not whole; empty for a whole one."""
    text = call.text.strip()
    shown = len(_cut_at_a_line(text))
    if shown == len(text):
        return ""
    return f"{call.tool}: the first {shown} of {len(text):,} characters of its answer are quoted"


def _cut_at_a_line(text: str) -> str:
    if len(text) <= MAX_QUOTED_CHARS:
        return text
    cut = text[:MAX_QUOTED_CHARS]
    return (cut.rpartition("\n")[0] or cut).rstrip()
