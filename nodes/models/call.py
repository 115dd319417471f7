"""One model call with all its tries: the only place where calls are retried."""

import asyncio
import logging
import random
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata

from nodes.errors import (
    BadResponse,
    CallTimedOut,
    DeadlinePassed,
    RateLimited,
    RequestRefused,
    ResponseCut,
    SupervisorError,
)
from nodes.errors.redaction import redact_text
from nodes.limits.budget import HoldMore
from nodes.models.circuit_breaker import FAILURE_THRESHOLD, OPEN_S, get_model_health
from nodes.models.endpoint_limits import get_endpoint_limits, get_endpoint_signals
from nodes.models.failures import (
    format_duration,
    is_endpoint_alive,
    read_failed_generation,
    read_retry_after_s,
    translate_error,
)
from nodes.models.reply_stream import ReplyTextReader, RunOnWatch, ends_in_repetition
from nodes.models.request import require_end, require_usable, send_request
from nodes.models.run_context import CallDeadline, RunContext
from nodes.models.settings import DEFAULT_CALL_TIMEOUT_S, EMBEDDED
from nodes.models.usage import (
    compute_cost_usd,
    count_cached,
    estimate_usage,
    get_model_speed,
    keep_credible_usage,
)

if TYPE_CHECKING:  # which makes calls
    from nodes.models.guarded_model import GuardedModel

BACKOFF_S = 0.5
"""The limit of the first wait; it doubles with each try (full jitter, Brooker, AWS 2015)."""
MAX_BACKOFF_S = 15.0
MAX_UNUSABLE_TRIES = 2
"""Limit of tries for an answer that cannot be used: the next is likely to be the same."""
EXPECTED_OUTPUT_TOKENS = 500
"""Estimate for one answer, until the endpoint has counted its tokens."""
MAX_TOKENS = "max_tokens"
"""The parameter that limits the tokens of an answer; it is doubled after an answer that was cut."""
MIN_REPETITIONS = 4
"""An answer whose last characters occur so often does not end at a higher limit either."""
POLL_INTERVAL_S = 0.1
"""Between two checks whether a retry is allowed."""

_logger = logging.getLogger(__name__)


@dataclass
class ModelCall:
    """Calls a model until the answer is complete, within the call's time and tries."""

    model: "GuardedModel"
    run_context: RunContext
    tries: int = 0
    wasted_usage: list[UsageMetadata] = field(default_factory=list)
    """Usage of answers that could not be used."""
    is_uncounted: bool = False
    """The endpoint counted no tokens of an answer, so they are estimated."""
    reads_cut: Callable[[AIMessage], bool] | None = None
    """Whether an answer that reached its limit of tokens has what was asked for."""
    may_run_on: bool = False
    """JSON or a call is asked for, and the endpoint may not end it: streamed, it is left then."""
    wants_call: bool = False
    """A call of a tool is wanted; words alone are none."""
    hold_more: HoldMore | None = None
    """Reserves what answers took that could not be used; None without a budget."""
    opened_circuit: str = ""
    """The model or the address whose circuit a failure of this call has opened."""
    first_error: str = ""
    """The code with which its first failed try ended."""

    def __post_init__(self) -> None:
        endpoint, self.name = self.model.endpoint, self.model.model
        self._settings = self.model.settings
        self._limits = get_endpoint_limits(endpoint, self._settings)
        self._health = get_model_health(endpoint, self.name)
        redis_url = self._settings.find_redis(endpoint)
        self._signals = get_endpoint_signals(endpoint, self.name, redis_url)
        self.speed = get_model_speed(endpoint, self.name)
        usual_s = DEFAULT_CALL_TIMEOUT_S * self.speed.limit_factor
        self.timeout_s = self._settings.call_timeout_s or usual_s
        self._deadline = CallDeadline(self.timeout_s, self.run_context.remaining_s)
        self._retries_taken, self._is_retry_in_flight, self._tries_before = 0, False, 0
        self._last_failure: SupervisorError | None = None

    async def run(self, messages: list[BaseMessage], **kwargs: Any) -> AIMessage:
        """Return the answer; a second request of the same call shares its time, not its tries.

        Raises:
            SupervisorError: the reason why there is no answer.
        """
        retries, self._tries_before = self._health.retry_budget, self.tries
        self._retries_taken, self._last_failure = 0, None
        retries.count_call()
        try:
            async with self._deadline.enforce(self.name):
                answer = await self._try_until_usable(messages, kwargs)
        except CallTimedOut as error:
            # The time was used up by tries that failed: their reason says more.
            if self._last_failure is None or isinstance(error, DeadlinePassed):
                raise
            raise self._last_failure from None
        finally:
            self._finish_retry()
        if self._retries_taken:
            retries.refund_retries(self._retries_taken)
        return answer

    def describe_failure(self, error: SupervisorError) -> dict[str, Any]:
        """Return the tries and the codes of a call that has failed, for its event."""
        has_other = self.first_error not in ("", error.code)
        first = {"first_error": self.first_error} if has_other else {}
        return {"tries": self.tries, "error": error.code, **first}

    async def _try_until_usable(
        self, messages: list[BaseMessage], kwargs: dict[str, Any]
    ) -> AIMessage:
        while True:
            try:
                return await self._try_once(messages, kwargs)
            except SupervisorError as error:
                self._finish_retry()
                self._last_failure, self.first_error = error, self.first_error or error.code
                limit = kwargs.get(MAX_TOKENS)
                if isinstance(error, ResponseCut) and error.is_at_limit:
                    if ends_in_repetition(error.reply_text, MIN_REPETITIONS):
                        raise
                    if isinstance(limit, int):  # without text all of it were thoughts
                        kwargs = {**kwargs, MAX_TOKENS: limit * (2 if error.reply_text else 4)}
                if not await self._wait_for_retry(error):
                    raise

    async def _try_once(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> AIMessage:
        is_counted = self._settings.tokens_per_minute is not None
        tokens = estimate_tokens(messages, kwargs) if is_counted else 0
        async with AsyncExitStack() as stack:
            with self._deadline.pause_while_queueing():
                correct_charge = await stack.enter_async_context(
                    self._limits.acquire_slot(
                        tokens,
                        run=self.run_context.run_id,
                        max_concurrency=self.model.max_concurrency,
                    )
                )
            stack.callback(self._signals.release_probe, self)
            await self._wait_for_endpoint()
            if confirm_writer := self.run_context.scope.confirm_writer:
                await confirm_writer()
            if self.hold_more:  # others may have spent more meanwhile than they reserved
                self.hold_more(0, None)
            self.tries += 1
            began_s = time.monotonic()
            is_outside = self.name != EMBEDDED
            with self.run_context.wait_outside() if is_outside else nullcontext():
                answer, reason = await self._send_request(messages, kwargs)
            seconds = time.monotonic() - began_s
            usage = keep_credible_usage(answer.usage_metadata)
            if usage is None:
                self.is_uncounted, usage = True, estimate_usage(messages, kwargs, answer)
            correct_charge(usage["total_tokens"])
            if is_outside:
                cached = count_cached(usage).get("cached_tokens", 0)
                self.speed.record_answer(
                    usage["output_tokens"],
                    seconds,
                    has_read_little=2 * cached > usage["input_tokens"],
                )
        try:
            require_usable(answer, reason, self.name)
        except SupervisorError as error:
            is_cut = isinstance(error, ResponseCut)
            if not (is_cut and self.reads_cut and self.reads_cut(answer)):
                self.record_waste(usage)
                raise
        return answer.model_copy(update={"usage_metadata": usage})

    def record_waste(self, usage: UsageMetadata) -> None:
        """Count an answer that cannot be used: the next try has what it left of the budget.

        Raises:
            BudgetSpent: there is no room for a further try.
        """
        self.wasted_usage.append(usage)
        if self.hold_more:
            price = compute_cost_usd(self.name, usage, self._settings.prices)
            self.hold_more(usage["total_tokens"], price)

    async def _wait_for_endpoint(self) -> None:
        """Wait while the endpoint is rate limited, or has just failed.

        Raises:
            RateLimited: the wait is longer than the call's remaining time.
            EndpointDown: the circuit breaker is open.
        """
        gate = self._limits.retry_after
        is_late = self.tries > self._tries_before
        while True:
            await self._signals.refresh()
            blocked_s = gate.get_blocked_s()
            if blocked_s > self._deadline.get_remaining_s():
                raise RateLimited(
                    f"{self.name} is rate limited; retry after {format_duration(blocked_s)}",
                    retry_after_s=blocked_s,
                    cause="that is longer than the call may take",
                    next=f"try again in {format_duration(blocked_s)}",
                )
            await gate.wait(is_staggered=is_late)
            pause_s = await self._signals.admit(self, self.timeout_s)
            if not pause_s:
                return
            if pause_s >= self._deadline.get_remaining_s():
                raise self._signals.build_refusal()
            is_late = True
            await asyncio.sleep(pause_s)

    async def _send_request(
        self, messages: list[BaseMessage], kwargs: dict[str, Any]
    ) -> tuple[AIMessage, str]:
        began_s = time.monotonic()
        listeners = self.run_context.listeners if self._health.can_stream else ()
        # Each try writes the reply from its beginning.
        reader = ReplyTextReader(listeners) if listeners else None
        try:
            result = await send_request(
                self.model.inner,
                messages,
                is_streaming=self._settings.streaming or self._may_be_left,
                on_chunk=reader.read_chunk if reader else None,
                watch=RunOnWatch(wants_call=self.wants_call) if self._may_be_left else None,
                **kwargs,
            )
            # Of other clients a message that is returned is whole: a broken one is an exception.
            answer = require_end(result, self.name, needs_reason=self.model.kind != "other")
        except asyncio.CancelledError:
            if self._deadline.is_nearly_over():
                self._record_failure(began_s, f"no answer within {self.timeout_s:g} s")
                if self._settings.call_timeout_s is None:
                    self.speed.record_timeout()
            raise
        except Exception as error:  # providers' clients raise what they like, with no common root
            if written := read_failed_generation(error):
                self._signals.record_answer(began_s)
                return AIMessage(written), "stop"
            if reader and not reader.has_begun and _refuses_stream(error, self.name):
                self._health.can_stream = False
                return await self._send_request(messages, kwargs)
            raise self._translate_failure(error, began_s) from None
        else:
            self._signals.record_answer(began_s)
            return answer

    @property
    def _may_be_left(self) -> bool:
        """Whether a reply is read in parts and left where it runs on: of a slow server."""
        return self.may_run_on and self._health.can_stream and self.speed.limit_factor > 1

    def _translate_failure(self, raised: Exception, began_s: float) -> SupervisorError:
        """Record a failure and return it as one of our errors.

        It is raised without its cause: the original may quote the key.
        """
        is_openai = self.model.kind in ("openai", "compatible")
        error = translate_error(
            raised, model=self.name, secret=self.model.api_key, is_openai=is_openai
        )
        if wait_s := read_retry_after_s(raised):
            self._signals.block(wait_s)
        if is_endpoint_alive(raised, error):
            self._signals.record_answer(began_s)
        else:
            self._record_failure(began_s, str(error))
        return error

    def _record_failure(self, began_s: float, message: str) -> None:
        opened = self._signals.record_failure(began_s, message)
        if not opened:
            return
        self.opened_circuit = opened
        _logger.warning(
            "circuit open for %s for %g s after %d consecutive failures: %s",
            opened,
            OPEN_S,
            FAILURE_THRESHOLD,
            redact_text(message),
        )

    async def _wait_for_retry(self, error: SupervisorError) -> bool:
        """Wait until a failed call may be retried; return False when it may not."""
        max_tries = self._settings.max_tries
        if isinstance(error, BadResponse | ResponseCut):
            max_tries = min(max_tries, MAX_UNUSABLE_TRIES)
        tries = self.tries - self._tries_before
        if not error.retryable or tries >= max_tries or not self._signals.allows_retry():
            return False
        is_invited = isinstance(error, RateLimited) and bool(error.retry_after_s)
        longest_s = min(MAX_BACKOFF_S, BACKOFF_S * 2.0 ** (tries - 1))
        wait_s = 0.0 if is_invited else random.uniform(0.0, longest_s)
        blocked_s = self._limits.retry_after.get_blocked_s()
        if max(wait_s, blocked_s) >= self._deadline.get_remaining_s():
            return False
        if not is_invited and not await self._acquire_retry():
            return False
        _logger.warning(
            "%s: try %d of %d failed, retrying: %s",
            self.name,
            tries,
            max_tries,
            redact_text(str(error)),
        )
        await asyncio.sleep(wait_s)
        return True

    async def _acquire_retry(self) -> bool:
        """Wait for a retry from the budget; an open breaker raises its own error later."""
        retries = self._health.retry_budget
        while not self._signals.is_open():
            if retries.take_retry():
                self._retries_taken, self._is_retry_in_flight = self._retries_taken + 1, True
                return True
            is_late = self._deadline.get_remaining_s() <= POLL_INTERVAL_S
            if is_late or not retries.is_worth_waiting():
                return False
            await asyncio.sleep(POLL_INTERVAL_S)
        return True

    def _finish_retry(self) -> None:
        """Report the end of a retry that was taken from the budget."""
        if self._is_retry_in_flight:
            self._is_retry_in_flight = False
            self._health.retry_budget.finish_retry()


def _refuses_stream(raised: Exception, model: str) -> bool:
    """Return whether an endpoint answered a request for a stream with something else."""
    error = translate_error(raised, model=model)
    if isinstance(error, RequestRefused):
        # An option of streams that is refused is left out of the next request.
        return "stream" in f"{error} {error.cause}".lower().replace("stream_options", "")
    return isinstance(error, BadResponse | ResponseCut)


def estimate_tokens(messages: list[BaseMessage], kwargs: dict[str, Any]) -> int:
    """Return an estimate of a call's tokens, input and output."""
    return estimate_usage(messages, kwargs, AIMessage(""))["input_tokens"] + EXPECTED_OUTPUT_TOKENS
