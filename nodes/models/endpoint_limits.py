"""Rate and concurrency limits: one set per endpoint, shared by all its callers."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache
from weakref import WeakValueDictionary

from nodes.models.cross_loop_semaphore import CrossLoopSemaphore
from nodes.models.rate_window import PERIOD_S, RateWindow, WindowEntry
from nodes.models.retry_after import RetryAfter
from nodes.models.settings import ModelSettings


class RequestSlot:
    """Permission for one request; `correct` sets its real number of tokens."""

    def __init__(self, tokens: RateWindow | None, entry: WindowEntry | None) -> None:
        self._token_window, self._entry = tokens, entry

    def correct(self, tokens: int) -> None:
        """Replace the estimate with the real number of tokens."""
        if self._token_window and self._entry and tokens:
            self._token_window.correct(self._entry, tokens)


class EndpointLimits:
    """Concurrency, requests and tokens per minute, and the Retry-After of one endpoint."""

    def __init__(
        self,
        *,
        max_concurrency: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        period_s: float = PERIOD_S,
        gate: RetryAfter | None = None,
    ) -> None:
        self.retry_after = gate or RetryAfter()
        self.counts_tokens = tokens_per_minute is not None
        self._semaphore = CrossLoopSemaphore(max_concurrency)
        self._request_window = (
            RateWindow(requests_per_minute, period_s) if requests_per_minute else None
        )
        self._token_window = RateWindow(tokens_per_minute, period_s) if tokens_per_minute else None
        self._run_semaphores: WeakValueDictionary[str, CrossLoopSemaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def acquire_slot(
        self, tokens: int = 0, *, run: str = "", max_concurrency: int | None = None
    ) -> AsyncIterator[RequestSlot]:
        """Wait until a request of about `tokens` tokens is allowed.

        `max_concurrency` applies within the run `run`.
        """
        async with AsyncExitStack() as stack:
            if max_concurrency is not None:
                await stack.enter_async_context(self._get_run_semaphore(run, max_concurrency))
            await stack.enter_async_context(self._semaphore)
            if self._request_window:
                await self._request_window.take()
            entry = await self._token_window.take(tokens) if self._token_window else None
            yield RequestSlot(self._token_window, entry)

    def _get_run_semaphore(self, run: str, max_concurrency: int) -> CrossLoopSemaphore:
        return self._run_semaphores.setdefault(
            f"{run}/{max_concurrency}", CrossLoopSemaphore(max_concurrency)
        )


def get_endpoint_limits(endpoint: str, settings: ModelSettings) -> EndpointLimits:
    """Return the limits that all callers of an endpoint share in the process."""
    rates = (settings.requests_per_minute, settings.tokens_per_minute)
    return _get_limits(endpoint, settings.max_concurrency, *rates)


@cache
def _get_limits(
    endpoint: str, max_concurrency: int, requests: float | None, tokens: float | None
) -> EndpointLimits:
    return EndpointLimits(
        max_concurrency=max_concurrency,
        requests_per_minute=requests,
        tokens_per_minute=tokens,
        gate=_get_retry_after(endpoint),
    )


@cache
def _get_retry_after(endpoint: str) -> RetryAfter:
    """Return the endpoint's shared Retry-After state: it applies to all sets of limits."""
    return RetryAfter()
