"""Draft a ticket: a request for a human with all that is known, and what is not."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import yaml
from langchain_core.tools import tool
from pydantic import BaseModel, Field

from extensions.tools.logs.entries import Log
from extensions.tools.logs.reader import is_log, read_log
from extensions.tools.logs.secrets import mask_secrets
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.argument_types import Text
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.tool_report import ToolReport, join_names
from state import Severity

from .support.log_diagnosis import ErrorKind, add_claims, list_error_kinds, redact_as_code

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
_TABLES: Final = yaml.safe_load(
    (Path(__file__).parent / "support/ticket.yaml").read_text(encoding="utf-8")
)
DESKS: Final[Mapping[Matter, str]] = {k: v["desk"] for k, v in _TABLES["matters"].items()}
DETAILS: Final[Mapping[Matter, list[Detail]]] = {
    matter: row["details"] for matter, row in _TABLES["matters"].items()
}
QUESTIONS: Final[Mapping[Detail, str]] = _TABLES["questions"]
_ESCALATION_NOTE = Pattern(r" could not do it \(\w+\):")


class Ticket(BaseModel):
    """What a ticket says."""

    asked: Text = Field(
        description="What the user asks for or reports, in the user's words", min_length=1
    )
    title: str = Field("", description="The matter in at most ten words")
    matter: Matter = Field(
        "technical",
        description="What it is about, which decides whose ticket it is; `callback` is a wish "
        "to talk to a human",
    )
    severity: Severity = Field(
        "medium",
        description="critical: no one can work, data are lost, or strangers have access; "
        "high: some cannot work, or a deadline is near; medium: something is broken; low: the "
        "rest",
    )
    tried: list[str] | None = Field(
        None, description="What the user has tried already, each in few words"
    )
    known: list[Detail] | None = Field(
        None, description="What the user states already, so that the ticket does not ask for it"
    )
    earlier_attempt: str = Field("", description="What the handoff says about an earlier attempt")
    materials: Materials = None


def compose_ticket(ticket: Ticket, logs: Sequence[Log], files: Sequence[str]) -> dict[str, Any]:
    """Write the draft of a ticket; nothing is sent."""
    held = [(log, each) for log in logs for each in list_error_kinds(log)]
    title = _redact(ticket.title or ticket.asked, MAX_TITLE_CHARS)
    known = {*(ticket.known or ()), *_list_logged_details(logs)}
    lacking = [QUESTIONS[each] for each in DETAILS[ticket.matter] if each not in known]
    desk, named = DESKS[ticket.matter], [f"files: {join_names(files)}"] if files else []
    reply = ToolReport([f"**Ticket (draft, not sent): {title}**\n"])
    for name, lines in (
        ("", [f"severity: {ticket.severity}", f"for: {desk}", *named]),
        ("What is asked", [_redact(ticket.asked, MAX_ASKED_CHARS)]),
        ("Errors in the logs", [_format_evidence(*each) for each in held[:MAX_EVIDENCE]]),
        ("Tried so far", _list_attempts(ticket)),
        ("To be asked", lacking),
    ):
        reply.lines += [f"{name}:\n"] if name and lines else []
        reply.lines += [*(f"- {line}" for line in lines), *([""] if lines else [])]
    for log, each in held[:MAX_EVIDENCE]:
        if log.name in files:
            add_claims(reply, log, [each])
    reply.add_finding(ticket.severity, f"For a human ({desk}): {title}", "")
    reply.gaps += [NOT_SENT, *([f"Not known yet: {' '.join(lacking)}"] if lacking else [])]
    if (more := len(held) - MAX_EVIDENCE) > 0:
        reply.gaps.append(f"{more} more kinds of errors are in the logs")
    reply.failures += [cut for log in logs for cut in log.describe_limits()[1]]
    return reply.to_json()


def _list_logged_details(logs: Sequence[Log]) -> Iterator[Detail]:
    if any(log.failures or log.entries for log in logs):
        yield "message"
    if any(entry.time for log in logs for entry in log.entries):
        yield "time"


def _format_evidence(log: Log, each: ErrorKind) -> str:
    stamp = f", first {log.find_stamp(each.line)}" if log.find_stamp(each.line) else ""
    is_root = each.root_title == each.title
    root = "" if is_root else f"; at its root {redact_as_code(each.root_title)}"
    return f"{redact_as_code(each.title)}{each.times}{stamp} ({log.name}, line {each.line}){root}"


def _list_attempts(ticket: Ticket) -> list[str]:
    attempts = [f"by the user: {_redact(each, 200)}" for each in (ticket.tried or ())[:MAX_TRIED]]
    if earlier := _ESCALATION_NOTE.sub(":", ticket.earlier_attempt.strip()):
        attempts.append(f"by this desk: {_redact(earlier, 400)}")
    return attempts


def _redact(text: str, max_chars: int) -> str:
    return sanitize_line(mask_secrets(text), max_chars)


ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool(args_schema=Ticket)
def draft_ticket(asked: str, materials: Materials = None, **said: Any) -> dict[str, Any]:
    """Draft a ticket for a human: severity, evidence of the logs, what was tried, what to ask.

    Nothing is sent or filed.
    Example: draft_ticket(asked="Our bookings of May are gone", matter="data_loss",
    severity="critical", tried=["restarted the service"], known=["time"])
    """
    held, pasted = materials or {}, read_log("the request", asked)
    logs = [read_log(name, text) for name, text in held.items() if is_log(name, text)]
    logs += [pasted] if pasted.failures else []
    return compose_ticket(Ticket(asked=asked, **said), logs, list(held))
