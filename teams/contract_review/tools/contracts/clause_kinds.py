"""The kinds of clauses that a review looks for first, and the wording that identifies them."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import yaml
from pydantic import BaseModel, ConfigDict

from .phrases import Phrases

_FILE = Path(__file__).resolve().parents[2] / "clause_kinds.yaml"


class ClauseKind(BaseModel):
    """A kind of clause."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    headings: Phrases
    any: Phrases
    unless: Phrases = ()

    def is_named_in(self, heading: str) -> bool:
        """Return whether a heading names this kind."""
        return any(any(each.find_matches(heading.lower())) for each in self.headings)


@cache
def load_clause_kinds() -> dict[str, ClauseKind]:
    """Return the kinds by name, the most important first."""
    kinds = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return {name: ClauseKind.model_validate(kind) for name, kind in kinds.items()}


if TYPE_CHECKING:
    ClauseKindName = str
else:
    ClauseKindName = Literal[tuple(load_clause_kinds())]
