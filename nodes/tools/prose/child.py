"""The child process that reads texts: what is made for it keeps a reader of Markdown busy."""

from collections.abc import Mapping, Sequence
from typing import Any

from nodes.tools.isolation import serve
from nodes.tools.learning.grade import Grade, grade
from nodes.tools.learning.prose import MAX_TEXT_CHARS, Sentence, sentences
from nodes.tools.prose.limit import words_allowed
from nodes.tools.prose.remarks import Remark, remarks_on
from nodes.tools.replies import Reply, counted, fitted

SIZES = (40, 20, 10, 4)
"""Remarks that are told, fewer where they are too long together."""
MIN_WORDS = 100
"""Below it a grade says little."""
JUDGEMENT = (
    "Rules have read the text as it stands; tone, truth and whether it serves its readers are for "
    "a language model or a person to judge, and so is any new wording."
)
COLUMNS = "| text | words | sentences | words a sentence | Flesch-Kincaid grade | remarks |"


def check(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{request, texts}` in the report's own words."""
    texts: dict[str, str] = request["texts"]
    read = {name: list(sentences(text)) for name, text in texts.items()}
    found = {name: remarks_on(each) for name, each in read.items()}
    allowed = words_allowed(request["request"])
    cut = [name for name, text in texts.items() if len(text) > MAX_TEXT_CHARS]
    return fitted(lambda most: _told(read, found, allowed, cut, most), SIZES)


def _told(
    read: Mapping[str, Sequence[Sentence]],
    found: Mapping[str, Sequence[Remark]],
    allowed: int | None,
    cut: Sequence[str],
    most: int,
) -> Reply:
    reply = Reply(lines=[COLUMNS, "|---" * 6 + "|"], gaps=[JUDGEMENT])
    for name, each in read.items():
        _tell(reply, name, grade(each), found[name], allowed)
    every = [(name, remark) for name, remarks in found.items() for remark in remarks]
    for name, remark in every[:most]:
        message = f"{remark.kind}: “{remark.words}”"
        suggestion = f"perhaps {remark.instead}" if remark.instead else ""
        reply.finding("low", message, name, suggestion, remark.line)
        reply.findings[-1]["confidence"] = 85
    if len(every) > most:
        reply.gaps.append(f"{len(every) - most} more remarks are left out.")
    reply.gaps += [f"Of {name} only the first {MAX_TEXT_CHARS} characters were read." for name in cut]
    return reply


def _tell(
    reply: Reply, name: str, counts: Grade, remarks: Sequence[Remark], allowed: int | None
) -> None:
    level = f"{counts.flesch_kincaid:.1f}" if counts.words >= MIN_WORDS else "too short to say"
    cells = (counts.words, counts.sentences, f"{counts.words_a_sentence:.1f}", level, len(remarks))
    reply.lines.append(f"| {name.replace('|', '/')} | {' | '.join(map(str, cells))} |")
    sentences_told = counted(counts.sentences, "sentence")
    told = f"{name} has {counts.words} words in {sentences_told}"
    reply.claim(f"{told} and {counted(len(remarks), 'remark')}.", name)
    if allowed is None:
        return
    over = counts.words - allowed
    if over > 0:
        message = f"{counts.words} words, {over} over the {allowed} that are allowed"
        reply.finding("medium", message, name)
    else:
        reply.claim(f"{name} keeps within the {allowed} words that are allowed.", name)


if __name__ == "__main__":
    serve(check)
