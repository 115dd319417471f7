"""Draft a ticket: a request for a human with all that is known, and what is not."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from pydantic import BaseModel, Field

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.tool_report import ToolReport, join_names
from nodes.tools.logs.entry import Log
from nodes.tools.logs.secrets import mask_secrets
from state import Severity

from .error_kinds import list_error_kinds, redact_as_code
from .log_diagnosis import add_claims

Matter = Literal["technical", "security", "data_loss", "legal", "billing", "callback"]
# fmt: off
Detail = Literal[
    "version", "time", "steps", "message", "affected", "access", "exposure", "backup", "writes",
    "deadline", "document", "invoice", "amount", "contact",
]
# fmt: on
MAX_TITLE_CHARS: Final = 100
MAX_ASKED_CHARS: Final = 1200
MAX_EVIDENCE: Final = 6
MAX_TRIED: Final = 6
NOT_SENT: Final = "Nothing was sent: the ticket is a draft for a human to file and decide"
DESKS: Final[Mapping[Matter, str]] = {
    "technical": "support engineering",
    "security": "security",
    "data_loss": "operations, who hold the backups",
    "legal": "legal",
    "billing": "accounts",
    "callback": "support",
}
QUESTIONS: Final[Mapping[Detail, str]] = {
    "version": "Which version of the product runs, and on what system?",
    "time": "Since when does it happen, with date, time and time zone?",
    "steps": "What was done right before it, step by step?",
    "message": "What does the error message or the log say, word for word?",
    "affected": "Who is affected: one user, some, or all?",
    "access": "Has access been cut: passwords changed, keys revoked, sessions ended?",
    "exposure": "What could be seen or changed, and whose data is it?",
    "backup": "Of when is the last backup, and has anything been restored since?",
    "writes": "Has the system been kept from writing since, so that nothing is overwritten?",
    "deadline": "Which dates and deadlines are there?",
    "document": "Which contract, letter or account is it about? Documents are to be attached.",
    "invoice": "Which account and which invoice is it, by number?",
    "amount": "Which amount is it, in which currency, and on which day was it charged?",
    "contact": "How and when can the person be reached: telephone, e-mail?",
}
DETAILS: Final[Mapping[Matter, tuple[Detail, ...]]] = {
    "technical": ("version", "time", "steps", "message", "affected"),
    "security": ("time", "access", "exposure"),
    "data_loss": ("time", "backup", "writes"),
    "legal": ("deadline", "document"),
    "billing": ("invoice", "amount"),
    "callback": ("contact",),
}
_ESCALATION_NOTE = Pattern(r" handed it back \(\w+\):")


class Ticket(BaseModel):
    """What a ticket says."""

    asked: str = Field(min_length=1)
    title: str = ""
    matter: Matter = "technical"
    severity: Severity = "medium"
    tried: list[str] = []
    known: list[Detail] = []
    earlier_attempt: str = ""


def compose_ticket(ticket: Ticket, logs: Sequence[Log], files: Sequence[str]) -> dict[str, Any]:
    """Write the draft of a ticket; nothing is sent."""
    held = [(log, each) for log in logs for each in list_error_kinds(log)]
    title = _redact(ticket.title or ticket.asked, MAX_TITLE_CHARS)
    lacking = [QUESTIONS[detail] for detail in _list_unknown_details(ticket, logs)]
    head = [f"severity: {ticket.severity}", f"for: {DESKS[ticket.matter]}"]
    head += [f"files: {join_names(files)}"] if files else []
    reply = ToolReport([f"**Ticket (draft, not sent): {title}**\n", *_format_list(head)])
    for name, lines in (
        ("What is asked", [_redact(ticket.asked, MAX_ASKED_CHARS)]),
        ("Evidence", [_format_evidence(*each) for each in held[:MAX_EVIDENCE]]),
        ("Tried so far", _list_attempts(ticket)),
        ("To be asked", lacking),
    ):
        reply.lines += [f"{name}:\n", *_format_list(lines)] if lines else []
    for log, each in held[:MAX_EVIDENCE]:
        if log.name in files:
            add_claims(reply, log, [each])
    reply.add_finding(ticket.severity, f"For a human ({DESKS[ticket.matter]}): {title}", "")
    reply.gaps.append(NOT_SENT)
    reply.gaps += [f"Not known yet: {' '.join(lacking)}"] if lacking else []
    if (more := len(held) - MAX_EVIDENCE) > 0:
        reply.gaps.append(f"{more} more kinds of errors are in the logs")
    reply.failures += [cut for log in logs for cut in log.describe_limits()[1]]
    return reply.to_json()


def _list_unknown_details(ticket: Ticket, logs: Sequence[Log]) -> list[Detail]:
    known: set[Detail] = set(ticket.known)
    if any(log.failures or log.entries for log in logs):
        known.add("message")
    if any(entry.time for log in logs for entry in log.entries):
        known.add("time")
    return [detail for detail in DETAILS[ticket.matter] if detail not in known]


def _format_evidence(log: Log, each: Any) -> str:
    first = each.line_numbers[0]
    times = f", {len(each.line_numbers)} times" if len(each.line_numbers) > 1 else ""
    stamp = f", first {log.find_stamp(first)}" if log.find_stamp(first) else ""
    root = (
        f"; at its root {redact_as_code(each.root_title)}" if each.root_title != each.title else ""
    )
    return f"{redact_as_code(each.title)}{times}{stamp} ({log.name}, line {first}){root}"


def _list_attempts(ticket: Ticket) -> list[str]:
    attempts = [f"by the user: {_redact(each, 200)}" for each in ticket.tried[:MAX_TRIED]]
    if ticket.earlier_attempt.strip():
        earlier = _ESCALATION_NOTE.sub(":", ticket.earlier_attempt)
        attempts.append(f"by this desk: {_redact(earlier, 400)}")
    return attempts


def _redact(text: str, max_chars: int) -> str:
    return sanitize_line(mask_secrets(text), max_chars)


def _format_list(lines: Sequence[str]) -> list[str]:
    return [*(f"- {line}" for line in lines), ""]
