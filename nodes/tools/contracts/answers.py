"""What the tools on contracts answer with: claims and their places, in a report's own words."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from nodes.tools.contracts.contract import Contract, Passage
from nodes.tools.plain_text import plain_line

NOT_LEGAL_ADVICE = (
    "This is a check of wording by machine, not legal advice: whether a clause is fair, "
    "enforceable or usual is for a lawyer to judge."
)
MAX_ANSWER_CHARS = 19_500
ROOM_FOR_GAPS = 200
MAX_SHOWN_CHARS = 260
_STOPS = tuple(".:;!?\"')\u201d\u2019")

Answer = dict[str, Any]


def claim(contract: Contract, text: str, passage: Passage, confidence: int = 85) -> dict[str, Any]:
    """State something, with the words that carry it."""
    quote = contract.quote(passage)
    return {"text": text, "source": contract.name, "quote": quote, "confidence": confidence}


def place(contract: Contract, passage: Passage) -> dict[str, Any]:
    """Say where a quotation stands: clause, line, and offsets into the material's text."""
    return {
        "clause": passage.clause.number,
        "line": contract.reading.line(passage.start),
        "start": passage.start,
        "end": passage.end,
    }


def quoted(contract: Contract, passage: Passage, max_chars: int = MAX_SHOWN_CHARS) -> str:
    """Show a quotation in one line; with three dots where it is cut."""
    shown = plain_line(contract.reading.shown(passage.start, passage.end), max_chars)
    if shown.endswith("…"):
        shown = shown.rpartition(" ")[0] or shown[:-1]
    before = contract.reading.clean[passage.clause.head : passage.start].rstrip()
    is_within = bool(before) and before[-1] not in _STOPS
    dots_before, dots_after = "… " * is_within, " …" * (shown[-1:] not in _STOPS)
    return f"{dots_before}\u201c{shown}\u201d{dots_after}"


def counted(number: int, noun: str) -> str:
    """Give a number with its noun, in the plural where it is due."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def fitted(answer: Answer, *groups: tuple[str, ...]) -> Answer:
    """Drop what is over the size from the ends of lists, group by group, and say so in the gaps.

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


def is_short(answer: Answer) -> bool:
    """Return whether an answer is below the size that an agent keeps of it."""
    return _size(answer) <= MAX_ANSWER_CHARS


def _size(answer: Answer) -> int:
    return len(json.dumps(answer, ensure_ascii=False)) + ROOM_FOR_GAPS


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
