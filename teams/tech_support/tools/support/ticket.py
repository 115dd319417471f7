"""Draft a ticket: a request for a human with all that is known, and what is not."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from nodes.tools.failures.secrets import mask_secrets
from nodes.tools.framework.tool_report import build_failures_part
from state import Severity

from .error_kinds import ErrorKind, list_error_kinds
from .human_decisions import (
    ASKS_FOR_HUMAN,
    find_human_decisions,
    remove_pasted_log,
)
from .log import Log
from .log_diagnosis import build_claims, describe_cut, redact_as_code
from .open_questions import list_open_questions
from .request_wording import load_wording

MAX_TITLE_CHARS: Final = 100
MAX_REQUEST_CHARS: Final = 1200
MAX_EVIDENCE: Final = 6
MAX_TRIED: Final = 6
CONFIDENCE: Final = 85
NOT_SENT: Final = "Nothing was sent: the ticket is a draft for a human to file and decide"
DESKS: Final[Mapping[str, str]] = {
    "security": "security",
    "data loss": "operations, who hold the backups",
    "legal": "legal",
    "billing": "accounts",
    ASKS_FOR_HUMAN: "support",
}
_ATTEMPT_WORDS = Pattern(
    r"\b(?:tried|already|re-?started|rebooted|reinstalled|re-?installed|upgraded|downgraded|updated"
    r"|rolled back|cleared|followed|checked|changed|raised|increased|switched|disabled|reset)\b",
    re.IGNORECASE,
)
_ESCALATION_NOTE = Pattern(r" handed it back \(\w+\):")
_SENTENCE = Pattern(r"(?<=[.!?])\s+|\n+")


def compose_ticket(
    request: str, earlier: str, logs: Sequence[Log], files: Sequence[str]
) -> dict[str, Any]:
    """Draft the ticket of a request; nothing is sent."""
    found = find_human_decisions(request)
    held = [(log, each) for log in logs for each in list_error_kinds(log)]
    severity, why = _rate_severity(request, found, [each for _, each in held])
    lacking, more = list_open_questions(request, found, logs), len(held) - MAX_EVIDENCE
    title = sanitize_line(mask_secrets(_get_first_sentence(request)), MAX_TITLE_CHARS)
    parts = [
        f"**Ticket (draft, not sent): {title}**",
        "\n".join(_format_head(severity, why, found, files)),
        _format_section("What is asked", _quote_request(request)),
        _format_section("Evidence", [_format_evidence(*each) for each in held[:MAX_EVIDENCE]]),
        _format_section("Tried so far", list(_list_attempts(request, earlier))),
        _format_section("To be asked", lacking),
    ]
    return {
        "summary": "\n\n".join(part for part in parts if part),
        "claims": [
            claim
            for log, each in held[:MAX_EVIDENCE]
            if log.name in files
            for claim in build_claims(log, [each])
        ],
        "findings": [
            {
                "severity": severity,
                "message": f"For a human ({_find_desk(found)}): {title}",
                "confidence": CONFIDENCE,
            }
        ],
        "gaps": [
            NOT_SENT,
            *([f"Not known yet: {' '.join(lacking)}"] if lacking else []),
            *([f"{more} more kinds of errors are in the logs"] if more > 0 else []),
        ],
        **build_failures_part(said for log in logs for said in describe_cut(log)),
    }


def _format_head(
    severity: Severity, why: str, found: Mapping[str, str], files: Sequence[str]
) -> Iterator[str]:
    yield f"- severity: {severity} ({why})"
    yield f"- for: {_find_desk(found)}"
    if found:
        named = (f'{name} ("{words}")' for name, words in found.items())
        yield f"- why a human is needed: {'; '.join(named)}"
    else:
        yield "- why a human is needed: neither the logs nor the help documents at hand settle it"
    if files:
        yield f"- files: {', '.join(files)}"


def _find_desk(found: Mapping[str, str]) -> str:
    return next((desk for name, desk in DESKS.items() if name in found), "support engineering")


def _rate_severity(
    request: str, found: Mapping[str, str], held: Sequence[ErrorKind]
) -> tuple[Severity, str]:
    """Return the severity by rule, the most severe reason first, and the reason."""
    spoken = {
        name: each.search(remove_pasted_log(request))
        for name, each in load_wording().severity.items()
    }
    words = {name: f'"{hit[0]}"' if hit else "" for name, hit in spoken.items()}
    logged = [
        f"a log names {'a critical error' if each.level == 'critical' else 'errors'}"
        for each in held
    ]
    grave = [each for each in logged if "critical" in each]
    reasons: tuple[tuple[Severity, str], ...] = (
        ("critical", _describe_concern(found, "security", "data loss")),
        ("critical", words["critical"]),
        ("high", words["high"]),
        ("high", "".join(grave[:1])),
        ("high", _describe_concern(found, "legal")),
        ("medium", "".join(logged[:1])),
        ("medium", _describe_concern(found, "billing")),
        ("medium", words["medium"]),
    )
    return next((each for each in reasons if each[1]), ("low", "nothing is said to be broken"))


def _describe_concern(found: Mapping[str, str], *names: str) -> str:
    return next((f"{name} is concerned" for name in names if name in found), "")


def _format_evidence(log: Log, each: ErrorKind) -> str:
    first = each.line_numbers[0]
    times = f", {len(each.line_numbers)} times" if len(each.line_numbers) > 1 else ""
    stamp = f", first {log.find_timestamp(first)}" if log.find_timestamp(first) else ""
    root = (
        f"; at its root {redact_as_code(each.root_title)}" if each.root_title != each.title else ""
    )
    return f"{redact_as_code(each.title)}{times}{stamp} ({log.name}, line {first}){root}"


def _list_attempts(request: str, earlier: str) -> Iterator[str]:
    said = [part.strip() for part in _SENTENCE.split(remove_pasted_log(request))]
    for part in [part for part in said if _ATTEMPT_WORDS.search(part)][:MAX_TRIED]:
        yield f'by the user: "{sanitize_line(mask_secrets(part), 200)}"'
    if earlier.strip():
        yield (
            f"by this desk: {sanitize_line(mask_secrets(_ESCALATION_NOTE.sub(':', earlier)), 400)}"
        )


def _quote_request(request: str) -> list[str]:
    text = mask_secrets(remove_pasted_log(request)).strip()
    return [sanitize_line(text, MAX_REQUEST_CHARS)] if text else []


def _get_first_sentence(request: str) -> str:
    spoken = [part.strip() for part in _SENTENCE.split(remove_pasted_log(request)) if part.strip()]
    return spoken[0] if spoken else "A log without words"


def _format_section(name: str, lines: Sequence[str]) -> str:
    return f"{name}:\n\n" + "\n".join(f"- {line}" for line in lines) if lines else ""
