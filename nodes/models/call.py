"""One call of a model, with all its tries: the only place where calls are repeated."""

import asyncio
import random
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata

from nodes.errors import BadResponse, RateLimited, ResponseCut, SupervisorError
from nodes.models.deadline import Deadline
from nodes.models.exchange import exchange
from nodes.models.failures import explain, is_alive, retry_after_s, spoken
from nodes.models.health import health_of
from nodes.models.limits import limits_for
from nodes.models.settings import ModelSettings
from nodes.models.surroundings import Surroundings
from nodes.models.usage import credible_usage, estimated_usage
from nodes.models.whole import ended, require_use

BACKOFF_S = 0.5
"""Cap of the first wait; it doubles with each try (full jitter, Brooker, AWS 2015)."""
MAX_BACKOFF_S = 15.0
MAX_UNUSABLE = 2
"""Tries for an answer that came but cannot be used: the next is likely to be the same."""
EXPECTED_OUTPUT_TOKENS = 500
"""Of one answer, until the endpoint has counted them."""
POLL_S = 0.1
"""Between two looks whether the endpoint may be sent a retry."""


@dataclass
class Call:
    """Asks until there is a whole answer, within the call's time and tries."""

    inner: BaseChatModel
    who: str
    endpoint: str
    settings: ModelSettings
    max_concurrency: int | None
    around: Surroundings
    tries: int = 0
    wasted: list[UsageMetadata] = field(default_factory=list)
    """Of answers that came and could not be used."""
    is_uncounted: bool = False
    """The endpoint counted no tokens of an answer, so they are estimated."""
    has_opened: bool = False
    """A failure of this call was the one that opened the breaker."""

    def __post_init__(self) -> None:
        self._limits = limits_for(self.endpoint, self.settings)
        self._health = health_of(self.endpoint, self.who)
        self._deadline = Deadline(self.settings.call_timeout_s, self.around.remaining_s)
        self._retries, self._is_out = 0, False

    async def made(self, messages: list[BaseMessage], **kwargs: Any) -> AIMessage:
        """Give the answer.

        Raises:
            SupervisorError: the reason why there is none.
        """
        retries = self._health.retries
        retries.count_call()
        try:
            async with self._deadline.enforced(self.who):
                answer = await self._until_of_use(messages, kwargs)
        finally:
            self._land()
        if self._retries:
            retries.give_back(self._retries)
        return answer

    async def _until_of_use(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> AIMessage:
        while True:
            try:
                return await self._try(messages, kwargs)
            except SupervisorError as error:
                self._land()
                if not await self._may_go_again(error):
                    raise

    async def _try(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> AIMessage:
        limits = self._limits
        tokens = estimated_tokens(messages, kwargs) if limits.counts_tokens else 0
        async with AsyncExitStack() as held:
            with self._deadline.queueing():
                slot = await held.enter_async_context(
                    limits.slot(tokens, run=self.around.run, max_concurrency=self.max_concurrency)
                )
            await self._pass()
            self.tries += 1
            answer, reason = await self._ask(messages, kwargs)
            counted = credible_usage(answer.usage_metadata)
            if counted is None:
                self.is_uncounted, counted = True, estimated_usage(messages, kwargs, answer)
            slot.correct(counted["total_tokens"])
        try:
            require_use(answer, reason, self.who)
        except SupervisorError:
            self.wasted.append(counted)
            raise
        return answer.model_copy(update={"usage_metadata": counted})

    async def _pass(self) -> None:
        """Wait where the endpoint asked for a pause, or has just failed.

        Raises:
            RateLimited: the pause is longer than the call may take.
            EndpointDown: it has failed too often to be asked.
        """
        gate, breaker = self._limits.gate, self._health.breaker
        is_late = self.tries > 0
        while True:
            closed_s = gate.opens_in_s()
            if closed_s > self._deadline.remaining_s():
                raise RateLimited(
                    f"{self.who} wants to be left alone for {spoken(closed_s)}",
                    retry_after_s=closed_s,
                    cause="that is longer than the call may take",
                    next=f"try again in {spoken(closed_s)}",
                )
            await gate.wait(is_staggered=is_late)
            pause_s = breaker.admit(self, self.who)
            if not pause_s:
                return
            if pause_s >= self._deadline.remaining_s():
                raise breaker.refusal(self.who)
            is_late = True
            await asyncio.sleep(pause_s)

    async def _ask(
        self, messages: list[BaseMessage], kwargs: dict[str, Any]
    ) -> tuple[AIMessage, str]:
        began_s, breaker = time.monotonic(), self._health.breaker
        is_streaming = self.settings.streaming
        try:
            result = await exchange(self.inner, messages, is_streaming=is_streaming, **kwargs)
            answer = ended(result, self.who)
        except asyncio.CancelledError:
            if self._deadline.is_all_but_over():
                self._failed(began_s, f"no answer within {self.settings.call_timeout_s:g} s")
            raise
        except Exception as error:  # providers' clients raise what they like, with no common root
            raise self._explained(error, began_s) from None
        else:
            breaker.answered(began_s)
            return answer
        finally:
            breaker.leave(self)

    def _explained(self, raised: Exception, began_s: float) -> SupervisorError:
        """Note a failure and put it into our words.

        The original may quote the key, and whoever prints a chain prints all of it.
        """
        error = explain(raised, who=self.who, secret=self.settings.api_key)
        if wait_s := retry_after_s(raised):
            self._limits.gate.close(wait_s)
        if is_alive(raised, error):
            self._health.breaker.answered(began_s)
        else:
            self._failed(began_s, str(error))
        return error

    def _failed(self, began_s: float, said: str) -> None:
        self.has_opened |= self._health.breaker.failed(began_s, said)

    async def _may_go_again(self, error: SupervisorError) -> bool:
        """Wait until a failed call may be tried again; False when it may not."""
        is_unusable = isinstance(error, BadResponse | ResponseCut)
        most = min(
            self.settings.max_tries, MAX_UNUSABLE if is_unusable else self.settings.max_tries
        )
        if not error.retryable or self.tries >= most:
            return False
        is_invited = isinstance(error, RateLimited) and bool(error.retry_after_s)
        wait_s = 0.0 if is_invited else _backoff_s(self.tries)
        if max(wait_s, self._limits.gate.opens_in_s()) >= self._deadline.remaining_s():
            return False
        if not is_invited and not await self._has_leave():
            return False
        await asyncio.sleep(wait_s)
        return True

    async def _has_leave(self) -> bool:
        """Wait for leave to send a retry; an open breaker will say itself that there is none."""
        retries = self._health.retries
        while not self._health.breaker.is_open():
            if retries.take():
                self._retries, self._is_out = self._retries + 1, True
                return True
            if not retries.is_worth_waiting() or self._deadline.remaining_s() <= POLL_S:
                return False
            await asyncio.sleep(POLL_S)
        return True

    def _land(self) -> None:
        """Tell, of a retry that needed leave, that it is over."""
        if self._is_out:
            self._is_out = False
            self._health.retries.landed()


def _backoff_s(tries: int) -> float:
    return random.uniform(0.0, min(MAX_BACKOFF_S, BACKOFF_S * 2.0 ** max(0, tries - 1)))


def estimated_tokens(messages: list[BaseMessage], kwargs: dict[str, Any]) -> int:
    """Guess what a call will count, input and output together, at four characters a token."""
    chars = sum(len(str(message.content)) for message in messages)
    return (chars + len(str(kwargs.get("tools") or ""))) // 4 + EXPECTED_OUTPUT_TOKENS
