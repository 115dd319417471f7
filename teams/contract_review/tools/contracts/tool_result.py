"""Build the answers of the contract tools: claims and their places, in the form of a report."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from nodes.text.plain_text import sanitize_line

from .contract import Contract, ContractPassage

NOT_LEGAL_ADVICE = (
    "This is a check of wording by machine, not legal advice: whether a clause is fair, "
    "enforceable or usual is for a lawyer to judge."
)
MAX_ANSWER_CHARS = 19_500
RESERVED_GAP_CHARS = 200
MAX_SHOWN_CHARS = 260
_SENTENCE_ENDS = tuple(".:;!?\"')\u201d\u2019")

ToolResult = dict[str, Any]


def build_claim(
    contract: Contract, text: str, passage: ContractPassage, confidence: int = 85
) -> dict[str, Any]:
    """Build a claim, with the words that support it."""
    quote = contract.quote(passage)
    return {"text": text, "source": contract.name, "quote": quote, "confidence": confidence}


def build_place(contract: Contract, passage: ContractPassage) -> dict[str, Any]:
    """Return the place of a quotation: clause, line, and offsets into the material's text."""
    return {
        "clause": passage.clause.number,
        "line": contract.text.find_line_number(passage.start),
        "start": passage.start,
        "end": passage.end,
    }


def format_quotation(
    contract: Contract, passage: ContractPassage, max_chars: int = MAX_SHOWN_CHARS
) -> str:
    """Return a quotation on one line, with three dots if it is cut."""
    shown = sanitize_line(contract.text.format_on_one_line(passage.start, passage.end), max_chars)
    if shown.endswith("…"):
        shown = shown.rpartition(" ")[0] or shown[:-1]
    before = contract.text.clean[passage.clause.text_start : passage.start].rstrip()
    is_within = bool(before) and before[-1] not in _SENTENCE_ENDS
    dots_before, dots_after = "… " * is_within, " …" * (shown[-1:] not in _SENTENCE_ENDS)
    return f"{dots_before}\u201c{shown}\u201d{dots_after}"


def format_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(_escape_cell, line)) + " |" for line in lines)


def fit_to_size(answer: ToolResult, *groups: tuple[str, ...]) -> ToolResult:
    """Drop what exceeds the size from the ends of lists, group by group, and name it in the gaps.

    The lists of a group belong together, as claims and their places do.
    """
    for group in groups:
        whole = len(answer[group[0]])
        while answer[group[0]] and not is_short(answer):
            for name in group:
                answer[name].pop()
        if left_out := whole - len(answer[group[0]]):
            answer["gaps"].append(f"{left_out} of {whole} {group[0]} are left out for length")
    return answer


def is_short(answer: ToolResult) -> bool:
    """Return whether an answer is below the size that an agent keeps of it."""
    return _measure_size(answer) <= MAX_ANSWER_CHARS


def _measure_size(answer: ToolResult) -> int:
    return len(json.dumps(answer, ensure_ascii=False)) + RESERVED_GAP_CHARS


def _escape_cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
