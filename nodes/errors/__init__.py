"""The errors that can end a run, as a tree.

SupervisorError
├── UsageError            exit 2
│   ├── RequestInvalid
│   ├── TeamInvalid
│   │   └── McpToolChanged    a server's tool is not the one that was checked
│   ├── FileUnreadable
│   ├── SettingsInvalid
│   └── ModelUnknown
├── OutputFailed          exit 2: stdout or a file cannot be written
├── McpServerFailed       exit 2: a server of tools cannot be used
├── PlanInvalid           exit 4
├── ModelError            exit 4
│   ├── EndpointUnreachable
│   ├── EndpointFailed        5xx, an error inside a 200
│   ├── EndpointDown          the circuit breaker is open
│   ├── CallTimedOut
│   │   └── DeadlinePassed    exit 3: the run's own, not the call's
│   ├── RateLimited
│   ├── QuotaSpent
│   ├── Unauthorized
│   ├── RequestRefused        400, content filter
│   │   └── ContextTooSmall   the request is longer than the model's context window
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
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from shlex import quote
from shutil import which
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

if TYPE_CHECKING:  # the command line's help needs errors, but not what `state` imports
    from pydantic import ValidationError

    from state import Usage

from nodes.errors.redaction import redact_text

T = TypeVar("T")
MODEL_EXIT_CODE: Final = 4
"""Of a run that ended as a model could not be used, or gave no valid plan."""


class SupervisorError(RuntimeError):
    """Has one line for a human and a code for a program.

    A `RuntimeError`, since LangGraph's server hides unusual exception types from its clients.
    """

    code: ClassVar[str] = "ERROR"
    """Of a class that sets none it is its name: `THREAD_BUSY` of `ThreadBusy`."""
    exit_code: ClassVar[int] = 1
    retryable: ClassVar[bool] = False
    """Whether the same call may succeed later."""
    usage: "Usage | None" = None
    """Usage before the failure; the handler adds it to the ledger."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "code" not in vars(cls):
            words = (f"_{letter}" if letter.isupper() else letter for letter in cls.__name__)
            cls.code = "".join(words).lstrip("_").upper()

    def __init__(self, what: str, *, cause: str = "", kept: str = "", next: str = "") -> None:
        self.what, self.cause, self.kept, self.next = map(redact_text, (what, cause, kept, next))
        super().__init__(self.what)
        if self.next:  # the last line of a traceback, where a program does not handle the error
            self.add_note(_name_command(f"next: {self.next}"))

    def __str__(self) -> str:
        return f"{self.what}: {self.cause}" if self.cause else self.what

    def describe(self) -> str:
        """Return what happened, and what to do next where the error says so."""
        return f"{self}; {self.next}" if self.next else str(self)

    def format_line(self) -> str:
        """Return the error in one line: what happened, what was kept, what to do next."""
        parts = [f"error[{self.code}] {self}"]
        if self.kept:
            parts.append(f"kept: {self.kept}")
        if self.next:
            parts.append(f"next: {self.next}")
        *first, last = (" ".join(part.split()).rstrip(".") for part in parts)
        return " ".join([*(part if part.endswith("?") else f"{part}." for part in first), last])


def _name_command(advice: str) -> str:
    """Return advice to a program with a command that a shell finds, as in an environment."""
    for start in (": ", "; ", "`", "("):
        if f"{start}supervise " in advice:
            advice = advice.replace(f"{start}supervise ", f"{start}{_find_command()} ")
    return advice


@cache
def _find_command() -> str:
    beside = Path(sys.executable).with_name("supervise")
    return quote(str(beside)) if beside.exists() and not which("supervise") else "supervise"


def walk_subclasses(error: type[SupervisorError]) -> Iterator[type[SupervisorError]]:
    """Yield a class of errors and all below it."""
    yield error
    for kind in error.__subclasses__():
        yield from walk_subclasses(kind)


def is_model_failure(error: str) -> bool:
    """Return whether a task's error is that of a model that could not be used.

    Args:
        error: its text, which begins with a code: `ENDPOINT_DOWN: …`.
    """
    code = error.partition(":")[0]
    is_cut = code == ResponseCut.code  # the model answers, at too great length
    kinds = walk_subclasses(SupervisorError)
    return not is_cut and any(
        kind.code == code and kind.exit_code == MODEL_EXIT_CODE for kind in kinds
    )


def describe_invalid(error: "ValidationError") -> str:
    """Return the first thing that is wrong with values: where, and what, in pydantic's words."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place, said = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
    return f"{place}: {said}" if place else said


@contextmanager
def translate_os_errors(kind: type[SupervisorError], what: str, **told: str) -> Iterator[None]:
    """Turn an error of the operating system inside into one of a kind, with its words as cause."""
    try:
        yield
    except OSError as error:
        raise kind(what, cause=error.strerror or str(error), **told) from None


class UsageError(SupervisorError):
    code, exit_code = "USAGE", 2


class RequestInvalid(UsageError):
    """A request, or what came with it, cannot be used."""


class TeamInvalid(UsageError):
    """There is no such team, or its files cannot be used."""


class McpToolChanged(TeamInvalid):
    """A tool of an MCP server is not, or no longer, the one that was checked."""


class McpServerFailed(SupervisorError):
    """An MCP server cannot be started or reached, or breaks the protocol."""

    exit_code = 2


class RemoteError(SupervisorError):
    """A worker on another server cannot be used for a task, or failed at it."""

    exit_code = 3
    may_reword: ClassVar[bool] = False
    """Whether other words for the same worker may help."""


class FileUnreadable(UsageError):
    """A file that was named cannot be read."""


class SettingsInvalid(UsageError):
    """A setting, or an argument of a program, cannot be used."""


def require_type(name: str, given: T, kind: type[Any]) -> T:
    """Return an argument of a program's call, which may be None.

    Raises:
        SettingsInvalid: it is of another type.
    """
    if given is None or isinstance(given, kind):
        return given
    raise SettingsInvalid(
        f"{name} is a {type(given).__name__}, not a {kind.__name__}",
        next=f"pass a {kind.__name__}, or leave it out",
    )


class ModelUnknown(UsageError):
    """There is no such model, or no such provider."""


class OutputFailed(SupervisorError):
    """Stdout, or a file that a command is to write, cannot be written."""

    exit_code = 2


class PlanInvalid(SupervisorError):
    exit_code = MODEL_EXIT_CODE


class GivenPlanInvalid(PlanInvalid):
    """A plan that a user gave to a run does not fit its team."""

    exit_code = 2


class ModelError(SupervisorError):
    exit_code = MODEL_EXIT_CODE


class EndpointUnreachable(ModelError):
    retryable = True


class EndpointFailed(ModelError):
    retryable = True


class EndpointDown(ModelError):
    """The circuit breaker is open: the endpoint has failed too often."""

    def __init__(self, what: str, *, retry_after_s: float, cause: str = "") -> None:
        when = f"in {math.ceil(retry_after_s)} s" if retry_after_s else "now"
        super().__init__(
            what, cause=cause, next=f"it is retried {when} (on the command line: supervise doctor)"
        )
        self.retry_after_s = retry_after_s


class CallTimedOut(ModelError):
    retryable = True


class DeadlinePassed(CallTimedOut):
    """A run's deadline passed before the answer; without a plan there is nothing to report."""

    exit_code = 3


class RateLimited(ModelError):
    """The endpoint is rate limited; `retry_after_s` is None when it does not state a time."""

    retryable = True

    def __init__(self, what: str, *, retry_after_s: float | None = None, **parts: str) -> None:
        super().__init__(what, **parts)
        self.retry_after_s = retry_after_s


class QuotaSpent(ModelError):
    """The account may spend no more."""


class Unauthorized(ModelError):
    """The endpoint refuses the key."""


class RequestRefused(ModelError):
    """The endpoint refuses what it was sent, or a filter removed the answer."""


class ContextTooSmall(RequestRefused):
    """The request is longer than the model's context window.

    Args:
        needed: tokens of the request; None where the endpoint does not count them.
        limit: tokens of the window; None where the endpoint does not name it.
    """

    def __init__(
        self, model: str, *, needed: int | None = None, limit: int | None = None, cause: str = ""
    ) -> None:
        window = f"the context window of {model}"
        if limit:
            window += f" ({limit:,} tokens)"
        what = f"the request is too long for {window}"
        if needed and limit and needed > limit:
            what = f"the request of {needed:,} tokens is {needed - limit:,} too long for {window}"
            cause = ""
        remedy = "name a model with a larger window, start the server with one, or give less"
        super().__init__(what, cause=cause, next=remedy)
        self.needed, self.limit, self.window = needed, limit, window


class BadResponse(ModelError):
    """An answer that cannot be read; `said` is the model's text, if the fault is the model's."""

    retryable = True

    def __init__(self, what: str, *, said: str = "", **parts: str) -> None:
        super().__init__(what, **parts)
        self.reply_text = said


class ResponseCut(ModelError):
    """An answer without its end.

    Args:
        said: its text, if it reached the limit of output tokens; None if it broke off.
    """

    retryable = True

    def __init__(self, what: str, *, said: str | None = None, **parts: str) -> None:
        super().__init__(what, **parts)
        self.is_at_limit, self.reply_text = said is not None, said or ""


class ResponseTooLarge(ModelError):
    """The answer has too many bytes."""


class BudgetSpent(ModelError):
    """A run's budget has no room for another call beside those in flight and the answer.

    Args:
        held: reserved for calls in flight.
        kept: reserved for the answer.
        needed: the expected usage of the call that was not made.
    """

    exit_code = 3

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
        used = f"{_format_amount(spent, unit)} of {_format_amount(limit, unit)} {unit}"
        message = f"the budget is spent: {used}"
        if spent < limit:
            parts = [f"{used} spent"]
            for amount, what in ((held, "calls in flight"), (kept, "the answer")):
                parts += [f"{_format_amount(amount, unit)} reserved for {what}"] if amount else []
            parts.append(f"{_format_amount(needed, unit)} expected for the call")
            message = f"the budget has no room for another call: {', '.join(parts)}"
        super().__init__(message, next="resume with a larger budget, or ask for less")
        self.unit, self.limit, self.spent = unit, limit, spent


def _format_amount(value: float, unit: str) -> str:
    return f"{value:,.4f}" if unit == "USD" else f"{value:,.0f}"


def is_refusal(error: SupervisorError) -> bool:
    """Return whether an error ends a run though its workers might still work without a planner.

    A cap is reached, or a setting is wrong, which the user must learn before anything else.
    """
    return isinstance(error, UsageError | Unauthorized | BudgetSpent | DeadlinePassed)


class StoreError(SupervisorError):
    exit_code = 5


class ThreadBusy(SupervisorError):
    exit_code = 6


class ToolRefused(Exception):
    """A tool refuses its arguments; the message tells the worker's model what would work."""


class NothingToRead(ToolRefused):
    """There is nothing for the tool to read, so the worker has read nothing through it."""


class ToolFailed(Exception):
    """A tool could not do its work: it crashed, timed out, was cut or could not connect.

    This does not mean that there is nothing to find.
    """
