"""Find the tickers that a request forbids to sell or to buy."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern

from .request_terms import Prohibition

_TOKEN = Pattern(r"[\w.\-^=/&]+")
_FILLER_WORDS = frozenset(("and", "any", "my", "nor", "of", "or", "our", "the", "shares"))
_WORDS_FOR_ALL = frozenset(("anything", "everything", "something", "it", "them", "positions"))


@dataclass(frozen=True)
class BlockedTickers:
    """Tickers that may not be sold, and those that may not be bought."""

    not_sellable: frozenset[str]
    not_buyable: frozenset[str]


def find_blocked_tickers(
    kept: Iterable[Prohibition], tickers: Collection[str], *, no_sales: bool
) -> BlockedTickers:
    """Return the tickers that each prohibition names.

    Raises:
        ToolRefused: one names none; ignoring it would trade what must not be traded.
    """
    unsold = set(tickers) if no_sales else set[str]()
    unbought = set[str]()
    for each in kept:
        names = _read_tickers(each.object_words, tickers) or (
            set(tickers) if each.may_be_all else set()
        )
        if not names:
            raise ToolRefused(
                f"the request forbids to {each.verb} {each.object_words[:60]!r}, which names "
                "no ticker of "
                f"the files; name one of {', '.join(sorted(tickers)[:20])}"
            )
        unsold |= names if each.verb != "buy" else set()
        unbought |= names if each.verb != "sell" else set()
    return BlockedTickers(frozenset(unsold), frozenset(unbought))


def _read_tickers(what: str, tickers: Collection[str]) -> set[str]:
    """Parse tickers up to the first word that is none; words for all of them mean all."""
    found = set[str]()
    for word in _TOKEN.findall(what):
        name = word.strip(".").upper()
        if name in tickers:
            found.add(name)
        elif word.strip(".").lower() in _WORDS_FOR_ALL and not found:
            return set(tickers)
        elif word.lower() not in _FILLER_WORDS:
            break
    return found
