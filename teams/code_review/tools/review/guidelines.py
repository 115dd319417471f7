"""Read a project's style rules: those that its configuration selects and its prose requires."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from nodes.tools.linting.rules import LintRule, RuleContext

MAX_QUOTED_CHARS = 120
DEFAULT_LINE_LENGTH = 88
GUIDELINE_CONFIDENCE = 92
"""Severity of a hit on a rule that the project requires."""

_RULE_CODE = Pattern(r"[A-Z]{1,6}[0-9]{0,4}")
_TARGET_VERSION = Pattern(r"py3\d{1,2}")
_REQUIRED_PYTHON = Pattern(r">=\s*3\.(\d{1,2})")
_LOCAL_RULES = (
    *("BLE", "C4", "DTZ", "E1", "E2", "E501", "E7", "EM", "ERA", "FBT", "FIX", "FLY", "FURB", "G"),
    *("ISC", "N80", "PIE", "PLR2004", "PLW0603", "PT", "Q", "RSE", "S", "SIM", "T20", "TID252"),
    *("TRY", "UP", "W1", "W29", "W605"),
)
"""Rules about a line or a statement, so that they are also valid for a part of a file."""
_REQUIREMENT_WORDS = Pattern(
    r"\b(?:must|should|shall|never|always|avoid|prefer|use|keep|write|do not|don't|no)\b",
    re.IGNORECASE,
)
_NEGATION = r"\b(?:no|not|never|avoid|without|don't|forbid\w*|instead of|rather than)\b[^.;]{0,40}"
_RULES_BY_PHRASE: tuple[tuple[str, tuple[str, ...]], ...] = (
    (rf"{_NEGATION}\bprint\b", ("T201",)),
    (r"\bdouble[- ]quot", ("Q000",)),
    (r"\bdocstrings?\b", ("D101", "D102", "D103")),
    (r"\b(?:type hints?|type annotations?|annotate)\b", ("ANN001", "ANN201")),
    (rf"{_NEGATION}\brelative imports?|\babsolute imports?", ("TID252",)),
    (rf"{_NEGATION}\b(?:wildcard|star|\*)[- ]?\s?imports?", ("F403",)),
    (rf"{_NEGATION}\bTODO", ("FIX002",)),
    (r"\bpathlib\b", ("PTH",)),
    (r"\bf-strings?\b", ("UP031", "UP032")),
    (rf"{_NEGATION}\bcommented[- ]out", ("ERA001",)),
    (rf"{_NEGATION}\bassert\b", ("S101",)),
    (r"\bsnake_case\b", ("N802", "N803", "N806")),
    (rf"{_NEGATION}\bbare except", ("E722",)),
    (rf"{_NEGATION}\b(?:except Exception|broad except\w*|blind except\w*)", ("BLE001",)),
    (rf"{_NEGATION}\bmutable default", ("B006",)),
    (rf"{_NEGATION}\bglobal\b", ("PLW0603",)),
    (rf"{_NEGATION}\bmagic (?:numbers?|values?)", ("PLR2004",)),
    (rf"{_NEGATION}\btrailing (?:white)?space", ("W291", "W293")),
    (r"\b(?:time ?zone|tz)[- ]?aware\b", ("DTZ",)),
)
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
        needs: RuleContext = "hunk" if code.startswith(_LOCAL_RULES) else "file"
        return LintRule("ruff", code, "style", "low", GUIDELINE_CONFIDENCE, needs, "", "")

    def find_requirement(self, code: str) -> str:
        """Return where a rule is required; empty if it is not."""
        fitting = (where for rule, where in self.required_rules.items() if code.startswith(rule))
        return next(fitting, "")

    def is_ignored(self, code: str) -> bool:
        return any(code.startswith(rule) for rule in self.ignored_rules)


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
            codes = [
                code
                for form, rules in _RULES_BY_PHRASE
                if Pattern(form, re.IGNORECASE).search(sentence)
                for code in rules
            ]
            if number := _find_line_length(sentence):
                length, codes = number, [*codes, "E501"]
            asked |= {code: where for code in codes}
            unchecked += [where] * (not codes and _REQUIREMENT_WORDS.search(sentence) is not None)
    ignored = [code for code in ignored if not asked.get(code, "").endswith("”")]
    length = min(max(length, 40), 320)
    return Guidelines(asked, tuple(ignored), length, target, tuple(unchecked), unread)


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
    number = int(next(filter(None, found.groups()))) if found else 0
    return number if 40 <= number <= 320 else 0


def _split_sentences(text: str) -> Iterator[str]:
    for line in _join_paragraphs(text.splitlines()):
        yield from (part for part in Pattern(r"(?<=[.!?])\s+(?=[A-Z])").split(line) if part)


def _join_paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Join wrapped lines; headings, code blocks and list items are kept separate."""
    kept, is_code = list[str](), False
    for line in lines:
        stripped = line.strip()
        is_fence = stripped.startswith(("```", "~~~"))
        is_code ^= is_fence
        if is_fence or is_code or not stripped or Pattern(r"#|[-*+] |\d{1,9}[.)] ").match(stripped):
            yield " ".join(kept)
            kept = []
        if not (is_fence or is_code or stripped.startswith("#")):
            kept.append(Pattern(r"^(?:[-*+]|\d+[.)])\s+").sub("", stripped))
    yield " ".join(kept)
