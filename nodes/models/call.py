"""One call of a model, with all its tries: the only place where calls are repeated."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.tracers._streaming import _StreamingCallbackHandler
from tenacity import AsyncRetrying, RetryCallState, wait_random_exponential

from nodes.errors import BadResponse, RateLimited, ResponseCut, SupervisorError
from nodes.models.deadline import Deadline
from nodes.models.failures import explain, retry_after_s, spoken
from nodes.models.limits import Limits, limits_for
from nodes.models.settings import ModelSettings
from nodes.models.surroundings import Surroundings
from nodes.models.whole import gathered, whole_message

BACKOFF_S = 0.5
"""Cap of the first wait; it doubles with each try (full jitter, Brooker, AWS 2015)."""
MAX_BACKOFF_S = 15.0
MAX_UNUSABLE = 2
"""Tries for an answer that came but cannot be used: the next is likely to be the same."""
EXPECTED_OUTPUT_TOKENS = 500
"""Of one answer, until the endpoint has counted them."""


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

    async def made(self, messages: list[BaseMessage], **kwargs: Any) -> AIMessage:
        """Give the answer.

        Raises:
            SupervisorError: the reason why there is none.
        """
        limits = limits_for(self.endpoint, self.settings)
        deadline = Deadline(self.settings.call_timeout_s, self.around.remaining_s)

        def must_stop(state: RetryCallState) -> bool:
            return self._must_stop(state, limits, deadline)

        retrying = AsyncRetrying(
            wait=_wait_s, stop=must_stop, retry=_may_pass_by_itself, reraise=True
        )
        async with deadline.enforced(self.who):
            answer: AIMessage = await retrying(self._try, limits, deadline, messages, kwargs)
            return answer

    async def _try(
        self,
        limits: Limits,
        deadline: Deadline,
        messages: list[BaseMessage],
        kwargs: dict[str, Any],
    ) -> AIMessage:
        tokens = estimated_tokens(messages, kwargs) if limits.counts_tokens else 0
        deadline.pause()
        try:
            async with limits.slot(
                tokens, run=self.around.run, max_concurrency=self.max_concurrency
            ) as slot:
                deadline.go_on()
                await self._pass(limits, deadline)
                self.tries += 1
                answer = await self._ask(limits, messages, kwargs)
                if answer.usage_metadata:
                    slot.correct(answer.usage_metadata["total_tokens"])
                return answer
        finally:
            deadline.go_on()

    async def _pass(self, limits: Limits, deadline: Deadline) -> None:
        closed_s = limits.gate.opens_in_s()
        if closed_s and closed_s > deadline.remaining_s():
            raise RateLimited(
                f"{self.who} wants to be left alone for {spoken(closed_s)}",
                retry_after_s=closed_s,
                cause="that is longer than the call may take",
                next=f"try again in {spoken(closed_s)}",
            )
        await limits.gate.wait()

    async def _ask(
        self, limits: Limits, messages: list[BaseMessage], kwargs: dict[str, Any]
    ) -> AIMessage:
        try:
            return whole_message(await self._result(messages, **kwargs), self.who)
        except SupervisorError:
            raise
        except Exception as error:  # providers' clients raise what they like, with no common root
            if wait_s := retry_after_s(error):
                limits.gate.close(wait_s)
            # The original may quote the key, and whoever prints a chain prints all of it.
            raise explain(error, who=self.who, secret=self.settings.api_key) from None

    async def _result(
        self,
        messages: list[BaseMessage],
        *,
        stop: list[str] | None,
        run_manager: AsyncCallbackManagerForLLMRun | None,
        **kwargs: Any,
    ) -> ChatResult:
        listened = run_manager is not None and any(
            isinstance(handler, _StreamingCallbackHandler) for handler in run_manager.handlers
        )
        can_stream = type(self.inner)._astream is not BaseChatModel._astream
        if not can_stream or not (listened or self.settings.streaming):
            return await self.inner._agenerate(messages, stop=stop, **kwargs)
        return await gathered(
            _announced(self.inner._astream(messages, stop=stop, **kwargs), run_manager)
        )

    def _must_stop(self, state: RetryCallState, limits: Limits, deadline: Deadline) -> bool:
        error = state.outcome.exception() if state.outcome else None
        tries = self.settings.max_tries
        if isinstance(error, BadResponse | ResponseCut):
            tries = min(tries, MAX_UNUSABLE)
        wait_s = max(state.upcoming_sleep, limits.gate.opens_in_s())
        return state.attempt_number >= tries or wait_s >= deadline.remaining_s()


def _may_pass_by_itself(state: RetryCallState) -> bool:
    error = state.outcome.exception() if state.outcome else None
    return isinstance(error, SupervisorError) and error.retryable


def _wait_s(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, RateLimited) and error.retry_after_s:
        return 0.0
    return _BACKOFF(state)


_BACKOFF = wait_random_exponential(multiplier=BACKOFF_S, max=MAX_BACKOFF_S)


def estimated_tokens(messages: list[BaseMessage], kwargs: dict[str, Any]) -> int:
    """Guess what a call will count, input and output together, at four characters a token."""
    chars = sum(len(str(message.content)) for message in messages)
    return (chars + len(str(kwargs.get("tools") or ""))) // 4 + EXPECTED_OUTPUT_TOKENS


async def _announced(
    stream: AsyncIterator[ChatGenerationChunk], run_manager: AsyncCallbackManagerForLLMRun | None
) -> AsyncIterator[ChatGenerationChunk]:
    async for chunk in stream:
        if run_manager is not None:
            if chunk.message.id is None:
                chunk.message.id = f"lc_run--{run_manager.run_id}"
            await run_manager.on_llm_new_token(str(chunk.message.text), chunk=chunk)
        yield chunk
