"""Split a contract into clauses: numbered ones, the text before them, exhibits and signatures."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nodes.limits.patterns import Pattern

from .contract_text import ContractText
from .headings import is_heading_line
from .markers import Marker, find_markers
from .noise import Span
from .numbering import ClauseOpening, find_openings, number_clauses

PREAMBLE, SIGNATURES, AFTER_SIGNATURES = "preamble", "signatures", "after the signatures"
MIN_NUMBERED_CLAUSES = 2
MIN_PARAGRAPH_WORDS = 5
_EXECUTION = Pattern(
    r"\bin witness (?:whereof|of which)\b|^[ ]*(?:signed|executed)\b[^\n]{0,60}\b(?:by|on behalf)\b"
    r"|^[ ]*(?:by:?[ ]*)?/s/",
    re.MULTILINE,
)
"""Words with which a contract is signed: what follows is no longer its numbered text."""
_BLANK_LINE = Pattern(r"^[ ]*by:[ ]*(?:_{3,}|$)|^[ ]*_{12,}", re.MULTILINE)
"""A line to be filled in, which may also be in the middle of the text."""
_UNIT = Pattern(r"[^\n]+?(?:[.!?](?=\s)|(?=\n)|$)")
_DUTY = Pattern(r"\b(?:shall|will|may|must|agrees?|are entitled|is entitled)\b")
MIN_TEXT_WORDS = 8
"""A line or sentence of this length that names a duty is text, not part of a signature."""
_ATTACHMENT = Pattern(
    r"^[ #*]*(?P<kind>exhibit|schedule|annex|appendix|attachment)[ ]+"
    r"(?P<label>[a-z]{1,2}|\d{1,2}(?:\.\d{1,3})?|[ivx]{1,4})[ .:*-]*(?:\n|$|[ ]{2,}|[-:][ ])",
    re.MULTILINE,
)
_TOP_CHARS = 400
"""An `EXHIBIT 10.2` this near the top is the number under which the contract was filed."""


@dataclass(frozen=True)
class Clause:
    """A numbered part of a contract; its parts, such as (a) and (b), are clauses themselves."""

    number: str
    """`9`, `4.2(a)`, `Exhibit A 1`; `¶3` where the contract has no numbers; or what it is."""
    heading: str
    start: int
    text_start: int
    """Offset at which the text after the number begins."""
    body_start: int
    """Offset at which the text after number and heading begins."""
    end: int
    """Offset at which the next clause of any depth begins."""
    whole_end: int
    """Offset at which the next clause begins that is not part of this one."""
    level: int

    @property
    def name(self) -> str:
        """Return the clause's name for display."""
        known = self.number if not self.number[0].isdigit() else f"clause {self.number}"
        return f"{known} ({self.heading})" if self.heading else known


def split_into_clauses(reading: ContractText) -> list[Clause]:
    """Split a contract into clauses, in order; together they cover all of it."""
    marked = find_markers(reading.clean)
    first = marked[0].start if marked else _TOP_CHARS
    attached = [
        (each.start(), f"{each['kind']} {each['label']}".title())
        for each in _ATTACHMENT.finditer(reading.lowercase)
        if each.start() > _TOP_CHARS
    ]
    stops = [at for at, _ in attached]
    signed = _find_signatures(reading, _EXECUTION, first, stops)
    blank = _find_signatures(reading, _BLANK_LINE, first, stops)
    resumed = {end for _, end in signed} - {*stops, len(reading.clean)}
    starts: dict[str, int] = {}
    for at, label in sorted([(0, ""), *attached, *((end, AFTER_SIGNATURES) for end in resumed)]):
        starts.setdefault(label, at)
    regions = sorted((at, label) for label, at in starts.items())
    found: list[Clause] = []
    for index, (start, label) in enumerate(regions):
        end = regions[index + 1][0] if index + 1 < len(regions) else len(reading.raw)
        inside = [each for each in marked if start <= each.start < end]
        found += _split_region(reading, start, end, label, inside)
    for start, end in _merge_spans([*signed, *blank]):
        found = list(_take_out(found, start, end))
    return sorted(found, key=lambda clause: clause.start)


def list_unread_spans(clauses: Sequence[Clause]) -> list[Span]:
    """Return the spans that were taken for signatures, which are not searched."""
    return [(each.start, each.end) for each in clauses if each.number == SIGNATURES]


def find_clauses(found: Sequence[Clause], number: str) -> list[Clause]:
    """Find clauses by number, in any notation: `16 C`, `16(C)`, `Section 16.C`."""
    wanted = _normalize_number(number)
    return [clause for clause in found if wanted and _normalize_number(clause.number) == wanted]


def _normalize_number(number: str) -> str:
    bare = Pattern(r"^\W*(?:clause|section|sec|no|number)\b", re.IGNORECASE).sub("", number.strip())
    return Pattern(r"[^\w¶]+").sub("", bare).casefold()


def _find_signatures(
    reading: ContractText, opening: Pattern, first: int, stops: Sequence[int]
) -> list[Span]:
    """Find blocks of signatures; each ends where text resumes or an attachment begins."""
    found: list[Span] = []
    low = reading.lowercase
    for match in opening.finditer(low, first):
        if found and match.start() < found[-1][1]:
            continue
        limit = min((at for at in stops if at > match.start()), default=len(low))
        found.append((match.start(), _find_signature_end(low, match.end(), limit)))
    return found


def _find_signature_end(low: str, at: int, limit: int) -> int:
    for number, unit in enumerate(_UNIT.finditer(low, at, limit)):
        is_apart = number or "\n" in low[at : unit.start()]
        if is_apart and len(unit[0].split()) >= MIN_TEXT_WORDS and _DUTY.search(unit[0]):
            line = low.rfind("\n", at, unit.start()) + 1
            return line or unit.start()
    return limit


def _merge_spans(spans: Sequence[Span]) -> list[Span]:
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            start, end = found[-1][0], max(end, found.pop()[1])
        found.append((start, end))
    return found


def _take_out(clauses: Sequence[Clause], start: int, end: int) -> Iterator[Clause]:
    """Cut signatures out of the clauses; what follows them keeps the number of its clause."""
    yield Clause(SIGNATURES, "", start, start, start, end, end, 0)
    for clause in clauses:
        if clause.end <= start or clause.start >= end:
            yield clause
            continue
        if clause.start < start:
            yield replace(clause, body_start=min(clause.body_start, start), end=start)
        if clause.end > end:
            yield replace(clause, start=end, text_start=end, body_start=end)


def _split_region(
    reading: ContractText, start: int, end: int, label: str, marked: Sequence[Marker]
) -> list[Clause]:
    opened = find_openings(marked)
    whole = [opening for opening in opened if opening.level == 0]
    prefix = f"{label} " if label else ""
    if len(whole) < MIN_NUMBERED_CLAUSES:
        return _split_unnumbered(reading, start, end, label)
    found = _build_preamble(reading, start, opened[0].marker.start, label)
    ends = [*(each.marker.start for each in opened[1:]), end]
    rows = zip(opened, number_clauses(opened), ends, _find_whole_ends(opened, end), strict=True)
    for opening, number, stop, whole_stop in rows:
        marker = opening.marker
        found.append(
            Clause(
                number=prefix + number,
                heading=marker.heading,
                start=marker.start,
                text_start=marker.end,
                body_start=marker.heading_end or marker.end,
                end=stop,
                whole_end=whole_stop,
                level=opening.level,
            )
        )
    return found


def _find_whole_ends(opened: Sequence[ClauseOpening], end: int) -> list[int]:
    """Return for each clause where the next clause of the same or a higher level begins."""
    found: list[int] = []
    next_at: dict[int, int] = {}
    for opening in reversed(opened):
        found.append(min((at for lv, at in next_at.items() if lv <= opening.level), default=end))
        next_at = {level: at for level, at in next_at.items() if level < opening.level}
        next_at[opening.level] = opening.marker.start
    return found[::-1]


def _build_preamble(reading: ContractText, start: int, end: int, label: str) -> list[Clause]:
    if not reading.clean[start:end].strip():
        return []
    return [Clause(label or PREAMBLE, "", start, start, start, end, end, 0)]


def _split_unnumbered(reading: ContractText, start: int, end: int, label: str) -> list[Clause]:
    """Number the parts under headings, or else the paragraphs, of a text without numbers."""
    blocks = list(_find_blocks(reading, start, end))
    heads = [span for span in blocks if is_heading_line(reading.clean[slice(*span)])]
    if len(heads) >= MIN_NUMBERED_CLAUSES + 1:
        cuts = [span for span in heads if span != blocks[0]]
    else:
        cuts = [span for span in blocks if _is_paragraph(reading.clean[slice(*span)])][1:]
    if not cuts:
        return [Clause(label or PREAMBLE, "", start, start, start, end, end, 0)]
    found = _build_preamble(reading, start, cuts[0][0], label)
    for index, (at, stop) in enumerate(cuts):
        until = cuts[index + 1][0] if index + 1 < len(cuts) else end
        line = reading.clean[at:stop]
        name = " ".join(line.split()).strip("#*_: ") if is_heading_line(line) else ""
        number = f"{label} ¶{index + 1}" if label else f"¶{index + 1}"
        found.append(Clause(number, name, at, at, stop if name else at, until, until, 0))
    return found


def _is_paragraph(text: str) -> bool:
    return len(text.split()) >= MIN_PARAGRAPH_WORDS


def _find_blocks(reading: ContractText, start: int, end: int) -> Iterator[Span]:
    """Return headings and paragraphs, separated by blank lines; a heading may have no text."""
    for block in Pattern(r"\S(?:[^\n]|\n(?![ ]*\n))*").finditer(reading.clean[start:end]):
        at, stop = start + block.start(), start + block.end()
        first = at + len(block[0].partition("\n")[0])
        if first < stop and is_heading_line(reading.clean[at:first]):
            yield at, first
            at = first + 1
        yield reading.trim_span(at, stop)
