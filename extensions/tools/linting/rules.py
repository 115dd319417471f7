"""The lens, severity, confidence and advice of each linter rule, and what a finding holds.

The table is `rules.csv`. Its confidence is how often a hit is a defect that a reviewer would want
to see; from 80 on it is reported. `needs` is `file` for a rule that would be wrong if only a part
of a file is known.
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from nodes.tools.framework.tool_report import Severity


@dataclass(frozen=True)
class ReviewFinding:
    """A defect or remark about one line, with the fields of `state.Finding`."""

    severity: Severity
    message: str
    file: str
    line: int | None
    suggestion: str
    confidence: int


Lens = Literal["security", "bugs", "performance", "style", "history"]
RuleContext = Literal["line", "hunk", "file"]


@dataclass(frozen=True)
class LintRule:
    """One row of the table. A ruff rule may be a prefix; the longest match counts."""

    tool: str
    rule: str
    lens: Lens
    severity: Severity
    confidence: int
    needs: RuleContext
    message: str
    """Empty if the linter's own message is shown."""
    advice: str


@cache
def load_rules() -> Mapping[tuple[str, str], LintRule]:
    """Load the table, by tool and rule."""
    text = Path(__file__).with_name("rules.csv").read_text(encoding="utf-8")
    rows: Iterable[dict[str, Any]] = csv.DictReader(text.splitlines())
    read = (LintRule(**{**row, "confidence": int(row["confidence"])}) for row in rows)
    return {(rule.tool, rule.rule): rule for rule in read}


def find_rule(tool: str, code: str) -> LintRule | None:
    """Return the table's row for a hit; None for a rule that is not in it."""
    table = load_rules()
    prefixes = (code[:end] for end in range(len(code), 0, -1))
    return next((table[tool, prefix] for prefix in prefixes if (tool, prefix) in table), None)


def list_rule_codes(tool: str, lens: Lens) -> list[str]:
    """Return the rules of a tool that a lens uses."""
    return [rule.rule for rule in load_rules().values() if (rule.tool, rule.lens) == (tool, lens)]
