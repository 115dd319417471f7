"""A project's own rules of style: what its configuration selects and its prose asks for."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.tools.plain_text import plain_line
from nodes.tools.review.rules import Needs, Rule

MAX_QUOTED_CHARS = 120
DEFAULT_LINE_LENGTH = 88
CONFIDENCE = 92
"""Of a hit on a rule that the project has set itself."""

_CODE = Pattern(r"[A-Z]{1,6}[0-9]{0,4}")
_TARGET = Pattern(r"py3\d{1,2}")
_PYTHON = Pattern(r">=\s*3\.(\d{1,2})")
_LOCAL = (
    *("BLE", "C4", "DTZ", "E1", "E2", "E501", "E7", "EM", "ERA", "FBT", "FIX", "FLY", "FURB", "G"),
    *("ISC", "N80", "PIE", "PLR2004", "PLW0603", "PT", "Q", "RSE", "S", "SIM", "T20", "TID252"),
    *("TRY", "UP", "W1", "W29", "W605"),
)
"""Rules that look at a line or a statement, so that they hold for a part of a file as well."""
_ASKS = Pattern(
    r"\b(?:must|should|shall|never|always|avoid|prefer|use|keep|write|do not|don't|no)\b",
    re.IGNORECASE,
)
_NOT = r"\b(?:no|not|never|avoid|without|don't|forbid\w*|instead of|rather than)\b[^.;]{0,40}"
_KNOWN: tuple[tuple[str, tuple[str, ...]], ...] = (
    (rf"{_NOT}\bprint\b", ("T201",)),
    (r"\bdouble[- ]quot", ("Q000",)),
    (r"\bdocstrings?\b", ("D101", "D102", "D103")),
    (r"\b(?:type hints?|type annotations?|annotate)\b", ("ANN001", "ANN201")),
    (rf"{_NOT}\brelative imports?|\babsolute imports?", ("TID252",)),
    (rf"{_NOT}\b(?:wildcard|star|\*)[- ]?\s?imports?", ("F403",)),
    (rf"{_NOT}\bTODO", ("FIX002",)),
    (r"\bpathlib\b", ("PTH",)),
    (r"\bf-strings?\b", ("UP031", "UP032")),
    (rf"{_NOT}\bcommented[- ]out", ("ERA001",)),
    (rf"{_NOT}\bassert\b", ("S101",)),
    (r"\bsnake_case\b", ("N802", "N803", "N806")),
    (rf"{_NOT}\bbare except", ("E722",)),
    (rf"{_NOT}\b(?:except Exception|broad except\w*|blind except\w*)", ("BLE001",)),
    (rf"{_NOT}\bmutable default", ("B006",)),
    (rf"{_NOT}\bglobal\b", ("PLW0603",)),
    (rf"{_NOT}\bmagic (?:numbers?|values?)", ("PLR2004",)),
    (rf"{_NOT}\btrailing (?:white)?space", ("W291", "W293")),
    (r"\b(?:time ?zone|tz)[- ]?aware\b", ("DTZ",)),
)
_LENGTH = Pattern(
    r"\blines?\b[^.;]{0,40}?\b(\d{2,3})\b|\b(\d{2,3})[- ](?:characters?|chars|columns?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Guidelines:
    """What a project asks for, as rules; and what no rule can check."""

    asked: Mapping[str, str]
    """Rule or family to where it is asked for."""
    ignored: tuple[str, ...] = ()
    line_length: int = DEFAULT_LINE_LENGTH
    target: str = "py310"
    unchecked: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    """Configuration that cannot be read."""

    def rule(self, code: str) -> Rule | None:
        """Give what a rule is worth that is here because the project asks for it."""
        needs: Needs = "hunk" if code.startswith(_LOCAL) else "file"
        return Rule("ruff", code, "style", "low", CONFIDENCE, needs, "", "")

    def asks_for(self, code: str) -> str:
        """Say where a rule is asked for; empty when it is not."""
        fitting = (where for rule, where in self.asked.items() if code.startswith(rule))
        return next(fitting, "")

    def ignores(self, code: str) -> bool:
        return any(code.startswith(rule) for rule in self.ignored)


def read_guidelines(configuration: Mapping[str, str], prose: Mapping[str, str]) -> Guidelines:
    """Read guidelines; prose outranks the configuration."""
    asked, ignored, unchecked = dict[str, str](), list[str](), list[str]()
    length, target = DEFAULT_LINE_LENGTH, "py310"
    found = {name: _ruff_settings(text) for name, text in configuration.items()}
    unread = tuple(name for name, settings in found.items() if settings is None)
    for name, settings in ((name, each) for name, each in found.items() if each is not None):
        lint = {**settings, **_table(settings, "lint")}
        for key in ("select", "extend-select"):
            asked |= dict.fromkeys(_codes(lint.get(key)), name)
        for key in ("ignore", "extend-ignore"):
            ignored += _codes(lint.get(key))
        if isinstance(settings.get("line-length"), int):
            length, asked = settings["line-length"], {**asked, "E501": name}
        target = _target(settings.get("target-version")) or target
    for name, text in prose.items():
        for sentence in _sentences(text):
            where = f"{name}: “{plain_line(sentence, MAX_QUOTED_CHARS)}”"
            codes = [
                code
                for form, rules in _KNOWN
                if Pattern(form, re.IGNORECASE).search(sentence)
                for code in rules
            ]
            if number := _length(sentence):
                length, codes = number, [*codes, "E501"]
            asked |= {code: where for code in codes}
            unchecked += [where] * (not codes and _ASKS.search(sentence) is not None)
    ignored = [code for code in ignored if not asked.get(code, "").endswith("”")]
    length = min(max(length, 40), 320)
    return Guidelines(asked, tuple(ignored), length, target, tuple(unchecked), unread)


def _ruff_settings(text: str) -> dict[str, Any] | None:  # whatever TOML can say
    try:
        read = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    tools = _table(read, "tool")
    found = _table(tools, "ruff") if tools or "project" in read else read
    black = _table(tools, "black").get("line-length")
    requires = _PYTHON.search(str(_table(read, "project").get("requires-python", "")))
    own = {"line-length": black, "target-version": f"py3{requires.group(1)}" if requires else None}
    return {**own, **found}


def _table(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = settings.get(name)
    return value if isinstance(value, dict) else {}


def _codes(value: object) -> list[str]:
    listed = value if isinstance(value, list) else []
    return [code for code in listed if isinstance(code, str) and _CODE.fullmatch(code)]


def _target(value: object) -> str:
    return value if isinstance(value, str) and _TARGET.fullmatch(value) else ""


def _length(sentence: str) -> int:
    found = _LENGTH.search(sentence)
    number = int(next(filter(None, found.groups()))) if found else 0
    return number if 40 <= number <= 320 else 0


def _sentences(text: str) -> Iterator[str]:
    for line in _paragraphs(text.splitlines()):
        yield from (part for part in Pattern(r"(?<=[.!?])\s+(?=[A-Z])").split(line) if part)


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Join wrapped lines; headings, code blocks and list items stand for themselves."""
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
