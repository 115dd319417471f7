"""Taint of an attempt: what it has read, and what its tools may therefore still send outside.

Nothing here trusts a model: labels follow from the attempt's inputs and from the tools that
answered.
The reasons are in docs/decisions, "What may leave".
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urldefrag

from nodes.errors import ToolRefused
from nodes.limits.nesting import parse_json
from nodes.limits.patterns import Pattern
from nodes.security.tool_access import ToolAccess
from nodes.text.word_lists import FUNCTION_WORDS, QUESTION_WORDS
from state import TaintLabel

MAX_ADDRESSES = 200
"""The limit of addresses in a report."""
MAX_ADDRESS_CHARS = 2_000
MAX_EGRESS_NUMBER = 100
"""Limit for a number sent outside after private data: how many results, which page."""
_HANDOFF = ""


class EgressDenied(ToolRefused):
    """The call would leak private data or fetch an unapproved URL."""


def merge_labels(*groups: Iterable[TaintLabel]) -> tuple[TaintLabel, ...]:
    """Return all labels of the groups; a label that was set is never removed."""
    return tuple(sorted({label for group in groups for label in group}))


@dataclass(kw_only=True)
class Taint:
    """The labels of one attempt, and the words and addresses that it may send outside."""

    allowed_text: str = ""
    """Words that may be sent outside, whatever was read."""
    user_text: str = ""
    """The user's own words: addresses in them may be fetched."""
    taint_labels: frozenset[TaintLabel] = frozenset()
    found_addresses: dict[str, None] = field(default_factory=dict)
    """Addresses that searches found, in order."""
    _unseen_private_tools: set[str] = field(default_factory=set)
    _private_tools: set[str] = field(default_factory=set)
    """Tools whose private data the model has seen; `_HANDOFF` means the inputs."""

    def __post_init__(self) -> None:
        if "private" in self.taint_labels:
            self._private_tools.add(_HANDOFF)

    def list_addresses(self) -> tuple[str, ...]:
        """Return the addresses for the report, the latest where there are too many."""
        return tuple(self.found_addresses)[-MAX_ADDRESSES:]

    def mark_results_seen(self) -> None:
        """Record that the model sees all results so far: it is about to be called.

        Calls of one turn were written before any of them answered, so none can leak what another
        one reads.
        """
        self._private_tools |= self._unseen_private_tools
        self._unseen_private_tools.clear()

    def restrict_arguments(
        self, tool: str, access: ToolAccess, args: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the arguments that a call is allowed to have.

        Raises:
            EgressDenied: the call is not allowed; the message says which one would be.
        """
        match access.sends:
            case "address":
                self._require_known_addresses(tool, args)
            case "query" if self._private_tools:
                return self._restrict_to_known_words(args)
            case "anything" if self._private_tools - {tool}:
                raise EgressDenied(
                    f"private data was read for this task, and {tool} does not declare that it "
                    "sends nothing outside (by ACCESS in its file); continue without it, or "
                    "report what is missing"
                )
        return dict(args)

    def record_result(
        self, tool: str, access: ToolAccess, content: str, *, is_of_server: bool = False
    ) -> None:
        """Record a tool's answer or refusal as read.

        Args:
            is_of_server: the answer is a server's, whose empty search is not believed: its note
                may hold anything.
        """
        answer = _parse_object(content)
        if access.sends in ("query", "address"):
            for source in _list_source_addresses(answer):
                self.found_addresses.setdefault(source)
        if _is_empty_search(answer) and not is_of_server:
            return
        self.taint_labels |= access.reads
        if "private" in access.reads:
            self._unseen_private_tools.add(tool)

    def _require_known_addresses(self, tool: str, args: Mapping[str, Any]) -> None:
        known = extract_addresses(self.user_text) | {
            normalize_address(address) for address in self.found_addresses
        }
        for value in args.values():
            if isinstance(value, str) and normalize_address(value) not in known:
                raise EgressDenied(
                    f"{tool} reads only addresses that are in the request or that a search of this "
                    "run found, exactly as they appear there; search for the page first, or "
                    "report what is missing"
                )
            if not isinstance(value, str):
                _require_small_number(value)

    def _restrict_to_known_words(self, args: Mapping[str, Any]) -> dict[str, Any]:
        restricted = dict[str, Any]()
        for name, value in args.items():
            if isinstance(value, str):
                try:
                    restricted[name] = restrict_to_known_words(value, self.allowed_text)
                except ToolRefused as refusal:
                    raise EgressDenied(str(refusal)) from None
            else:
                _require_small_number(value)
                restricted[name] = value
        return restricted


def _require_small_number(value: Any) -> None:
    if value is None or (isinstance(value, int) and abs(value) <= MAX_EGRESS_NUMBER):
        return
    raise EgressDenied(
        f"an argument that is sent outside must be a string, or a number up to {MAX_EGRESS_NUMBER}"
    )


def _parse_object(content: str) -> Mapping[str, Any]:
    try:
        parsed = parse_json(content)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, Mapping) else {}


def _is_empty_search(answer: Mapping[str, Any]) -> bool:
    """Return whether a search had no results: then no untrusted or private text was read."""
    return answer.get("results") == [] and answer.keys() <= {"results", "note"}


def _list_source_addresses(answer: Mapping[str, Any]) -> list[str]:
    results = answer.get("results")
    if not isinstance(results, list):
        return []
    sources = [item.get("source") for item in results if isinstance(item, Mapping)]
    return [
        source
        for source in sources
        if isinstance(source, str) and "://" in source and len(source) <= MAX_ADDRESS_CHARS
    ]


_WORD: Final = Pattern(r"[^\W_]+")
_ADDRESS_BREAK: Final = Pattern(r"[\s<>\"`|\\^{}]+")
_OPENING, _CLOSING = "([{'\u201c\u2018*_", ")]}'\u201d\u2019*_.,;:!?"
_MAX_NAMED_WORDS: Final = 8


def normalize_address(address: str) -> str:
    """Return an address without its scheme, fragment and final slash, for comparison."""
    return urldefrag(address.strip()).url.partition("://")[2].rstrip("/") or (
        address.strip().rstrip("/")
    )


def extract_addresses(text: str) -> frozenset[str]:
    """Return all parts of a text that could be an address, without surrounding punctuation."""
    found = set[str]()
    for token in _ADDRESS_BREAK.split(text):
        for part in (token, *token.replace("](", " ").split(), *Pattern(r"[()\[\]]").split(token)):
            found |= {
                normalize_address(part),
                normalize_address(part.lstrip(_OPENING).rstrip(_CLOSING)),
            }
    return frozenset(part for part in found if "." in part)


def restrict_to_known_words(query: str, known: str) -> str:
    """Return a query of known words only, each once and in the order of the known text.

    Order and repetition could leak what a choice of known words cannot. Function words leak
    nothing and are dropped.

    Raises:
        ToolRefused: a word is not known; the message names it.
    """
    places: dict[str, int] = {}
    for place, word in enumerate(_WORD.findall(known)):
        places.setdefault(_stem_word(word), place)
    asked = {_stem_word(word): word for word in _extract_content_words(query)}
    unknown = [word for stem, word in asked.items() if _find_position(stem, places, known) is None]
    if unknown:
        listing = ", ".join(unknown[:_MAX_NAMED_WORDS]) + (
            ", …" if len(unknown) > _MAX_NAMED_WORDS else ""
        )
        raise ToolRefused(
            "private data was read for this task, so only words of the request may still be sent "
            f"outside. Not among them: {listing}. Search with words of the request only, or report "
            "what is missing"
        )
    order = sorted(asked, key=lambda stem: _find_position(stem, places, known) or 0)
    return " ".join(asked[stem] for stem in order)


def _extract_content_words(query: str) -> Iterable[str]:
    return (
        word
        for word in _WORD.findall(query)
        if word.casefold() not in FUNCTION_WORDS | QUESTION_WORDS
    )


def _find_position(stem: str, places: dict[str, int], known: str) -> int | None:
    """Return the position of a known word; in scripts without spaces it may be inside another."""
    if stem in places:
        return places[stem]
    position = -1 if stem.isascii() else known.casefold().find(stem)
    return None if position < 0 else position


def _stem_word(word: str) -> str:
    word = word.casefold()
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word
