"""Read a project's style rules: those that its configuration selects and its prose requires."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt

from extensions.tools.linting.rules import LintRule, RuleContext
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line

MAX_QUOTED_CHARS = 120
DEFAULT_LINE_LENGTH = 88
GUIDELINE_CONFIDENCE = 92
"""Severity of a hit on a rule that the project requires."""

_RULE_CODE = Pattern(r"[A-Z]{1,6}[0-9]{0,4}")
_TARGET_VERSION = Pattern(r"py3\d{1,2}")
_REQUIRED_PYTHON = Pattern(r">=\s*3\.(\d{1,2})")
_REQUIREMENT_WORDS = Pattern(
    r"\b(?:must|should|shall|never|always|avoid|prefer|use|keep|write|do not|don't|no)\b",
    re.IGNORECASE,
)
_NEGATION = r"\b(?:no|not|never|avoid|without|don't|forbid\w*|instead of|rather than)\b[^.;]{0,40}"
_LINE_LENGTH = Pattern(
    r"\blines?\b[^.;]{0,40}?\b(\d{2,3})\b|\b(\d{2,3})[- ](?:characters?|chars|columns?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Guidelines:
    """What a project requires, as rules; and what no rule can check."""

    required_rules: Mapping[str, str]
    """Rule or family, mapped to where it is required."""
    ignored_rules: tuple[str, ...] = ()
    line_length: int = DEFAULT_LINE_LENGTH
    target_version: str = "py310"
    unchecked_sentences: tuple[str, ...] = ()
    unread_files: tuple[str, ...] = ()
    """Configuration that cannot be read."""

    def build_rule(self, code: str) -> LintRule | None:
        """Return severity and confidence of a rule that applies because the project requires it."""
        is_local = code.startswith(tuple(_load_table()["local_rules"]))
        needs: RuleContext = "hunk" if is_local else "file"
        return LintRule("ruff", code, "style", "low", GUIDELINE_CONFIDENCE, needs, "", "")

    def find_requirement(self, code: str) -> str:
        """Return where a rule is required; empty if it is not."""
        fitting = (where for rule, where in self.required_rules.items() if code.startswith(rule))
        return next(fitting, "")


def read_guidelines(configuration: Mapping[str, str], prose: Mapping[str, str]) -> Guidelines:
    """Read guidelines; prose takes precedence over the configuration."""
    asked, ignored, unchecked = dict[str, str](), list[str](), list[str]()
    length, target = DEFAULT_LINE_LENGTH, "py310"
    found = {name: _read_ruff_settings(text) for name, text in configuration.items()}
    unread = tuple(name for name, settings in found.items() if settings is None)
    for name, settings in ((name, each) for name, each in found.items() if each is not None):
        lint = {**settings, **_get_table(settings, "lint")}
        for key in ("select", "extend-select"):
            asked |= dict.fromkeys(_list_codes(lint.get(key)), name)
        for key in ("ignore", "extend-ignore"):
            ignored += _list_codes(lint.get(key))
        if isinstance(settings.get("line-length"), int):
            length, asked = settings["line-length"], {**asked, "E501": name}
        target = _parse_target_version(settings.get("target-version")) or target
    for name, text in prose.items():
        for sentence in _split_sentences(text):
            where = f"{name}: “{sanitize_line(sentence, MAX_QUOTED_CHARS)}”"
            codes = [code for form, of in load_checks() if form.search(sentence) for code in of]
            if number := _find_line_length(sentence):
                length, codes = number, [*codes, "E501"]
            asked |= {code: where for code in codes}
            unchecked += [where] * (not codes and _REQUIREMENT_WORDS.search(sentence) is not None)
    ignored = [code for code in ignored if not asked.get(code, "").endswith("”")]
    length = min(max(length, 40), 320)
    return Guidelines(asked, tuple(ignored), length, target, tuple(unchecked), unread)


@cache
def load_checks() -> list[tuple[Pattern, list[str]]]:
    """Load what guidelines ask for or forbid, each with the rules that check it."""
    table = _load_table()
    forms = {**table["required"], **{_NEGATION + at: of for at, of in table["forbidden"].items()}}
    return [(Pattern(form, re.IGNORECASE), codes) for form, codes in forms.items()]


def _read_ruff_settings(text: str) -> dict[str, Any] | None:  # any TOML value
    try:
        read = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    tools = _get_table(read, "tool")
    found = _get_table(tools, "ruff") if tools or "project" in read else read
    black = _get_table(tools, "black").get("line-length")
    requires = _REQUIRED_PYTHON.search(str(_get_table(read, "project").get("requires-python", "")))
    own = {"line-length": black, "target-version": f"py3{requires.group(1)}" if requires else None}
    return {**own, **found}


def _get_table(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = settings.get(name)
    return value if isinstance(value, dict) else {}


def _list_codes(value: object) -> list[str]:
    listed = value if isinstance(value, list) else []
    return [code for code in listed if isinstance(code, str) and _RULE_CODE.fullmatch(code)]


def _parse_target_version(value: object) -> str:
    return value if isinstance(value, str) and _TARGET_VERSION.fullmatch(value) else ""


def _find_line_length(sentence: str) -> int:
    found = _LINE_LENGTH.search(sentence)
    number = int(found[1] or found[2]) if found else 0
    return number if 40 <= number <= 320 else 0


@cache
def _load_table() -> dict[str, Any]:  # lists and mappings of `guidelines.yaml`
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    table: dict[str, Any] = yaml.safe_load(text)
    return table


def _split_sentences(text: str) -> Iterator[str]:
    """Split paragraphs and list items; headings and code are left out."""
    for opened, token in pairwise(MarkdownIt().disable("inline").parse(text)):
        if opened.type == "paragraph_open":
            paragraph = " ".join(token.content.split())
            yield from Pattern(r"(?<=[.!?])\s+(?=[A-Z])").split(paragraph)
