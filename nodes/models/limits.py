"""How fast an endpoint may be asked: one set of limits per endpoint, shared by all who call it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache
from weakref import WeakValueDictionary

from nodes.models.gate import Gate
from nodes.models.settings import ModelSettings
from nodes.models.slots import Slots
from nodes.models.window import PERIOD_S, Entry, Window


class Slot:
    """Leave to make one request; `correct` puts in the tokens it has really cost."""

    def __init__(self, tokens: Window | None, entry: Entry | None) -> None:
        self._tokens, self._entry = tokens, entry

    def correct(self, tokens: int) -> None:
        """Replace the estimate."""
        if self._tokens and self._entry and tokens:
            self._tokens.correct(self._entry, tokens)


class Limits:
    """Concurrency, requests and tokens per minute, and the gate of one endpoint."""

    def __init__(
        self,
        *,
        max_concurrency: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        period_s: float = PERIOD_S,
        gate: Gate | None = None,
    ) -> None:
        self.gate = gate or Gate()
        self.counts_tokens = tokens_per_minute is not None
        self._slots = Slots(max_concurrency)
        self._requests = Window(requests_per_minute, period_s) if requests_per_minute else None
        self._tokens = Window(tokens_per_minute, period_s) if tokens_per_minute else None
        self._runs: WeakValueDictionary[str, Slots] = WeakValueDictionary()

    @asynccontextmanager
    async def slot(
        self, tokens: int = 0, *, run: str = "", max_concurrency: int | None = None
    ) -> AsyncIterator[Slot]:
        """Wait for leave to make a request of about so many tokens.

        `max_concurrency` holds within the run of that name.
        """
        async with AsyncExitStack() as stack:
            if max_concurrency is not None:
                await stack.enter_async_context(self._of_run(run, max_concurrency))
            await stack.enter_async_context(self._slots)
            if self._requests:
                await self._requests.take()
            entry = await self._tokens.take(tokens) if self._tokens else None
            yield Slot(self._tokens, entry)

    def _of_run(self, run: str, max_concurrency: int) -> Slots:
        return self._runs.setdefault(f"{run}/{max_concurrency}", Slots(max_concurrency))


def limits_for(endpoint: str, settings: ModelSettings) -> Limits:
    """Give the limits that all callers of an endpoint share in the process."""
    rates = (settings.requests_per_minute, settings.tokens_per_minute)
    return _limits(endpoint, settings.max_concurrency, *rates)


@cache
def _limits(
    endpoint: str, max_concurrency: int, requests: float | None, tokens: float | None
) -> Limits:
    return Limits(
        max_concurrency=max_concurrency,
        requests_per_minute=requests,
        tokens_per_minute=tokens,
        gate=_gate(endpoint),
    )


@cache
def _gate(endpoint: str) -> Gate:
    """Give an endpoint's one gate: what it asks for holds however fast it may be asked."""
    return Gate()
