"""Split a contract into clauses: numbered ones, the text before them, exhibits and signatures."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nodes.limits.patterns import Pattern

from .contract_text import ContractText, Span
from .numbering import (
    ClauseOpening,
    Marker,
    find_markers,
    find_openings,
    is_heading_line,
    number_clauses,
)

PREAMBLE, SIGNATURES, AFTER_SIGNATURES = "preamble", "signatures", "after the signatures"
MIN_NUMBERED_CLAUSES = 2
MIN_PARAGRAPH_WORDS = 5
_EXECUTION = Pattern(
    r"\bin witness (?:whereof|of which)\b|^[ ]*(?:signed|executed)\b[^\n]{0,60}\b(?:by|on behalf)\b"
    r"|^[ ]*(?:by:?[ ]*)?/s/",
    re.MULTILINE,
)
"""Words with which a contract is signed: what follows is no longer its numbered text."""
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
    regions = _find_regions(reading, marked[0].start if marked else _TOP_CHARS)
    ends = [*sorted(regions)[1:], len(reading.raw)]
    found = list[Clause]()
    for (start, label), end in zip(sorted(regions.items()), ends, strict=True):
        if label == SIGNATURES:
            found.append(_build_part(label, "", start, start, end))
        else:
            inside = [each for each in marked if start <= each.start < end]
            found += _split_region(reading, start, end, label, inside)
    return found


def find_clauses(found: Sequence[Clause], number: str) -> list[Clause]:
    """Find clauses by number, in any notation: `16 C`, `16(C)`, `Section 16.C`."""
    wanted = _normalize_number(number)
    return [clause for clause in found if wanted and _normalize_number(clause.number) == wanted]


def _normalize_number(number: str) -> str:
    bare = Pattern(r"^\W*(?:clause|section|sec|no|number)\b", re.IGNORECASE).sub("", number.strip())
    return Pattern(r"[^\w¶]+").sub("", bare).casefold()


def _find_regions(reading: ContractText, first: int) -> dict[int, str]:
    """Return where attachments, signatures and the text after them begin, with their names."""
    low, regions = reading.lowercase, {0: ""}
    for found in _ATTACHMENT.finditer(low):
        label = f"{found['kind']} {found['label']}".title()
        if found.start() > _TOP_CHARS and label not in regions.values():
            regions[found.start()] = label
    stops, end = [*sorted(regions), len(low)], 0
    for signed in _EXECUTION.finditer(low, first):
        if signed.start() < end:
            continue
        limit = min(at for at in stops if at > signed.start())
        end = _find_signature_end(low, signed.end(), limit)
        regions[signed.start()] = SIGNATURES
        if end < limit:
            regions[end] = AFTER_SIGNATURES
    return regions


def _find_signature_end(low: str, at: int, limit: int) -> int:
    for number, unit in enumerate(_UNIT.finditer(low, at, limit)):
        is_apart = number or "\n" in low[at : unit.start()]
        if is_apart and len(unit[0].split()) >= MIN_TEXT_WORDS and _DUTY.search(unit[0]):
            line = low.rfind("\n", at, unit.start()) + 1
            return line or unit.start()
    return limit


def _split_region(
    reading: ContractText, start: int, end: int, label: str, marked: Sequence[Marker]
) -> list[Clause]:
    opened = find_openings(marked)
    if sum(opening.level == 0 for opening in opened) >= MIN_NUMBERED_CLAUSES:
        found = _build_numbered(opened, end, f"{label} " if label else "")
    else:
        found = _split_unnumbered(reading, start, end, label)
    first = found[0].start if found else end
    if reading.clean[start:first].strip() or not found:
        found.insert(0, _build_part(label or PREAMBLE, "", start, start, first))
    return found


def _build_numbered(opened: Sequence[ClauseOpening], end: int, prefix: str) -> list[Clause]:
    found, starts = list[Clause](), [*(each.marker.start for each in opened), end]
    for index, (opening, number) in enumerate(zip(opened, number_clauses(opened), strict=True)):
        marker, following = opening.marker, opened[index + 1 :]
        found.append(
            Clause(
                number=prefix + number,
                heading=marker.heading,
                start=marker.start,
                text_start=marker.end,
                body_start=marker.heading_end or marker.end,
                end=starts[index + 1],
                whole_end=next(
                    (each.marker.start for each in following if each.level <= opening.level), end
                ),
                level=opening.level,
            )
        )
    return found


def _build_part(number: str, heading: str, start: int, body_start: int, end: int) -> Clause:
    return Clause(number, heading, start, start, body_start, end, end, 0)


def _split_unnumbered(reading: ContractText, start: int, end: int, label: str) -> list[Clause]:
    """Number the parts under headings, or else the paragraphs, of a text without numbers."""
    blocks = list(_find_blocks(reading, start, end))
    heads = [span for span in blocks if is_heading_line(reading.clean[slice(*span)])]
    if len(heads) >= MIN_NUMBERED_CLAUSES + 1:
        cuts = [span for span in heads if span != blocks[0]]
    else:
        cuts = [span for span in blocks if _is_paragraph(reading.clean[slice(*span)])][1:]
    ends = [*(at for at, _ in cuts[1:]), end]
    found = list[Clause]()
    for index, ((at, stop), until) in enumerate(zip(cuts, ends, strict=False), start=1):
        line = reading.clean[at:stop]
        name = " ".join(line.split()).strip("#*_: ") if is_heading_line(line) else ""
        number = f"{label} ¶{index}".strip()
        found.append(_build_part(number, name, at, stop if name else at, until))
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
