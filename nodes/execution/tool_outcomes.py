"""How the tool calls of an attempt ended, and what that leaves open in its report.

A failure counts until a later turn makes it good: the same tool answers, for what the failed call
was about. A refusal is an answer about the arguments, so it counts only where no call was answered.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from nodes.text.tool_messages import drop_advice

CallEnding = Literal["answered", "refused", "failed"]
FAILED: Final = "failed"
"""Marks the message of a failed call; no model sees it."""
MAX_REASON_CHARS = 300
MAX_NAME_CHARS = 1_000
"""Of an argument that may name a material."""


@dataclass(frozen=True)
class ToolOutcome:
    """One call: how it ended, and why not otherwise."""

    tool: str
    turn: int
    ending: CallEnding
    reasons: tuple[str, ...] = ()
    """Why it failed or refused; of one that answered, what it could not do."""
    material_names: frozenset[str] = frozenset()
    """The materials that its arguments name; empty for all there are."""

    @property
    def has_failed(self) -> bool:
        """Whether it failed, be it in part."""
        return self.ending == "failed" or (self.ending == "answered" and bool(self.reasons))


@dataclass
class ToolOutcomes:
    """The calls of one attempt, in the order in which they ended."""

    outcomes: list[ToolOutcome] = field(default_factory=list)
    materials: frozenset[str] = frozenset()

    def record_call(
        self,
        call: Mapping[str, Any],
        ending: CallEnding,
        *,
        turn: int,
        materials: Mapping[str, str],
        reasons: tuple[str, ...] = (),
    ) -> None:
        """Enter a call that was made."""
        self.materials = frozenset(materials)
        about = frozenset(name for name in materials if _is_named(name, call["args"]))
        kept = tuple(reason[:MAX_REASON_CHARS] for reason in map(drop_advice, reasons))
        self.outcomes.append(ToolOutcome(call["name"], turn, ending, kept, about))

    def list_failures(self) -> tuple[str, ...]:
        """Return the reasons of the failures that no later call has made good."""
        left = [one for one in self.outcomes if one.has_failed and not self._is_resolved(one)]
        return tuple(dict.fromkeys(reason for one in left for reason in one.reasons))

    def list_refusals(self) -> tuple[str, ...]:
        """Return why each tool refused its last call, where no tool answered any."""
        if any(one.ending == "answered" for one in self.outcomes):
            return ()
        last = {one.tool: one.reasons for one in self.outcomes if one.ending == "refused"}
        return tuple(f"{tool}: {reason}" for tool, reasons in last.items() for reason in reasons)

    def _is_resolved(self, failed: ToolOutcome) -> bool:
        later = [
            one
            for one in self.outcomes
            if one.tool == failed.tool
            and one.turn > failed.turn
            and one.ending == "answered"
            and not one.has_failed
        ]
        covered = frozenset[str]().union(*(one.material_names for one in later))
        is_about_all = any(not one.material_names for one in later)
        return is_about_all or (
            bool(later) and covered >= (failed.material_names or self.materials)
        )


def read_failures(answer: str) -> tuple[str, ...]:
    """Return what a tool's answer says, under `failures`, that the tool could not do."""
    if '"failures"' not in answer:
        return ()
    try:
        told = json.loads(answer)
    except (ValueError, RecursionError):
        return ()
    found = told.get("failures") if isinstance(told, dict) else None
    return tuple(map(str, found)) if isinstance(found, list) else ()


def _is_named(material: str, args: object) -> bool:
    """Return whether an argument is a material's name, or ends alike after a slash."""
    return any(
        text == material or material.endswith(f"/{text}") or text.endswith(f"/{material}")
        for text in _walk_texts(args)
    )


def _walk_texts(value: object) -> Iterator[str]:
    match value:
        case str():
            if value and len(value) <= MAX_NAME_CHARS:
                yield value
        case dict():
            for part in value.values():
                yield from _walk_texts(part)
        case list():
            for part in value:
                yield from _walk_texts(part)
