"""Ruff over copies of whole modules, in a folder of their own and without any configuration."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodes.tools.plain_text import plain_line
from nodes.tools.review.found import Severity
from nodes.tools.review.ruff import ruff_hits
from nodes.tools.review.rules import codes, rule_of

MAX_CHARS = 240
SYNTAX = "invalid-syntax"
_PLAIN_STYLE = ("F", "E7")
"""Families of the style rules that are kept: what is unused, and comparisons that mislead."""


@dataclass(frozen=True)
class Remark:
    """What ruff says of a line."""

    name: str
    line: int
    code: str
    message: str
    severity: Severity
    confidence: int
    advice: str


def linted(modules: Mapping[str, str], folder: Path) -> list[Remark]:
    """Lint modules by the rules that the house knows; syntax errors are among the remarks."""
    names = list(modules)
    for index, name in enumerate(names):
        path = folder / f"m{index}{'.pyi' if name.endswith('.pyi') else '.py'}"
        path.write_text(modules[name], encoding="utf-8", errors="replace")
    told = [(names[int(Path(hit["filename"]).stem[1:])], hit) for hit in _checked(folder)]
    remarks = [_remark(name, hit) for name, hit in told]
    return [remark for remark in remarks if remark is not None]


def _checked(folder: Path) -> list[dict[str, Any]]:
    style = [code for code in codes("ruff", "style") if code.startswith(_PLAIN_STYLE)]
    return ruff_hits(folder, "--select", ",".join([*codes("ruff", "bugs"), *style]))


def _remark(name: str, hit: Mapping[str, Any]) -> Remark | None:
    code, line = hit.get("code") or SYNTAX, int(hit["location"]["row"])
    message = plain_line(str(hit["message"]), MAX_CHARS).rstrip(".")
    if code == SYNTAX:
        return Remark(name, line, SYNTAX, message, "high", 80, "")
    rule = rule_of("ruff", code)
    if rule is None:
        return None
    advice = rule.advice or (hit.get("fix") or {}).get("message") or ""
    words = rule.message or message
    return Remark(name, line, code, words, rule.severity, rule.confidence, advice)
