"""Run ruff over copies of whole modules, in a folder of their own and without any configuration."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodes.text.plain_text import sanitize_line
from nodes.tools.linting.finding import Severity
from nodes.tools.linting.ruff_process import run_ruff
from nodes.tools.linting.rules import find_rule, list_rule_codes

MAX_CHARS = 240
SYNTAX_CODE = "invalid-syntax"
_STYLE_FAMILIES = ("F", "E7")
"""Style rule families that are kept: what is unused, and comparisons that mislead."""


@dataclass(frozen=True)
class LintRemark:
    """What ruff reports about a line."""

    name: str
    line: int
    code: str
    message: str
    severity: Severity
    confidence: int
    advice: str


def lint_modules(modules: Mapping[str, str], folder: Path) -> list[LintRemark]:
    """Lint modules by the rules in the shipped table; syntax errors are among the remarks."""
    names = list(modules)
    for index, name in enumerate(names):
        path = folder / f"m{index}{'.pyi' if name.endswith('.pyi') else '.py'}"
        path.write_text(modules[name], encoding="utf-8", errors="replace")
    told = [(names[int(Path(hit["filename"]).stem[1:])], hit) for hit in _run_ruff(folder)]
    remarks = [_build_remark(name, hit) for name, hit in told]
    return [remark for remark in remarks if remark is not None]


def _run_ruff(folder: Path) -> list[dict[str, Any]]:
    style = [code for code in list_rule_codes("ruff", "style") if code.startswith(_STYLE_FAMILIES)]
    return run_ruff(folder, "--select", ",".join([*list_rule_codes("ruff", "bugs"), *style]))


def _build_remark(name: str, hit: Mapping[str, Any]) -> LintRemark | None:
    code, line = hit.get("code") or SYNTAX_CODE, int(hit["location"]["row"])
    message = sanitize_line(str(hit["message"]), MAX_CHARS).rstrip(".")
    if code == SYNTAX_CODE:
        return LintRemark(name, line, SYNTAX_CODE, message, "high", 80, "")
    rule = find_rule("ruff", code)
    if rule is None:
        return None
    advice = rule.advice or (hit.get("fix") or {}).get("message") or ""
    words = rule.message or message
    return LintRemark(name, line, code, words, rule.severity, rule.confidence, advice)
