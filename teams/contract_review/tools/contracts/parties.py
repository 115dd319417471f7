"""Find the parties of a contract, as its opening names them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nodes.limits.patterns import Pattern

from .clauses import PREAMBLE
from .contract import Contract
from .noise import Span
from .sentences import split_sentences

MAX_PARTIES = 8
MAX_OPENING_CHARS = 6_000
MAX_DETAIL_CHARS = 500
_BETWEEN = Pattern(r"\b(?:by\s+and\s+(?:between|among)|between|among)\b:?\s*", re.IGNORECASE)
_LIST_MARK = Pattern(r"^[ ]*\(?[1-9][.)][ ]*(?=[A-Z\[])", re.MULTILINE)
_LEGAL_FORM = (
    r"(?:,?\s+(?:(?:Inc|Ltd|Corp|Co|INC|LTD|CORP|CO)\b\.?|L\.L\.C\.|L\.P\.|N\.A\.|N\.V\.|B\.V\.|S\.A\."
    r"|S\.p\.A\.|(?:LLC|LLP|LP|PLC|plc|SAS|SA|GmbH|AG|SE|Limited|LIMITED|Corporation|Company)\b))*"
)
_SENTENCE_STOP = r"(?<!Inc)(?<!INC)(?<!Ltd)(?<!LTD)(?<!Corp)(?<!CORP)(?<!Co)(?<!CO)\."
_NAME = Pattern(
    rf"^(?:\[[^\]\n]{{0,40}}\]|_{{4,}}|[A-Z0-9][^\n,(;]{{1,90}}?{_LEGAL_FORM})"
    r"(?=\s*[,(;]|\s{2,}|\s+(?:with|having|whose|located|organi[sz]ed|of|residing|incorporated|dated"
    r"|and|And|AND|on|for|effective|as)\b|\s*"
    rf"{_SENTENCE_STOP}(?:\s|$)|\s*$)"
)
_ROLE = Pattern(
    r"\([^()\"']{0,40}(?:[\"'](?P<quoted>[^()\"']{1,40})[\"']|(?<=\()(?P<bare>[A-Z][\w &-]{0,40}))"
    r"[^()]{0,60}\)"
)
_NEXT_PARTY = Pattern(r"(?:[,;]|(?<!\s))\s++(?:and|And|AND|&)\s++(?:\(\d\)\s*+)?(?=[A-Z\[_0-9])")
_COMMA = Pattern(r"[,;]\s+(?=[A-Z\[])")


@dataclass(frozen=True)
class Party:
    """A party, and the term the contract uses for it."""

    name: str
    role: str
    start: int
    end: int


def find_parties(contract: Contract) -> list[Party]:
    """Find the parties in the contract's opening; none if it names them in another way."""
    clean = contract.text.clean
    first = next((c.start for c in contract.clauses if c.number != PREAMBLE), len(clean))
    end = min(first, MAX_OPENING_CHARS) if first > 40 else min(len(clean), MAX_OPENING_CHARS)
    found = list(_find_listed_parties(clean[:end]))
    if len(found) < 2:
        for opening in _BETWEEN.finditer(clean, 0, end):
            _, stop = next(split_sentences(clean, opening.end(), end), (0, end))
            found = list(_find_joined_parties(clean, opening.end(), stop))
            if len(found) > 1:
                break
    return found[:MAX_PARTIES] if len(found) > 1 else []


def _find_listed_parties(text: str) -> Iterator[Party]:
    """Read parties that are on numbered lines of their own."""
    starts = [mark.end() for mark in _LIST_MARK.finditer(text)]
    for index, at in enumerate(starts):
        stop = starts[index + 1] if index + 1 < len(starts) else text.find("\n\n", at)
        if name_end := _name_end(text, at, len(text)):
            stop = stop if stop > 0 else len(text)
            yield _build_party(text, (at, name_end), name_end, min(stop, at + MAX_DETAIL_CHARS))


def _find_joined_parties(text: str, at: int, end: int) -> Iterator[Party]:
    """Read parties that are in one sentence: `X, a company ("A"), and Y ("B")`."""
    while at < end and (name_end := _name_end(text, at, end)):
        stop = min(end, name_end + MAX_DETAIL_CHARS)
        following = _NEXT_PARTY.search(text, name_end, stop)
        role = _ROLE.search(text, name_end, following.start() if following else stop)
        yield _build_party(text, (at, name_end), name_end, following.start() if following else stop)
        if role and (comma := _COMMA.match(text, role.end())):
            at = comma.end()
        elif following:
            at = following.end()
        else:
            return


def _name_end(text: str, at: int, end: int) -> int | None:
    found = _NAME.match(text[at:end])
    return at + found.end() if found else None


def _build_party(text: str, name: Span, at: int, stop: int) -> Party:
    role = _ROLE.search(text, at, stop)
    shown = " ".join(text[slice(*name)].split())
    called = (role["quoted"] or role["bare"]) if role else ""
    return Party(shown, called.strip(), name[0], role.end() if role else name[1])
