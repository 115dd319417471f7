"""How the tool calls of an attempt ended, and which failures its report must name.

A failure counts until it is resolved: in a later turn the same tool answers for the same material.
A refusal only rejects arguments, so it counts only when no call was answered.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from nodes.limits.nesting import parse_json
from nodes.proof.texts import walk_texts
from nodes.text.tool_messages import drop_advice

CallEnding = Literal["answered", "refused", "failed"]
NOTHING_TO_READ: Final = "nothing to read"
NO_FILE_OF_TASK: Final = "the plan gives the task no file"
"""Marks the message of a call that was refused as there was nothing to read; no model sees it."""
FAILED: Final = "failed"
"""Marks the message of a failed call; no model sees it."""
PUT_OFF: Final = "put off"
"""Marks the message of a call that was one too many; no model sees it."""
MAX_REASON_CHARS = 300
MAX_NAME_CHARS = 1_000
"""Longest argument that is searched for a material's name."""


@dataclass(frozen=True)
class ToolOutcome:
    """How one call ended, and why."""

    tool: str
    turn: int
    ending: CallEnding
    reasons: tuple[str, ...] = ()
    """Why it failed or refused; for an answered call, what the tool could not do."""
    material_names: frozenset[str] = frozenset()
    """The materials that its arguments name; empty means all."""

    reads_materials: bool = False
    """Its tool is given the materials of the task."""
    lacks_file: bool = False
    """There was nothing for it to read."""

    @property
    def has_failed(self) -> bool:
        """Whether it failed, at least in part."""
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
        reads_materials: bool = False,
        lacks_file: bool = False,
    ) -> None:
        """Record a call."""
        self.materials = frozenset(materials)
        named = frozenset(name for name in materials if _is_named(name, call["args"]))
        kept = tuple(reason[:MAX_REASON_CHARS] for reason in map(drop_advice, reasons))
        outcome = ToolOutcome(call["name"], turn, ending, kept, named, reads_materials, lacks_file)
        self.outcomes.append(outcome)

    @property
    def lacks_file(self) -> bool:
        """Whether a tool had nothing to read, and no call was answered."""
        is_answered = any(one.ending == "answered" for one in self.outcomes)
        return not is_answered and any(one.lacks_file for one in self.outcomes)

    def list_failures(self) -> tuple[str, ...]:
        """Return the reasons of the failures that no later call has resolved."""
        left = [one for one in self.outcomes if one.has_failed and not self._is_resolved(one)]
        return tuple(dict.fromkeys(reason for one in left for reason in one.reasons))

    def list_refusals(self) -> tuple[str, ...]:
        """Return why each tool refused its last call, if no call was answered."""
        if any(one.ending == "answered" for one in self.outcomes):
            return ()
        last = {one.tool: one.reasons for one in self.outcomes if one.ending == "refused"}
        return tuple(f"{tool}: {reason}" for tool, reasons in last.items() for reason in reasons)

    def list_readers(self, material: str) -> tuple[str, ...]:
        """Return the tools that answered, without a failure, for a material or for all of them."""
        readers = [
            one.tool
            for one in self.outcomes
            if one.reads_materials
            and one.ending == "answered"
            and not one.has_failed
            and (not one.material_names or material in one.material_names)
        ]
        return tuple(dict.fromkeys(readers))

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
    """Return the `failures` in a tool's answer: what the tool could not do."""
    if '"failures"' not in answer:
        return ()
    try:
        parsed = parse_json(answer)
    except ValueError:
        return ()
    failures = parsed.get("failures") if isinstance(parsed, dict) else None
    return tuple(map(str, failures)) if isinstance(failures, list) else ()


def _is_named(material: str, args: object) -> bool:
    """Return whether an argument is a material's name, with or without its folder."""
    return any(
        text == material or material.endswith(f"/{text}") or text.endswith(f"/{material}")
        for text in walk_texts(args)
        if text and len(text) <= MAX_NAME_CHARS
    )
