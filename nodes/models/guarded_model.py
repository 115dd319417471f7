"""The only path from this application to a model: limits, deadline, retries, typed errors."""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.language_models.base import LangSmithParams
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata, add_usage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableBinding
from langchain_core.tools import BaseTool
from pydantic import ConfigDict, Field, PrivateAttr

from nodes.errors import SupervisorError
from nodes.errors.redaction import redact_message
from nodes.models.call import EXPECTED_OUTPUT_TOKENS, ModelCall, estimate_tokens
from nodes.models.prices import compute_cost_usd
from nodes.models.run_context import get_run_context, name_requested_schema
from nodes.models.settings import ModelSettings
from nodes.models.usage import UNCOUNTED, read_usage
from state import Tier, Usage

KEPT_METADATA = ("finish_reason", "stop_reason", "model_name", "model_provider", "id")
"""The metadata of an answer to keep; the rest would enlarge every checkpoint."""

MAX_BOUND_TOOLS = 128


class GuardedModel(BaseChatModel):
    """A chat model that returns complete answers or raises one of `nodes.errors`.

    Streams are collected here and only their tokens are passed on at once, so that a broken stream
    can be retried.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, protected_namespaces=())

    inner: BaseChatModel = Field(exclude=True, repr=False)
    settings: ModelSettings = Field(exclude=True, repr=False)
    model: str
    tier: Tier
    endpoint: str = ""
    max_concurrency: int | None = None
    """Limit for the calls in flight of one run, if lower than the setting."""

    _bound_tools: OrderedDict[tuple[object, ...], tuple[tuple[Any, ...], Mapping[str, Any]]] = (
        PrivateAttr(default_factory=OrderedDict)
    )
    """By the ids of the tools, which are kept with it, so that their ids are not reused."""

    @property
    def _llm_type(self) -> str:
        return "guarded"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model": self.model, "tier": self.tier}

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        return self.inner._get_ls_params(stop=stop, **kwargs)

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with tools bound in the inner model's own format.

        Cached: a worker binds the same tools each turn, and describing them costs much time.
        """
        key = (tuple(map(id, tools)), tool_choice, repr(kwargs))
        if key not in self._bound_tools:
            bound = self.inner.bind_tools(tools, tool_choice=tool_choice, **kwargs)
            assert isinstance(bound, RunnableBinding), "providers bind their tools as arguments"
            self._bound_tools[key] = (tuple(tools), bound.kwargs)
            while len(self._bound_tools) > MAX_BOUND_TOOLS:
                self._bound_tools.popitem(last=False)
        return self.bind(**self._bound_tools[key][1])

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise NotImplementedError("models are asynchronous here: use ainvoke")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        began_s, run_context = time.monotonic(), get_run_context()
        call = ModelCall(
            inner=self.inner,
            model_name=self.model,
            endpoint=self.endpoint,
            settings=self.settings,
            max_concurrency=self.max_concurrency,
            run_context=run_context,
        )
        event: dict[str, Any] = {
            "model": self.model,
            "tier": self.tier,
            "schema": name_requested_schema(kwargs),
        }
        expected = self._estimate_call(messages, kwargs) if run_context.budget else (0, None)
        try:
            with run_context.reserve_call(*expected):
                message = await call.run(messages, stop=stop, run_manager=run_manager, **kwargs)
        except SupervisorError as error:
            seconds = round(time.monotonic() - began_s, 6)
            event |= {"seconds": seconds, "tries": call.tries, "error": error.code}
            if call.wasted_usage:
                error.usage = read_usage(
                    self._attach_metadata(AIMessage(""), call.wasted_usage, seconds, call)
                )
                await run_context.charge(error.usage)
                event |= _build_counts(error.usage)
            if call.has_opened_breaker:
                await run_context.emit_circuit_open(self.model, str(error))
            await run_context.emit_model_call(**event)
            raise
        seconds = round(time.monotonic() - began_s, 6)
        assert message.usage_metadata is not None, "a call has counted or estimated usage"
        message = self._attach_metadata(
            message, [*call.wasted_usage, message.usage_metadata], seconds, call
        )
        usage = read_usage(message)
        await run_context.charge(usage)
        await run_context.emit_model_call(
            **event, seconds=seconds, **_build_counts(usage), tries=call.tries
        )
        return ChatResult(generations=[ChatGeneration(message=redact_message(message))])

    def _estimate_call(
        self, messages: list[BaseMessage], kwargs: dict[str, Any]
    ) -> tuple[int, float | None]:
        tokens = estimate_tokens(messages, kwargs)
        output = min(EXPECTED_OUTPUT_TOKENS, tokens)
        usage = {"input_tokens": tokens - output, "output_tokens": output}
        return tokens, compute_cost_usd(self.model, usage, self.settings.prices)

    def _attach_metadata(
        self, message: AIMessage, counted: Sequence[UsageMetadata], seconds: float, call: ModelCall
    ) -> AIMessage:
        """Return the message with only the useful metadata, and the tokens of all its tries."""
        usage = reduce(add_usage, counted) if counted else None
        metadata = {
            key: value for key, value in message.response_metadata.items() if key in KEPT_METADATA
        }
        price = compute_cost_usd(self.model, usage, self.settings.prices)
        metadata |= {"model": self.model, "seconds": seconds, "cost_usd": price}
        metadata |= {UNCOUNTED: True} if call.is_uncounted else {}
        return message.model_copy(update={"usage_metadata": usage, "response_metadata": metadata})


def _build_counts(usage: Usage) -> dict[str, Any]:
    counts = usage.model_dump(include={"input_tokens", "output_tokens", "cost_usd"})
    return {**counts, **({UNCOUNTED: True} if usage.uncounted_calls else {})}
