"""What a request asks of the trades: weights, limits and a date, in the words people use."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Literal

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.tools.portfolio.holdings import ticker
from nodes.tools.tables.numbers import number

RiskMethod = Literal["minimum_variance", "risk_parity"]
Method = Literal["equal_weight"] | RiskMethod
MAX_REQUEST_CHARS = 4_000
WORDS_BEFORE, WORDS_AFTER = 3, 2
CURRENCIES = {"€": "EUR", "$": "USD", "£": "GBP"}

_N = r"(?P<n>\d[\d,.]{0,30}\d|\d)"
_SIGN = r"(?:[€$£]|EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CAD|AUD)"
_AMOUNT = rf"(?P<before>{_SIGN})? ?{_N} ?(?P<after>{_SIGN})?"
_PERCENT = r" ?(?:%|per ?cent)"
_MOST = (
    r"(?:at most|at|to|below|under|no more than|not more than|up to|max(?:imum)?(?: of)?|of|"
    r"capped at|limited to|cap(?: of)?|limit(?: of)?)"
)
_KIND = r"(?:trade|order|transaction)s?"
_MORE = r"(?:another|an additional|a further|an extra|additional|new)"
_TICKER = r"(?P<t>[A-Z][A-Z0-9.\-]{0,13}[A-Z0-9]|[A-Z]|[Cc]ash)"


def _any(*patterns: str, flags: re.RegexFlag = re.IGNORECASE) -> tuple[Pattern, ...]:
    return tuple(Pattern(pattern, flags) for pattern in patterns)


_MIN_TRADE = _any(
    rf"no {_KIND} (?:that (?:is|are) )?(?:below|under|less than|smaller than) {_AMOUNT}",
    rf"(?:minimum|min\.?|smallest) {_KIND}(?: size| value| amount)?(?: of| is|:)? ?{_AMOUNT}",
    rf"{_KIND} (?:must be |should be )?(?:of )?at least {_AMOUNT}",
    rf"(?:do not|don't|never) trade (?:below|under|less than|smaller than) {_AMOUNT}",
    rf"(?:skip|ignore|drop|leave out) {_KIND} (?:below|under|less than|smaller than) {_AMOUNT}",
)
_TURNOVER = _any(
    rf"turnover (?:cap |limit )?(?:is |must be |should be )?(?:{_MOST} ){{0,4}}{_N}{_PERCENT}",
    rf"(?:{_MOST} ){{1,4}}{_N}{_PERCENT} (?:of )?turnover",
)
_DEPOSIT = _any(
    rf"(?:add|invest|deposit|put in)(?:ing)? {_MORE} {_AMOUNT}",
    rf"(?:add|invest|deposit|put in)(?:ing)? {_AMOUNT} (?:more|extra|(?:of |in )?new|in cash)",
    rf"{_AMOUNT} (?:of |in )?(?:new|fresh) (?:cash|money)",
)
_WEIGHT_FIRST = _any(rf"{_N}{_PERCENT} (?:in |of |into )?{_TICKER}(?![\w%])", flags=re.NOFLAG)
_TICKER_FIRST = _any(rf"(?<!\w){_TICKER}(?: at| to|:| ?=)? ?{_N}{_PERCENT}", flags=re.NOFLAG)
_KEPT = Pattern(
    r"\b(?P<lead>do not|don't|never|not to|without) (?P<verb>sell|buy|trad|touch)(?:ing|e)?\b"
    r"(?! (?:below|under|less|smaller))(?=(?P<what>[^;]{0,80}))",
    re.IGNORECASE,
)
_NO_SALES = _any(r"\bno (?:sell|sale)", r"\bbuys? only\b", r"\bonly buy", r"\bwithout sales?\b")
_FRACTIONAL = _any(r"\bfraction", r"\bpartial shares?\b")
_DATE = _any(r"(?P<d>(?:19|20)\d\d-\d\d-\d\d)")
_METHODS: dict[Method, tuple[Pattern, ...]] = {
    "risk_parity": _any(r"risk[ -]parity", r"equal[ -]risk", r"risk[ -]budget"),
    "minimum_variance": _any(r"min(?:imum|imal|imise|imize)?[ -](?:the )?(?:variance|volatility)"),
    "equal_weight": _any(r"equal(?:ly)?[ -]weight", r"1/n\b"),
}
_FIGURE = Pattern(r"(?<![\w.\-/])[€$£]?\d[\d,.]*(?![\w/])")
_FILE = Pattern(r"(?<![^\s`])\S{1,300}\.(?:csv|tsv|txt|md|pdf|docx|xlsx)\b|`[^`]*`", re.IGNORECASE)
_NOT_TICKERS = frozenset(("EUR", "USD", "GBP", "CHF", "JPY", "ETF", "ETFS", "CSV", "AND", "THE"))


@dataclass(frozen=True)
class Prohibition:
    """What must not be done."""

    verb: Literal["sell", "buy", "trade"]
    what: str
    """The words after the verb."""
    may_be_all: bool
    """Whether it forbids all where it names nothing: "without selling" does, "never sell X" not."""


@dataclass
class Terms:
    """What was asked for, as far as it could be read."""

    weights: dict[str, Decimal] = field(default_factory=dict)
    """Target weights in percent, as the request has them."""
    method: Method | None = None
    """How the target weights are to be made."""
    is_fractional: bool = False
    min_trade: Decimal | None = None
    max_turnover: Decimal | None = None
    """In percent of the portfolio's value."""
    deposit: Decimal = Decimal(0)
    kept: tuple[Prohibition, ...] = ()
    is_buying_only: bool = False
    as_of: date | None = None
    currencies: frozenset[str] = frozenset()
    """Those that the request writes beside an amount."""
    unread: tuple[str, ...] = ()
    """Figures of the request that none of this took, with the words around them."""


def read_terms(request: str) -> Terms:
    """Read a request.

    Raises:
        ToolRefused: it can be read in two ways, or is too long.
    """
    text = " ".join(request.split())
    if len(text) > MAX_REQUEST_CHARS:
        raise ToolRefused(f"the request has {len(text)} characters, of at most {MAX_REQUEST_CHARS}")
    text = _FILE.sub(lambda match: "_" * len(match.group()), text)
    reading = _Reading(text)
    terms = Terms(
        min_trade=reading.amount(_MIN_TRADE),
        max_turnover=reading.amount(_TURNOVER),
        deposit=reading.amount(_DEPOSIT) or Decimal(0),
        as_of=reading.day(),
        is_fractional=any(pattern.search(text) for pattern in _FRACTIONAL),
        method=next((name for name in _METHODS if _found(_METHODS[name], text)), None),
        kept=tuple(map(_prohibition, _KEPT.finditer(text))),
        is_buying_only=bool(_found(_NO_SALES, text)),
    )
    terms.weights = reading.weights()
    terms.currencies = frozenset(reading.currencies)
    terms.unread = tuple(reading.unread())
    return terms


class _Reading:
    """A text of which each figure is taken once."""

    def __init__(self, text: str) -> None:
        self.text, self.currencies = text, set[str]()

    def amount(self, patterns: tuple[Pattern, ...]) -> Decimal | None:
        """Take an amount; two that differ are refused."""
        read: dict[Decimal, str] = {}
        for pattern in patterns:
            while match := pattern.search(self.text):
                groups = match.groupdict()
                signs = [sign for name in ("before", "after") if (sign := groups.get(name))]
                self.currencies |= {CURRENCIES.get(sign, sign.upper()) for sign in signs}
                read.setdefault(_number(match["n"]), match.group().strip())
                self._take(match)
        if len(read) > 1:
            raise ToolRefused(f"the request says both {' and '.join(map(repr, read.values()))}")
        return next(iter(read), None)

    def day(self) -> date | None:
        """Take the date of the prices."""
        days = set[date]()
        for match in list(_found(_DATE, self.text)):
            try:
                days.add(date.fromisoformat(match["d"]))
            except ValueError:
                raise ToolRefused(f"{match['d']} in the request is no date") from None
            self._take(match)
        if len(days) > 1:
            raise ToolRefused("the request names several dates; name the one to value at, as a day")
        return next(iter(days), None)

    def weights(self) -> dict[str, Decimal]:
        """Take the target weights, in whichever order number and ticker stand."""
        readings = [_pairs(self.text, each) for each in (_WEIGHT_FIRST, _TICKER_FIRST)]
        full = [found for found in readings if found and sum(found.values()) == 100]
        if len(full) > 1 and full[0] != full[1]:
            raise ToolRefused("the weights in the request can be read in two ways; put commas")
        best = max(full or readings, key=len)
        patterns = _WEIGHT_FIRST if best == readings[0] else _TICKER_FIRST
        for match in list(_found(patterns, self.text)) if best else []:
            self._take(match)
        return best

    def unread(self) -> Iterator[str]:
        """Give the figures that are left, with the words around them."""
        for match in _FIGURE.finditer(self.text):
            before = self.text[: match.start()].rpartition("_")[2].lstrip(" ,.;")
            after = self.text[match.end() :].partition("_")[0].split()[:WORDS_AFTER]
            yield " ".join([*before.split()[-WORDS_BEFORE:], match.group().rstrip(".,"), *after])

    def _take(self, match: re.Match[str]) -> None:
        blank = "_" * len(match.group())
        self.text = self.text[: match.start()] + blank + self.text[match.end() :]


def _found(patterns: tuple[Pattern, ...], text: str) -> list[re.Match[str]]:
    return [match for pattern in patterns for match in pattern.finditer(text)]


def _pairs(text: str, patterns: tuple[Pattern, ...]) -> dict[str, Decimal]:
    pairs: dict[str, Decimal] = {}
    for match in _found(patterns, text):
        name = ticker(match["t"])
        if name and name not in _NOT_TICKERS:
            if pairs.get(name, _number(match["n"])) != _number(match["n"]):
                raise ToolRefused(f"the request gives {name} two weights")
            pairs[name] = _number(match["n"])
    return pairs


def _prohibition(match: re.Match[str]) -> Prohibition:
    verb = match["verb"].lower()
    whole: Literal["sell", "buy", "trade"] = (
        "sell" if verb == "sell" else "buy" if verb == "buy" else "trade"
    )
    what = match["what"].strip()
    is_bare = not what or what[0] in ",.!?)"
    return Prohibition(whole, what, is_bare or match["lead"].lower() == "without")


def _number(text: str) -> Decimal:
    value = number(text, "point") if text.count(",") else number(text)
    if value is None:
        raise ToolRefused(f"{text[:40]!r} in the request is no number that can be read in one way")
    return value
