"""The facts of a contract that a register would list: parties, title, date, law, sums of money."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from dateutil.parser import ParserError, parse  # type: ignore[import-untyped]

from nodes.limits.patterns import Pattern

from .clauses import PREAMBLE, SIGNATURES
from .contract import Contract, ContractPassage
from .contract_text import split_sentences
from .phrases import find_amounts

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


MAX_TITLE_CHARS = 90
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = Pattern(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)?(?:\s+day)?(?:\s+of)?\s+{_MONTH},?\s+\d{{4}}|"
    rf"{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}|\d{{4}}-\d{{2}}-\d{{2}})\b"
)
_DATE_CUE = Pattern(r"\b(?:dated|made|entered into|effective|executed)\b")
_LEFT_BLANK = Pattern(r"\b(?:dated?|as of|day of)\s*+(?::\s*+)?(\[[^\]\n]{0,20}\]|_{3,})")
_INSTRUMENT = r"(?:Agreement|Contract|Lease|Deed|License|Amendment|Terms and Conditions)"
_TITLE_ABOVE = Pattern(
    r"^[ #*]*(?:EXHIBIT\s+[\d.]+\s+)?(?P<title>[A-Z][A-Z &,/'()-]{2,80}?"
    rf"{_INSTRUMENT.upper()}\b|(?:[A-Z][\w-]*[ ]+){{1,7}}?{_INSTRUMENT}[ *]*$)",
    re.MULTILINE,
)
_TITLE_IN_TEXT = Pattern(
    rf"\b[Tt](?:his|HIS)\s+(?P<title>(?:[A-Z][\w&/-]*\s+){{1,7}}?(?:{_INSTRUMENT}|AGREEMENT))\b"
)
_PLACE_WORD = (
    r"(?!(?i:without|except\w*|exclu\w*|regardless|irrespective|notwithstanding|as|in|to|with|which"
    r"|that|shall|will|for|from|other|but|applicable|including|subject|if|on|by|any|this|such|is|are"
    r"|governs?|applies|or|the|laws?)\b)[A-Z][\w'.-]*+"
)
_JOINED = rf"\s+(?:of\s+the\s+|of\s+|and\s+|the\s+)?{_PLACE_WORD}"
_PLACE = rf"(?:[Tt]he\s+|THE\s+)?{_PLACE_WORD}(?:{_JOINED}){{0,6}}+"
_LAW = Pattern(
    rf"(?i:\blaws?(?:,[^.;]{{1,60}},)?\s+(?:in\s+force\s+in|of))\s+(?P<place>{_PLACE})"
    rf"|\b(?i:governed\s+(?:\w+\s+)?by|under|with)\s+(?P<adjective>{_PLACE})\s+(?i:laws?)\b"
)
_GOVERNING = Pattern(
    r"\b(?:govern(?:ed|s|ing)?|controlled|construed|interpreted|interpretation|enforced)\b"
)
_FORMED = Pattern(r"\b(?:organi[sz]ed|existing|incorporated|formed|established)\b[^,;()]{0,60}$")
_FORMED_LOOKBACK_CHARS = 90


def name_contract(contract: Contract) -> str:
    """Return the contract's title, else the name of its file."""
    top = contract.text.clean[:6_000]
    found = _TITLE_IN_TEXT.search(top) or _TITLE_ABOVE.search(top)
    if not found:
        return contract.name
    shown = " ".join(found["title"].split()).rstrip("* ")[:MAX_TITLE_CHARS]
    return shown.title() if shown.isupper() else shown


def find_agreement_date(contract: Contract) -> tuple[date | None, ContractPassage] | None:
    """Find the date of the contract; the date is None if its place was left blank."""
    clause = contract.clauses[0]
    low, end = contract.text.lowercase, clause.end if clause.number == PREAMBLE else 3_000
    opened = _DATE_CUE.search(low, 0, end)
    start = opened.end() if opened else 0
    blank = _LEFT_BLANK.search(low, 0, end)
    for at in (start, 0):
        for found in _DATE.finditer(low, at, end):
            if (day := _parse_date(found)) and not (blank and blank.start() < found.start()):
                return day, ContractPassage(clause, *found.span())
    return (None, ContractPassage(clause, *blank.span())) if blank else None


def find_governing_law(contract: Contract) -> tuple[str, ContractPassage] | None:
    """Find the governing law, with the words that name it; not the law a party is formed under."""
    clean, low = contract.text.clean, contract.text.lowercase
    for start, end in contract.sentences:
        governs = _GOVERNING.search(low, start, end)
        for found in _LAW.finditer(clean, start, end) if governs else ():
            before = low[max(start, found.start() - _FORMED_LOOKBACK_CHARS) : found.start()]
            if governs and not _FORMED.search(before):
                span = min(governs.start(), found.start()), max(governs.end(), found.end())
                span = contract.text.trim_span(*span)
                place = " ".join((found["place"] or found["adjective"]).split()).rstrip(".")
                return place, ContractPassage(contract.find_clause(start), *span)
    return None


def find_sums(contract: Contract) -> Iterator[ContractPassage]:
    """Find the sums of money that the contract names, except those in signatures."""
    for start, end in find_amounts(contract.text.lowercase):
        clause = contract.find_clause(start)
        if clause.number != SIGNATURES:
            yield ContractPassage(clause, start, end)


def _parse_date(found: re.Match[str]) -> date | None:
    try:
        day: date = parse(found[0], fuzzy=True).date()
        return day
    except (ParserError, OverflowError):
        return None
