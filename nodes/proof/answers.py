"""Proves the lines of an answer by the claims they come from, and marks what no claim supports."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from nodes.limits.patterns import Pattern
from nodes.proof.grounds import LIGHT_STEMS, Ground, Grounds
from nodes.proof.passages import list_words
from nodes.proof.quotations import is_quoted
from nodes.proof.statements import check_figures, find_addresses, list_foreign_names
from nodes.proof.steps import name_step
from nodes.proof.tables import SEGMENT
from nodes.proof.texts import Evidence, SourceText
from nodes.text.figures import Figures, read_figures, write_digits
from nodes.text.phrases import say
from state import Answer, Claim, Report

_SENTENCE: Final = Pattern(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]?[\"')\]]*")
_QUOTED: Final = Pattern(r"[\"\u201c\u201e]([^\"\u201c\u201d\u201e\n]{20,2000})[\"\u201c\u201d]")
_FILE: Final = Pattern(
    r"(?<![\w/.])[\w-]+\.(?:csv|docx|html|json|md|ods|pdf|rst|tsv|txt|xlsx)(?!\w)"
)
_MARKER: Final = Pattern(r"\s*(?:#{1,6}\s+|[-*+]\s+|\d{1,3}[.)]\s+)*")
"""Of a heading or a list item."""
_FENCE: Final = ("```", "~~~")
MAX_LINES: Final = 5_000
MAX_QUOTED_NUMBERS: Final = 5
"""In a quotation that a line of the answer may be computed from."""
MAX_COMPARED: Final = 12
"""Claims that one line may come from."""


@dataclass(frozen=True)
class Line:
    """A sentence or a row of a text, and where its mark goes."""

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
    counts = _count_listed(answer.text, claims)
    added, doubted_lines = list[Claim](), list[str]()
    for line in list(split_lines(answer.text))[:MAX_LINES]:
        lacking = _list_unsupported(line, proved, evidence, counts)
        if not lacking:
            continue
        marks.append(line.end)
        own = _list_unsupported(line, doubted, evidence, counts) if doubted.passages else lacking
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
    lines = [_write_claim(claim) for claim in claims]
    for report in reports:
        lines += [
            f"{each.message} {each.suggestion} {each.file}:{each.line}" for each in report.findings
        ]
        if not report.claims or report.has_found_claims:
            lines += [report.output]
    return SourceText("", "", lines=tuple(" ".join(line.split()) for line in lines))


def _write_claim(claim: Claim) -> str:
    """Return a claim with its quotation, but without a row or a list of many numbers."""
    has_many = len(read_figures(claim.quotation).numbers) > MAX_QUOTED_NUMBERS
    return f"{claim.text} {'' if has_many else claim.quotation} [{claim.source}]"


def _list_unsupported(
    line: Line, claims: SourceText, evidence: Evidence, counts: Collection[int]
) -> list[str]:
    """Return the figures, quotations, addresses and sources of a line that its claims lack."""
    text = line.text
    lacking = [q for q in _QUOTED.findall(text) if not is_quoted(q, claims.whole)]
    lacking += [each for each in find_addresses(text) if each not in claims.whole]
    names = {each.name for each in evidence.texts} | {*find_addresses(text), *_FILE.findall(text)}
    bare = text
    for name in sorted(filter(None, names), key=len, reverse=True):
        bare = bare.replace(name, " ")
    figures = read_figures(bare)
    if text.rstrip().endswith(":"):
        figures = _drop_counts(figures, counts)
    if figures.periods or figures.quantities:
        lacking += _list_unfounded(bare, figures, line.words, claims, evidence)
    if lacking or figures.periods or figures.quantities or _QUOTED.search(text):
        lacking += _list_unknown_files(text, claims, evidence)
    return list(dict.fromkeys(lacking))


def _list_unfounded(
    text: str,
    figures: Figures,
    heading: str,
    claims: SourceText,
    evidence: Evidence,
    others: Sequence[str] = (),
) -> list[str]:
    """Return the figures of a line, and the names beside them, that none of its claims has.

    One claim has all of them, or two do; else each part of the line is looked at by itself.

    Args:
        others: claims that a part without words of any may be from.
    """
    words = {*list_words(write_digits(f"{text} {heading}"))} - LIGHT_STEMS
    scores = claims.rank(words)
    likely = sorted(scores, key=lambda at: (-scores[at], at))[:MAX_COMPARED]
    texts = [claims.lines[at] for at in likely] or list(others or claims.lines[:MAX_COMPARED])
    best = [period.text for period in figures.periods]
    best += [quantity.text for quantity in figures.quantities]
    for one in texts:
        lacking = _list_lacking(text, figures, (one,), f"{evidence.words} {heading}", claims)
        best = min(best, _drop_linked(lacking, text, texts, claims), key=len)
    if best and len(texts) > 1:
        named = claims.rank(word for word in words if not word.isdigit())
        pair = sorted(named, key=lambda at: (-named[at], at))[:2]
        best = _drop_computed(best, text, figures, [claims.lines[at] for at in pair], claims)
    parts = [(part, read_figures(part)) for part in SEGMENT.split(text)] if best else []
    parts = [(part, held) for part, held in parts if held.periods or held.quantities]
    if len(parts) < 2:
        return best
    lacking = []
    for part, held in parts:
        lacking += _list_unfounded(part, held, heading, claims, evidence, texts[:2])
    return min(best, lacking, key=len)


def _drop_linked(
    lacking: list[str], text: str, texts: Sequence[str], claims: SourceText
) -> list[str]:
    """Return what is lacking, but no names that other claims have of the same subject.

    So "Huila, Colombia: 24 EUR" may be made of a claim on Huila's price and one on its country.
    """
    names = list_foreign_names(text, "", [claims])
    shared = [name for name in names if name not in lacking]
    if not lacking or not shared or any(each not in names for each in lacking):
        return lacking
    linked = [each for each in texts if any(name in each for name in shared)]
    return [name for name in lacking if not any(name in each for each in linked)]


def _list_lacking(
    text: str, figures: Figures, held: Sequence[str], said: str, claims: SourceText
) -> list[str]:
    """Return the figures and names of a text that a claim, or several, do not have."""
    grounds = Grounds(tuple(Ground(each, "", claims) for each in held), said)
    lacking, _ = check_figures(text, figures, grounds)
    return lacking + list_foreign_names(text, grounds.words, [claims], said)


def _drop_computed(
    lacking: Sequence[str], text: str, figures: Figures, pair: Sequence[str], claims: SourceText
) -> list[str]:
    """Return what is lacking without quantities that follow from two claims by one step."""
    grounds = Grounds(tuple(Ground(each, "", claims) for each in pair))
    missing = [each for each in figures.quantities if each.values and each.text in lacking]
    if not missing or not all(name_step(each, grounds.list_joined(), text) for each in missing):
        return list(lacking)
    literals = tuple(each for each in figures.quantities if each.is_literal)
    return _list_lacking(text, Figures(figures.periods, literals), pair, "", claims)


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


def _drop_counts(figures: Figures, counts: Collection[int]) -> Figures:
    """Return figures without bare whole numbers that count what the answer lists."""
    kept = tuple(
        each for each in figures.quantities if not (each.text.isdigit() and each.value in counts)
    )
    return Figures(figures.periods, kept)


def _count_listed(text: str, claims: Sequence[Claim]) -> set[int]:
    """Return how many list items, table rows and sources an answer has."""
    lines = [line.lstrip() for line in text.splitlines()]
    items = sum(line[:2] in ("- ", "* ", "+ ") or line[:1].isdigit() for line in lines)
    rows = sum(line.startswith("|") and not set(line) <= {*"|-: "} for line in lines)
    return {items, max(0, rows - 1), len({claim.source for claim in claims})} - {0}


def split_lines(text: str) -> Iterator[Line]:
    """Yield the sentences of prose, the rows of tables and the lines of code, each with its end."""
    place, heading, head, is_code = 0, "", "", False
    for line in text.splitlines(keepends=True):
        bare, end = line.strip(), place + len(line.rstrip())
        is_row = not is_code and bare.startswith("|") and bare.count("|") > 2
        if bare.startswith(_FENCE):
            is_code = not is_code
        elif is_row and head:
            if not set(bare) <= {*"|-: "}:
                yield Line(bare.strip("|"), end - 1, f"{heading} {head}")
        elif is_code or is_row:
            yield Line(bare, end, heading)
        else:
            yield from _split_sentences(line.rstrip(), place, heading)
        heading = bare.lstrip("# ") if bare.startswith("#") and not is_code else heading
        head, place = (head or bare) if is_row else "", place + len(line)


def _split_sentences(line: str, place: int, heading: str) -> Iterator[Line]:
    marker = _MARKER.match(line)
    for match in _SENTENCE.finditer(line, marker.end() if marker else 0):
        if match[0].strip():
            yield Line(match[0], place + match.end(), heading)


def _mark(text: str, places: Sequence[int], mark: str) -> str:
    for place in sorted(set(places), reverse=True):
        before, after = text[:place].rstrip(), text[place:]
        stop = before[-1:] if before[-1:] in ".!?" else ""
        text = f"{before.removesuffix(stop)} {mark}{stop}{' ' if after[:1] == '|' else ''}{after}"
    return text
