"""Proves the lines of an answer by the claims they come from, and marks what no claim supports."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from nodes.limits.patterns import Pattern
from nodes.proof.grounds import Ground, Grounds, find_grounds
from nodes.proof.names import find_addresses
from nodes.proof.quotations import is_quoted
from nodes.proof.statements import check_figures
from nodes.proof.texts import Evidence, SourceText
from nodes.text.figures import Figures, read_figures
from nodes.text.phrases import say
from state import Answer, Claim, Report

_SENTENCE: Final = Pattern(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]?[\"')\]]*")
_QUOTED: Final = Pattern(r"[\"\u201c\u201e]([^\"\u201c\u201d\u201e\n]{20,2000})[\"\u201c\u201d]")
_FILE: Final = Pattern(
    r"(?<![\w/.])[\w-]+\.(?:csv|docx|html|json|md|ods|pdf|rst|tsv|txt|xlsx)(?!\w)"
)
_LIST_NUMBER: Final = Pattern(r"^\s*(?:#{1,6}\s+)?(?:\d{1,3}[.)]\s+)?")
_FENCE: Final = ("```", "~~~")
MAX_COUNT: Final = 10
"""A bare whole number up to it counts what the writer lists."""
MAX_LINES: Final = 5_000
MAX_UNTIED: Final = 50
"""Claims that a line may come from whose words are in none of them."""


@dataclass(frozen=True)
class _Line:
    """A sentence or a row of an answer, and where its mark goes."""

    text: str
    end: int
    words: str = ""
    """Its heading or the head of its column, by which its claim is found."""


@dataclass(frozen=True)
class ProvedAnswer:
    """An answer with its claims and with a mark at each line without support."""

    answer: Answer
    gaps: Mapping[str, str]
    """What only the answer says, each with its line."""
    doubted: tuple[str, ...] = ()
    """Lines that say what an unproved claim says; the gap is the report's."""


def prove_answer(answer: Answer, reports: Sequence[Report], evidence: Evidence) -> ProvedAnswer:
    """Return the answer with its claims, with marks, and with a gap for each line without support.

    Each figure, quotation, address and source of a line is in the claims that fit the line best, or
    follows from them by one step, or is the user's own. What an unproved claim says is marked, and
    is its report's gap.

    Args:
        evidence: the words of the user, their language and the names of the files.
    """
    claims = list(dict.fromkeys(claim for report in reports for claim in report.claims))
    answer = answer.model_copy(update={"claims": tuple(claims)})
    checked = [claim for claim in claims if claim.proof is not None]
    if not checked:
        return ProvedAnswer(answer, {})
    proved = _build_source([claim for claim in checked if claim.proof != "unproved"], reports)
    doubted = _build_source([claim for claim in checked if claim.proof == "unproved"], ())
    language, gaps, marks = evidence.language, dict[str, str](), list[int]()
    added, doubted_lines = list[Claim](), list[str]()
    for line in list(_split(answer.text))[:MAX_LINES]:
        lacking = _list_unsupported(line, proved, evidence)
        if not lacking:
            continue
        marks.append(line.end)
        own = _list_unsupported(line, doubted, evidence) if doubted.passages else lacking
        if left := [each for each in lacking if each in own]:
            what = ", ".join(f"“{each}”" for each in left[:6])
            shown = " ".join(line.text.split())[:200]
            gap = say(language, "unsupported", what=what, line=shown)
            gaps[gap] = shown
            added.append(Claim(text=shown, proof="unproved", doubt=gap))
        else:
            doubted_lines.append(line.text)
    text = _mark(answer.text, marks, say(language, "unsupported_mark"))
    marked = answer.model_copy(update={"text": text, "claims": (*claims, *added)})
    return ProvedAnswer(marked, gaps, tuple(doubted_lines))


def _build_source(claims: Sequence[Claim], reports: Iterable[Report]) -> SourceText:
    """Return claims and findings as a text with one passage each."""
    lines = [f"{claim.text} {claim.quotation} [{claim.source}]" for claim in claims]
    for report in reports:
        lines += [
            f"{each.message} {each.suggestion} {each.file}:{each.line}" for each in report.findings
        ]
        if not report.claims:
            lines += [report.output]
    return SourceText("", "", lines=tuple(" ".join(line.split()) for line in lines))


def _list_unsupported(line: _Line, claims: SourceText, evidence: Evidence) -> list[str]:
    """Return the figures, quotations, addresses and sources of a line that its claims lack."""
    text = _LIST_NUMBER.sub("", line.text, 1)
    lacking = [q for q in _QUOTED.findall(text) if not is_quoted(q, claims.whole)]
    lacking += [each for each in find_addresses(text) if each not in claims.whole]
    bare = text
    for address in (*find_addresses(text), *_FILE.findall(text)):
        bare = bare.replace(address, " ")
    figures = _drop_counts(read_figures(bare))
    if figures.periods or figures.quantities:
        grounds = find_grounds(f"{bare} {line.words}", [claims])
        texts = [each.text for each in grounds] or list(claims.lines[:MAX_UNTIED])
        wide = Grounds(tuple(Ground(text, "", claims) for text in texts), evidence.words)
        found, _ = check_figures(bare, figures, wide)
        lacking += found
    if lacking or figures.periods or figures.quantities or _QUOTED.search(text):
        lacking += _list_unknown_files(text, claims, evidence)
    return list(dict.fromkeys(lacking))


def _list_unknown_files(text: str, claims: SourceText, evidence: Evidence) -> list[str]:
    """Return the documents that a line names beside what it says, and that no claim is from."""
    known, held = {_get_base(each.name) for each in evidence.texts}, claims.whole.casefold()
    names = (name for name in _FILE.findall(text) if _get_base(name) not in known)
    return [name for name in names if name.casefold() not in held]


def _get_base(name: str) -> str:
    return name.casefold().rpartition("/")[2]


def find_file_names(text: str) -> list[str]:
    """Return the names of documents and tables in a text."""
    return _FILE.findall(text)


def _drop_counts(figures: Figures) -> Figures:
    kept = tuple(
        each
        for each in figures.quantities
        if not (each.text.isdigit() and not each.unit and each.value <= MAX_COUNT)
    )
    return Figures(figures.periods, kept)


def _split(text: str) -> Iterator[_Line]:
    """Yield the sentences of prose, the rows of tables and the lines of code, each with its end."""
    place, heading, head, is_code = 0, "", "", False
    for line in text.splitlines(keepends=True):
        bare, end = line.strip(), place + len(line.rstrip())
        is_row = not is_code and bare.startswith("|") and bare.count("|") > 2
        if bare.startswith(_FENCE):
            is_code = not is_code
        elif is_row and head:
            if not set(bare) <= {*"|-: "}:
                yield _Line(bare.strip("|"), end - 1, f"{heading} {head}")
        elif is_code or is_row:
            yield _Line(bare, end, heading)
        else:
            yield from _split_sentences(line.rstrip(), place, heading)
        heading = bare.lstrip("# ") if bare.startswith("#") and not is_code else heading
        head, place = (head or bare) if is_row else "", place + len(line)


def _split_sentences(line: str, place: int, heading: str) -> Iterator[_Line]:
    for match in _SENTENCE.finditer(line):
        if match[0].strip():
            yield _Line(match[0], place + match.end(), heading)


def _mark(text: str, places: Sequence[int], mark: str) -> str:
    for place in sorted(set(places), reverse=True):
        before, after = text[:place].rstrip(), text[place:]
        stop = before[-1:] if before[-1:] in ".!?" else ""
        text = f"{before.removesuffix(stop)} {mark}{stop}{' ' if after[:1] == '|' else ''}{after}"
    return text
