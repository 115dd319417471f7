"""The draft of a ticket: a request handed to a person with all that is known, and what is not."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from nodes.limits.patterns import Pattern
from nodes.tools.plain_text import plain_line
from nodes.tools.replies import with_failures
from nodes.tools.secrets import masked
from nodes.tools.support.diagnosis import claims_on, cut_off, shown_as_code
from nodes.tools.support.log import Log
from nodes.tools.support.matters import ASKS_FOR_A_PERSON, matters, prose
from nodes.tools.support.missing import missing
from nodes.tools.support.troubles import Trouble, troubles
from nodes.tools.support.wording import wording
from state import Severity

MAX_TITLE_CHARS: Final = 100
MAX_REQUEST_CHARS: Final = 1200
MAX_EVIDENCE: Final = 6
MAX_TRIED: Final = 6
CONFIDENCE: Final = 85
NOT_SENT: Final = "Nothing was sent: the ticket is a draft for a person to file and decide"
DESKS: Final[Mapping[str, str]] = {
    "security": "security",
    "data loss": "operations, who hold the backups",
    "legal": "legal",
    "billing": "accounts",
    ASKS_FOR_A_PERSON: "support",
}
_TRIED = Pattern(
    r"\b(?:tried|already|re-?started|rebooted|reinstalled|re-?installed|upgraded|downgraded|updated"
    r"|rolled back|cleared|followed|checked|changed|raised|increased|switched|disabled|reset)\b",
    re.IGNORECASE,
)
_HANDED_BACK = Pattern(r" handed it back \(\w+\):")
_SENTENCE = Pattern(r"(?<=[.!?])\s+|\n+")


def drafted(
    request: str, earlier: str, logs: Sequence[Log], files: Sequence[str]
) -> dict[str, Any]:
    """Draft the ticket of a request; nothing is sent."""
    found = matters(request)
    held = [(log, each) for log in logs for each in troubles(log)]
    severity, why = _severity(request, found, [each for _, each in held])
    lacking, more = missing(request, found, logs), len(held) - MAX_EVIDENCE
    title = plain_line(masked(_first_sentence(request)), MAX_TITLE_CHARS)
    parts = [
        f"**Ticket (draft, not sent): {title}**",
        "\n".join(_head(severity, why, found, files)),
        _section("What is asked", _quoted(request)),
        _section("Evidence", [_evidence(*each) for each in held[:MAX_EVIDENCE]]),
        _section("Tried so far", list(_tried(request, earlier))),
        _section("To be asked", lacking),
    ]
    return {
        "summary": "\n\n".join(part for part in parts if part),
        "claims": [
            claim
            for log, each in held[:MAX_EVIDENCE]
            if log.name in files
            for claim in claims_on(log, [each])
        ],
        "findings": [
            {
                "severity": severity,
                "message": f"For a person ({_desk(found)}): {title}",
                "confidence": CONFIDENCE,
            }
        ],
        "gaps": [
            NOT_SENT,
            *([f"Not known yet: {' '.join(lacking)}"] if lacking else []),
            *([f"{more} more kinds of errors are in the logs"] if more > 0 else []),
        ],
        **with_failures(said for log in logs for said in cut_off(log)),
    }


def _head(
    severity: Severity, why: str, found: Mapping[str, str], files: Sequence[str]
) -> Iterator[str]:
    yield f"- severity: {severity} ({why})"
    yield f"- for: {_desk(found)}"
    if found:
        named = (f'{name} ("{words}")' for name, words in found.items())
        yield f"- why a person: {'; '.join(named)}"
    else:
        yield "- why a person: neither the logs nor the help documents at hand settle it"
    if files:
        yield f"- files: {', '.join(files)}"


def _desk(found: Mapping[str, str]) -> str:
    return next((desk for name, desk in DESKS.items() if name in found), "support engineering")


def _severity(
    request: str, found: Mapping[str, str], held: Sequence[Trouble]
) -> tuple[Severity, str]:
    """Rank by rule, the gravest reason first, and say what decided."""
    spoken = {name: each.search(prose(request)) for name, each in wording().severity.items()}
    words = {name: f'"{hit[0]}"' if hit else "" for name, hit in spoken.items()}
    logged = [
        f"a log names {'a critical error' if each.level == 'critical' else 'errors'}"
        for each in held
    ]
    grave = [each for each in logged if "critical" in each]
    reasons: tuple[tuple[Severity, str], ...] = (
        ("critical", _concerning(found, "security", "data loss")),
        ("critical", words["critical"]),
        ("high", words["high"]),
        ("high", "".join(grave[:1])),
        ("high", _concerning(found, "legal")),
        ("medium", "".join(logged[:1])),
        ("medium", _concerning(found, "billing")),
        ("medium", words["medium"]),
    )
    return next((each for each in reasons if each[1]), ("low", "nothing is said to be broken"))


def _concerning(found: Mapping[str, str], *names: str) -> str:
    return next((f"{name} is concerned" for name in names if name in found), "")


def _evidence(log: Log, each: Trouble) -> str:
    first = each.numbers[0]
    times = f", {len(each.numbers)} times" if len(each.numbers) > 1 else ""
    stamp = f", first {log.stamp(first)}" if log.stamp(first) else ""
    root = f"; at its root {shown_as_code(each.root)}" if each.root != each.title else ""
    return f"{shown_as_code(each.title)}{times}{stamp} ({log.name}, line {first}){root}"


def _tried(request: str, earlier: str) -> Iterator[str]:
    said = [part.strip() for part in _SENTENCE.split(prose(request))]
    for part in [part for part in said if _TRIED.search(part)][:MAX_TRIED]:
        yield f'by the user: "{plain_line(masked(part), 200)}"'
    if earlier.strip():
        yield f"by this desk: {plain_line(masked(_HANDED_BACK.sub(':', earlier)), 400)}"


def _quoted(request: str) -> list[str]:
    text = masked(prose(request)).strip()
    return [plain_line(text, MAX_REQUEST_CHARS)] if text else []


def _first_sentence(request: str) -> str:
    spoken = [part.strip() for part in _SENTENCE.split(prose(request)) if part.strip()]
    return spoken[0] if spoken else "A log without words"


def _section(name: str, lines: Sequence[str]) -> str:
    return f"{name}:\n\n" + "\n".join(f"- {line}" for line in lines) if lines else ""
