"""What an attempt has read, and what its tools may therefore still send outside.

Nothing here trusts a model: marks are set by what was handed over and by which tools answered.
The reasons are in docs/decisions, "What may leave".
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nodes.errors import ToolRefused
from nodes.security.egress import extract_addresses, normalize_address, restrict_to_known_words
from nodes.security.tool_access import ToolAccess
from state import TaintLabel

MAX_ADDRESSES = 200
"""That a report hands on."""
MAX_ADDRESS_CHARS = 2_000
MAX_EGRESS_NUMBER = 100
"""Of a number that may go outside after private data: how many results, which page."""
_HANDOFF = ""


class EgressDenied(ToolRefused):
    """A call would carry outside what was read, or go where nobody pointed."""


def merge_labels(*groups: Iterable[TaintLabel]) -> tuple[TaintLabel, ...]:
    """Join marks; none that was set is ever lost."""
    return tuple(sorted({mark for group in groups for mark in group}))


@dataclass(kw_only=True)
class Taint:
    """The marks of one attempt."""

    allowed_text: str = ""
    """Words that may go outside whatever was read."""
    user_text: str = ""
    """The user's own words: addresses in them may be fetched."""
    taint_labels: frozenset[TaintLabel] = frozenset()
    found_addresses: dict[str, None] = field(default_factory=dict)
    """Addresses that searches found, in their order."""
    _unseen_private_tools: set[str] = field(default_factory=set)
    _private_tools: set[str] = field(default_factory=set)
    """Tools that gave private data which the model has seen; empty for what was handed over."""

    def __post_init__(self) -> None:
        if "private" in self.taint_labels:
            self._private_tools.add(_HANDOFF)

    def list_addresses(self) -> tuple[str, ...]:
        """Return the addresses that may be handed on, the latest where there are too many."""
        return tuple(self.found_addresses)[-MAX_ADDRESSES:]

    def mark_results_seen(self) -> None:
        """Count what was read as seen: the model is about to be asked.

        Calls of one turn were worded before any of them answered, so none can carry what another
        one of them reads.
        """
        self._private_tools |= self._unseen_private_tools
        self._unseen_private_tools.clear()

    def restrict_arguments(
        self, tool: str, access: ToolAccess, args: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the arguments that a call may be made with.

        Raises:
            OutsideClosed: it may not be made; the message says what would be.
        """
        match access.sends:
            case "address":
                self._require_known_addresses(tool, args)
            case "query" if self._private_tools:
                return self._restrict_to_known_words(args)
            case "anything" if self._private_tools - {tool}:
                raise EgressDenied(
                    f"private data was read for this task, and {tool} does not say that it sends "
                    "nothing outside; go on without it, or report what is missing"
                )
        return dict(args)

    def record_result(self, tool: str, access: ToolAccess, content: str) -> None:
        """Mark what a tool answered, or refused with, as read."""
        found = _parse_object(content)
        if access.sends in ("query", "address"):
            for source in _list_source_addresses(found):
                self.found_addresses.setdefault(source)
        if _is_empty_search(found):
            return
        self.taint_labels |= access.reads
        if "private" in access.reads:
            self._unseen_private_tools.add(tool)

    def _require_known_addresses(self, tool: str, args: Mapping[str, Any]) -> None:
        known = extract_addresses(self.user_text) | {
            normalize_address(found) for found in self.found_addresses
        }
        for value in args.values():
            if isinstance(value, str) and normalize_address(value) not in known:
                raise EgressDenied(
                    f"{tool} reads only addresses that stand in the request or that a search of "
                    "this run found, exactly as they stand there; search for the page first, or "
                    "report what is missing"
                )
            if not isinstance(value, str):
                _require_small_number(value)

    def _restrict_to_known_words(self, args: Mapping[str, Any]) -> dict[str, Any]:
        worded = dict[str, Any]()
        for name, value in args.items():
            if isinstance(value, str):
                try:
                    worded[name] = restrict_to_known_words(value, self.allowed_text)
                except ToolRefused as refusal:
                    raise EgressDenied(str(refusal)) from None
            else:
                _require_small_number(value)
                worded[name] = value
        return worded


def _require_small_number(value: Any) -> None:
    if value is None or (isinstance(value, int) and abs(value) <= MAX_EGRESS_NUMBER):
        return
    raise EgressDenied(
        f"an argument that goes outside must be a text, or a number up to {MAX_EGRESS_NUMBER}"
    )


def _parse_object(content: str) -> Mapping[str, Any]:
    try:
        found = json.loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, Mapping) else {}


def _is_empty_search(found: Mapping[str, Any]) -> bool:
    """Return whether a search found nothing at all: then nothing of what it searched was read."""
    return found.get("results") == [] and found.keys() <= {"results", "note"}


def _list_source_addresses(found: Mapping[str, Any]) -> list[str]:
    results = found.get("results")
    if not isinstance(results, list):
        return []
    named = [item.get("source") for item in results if isinstance(item, Mapping)]
    return [
        source
        for source in named
        if isinstance(source, str) and "://" in source and len(source) <= MAX_ADDRESS_CHARS
    ]
