"""A playbook: the terms a contract must have, must not have, or may have within limits."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from nodes.limits.patterns import Pattern

from .phrases import Phrase, parse_phrase
from .quantities import Quantity, match_quantity
from .severity import Severity

SHIPPED_PLAYBOOK = Path(__file__).resolve().parents[2] / "playbook.yaml"
MAX_CHARS = 200_000
MAX_RULES = 200
MAX_PROBLEMS = 3
RuleKind = Literal["required", "forbidden", "limited"]
_PLAYBOOK_NAME = Pattern(r"(?:^|/)[^/]*playbook[^/]*\.ya?ml$", re.IGNORECASE)


class PlaybookInvalid(Exception):
    """Why a playbook cannot be used: file, line, key, what is allowed."""


def _validate_phrases(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        parse_phrase(value)
    return values


def _wrap_single_phrase(value: Any) -> Any:  # as parsed from YAML
    return [value] if isinstance(value, str) else value


def _validate_limit(text: str) -> str:
    parse_limit(text)
    return text


Phrases = Annotated[
    tuple[str, ...], BeforeValidator(_wrap_single_phrase), AfterValidator(_validate_phrases)
]
Limit = Annotated[str, AfterValidator(_validate_limit)]


class PlaybookRule(BaseModel):
    """One term of the playbook."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    title: str = Field(min_length=3, max_length=80)
    kind: RuleKind
    severity: Severity
    likelihood: int = Field(3, ge=1, le=5)
    any: Phrases = Field(min_length=1, max_length=60)
    unless: Phrases = Field((), max_length=60)
    max: Limit | None = None
    min: Limit | None = None
    why: str = Field("", max_length=400)
    remedy: str = Field("", max_length=400)

    @model_validator(mode="after")
    def _require_limit_for_limited_kind(self) -> Self:
        if self.kind == "limited":
            if self.max is None and self.min is None:
                raise ValueError("a limited term needs max or min, such as max: 60 days")
            if not any("#" in text.split() for text in self.any):
                raise ValueError(
                    "a limited term needs '#' in a phrase, at the place of the quantity"
                )
        elif self.max is not None or self.min is not None:
            raise ValueError("max and min are for kind: limited")
        return self

    @cached_property
    def phrases(self) -> tuple[Phrase, ...]:
        """Return the phrases to search for."""
        return tuple(map(parse_phrase, self.any))

    @cached_property
    def exceptions(self) -> tuple[Phrase, ...]:
        """Return the phrases that exclude a sentence."""
        return tuple(map(parse_phrase, self.unless))


class Playbook(BaseModel):
    """The rules that contracts are checked against."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=120)
    number_mismatch: Severity | Literal["off"] = "high"
    """Severity of a number whose words and figures differ."""
    rules: tuple[PlaybookRule, ...] = Field(min_length=1, max_length=MAX_RULES)

    @model_validator(mode="after")
    def _require_unique_rule_ids(self) -> Self:
        names = [rule.id for rule in self.rules]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two rules have the id {repeated[0]}")
        return self


def parse_limit(text: str) -> Quantity:
    """Parse a limit, such as `60 days` or `1% per month`.

    Raises:
        ValueError: it is not a limit.
    """
    found = match_quantity(text.strip().lower(), 0)
    if found is None or found.end < len(text.strip()):
        raise ValueError("a limit is a number with hours, days, weeks, months, years, or percent")
    return found


def is_playbook(name: str) -> bool:
    """Return whether a material is a playbook, by its name."""
    return bool(_PLAYBOOK_NAME.search(name))


def read_playbook(name: str, text: str) -> Playbook:
    """Parse a playbook in YAML.

    Raises:
        PlaybookInvalid: it cannot be used; the message names file, line and key.
    """
    if len(text) > MAX_CHARS:
        raise PlaybookInvalid(f"{name}: {len(text):,} characters, of at most {MAX_CHARS:,}")
    value, lines = _parse_yaml(name, text)
    if not isinstance(value, dict):
        raise PlaybookInvalid(f"{name}:1: a playbook has the keys name and rules; {_EXAMPLE_HINT}")
    try:
        return Playbook.model_validate(value)
    except ValidationError as error:
        raise PlaybookInvalid(_describe_errors(name, error, lines)) from None


_EXAMPLE_HINT = "teams/contract_review/playbook.yaml is one to begin from"
_KeyPath = tuple[str | int, ...]


def _parse_yaml(name: str, text: str) -> tuple[Any, Mapping[_KeyPath, int]]:
    """Parse YAML, with the line of each part; aliases are refused, since a few can fill memory."""
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise PlaybookInvalid(
                f"{name}: aliases (*name) are not allowed; put a phrase that holds * into quotes"
            )
        root = yaml.compose(text, yaml.SafeLoader)
        return yaml.safe_load(text), dict(_map_lines(root, ())) if root else {}
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        problem = f"YAML syntax: {error.problem or error.context}"
        raise PlaybookInvalid(f"{name}{line}: {problem}; fix the line") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise PlaybookInvalid(f"{name}: YAML cannot be read: {error}") from None


def _map_lines(node: yaml.Node, place: _KeyPath) -> Iterator[tuple[_KeyPath, int]]:
    yield place, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _map_lines(value, (*place, str(key.value)))
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _map_lines(value, (*place, index))


def _describe_errors(name: str, error: ValidationError, lines: Mapping[_KeyPath, int]) -> str:
    problems = error.errors(include_url=False)
    told = [_describe_error(name, problem, lines) for problem in problems[:MAX_PROBLEMS]]
    more = [f"and {len(problems) - MAX_PROBLEMS} more"] if len(problems) > MAX_PROBLEMS else []
    return "; ".join([*told, *more])


def _describe_error(name: str, problem: Mapping[str, Any], lines: Mapping[_KeyPath, int]) -> str:
    place: _KeyPath = tuple(problem["loc"])
    known = place
    while known and known not in lines:
        known = known[:-1]
    said = str(problem["msg"]).removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        owner = PlaybookRule if place[:1] == ("rules",) else Playbook
        said = f"unknown key; allowed: {', '.join(owner.model_fields)}"
    elif problem["type"] == "literal_error":
        said = f"allowed: {problem['ctx']['expected']}"
    elif problem["type"] == "missing":
        said = f"is missing; {_EXAMPLE_HINT}"
    given = problem.get("input")
    shown = f" is {given!r:.60}" if isinstance(given, str | int | float) else ""
    key = ".".join(map(str, place)) or "playbook"
    return f"{name}:{lines.get(known, 1)}: {key}{shown}: {said}"
