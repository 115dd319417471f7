"""A playbook: the terms a contract must have, must not have, or may have within limits."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.tools.framework.tool_report import Severity

from .clause_kinds import ClauseKindName
from .phrases import Phrases, Quantity, match_quantity

SHIPPED_PLAYBOOK = Path(__file__).resolve().parents[2] / "playbook.yaml"
MAX_CHARS = 200_000
MAX_PROBLEMS = 3
_PLAYBOOK_NAME = Pattern(r"(?:^|/)[^/]*playbook[^/]*\.ya?ml$", re.IGNORECASE)


def parse_limit(text: str) -> Quantity:
    """Parse a limit, such as `60 days` or `1% per month`.

    Raises:
        ValueError: it is not a limit.
    """
    found = match_quantity(text.strip().lower(), 0)
    if found is None or found.end < len(text.strip()):
        raise ValueError("a limit is a number with hours, days, weeks, months, years, or percent")
    return found


Limit = Annotated[str, AfterValidator(lambda text: parse_limit(text) and text)]


class PlaybookRule(BaseModel):
    """One term of the playbook."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    title: str = Field(min_length=3, max_length=80)
    kind: Literal["required", "forbidden", "limited"]
    severity: Severity
    likelihood: int = Field(3, ge=1, le=5)
    clause: ClauseKindName | None = None
    """The kind of clause that it is, in place of wording of its own."""
    any: Phrases = Field((), max_length=60)
    unless: Phrases = Field((), max_length=60)
    max: Limit | None = None
    min: Limit | None = None
    why: str = Field("", max_length=400)
    remedy: str = Field("", max_length=400)

    @model_validator(mode="after")
    def _require_limit_for_limited_kind(self) -> Self:
        if not (self.any or self.clause):
            raise ValueError("a term needs any, its wording, or clause, its kind of clause")
        has_limit = bool(self.max or self.min)
        if has_limit != (self.kind == "limited"):
            raise ValueError("max and min, such as max: 60 days, belong to kind: limited")
        if has_limit and not any(phrase.has_quantity for phrase in self.any):
            raise ValueError("a limited term needs '#' in a phrase, at the place of the quantity")
        return self


class Playbook(BaseModel):
    """The rules that contracts are checked against."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=120)
    number_mismatch: Severity | Literal["off"] = "high"
    """Severity of a number whose words and figures differ."""
    rules: tuple[PlaybookRule, ...] = Field(min_length=1, max_length=200)

    @field_validator("rules")
    @classmethod
    def _require_unique_ids(cls, rules: tuple[PlaybookRule, ...]) -> tuple[PlaybookRule, ...]:
        names = [rule.id for rule in rules]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two rules have the id {repeated[0]}")
        return rules


def is_playbook(name: str) -> bool:
    """Return whether a material is a playbook, by its name."""
    return bool(_PLAYBOOK_NAME.search(name))


def read_playbook(name: str, text: str) -> Playbook:
    """Parse a playbook in YAML.

    Raises:
        ToolRefused: it cannot be used; the message names file, key and what is allowed.
    """
    if len(text) > MAX_CHARS:
        raise ToolRefused(f"{name}: {len(text):,} characters, of at most {MAX_CHARS:,}")
    try:
        # A few aliases can fill the memory.
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise ToolRefused(f"{name}: aliases (*name) are not allowed; quote a phrase with *")
        value = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ToolRefused(f"{name} is no YAML: {' '.join(str(error).split())}") from None
    try:
        return Playbook.model_validate(value)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        shown = "; ".join(map(_describe_problem, problems[:MAX_PROBLEMS]))
        raise ToolRefused(f"{name} is no playbook: {shown}") from None


def _describe_problem(problem: Any) -> str:  # of pydantic's ErrorDetails
    key = ".".join(map(str, problem["loc"])) or "playbook"
    given = problem["input"]
    shown = f" is {given!r:.60}" if isinstance(given, str | int | float) else ""
    return f"{key}{shown}: {problem['msg'].removeprefix('Value error, ')}"
