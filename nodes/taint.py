"""What an attempt has read, and what its tools may therefore still send outside.

Nothing here trusts a model: marks are set by what was handed over and by which tools answered.
The reasons are in docs/decisions, "What may leave".
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nodes.errors import ToolRefused
from nodes.known import addresses, bare, said_again
from nodes.tools.access import Access
from state import Mark

MAX_ADDRESSES = 200
"""That a report hands on."""
MAX_ADDRESS_CHARS = 2_000
MAX_NUMBER = 100
"""Of a number that may go outside after private data: how many results, which page."""
_HANDED = ""


class OutsideClosed(ToolRefused):
    """A call would carry outside what was read, or go where nobody pointed."""


def merged(*groups: Iterable[Mark]) -> tuple[Mark, ...]:
    """Join marks; none that was set is ever lost."""
    return tuple(sorted({mark for group in groups for mark in group}))


@dataclass(kw_only=True)
class Taint:
    """The marks of one attempt."""

    known: str = ""
    """Words that may go outside whatever was read."""
    said: str = ""
    """The user's own words: addresses in them may be fetched."""
    marks: frozenset[Mark] = frozenset()
    found: dict[str, None] = field(default_factory=dict)
    """Addresses that searches found, in their order."""
    _fresh: set[str] = field(default_factory=set)
    _private: set[str] = field(default_factory=set)
    """Tools that gave private data which the model has seen; empty for what was handed over."""

    def __post_init__(self) -> None:
        if "private" in self.marks:
            self._private.add(_HANDED)

    def addresses(self) -> tuple[str, ...]:
        """Give the addresses that may be handed on, the latest where there are too many."""
        return tuple(self.found)[-MAX_ADDRESSES:]

    def settle(self) -> None:
        """Count what was read as seen: the model is about to be asked.

        Calls of one turn were worded before any of them answered, so none can carry what another
        one of them reads.
        """
        self._private |= self._fresh
        self._fresh.clear()

    def admit(self, tool: str, access: Access, args: Mapping[str, Any]) -> dict[str, Any]:
        """Give the arguments that a call may be made with.

        Raises:
            OutsideClosed: it may not be made; the message says what would be.
        """
        match access.sends:
            case "address":
                self._hold_to_addresses(tool, args)
            case "query" if self._private:
                return self._in_known_words(args)
            case "anything" if self._private - {tool}:
                raise OutsideClosed(
                    f"private data was read for this task, and {tool} does not say that it sends "
                    "nothing outside; go on without it, or report what is missing"
                )
        return dict(args)

    def note(self, tool: str, access: Access, content: str) -> None:
        """Mark what a tool answered, or refused with, as read."""
        found = _as_object(content)
        if access.sends in ("query", "address"):
            for source in _sources(found):
                self.found.setdefault(source)
        if _is_empty(found):
            return
        self.marks |= access.reads
        if "private" in access.reads:
            self._fresh.add(tool)

    def _hold_to_addresses(self, tool: str, args: Mapping[str, Any]) -> None:
        known = addresses(self.said) | {bare(found) for found in self.found}
        for value in args.values():
            if isinstance(value, str) and bare(value) not in known:
                raise OutsideClosed(
                    f"{tool} reads only addresses that stand in the request or that a search of "
                    "this run found, exactly as they stand there; search for the page first, or "
                    "report what is missing"
                )
            if not isinstance(value, str):
                _hold_small(value)

    def _in_known_words(self, args: Mapping[str, Any]) -> dict[str, Any]:
        worded = dict[str, Any]()
        for name, value in args.items():
            if isinstance(value, str):
                try:
                    worded[name] = said_again(value, self.known)
                except ToolRefused as refusal:
                    raise OutsideClosed(str(refusal)) from None
            else:
                _hold_small(value)
                worded[name] = value
        return worded


def _hold_small(value: Any) -> None:
    if value is None or (isinstance(value, int) and abs(value) <= MAX_NUMBER):
        return
    raise OutsideClosed(
        f"an argument that goes outside must be a text, or a number up to {MAX_NUMBER}"
    )


def _as_object(content: str) -> Mapping[str, Any]:
    try:
        found = json.loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, Mapping) else {}


def _is_empty(found: Mapping[str, Any]) -> bool:
    """Say whether a search found nothing at all: then nothing of what it searched was read."""
    return found.get("results") == [] and found.keys() <= {"results", "note"}


def _sources(found: Mapping[str, Any]) -> list[str]:
    results = found.get("results")
    if not isinstance(results, list):
        return []
    named = [item.get("source") for item in results if isinstance(item, Mapping)]
    return [
        source
        for source in named
        if isinstance(source, str) and "://" in source and len(source) <= MAX_ADDRESS_CHARS
    ]
