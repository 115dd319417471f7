"""Find the parties of a contract, as its opening names them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nodes.limits.patterns import Pattern

from .contract import Contract
from .sentences import split_sentences

MAX_PARTIES = 8
MAX_OPENING_CHARS = 6_000
MAX_DETAIL_CHARS = 600
_FORM = (
    r"(?:(?:Inc|INC|Ltd|LTD|Corp|CORP|Co|CO)\b\.?|L\.L\.C\.|L\.L\.P\.|L\.P\.|N\.A\.|N\.V\.|B\.V\.|S\.A\.?"
    r"|S\.p\.A\.|(?:LLC|LLP|LP|PLC|plc|SAS|SA|GmbH|GMBH|AG|SE|Limited|LIMITED|Incorporated|INCORPORATED"
    r"|Corporation|CORPORATION|Company|COMPANY|Partnership|PARTNERSHIP|Trust|TRUST|Bank|BANK)\b)"
)
_WORD = (
    r"(?!(?:AND|BETWEEN|AMONG|WITH|WHEREAS)\b)"
    r"(?:(?:[A-Z]\.)++|[A-Z0-9][\w'&/-]*+(?:\.\w[\w'&/-]*+)*+)"
)
_WORDS = rf"{_WORD}(?:[ \n]{{1,3}}(?:{_WORD}|&|of|the|for|de|van|von))"
_NAME = Pattern(
    r"\[[^\]\n]{0,40}\]|_{4,}"
    rf"|{_WORDS}{{0,9}}?(?:[ ]\([A-Z][\w ]{{1,30}}\))?,?[ \n]{{1,3}}(?P<form>{_FORM})"
    rf"(?:,?[ ]{_FORM})*+"
    rf"|{_WORDS}{{0,6}}+"
)
_CUE = Pattern(
    r"\b(?:between|among|BETWEEN|AMONG|Between|Among)\b:?\s*+"
    r"|\b(?:entered into|made|executed)\b[^.;:]{0,60}?\bby(?! and)\b:?\s*+"
)
_ITEM = Pattern(r"\(?(?:\d|[ivx]{1,4}|[a-d])[.)]\s*+")
_LABELLED = Pattern(
    r"(?:\b(?P<role>(?:Party|PARTY) [A-D1-4]):|(?:^|\n)[ ]*\(?[1-9][.)])\s*+"
    rf"(?P<name>[A-Z][^\n:;]{{1,90}}?{_FORM}(?:,?[ ]{_FORM})*+)"
)
_BRACKETS = Pattern(r"\([^()]*\)")
_NEXT = Pattern(
    r"(?:[,;]|(?<![\s,;]))[\s-]\s{0,40}+(?:and|And|AND|&)\b(?:[ ]--)?:?\s{1,40}+(?=[A-Z\[_0-9(])"
    r"|[,;]\s{1,40}+(?=[A-Z\[])"
)
_ROLE = Pattern(
    r"\([^()\"']{0,40}(?:[\"'](?P<quoted>[^()\"']{1,40})[\"']|(?<=\()(?P<bare>[A-Z][\w &-]{0,40}))"
    r"[^()]{0,160}\)|\breferred to[^\"']{0,30}\"(?P<called>[^\"]{1,40})\""
)


@dataclass(frozen=True)
class Party:
    """A party, and the term the contract uses for it."""

    name: str
    role: str
    start: int
    end: int


def find_parties(contract: Contract) -> list[Party]:
    """Find the parties in the contract's opening; none if it names them in another way."""
    text = contract.text.clean[:MAX_OPENING_CHARS]
    named = [parties for parties in _find_candidates(text) if len(parties) > 1]
    best = max(named, key=lambda parties: min(2, sum(bool(p.role) for p in parties)), default=[])
    return best[:MAX_PARTIES]


def _find_candidates(text: str) -> Iterator[list[Party]]:
    """Yield lists of possible parties, the most usual form of an opening first."""
    cues = list(_CUE.finditer(text))
    for cue in cues:
        _, end = next(split_sentences(text, cue.end(), len(text)), (0, len(text)))
        yield _read_parties(text, cue.end(), end)
    yield [_read_labelled_party(text, label) for label in _LABELLED.finditer(text)]
    for cue in cues:  # an address with full stops seems to be several sentences
        yield _read_parties(text, cue.end(), min(len(text), cue.end() + MAX_DETAIL_CHARS))


def _read_labelled_party(text: str, label: re.Match[str]) -> Party:
    end = text.find("\n\n", label.end())
    role = _ROLE.search(text, label.end(), min(end if end > 0 else len(text), label.end() + 300))
    called = label["role"] or _get_role(role)
    return Party(" ".join(label["name"].split()), called, label.start("name"), label.end())


def _read_parties(text: str, at: int, end: int) -> list[Party]:
    """Read parties that are in one sentence: `X, a company ("A"), and Y ("B")`."""
    plain = _BRACKETS.sub(lambda found: f"({'x' * (len(found[0]) - 2)})", text[at:end])
    joints = [*((at + each.start(), at + each.end()) for each in _NEXT.finditer(plain)), (end, end)]
    found: dict[str, Party] = {}
    begin = at
    for stop, following in joints:
        item = _ITEM.match(text, at, stop)
        name = _NAME.match(text, item.end() if item else at, stop)
        if name is None:
            break
        role = _ROLE.search(text, name.end(), min(stop, name.end() + MAX_DETAIL_CHARS))
        is_next_named = following < end and _is_name(text, following)
        is_comma = stop < following and "nd" not in text[stop:following].lower()
        if is_comma and not is_next_named and text[stop - 1] not in ')"':
            continue
        if following < end and not is_next_named and not role and name.end() < stop:
            continue  # "in Rome and Paris" is part of an address
        has_roles = any(party.role for party in found.values())
        if name.end() == stop < end and not (name["form"] or is_comma) and has_roles:
            at = following  # "Gas and Electric Company" is one name
            continue
        start = name.start() if begin == at else begin
        shown = " ".join(text[start : name.end()].split()).rstrip(" ,")
        last = role.end() if role else name.end()
        found.setdefault(shown, Party(shown, _get_role(role), start, last))
        begin = at = following
    is_defined = sum(bool(party.role) for party in found.values()) > 1
    return [party for party in found.values() if party.role or not is_defined]


def _is_name(text: str, at: int) -> bool:
    """Return whether a name with a legal form, or a blank for a name, begins at an offset."""
    item = _ITEM.match(text, at)
    name = _NAME.match(text, item.end() if item else at)
    return name is not None and bool(name["form"] or name[0][0] in "[_")


def _get_role(found: re.Match[str] | None) -> str:
    return (found["quoted"] or found["bare"] or found["called"]).strip(" .,") if found else ""
