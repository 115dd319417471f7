"""Everything that can end a run, as a tree.

SupervisorError
├── UsageError            exit 2
│   ├── RequestInvalid
│   ├── TeamInvalid
│   ├── FileUnreadable
│   ├── SettingsInvalid
│   └── ModelUnknown
├── PlanInvalid           exit 4
├── ModelError            exit 4
│   ├── EndpointUnreachable
│   ├── EndpointFailed        5xx, an error inside a 200
│   ├── EndpointDown          not asked: it has failed again and again
│   ├── CallTimedOut
│   │   └── DeadlinePassed    exit 3: the run's own, not the call's
│   ├── RateLimited
│   ├── QuotaSpent
│   ├── Unauthorized
│   ├── RequestRefused        400, context too long, content filter
│   ├── BadResponse           cannot be read
│   ├── ResponseCut           no finish reason, or cut at the length limit
│   ├── ResponseTooLarge
│   └── BudgetSpent           exit 3: the call was not made
├── StoreError            exit 5
└── ThreadBusy            exit 6

ToolRefused               a tool cannot serve the arguments; the worker's model reads why
└── NothingToRead
ToolFailed                a tool could not do its work; the worker's report is partial
"""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:  # the command line's help needs errors, and not what the vocabulary stands on
    from state import Usage

from nodes.errors.redaction import redact_text


class SupervisorError(RuntimeError):
    """Carries one line for a person and a code for a program.

    Of an error that is none of Python's usual ones LangGraph's server tells a client nothing.
    """

    code: ClassVar[str] = "ERROR"
    exit_code: ClassVar[int] = 1
    retryable: ClassVar[bool] = False
    """Whether the same call may succeed a moment later."""
    usage: "Usage | None" = None
    """What was spent in vain before it was raised; whoever catches it bills it."""

    def __init__(self, what: str, *, cause: str = "", kept: str = "", next: str = "") -> None:
        self.what, self.cause, self.kept, self.next = map(redact_text, (what, cause, kept, next))
        super().__init__(self.what)

    def __str__(self) -> str:
        return f"{self.what}: {self.cause}" if self.cause else self.what

    def format_line(self) -> str:
        """Say it in one line: what happened, what was kept, what to do next."""
        parts = [f"error[{self.code}] {self}"]
        if self.kept:
            parts.append(f"kept: {self.kept}")
        if self.next:
            parts.append(f"next: {self.next}")
        *said, last = (" ".join(part.split()).rstrip(".") for part in parts)
        return " ".join([*(part if part.endswith("?") else f"{part}." for part in said), last])


def walk_subclasses(error: type[SupervisorError]) -> Iterator[type[SupervisorError]]:
    """Yield a class of errors and all below it."""
    yield error
    for kind in error.__subclasses__():
        yield from walk_subclasses(kind)


class UsageError(SupervisorError):
    code, exit_code = "USAGE", 2


class RequestInvalid(UsageError):
    code = "REQUEST_INVALID"


class TeamInvalid(UsageError):
    code = "TEAM_INVALID"


class FileUnreadable(UsageError):
    code = "FILE_UNREADABLE"


class SettingsInvalid(UsageError):
    code = "SETTINGS_INVALID"


class ModelUnknown(UsageError):
    code = "MODEL_UNKNOWN"


class PlanInvalid(SupervisorError):
    code, exit_code = "PLAN_INVALID", 4


class ModelError(SupervisorError):
    code, exit_code = "MODEL_ERROR", 4


class EndpointUnreachable(ModelError):
    code, retryable = "ENDPOINT_UNREACHABLE", True


class EndpointFailed(ModelError):
    code, retryable = "ENDPOINT_FAILED", True


class EndpointDown(ModelError):
    """An endpoint is not asked for a while: it has failed too often."""

    code = "ENDPOINT_DOWN"

    def __init__(self, what: str, *, retry_after_s: float, cause: str = "") -> None:
        when = f"in {math.ceil(retry_after_s)} s" if retry_after_s else "at this moment"
        super().__init__(
            what, cause=cause, next=f"it is tried again {when} (`supervise doctor` tells more)"
        )
        self.retry_after_s = retry_after_s


class CallTimedOut(ModelError):
    code, retryable = "CALL_TIMED_OUT", True


class DeadlinePassed(CallTimedOut):
    """A run's deadline came before the answer; of a run without a plan nothing else is left."""

    code, exit_code = "DEADLINE_PASSED", 3


class RateLimited(ModelError):
    """The endpoint asks to slow down; `retry_after_s` is None when it does not say for how long."""

    code, retryable = "RATE_LIMITED", True

    def __init__(
        self,
        what: str,
        *,
        retry_after_s: float | None = None,
        cause: str = "",
        kept: str = "",
        next: str = "",
    ) -> None:
        super().__init__(what, cause=cause, kept=kept, next=next)
        self.retry_after_s = retry_after_s


class QuotaSpent(ModelError):
    code = "QUOTA_SPENT"


class Unauthorized(ModelError):
    code = "UNAUTHORIZED"


class RequestRefused(ModelError):
    code = "REQUEST_REFUSED"


class BadResponse(ModelError):
    """An answer that cannot be read; `said` is what the model wrote, where the fault is its own."""

    code, retryable = "BAD_RESPONSE", True

    def __init__(
        self, what: str, *, said: str = "", cause: str = "", kept: str = "", next: str = ""
    ) -> None:
        super().__init__(what, cause=cause, kept=kept, next=next)
        self.reply_text = said


class ResponseCut(ModelError):
    code, retryable = "RESPONSE_CUT", True


class ResponseTooLarge(ModelError):
    code = "RESPONSE_TOO_LARGE"


class BudgetSpent(ModelError):
    """A run's tokens or money are used up, but for what calls in flight and the answer need.

    Args:
        held: kept for calls in flight.
        kept: kept for the answer.
        needed: what the call may take that was not made.
    """

    code, exit_code = "BUDGET_SPENT", 3

    def __init__(
        self,
        unit: str,
        *,
        limit: float,
        spent: float,
        held: float = 0.0,
        kept: float = 0.0,
        needed: float = 0.0,
    ) -> None:
        said = (
            f"the budget is spent: {_format_amount(spent, unit)} of "
            f"{_format_amount(limit, unit)} {unit}"
        )
        if spent < limit:
            reserved = {"calls under way": held, "the answer": kept}
            parts = [
                f"{_format_amount(spent, unit)} of {_format_amount(limit, unit)} {unit} spent",
                *(
                    f"{_format_amount(n, unit)} reserved for {what}"
                    for what, n in reserved.items()
                    if n
                ),
                f"{_format_amount(needed, unit)} expected for the call",
            ]
            said = f"the budget has no room for another call: {', '.join(parts)}"
        super().__init__(said, next="resume with a larger budget, or ask for less")
        self.unit, self.limit, self.spent = unit, limit, spent


def _format_amount(value: float, unit: str) -> str:
    return f"{value:,.4f}" if unit == "USD" else f"{value:,.0f}"


class StoreError(SupervisorError):
    code, exit_code = "STORE_ERROR", 5


class ThreadBusy(SupervisorError):
    code, exit_code = "THREAD_BUSY", 6


class ToolRefused(Exception):
    """A tool cannot do what was asked; the message tells the worker's model what would work."""


class NothingToRead(ToolRefused):
    """There is nothing that the tool could have read, so its worker has read nothing of it."""


class ToolFailed(Exception):
    """A tool could not do its work: it crashed, took too long, was cut or reached nobody.

    Nothing follows from that, least of all that there is nothing to find.
    """
