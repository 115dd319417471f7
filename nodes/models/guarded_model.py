"""The one door between this application and a model: limits, deadline, retries, typed errors."""

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
"""Of an answer's metadata; the rest would weigh on every checkpoint."""

MAX_BOUND_TOOLS = 128


class GuardedModel(BaseChatModel):
    """A chat model that gives whole answers or raises one of `nodes.errors`.

    Streams are gathered here and only their tokens go out as they come, so that a stream that
    breaks can be asked for again.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, protected_namespaces=())

    inner: BaseChatModel = Field(exclude=True, repr=False)
    settings: ModelSettings = Field(exclude=True, repr=False)
    model: str
    tier: Tier
    endpoint: str = ""
    max_concurrency: int | None = None
    """Calls in flight of one run, when lower than the setting."""

    _bound_tools: OrderedDict[tuple[object, ...], tuple[tuple[Any, ...], Mapping[str, Any]]] = (
        PrivateAttr(default_factory=OrderedDict)
    )
    """By the identity of the tools, which are kept with it: an identity lasts as long as they."""

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
        """Offer tools in the inner model's own format.

        A worker offers the same tools turn after turn, and describing them costs as much as a call.
        """
        asked = (tuple(map(id, tools)), tool_choice, repr(kwargs))
        if asked not in self._bound_tools:
            bound = self.inner.bind_tools(tools, tool_choice=tool_choice, **kwargs)
            assert isinstance(bound, RunnableBinding), "providers bind their tools as arguments"
            self._bound_tools[asked] = (tuple(tools), bound.kwargs)
            while len(self._bound_tools) > MAX_BOUND_TOOLS:
                self._bound_tools.popitem(last=False)
        return self.bind(**self._bound_tools[asked][1])

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
        began_s, around = time.monotonic(), get_run_context()
        call = ModelCall(
            inner=self.inner,
            model_name=self.model,
            endpoint=self.endpoint,
            settings=self.settings,
            max_concurrency=self.max_concurrency,
            run_context=around,
        )
        told: dict[str, Any] = {
            "model": self.model,
            "tier": self.tier,
            "schema": name_requested_schema(kwargs),
        }
        expected = self._estimate_call(messages, kwargs) if around.budget else (0, None)
        try:
            with around.reserve_call(*expected):
                message = await call.run(messages, stop=stop, run_manager=run_manager, **kwargs)
        except SupervisorError as error:
            seconds = round(time.monotonic() - began_s, 6)
            told |= {"seconds": seconds, "tries": call.tries, "error": error.code}
            if call.wasted_usage:
                error.usage = read_usage(
                    self._attach_metadata(AIMessage(""), call.wasted_usage, seconds, call)
                )
                await around.charge(error.usage)
                told |= _build_counts(error.usage)
            if call.has_opened_breaker:
                await around.emit_circuit_open(self.model, str(error))
            await around.emit_model_call(**told)
            raise
        seconds = round(time.monotonic() - began_s, 6)
        assert message.usage_metadata is not None, "a call counts its answer, or estimates it"
        message = self._attach_metadata(
            message, [*call.wasted_usage, message.usage_metadata], seconds, call
        )
        usage = read_usage(message)
        await around.charge(usage)
        await around.emit_model_call(
            **told, seconds=seconds, **_build_counts(usage), tries=call.tries
        )
        return ChatResult(generations=[ChatGeneration(message=redact_message(message))])

    def _estimate_call(
        self, messages: list[BaseMessage], kwargs: dict[str, Any]
    ) -> tuple[int, float | None]:
        tokens = estimate_tokens(messages, kwargs)
        made = min(EXPECTED_OUTPUT_TOKENS, tokens)
        usage = {"input_tokens": tokens - made, "output_tokens": made}
        return tokens, compute_cost_usd(self.model, usage, self.settings.prices)

    def _attach_metadata(
        self, message: AIMessage, counted: Sequence[UsageMetadata], seconds: float, call: ModelCall
    ) -> AIMessage:
        """Keep of a message's metadata what is of use, with the tokens of all its tries."""
        usage = reduce(add_usage, counted) if counted else None
        noted = {
            key: value for key, value in message.response_metadata.items() if key in KEPT_METADATA
        }
        price = compute_cost_usd(self.model, usage, self.settings.prices)
        noted |= {"model": self.model, "seconds": seconds, "cost_usd": price}
        noted |= {UNCOUNTED: True} if call.is_uncounted else {}
        return message.model_copy(update={"usage_metadata": usage, "response_metadata": noted})


def _build_counts(usage: Usage) -> dict[str, Any]:
    counts = usage.model_dump(include={"input_tokens", "output_tokens", "cost_usd"})
    return {**counts, **({UNCOUNTED: True} if usage.uncounted_calls else {})}
