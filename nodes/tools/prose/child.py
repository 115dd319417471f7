"""The child process that reads texts: what is made for it keeps a reader of Markdown busy."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.tools.isolation import serve
from nodes.tools.learning.grade import Grade, grade
from nodes.tools.learning.prose import MAX_TEXT_CHARS, Sentence, sentences
from nodes.tools.prose.limit import word_count, words_allowed
from nodes.tools.prose.remarks import Remark, remarks_on
from nodes.tools.replies import Reply, counted, fitted

SIZES = (40, 20, 10, 4)
"""Remarks that are told, fewer where they are too long together."""
MIN_WORDS = 100
"""Below it a grade says little."""
MAX_LINES = 60
"""Of a paragraph."""
MAX_OPENING_CHARS = 20
JUDGEMENT = (
    "Rules have read the text as it stands; tone, truth and whether it serves its readers are for "
    "a language model or a person to judge, and so is any new wording."
)
COLUMNS = "| text | words | sentences | words a sentence | Flesch-Kincaid grade | remarks |"

_CODE = Pattern(r"`[^`\n]{1,200}`")


def check(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{request, texts}` in the report's own words."""
    texts: dict[str, str] = request["texts"]
    read = {name: list(sentences(_CODE.sub("code", text))) for name, text in texts.items()}
    found = {name: _at_their_lines(remarks_on(each), texts[name]) for name, each in read.items()}
    allowed = words_allowed(request["request"])
    cut = [name for name, text in texts.items() if len(text) > MAX_TEXT_CHARS]
    lengths = {name: word_count(text) for name, text in texts.items()}
    return fitted(lambda most: _told(read, lengths, found, allowed, cut, most), SIZES)


def _at_their_lines(remarks: Sequence[Remark], text: str) -> list[Remark]:
    """Find the lines of the words, below those on which their paragraphs begin."""
    lines = text.split("\n")
    return [replace(remark, line=_line(remark, lines)) for remark in remarks]


def _line(remark: Remark, lines: Sequence[str]) -> int:
    opening = remark.words[:MAX_OPENING_CHARS]
    below = range(remark.line, min(remark.line + MAX_LINES, len(lines) + 1))
    return next((number for number in below if opening in lines[number - 1]), remark.line)


def _told(
    read: Mapping[str, Sequence[Sentence]],
    lengths: Mapping[str, int],
    found: Mapping[str, Sequence[Remark]],
    allowed: int | None,
    cut: Sequence[str],
    most: int,
) -> Reply:
    reply = Reply(lines=[COLUMNS, "|---" * 6 + "|"], gaps=[JUDGEMENT])
    for name, each in read.items():
        _tell(reply, name, lengths[name], grade(each), found[name])
        _hold_to_the_limit(reply, name, lengths[name], allowed)
    every = [(name, remark) for name, remarks in found.items() for remark in remarks]
    for name, remark in every[:most]:
        message = f"{remark.kind}: “{remark.words}”"
        suggestion = f"perhaps {remark.instead}" if remark.instead else ""
        reply.finding("low", message, name, suggestion, remark.line)
        reply.findings[-1]["confidence"] = 85
    if len(every) > most:
        reply.gaps.append(f"{len(every) - most} more remarks are left out.")
    reply.failures += [
        f"only the first {MAX_TEXT_CHARS} characters of {name} were read" for name in cut
    ]
    return reply


def _tell(reply: Reply, name: str, length: int, counts: Grade, remarks: Sequence[Remark]) -> None:
    level = f"{counts.flesch_kincaid:.1f}" if counts.words >= MIN_WORDS else "too short to say"
    cells = (length, counts.sentences, f"{counts.words_a_sentence:.1f}", level, len(remarks))
    reply.lines.append(f"| {name.replace('|', '/')} | {' | '.join(map(str, cells))} |")
    told = f"{name} has {length} words, {counted(counts.sentences, 'sentence')}"
    reply.claim(f"{told} and {counted(len(remarks), 'remark')}.", name)


def _hold_to_the_limit(reply: Reply, name: str, length: int, allowed: int | None) -> None:
    if allowed is None:
        return
    if length > allowed:
        message = f"{length} words, {length - allowed} over the {allowed} that are allowed"
        reply.finding("medium", message, name)
    else:
        reply.claim(f"{name} keeps within the {allowed} words that are allowed.", name)


if __name__ == "__main__":
    serve(check)
