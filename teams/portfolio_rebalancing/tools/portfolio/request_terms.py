"""Parse the terms of a request for trades: weights, limits and a date, in plain language."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Literal

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.tools.tables.numbers import parse_number

from .holdings import parse_ticker

RiskMethod = Literal["minimum_variance", "risk_parity"]
WeightMethod = Literal["equal_weight"] | RiskMethod
MAX_REQUEST_CHARS = 4_000
WORDS_BEFORE, WORDS_AFTER = 3, 2
CURRENCIES = {"€": "EUR", "$": "USD", "£": "GBP"}

_NUMERAL = r"(?P<n>\d[\d,.]{0,30}\d|\d)"
_CURRENCY_SIGN = r"(?:[€$£]|EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CAD|AUD)"
_AMOUNT = rf"(?P<before>{_CURRENCY_SIGN})? ?{_NUMERAL} ?(?P<after>{_CURRENCY_SIGN})?"
_PERCENT = r" ?(?:%|per ?cent)"
_LIMIT_PHRASE = (
    r"(?:at most|at|to|below|under|no more than|not more than|up to|max(?:imum)?(?: of)?|of|"
    r"capped at|limited to|cap(?: of)?|limit(?: of)?)"
)
_TRADE_WORD = r"(?:trade|order|transaction)s?"
_ADDITIONAL_WORD = r"(?:another|an additional|a further|an extra|additional|new)"
_TICKER = r"(?P<t>[A-Z][A-Z0-9.\-]{0,13}[A-Z0-9]|[A-Z]|[Cc]ash)"


def _compile_patterns(*patterns: str, flags: re.RegexFlag = re.IGNORECASE) -> tuple[Pattern, ...]:
    return tuple(Pattern(pattern, flags) for pattern in patterns)


_MIN_TRADE = _compile_patterns(
    rf"no {_TRADE_WORD} (?:that (?:is|are) )?(?:below|under|less than|smaller than) {_AMOUNT}",
    rf"(?:minimum|min\.?|smallest) {_TRADE_WORD}(?: size| value| amount)?(?: of| is|:)? ?{_AMOUNT}",
    rf"{_TRADE_WORD} (?:must be |should be )?(?:of )?at least {_AMOUNT}",
    rf"(?:do not|don't|never) trade (?:below|under|less than|smaller than) {_AMOUNT}",
    rf"(?:skip|ignore|drop|leave out) {_TRADE_WORD} (?:below|under|less than|smaller than) "
    rf"{_AMOUNT}",
)
_TURNOVER = _compile_patterns(
    rf"turnover (?:cap |limit )?(?:is |must be |should be )?(?:{_LIMIT_PHRASE} "
    rf"){{0,4}}{_NUMERAL}{_PERCENT}",
    rf"(?:{_LIMIT_PHRASE} ){{1,4}}{_NUMERAL}{_PERCENT} (?:of )?turnover",
)
_DEPOSIT = _compile_patterns(
    rf"(?:add|invest|deposit|put in)(?:ing)? {_ADDITIONAL_WORD} {_AMOUNT}",
    rf"(?:add|invest|deposit|put in)(?:ing)? {_AMOUNT} (?:more|extra|(?:of |in )?new|in cash)",
    rf"{_AMOUNT} (?:of |in )?(?:new|fresh) (?:cash|money)",
)
_WEIGHT_FIRST = _compile_patterns(
    rf"{_NUMERAL}{_PERCENT} (?:in |of |into )?{_TICKER}(?![\w%])", flags=re.NOFLAG
)
_TICKER_FIRST = _compile_patterns(
    rf"(?<!\w){_TICKER}(?: at| to|:| ?=)? ?{_NUMERAL}{_PERCENT}", flags=re.NOFLAG
)
_PROHIBITION = Pattern(
    r"\b(?P<lead>do not|don't|never|not to|without) (?P<verb>sell|buy|trad|touch)(?:ing|e)?\b"
    r"(?! (?:below|under|less|smaller))(?=(?P<what>[^;]{0,80}))",
    re.IGNORECASE,
)
_NO_SALES = _compile_patterns(
    r"\bno (?:sell|sale)", r"\bbuys? only\b", r"\bonly buy", r"\bwithout sales?\b"
)
_FRACTIONAL = _compile_patterns(r"\bfraction", r"\bpartial shares?\b")
_DATE = _compile_patterns(r"(?P<d>(?:19|20)\d\d-\d\d-\d\d)")
_METHODS: dict[WeightMethod, tuple[Pattern, ...]] = {
    "risk_parity": _compile_patterns(r"risk[ -]parity", r"equal[ -]risk", r"risk[ -]budget"),
    "minimum_variance": _compile_patterns(
        r"min(?:imum|imal|imise|imize)?[ -](?:the )?(?:variance|volatility)"
    ),
    "equal_weight": _compile_patterns(r"equal(?:ly)?[ -]weight", r"1/n\b"),
}
_FIGURE = Pattern(r"(?<![\w.\-/])[€$£]?\d[\d,.]*(?![\w/])")
_FILE_NAME = Pattern(
    r"(?<![^\s`])\S{1,300}\.(?:csv|tsv|txt|md|pdf|docx|xlsx)\b|`[^`]*`", re.IGNORECASE
)
_NOT_TICKERS = frozenset(("EUR", "USD", "GBP", "CHF", "JPY", "ETF", "ETFS", "CSV", "AND", "THE"))


@dataclass(frozen=True)
class Prohibition:
    """An action that the request forbids."""

    verb: Literal["sell", "buy", "trade"]
    object_words: str
    """The words after the verb."""
    may_be_all: bool
    """Whether it forbids all if it names nothing: "without selling" does, "never sell X" not."""


@dataclass
class RequestTerms:
    """The terms of a request, as far as they could be parsed."""

    weights: dict[str, Decimal] = field(default_factory=dict)
    """Target weights in percent, as the request has them."""
    method: WeightMethod | None = None
    """Method of the target weights."""
    is_fractional: bool = False
    min_trade: Decimal | None = None
    max_turnover: Decimal | None = None
    """In percent of the portfolio's value."""
    deposit: Decimal = Decimal(0)
    prohibitions: tuple[Prohibition, ...] = ()
    is_buying_only: bool = False
    as_of: date | None = None
    currencies: frozenset[str] = frozenset()
    """The currencies that the request writes next to an amount."""
    unread_figures: tuple[str, ...] = ()
    """Figures of the request that no term uses, with the words around them."""


def read_request_terms(request: str) -> RequestTerms:
    """Parse a request.

    Raises:
        ToolRefused: it is ambiguous, or too long.
    """
    text = " ".join(request.split())
    if len(text) > MAX_REQUEST_CHARS:
        raise ToolRefused(f"the request has {len(text)} characters, of at most {MAX_REQUEST_CHARS}")
    text = _FILE_NAME.sub(lambda match: "_" * len(match.group()), text)
    reading = _RequestReader(text)
    terms = RequestTerms(
        min_trade=reading.take_amount(_MIN_TRADE),
        max_turnover=reading.take_amount(_TURNOVER),
        deposit=reading.take_amount(_DEPOSIT) or Decimal(0),
        as_of=reading.take_date(),
        is_fractional=any(pattern.search(text) for pattern in _FRACTIONAL),
        method=next((name for name in _METHODS if _find_matches(_METHODS[name], text)), None),
        prohibitions=tuple(map(_parse_prohibition, _PROHIBITION.finditer(text))),
        is_buying_only=bool(_find_matches(_NO_SALES, text)),
    )
    terms.weights = reading.take_weights()
    terms.currencies = frozenset(reading.currencies)
    terms.unread_figures = tuple(reading.list_unread_figures())
    return terms


class _RequestReader:
    """A text in which each figure is used once."""

    def __init__(self, text: str) -> None:
        self.text, self.currencies = text, set[str]()

    def take_amount(self, patterns: tuple[Pattern, ...]) -> Decimal | None:
        """Parse an amount; two different ones are refused."""
        read: dict[Decimal, str] = {}
        for pattern in patterns:
            while match := pattern.search(self.text):
                groups = match.groupdict()
                signs = [sign for name in ("before", "after") if (sign := groups.get(name))]
                self.currencies |= {CURRENCIES.get(sign, sign.upper()) for sign in signs}
                read.setdefault(_parse_number(match["n"]), match.group().strip())
                self._blank_out(match)
        if len(read) > 1:
            raise ToolRefused(f"the request says both {' and '.join(map(repr, read.values()))}")
        return next(iter(read), None)

    def take_date(self) -> date | None:
        """Parse the date of the prices."""
        days = set[date]()
        for match in list(_find_matches(_DATE, self.text)):
            try:
                days.add(date.fromisoformat(match["d"]))
            except ValueError:
                raise ToolRefused(f"{match['d']} in the request is not a date") from None
            self._blank_out(match)
        if len(days) > 1:
            raise ToolRefused("the request names several dates; name the one to value at, as a day")
        return next(iter(days), None)

    def take_weights(self) -> dict[str, Decimal]:
        """Parse the target weights, with number and ticker in any order."""
        readings = [_read_weights(self.text, each) for each in (_WEIGHT_FIRST, _TICKER_FIRST)]
        full = [found for found in readings if found and sum(found.values()) == 100]
        if len(full) > 1 and full[0] != full[1]:
            raise ToolRefused("the weights in the request can be read in two ways; put commas")
        best = max(full or readings, key=len)
        patterns = _WEIGHT_FIRST if best == readings[0] else _TICKER_FIRST
        for match in list(_find_matches(patterns, self.text)) if best else []:
            self._blank_out(match)
        return best

    def list_unread_figures(self) -> Iterator[str]:
        """Return the figures that are left, with the words around them."""
        for match in _FIGURE.finditer(self.text):
            before = self.text[: match.start()].rpartition("_")[2].lstrip(" ,.;")
            after = self.text[match.end() :].partition("_")[0].split()[:WORDS_AFTER]
            yield " ".join([*before.split()[-WORDS_BEFORE:], match.group().rstrip(".,"), *after])

    def _blank_out(self, match: re.Match[str]) -> None:
        blank = "_" * len(match.group())
        self.text = self.text[: match.start()] + blank + self.text[match.end() :]


def _find_matches(patterns: tuple[Pattern, ...], text: str) -> list[re.Match[str]]:
    return [match for pattern in patterns for match in pattern.finditer(text)]


def _read_weights(text: str, patterns: tuple[Pattern, ...]) -> dict[str, Decimal]:
    pairs: dict[str, Decimal] = {}
    for match in _find_matches(patterns, text):
        name = parse_ticker(match["t"])
        if name and name not in _NOT_TICKERS:
            if pairs.get(name, _parse_number(match["n"])) != _parse_number(match["n"]):
                raise ToolRefused(f"the request gives {name} two weights")
            pairs[name] = _parse_number(match["n"])
    return pairs


def _parse_prohibition(match: re.Match[str]) -> Prohibition:
    verb = match["verb"].lower()
    whole: Literal["sell", "buy", "trade"] = (
        "sell" if verb == "sell" else "buy" if verb == "buy" else "trade"
    )
    what = match["what"].strip()
    is_bare = not what or what[0] in ",.!?)"
    return Prohibition(whole, what, is_bare or match["lead"].lower() == "without")


def _parse_number(text: str) -> Decimal:
    value = parse_number(text, "point") if text.count(",") else parse_number(text)
    if value is None:
        raise ToolRefused(f"{text[:40]!r} in the request is not a number or is ambiguous")
    return value
