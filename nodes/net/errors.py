"""The errors of a worker on another server; each becomes the reason of a failed attempt.

RemoteError
├── RemoteUnreachable     refused, reset, timed out; tried again
├── RemoteBusy            429, 5xx; tried again
├── RemoteUnauthorized    401, 403
├── RemoteUnknown         404: no such graph, agent or run
├── RemoteRefused         400, 409, 422, a redirect: it does not take the request
├── RemoteUnreadable      no JSON, or not what the protocol says
├── RemoteTooLarge        more than is read of one answer
├── RemoteRunFailed       it worked, and failed or was cancelled there
└── RemoteDenied          private text is not sent to it
"""

from nodes.errors import RemoteError


class RemoteUnreachable(RemoteError):
    code, retryable = "REMOTE_UNREACHABLE", True


class RemoteBusy(RemoteError):
    """The server cannot answer now; `retry_after_s` is None when it does not state a time."""

    code, retryable = "REMOTE_BUSY", True

    def __init__(
        self, what: str, *, cause: str = "", next: str = "", retry_after_s: float | None = None
    ) -> None:
        super().__init__(what, cause=cause, next=next)
        self.retry_after_s = retry_after_s


class RemoteUnauthorized(RemoteError):
    code = "REMOTE_UNAUTHORIZED"


class RemoteUnknown(RemoteError):
    code = "REMOTE_UNKNOWN"


class RemoteRefused(RemoteError):
    code = "REMOTE_REFUSED"


class RemoteUnreadable(RemoteError):
    code = "REMOTE_UNREADABLE"


class RemoteTooLarge(RemoteError):
    code = "REMOTE_TOO_LARGE"


class RemoteRunFailed(RemoteError):
    code, may_reword = "REMOTE_RUN_FAILED", True


class RemoteDenied(RemoteError):
    code = "REMOTE_DENIED"
