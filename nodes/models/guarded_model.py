"""The only path from this application to a model: limits, deadline, retries, typed errors."""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.language_models.base import LangSmithParams
from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages
from langchain_core.messages.ai import UsageMetadata, add_usage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict, Field, PrivateAttr

from nodes.errors import ContextTooSmall, ModelUnknown, SupervisorError
from nodes.errors.redaction import redact_message
from nodes.models.call import EXPECTED_OUTPUT_TOKENS, MAX_TOKENS, ModelCall, estimate_tokens
from nodes.models.clients import name_nearest_models
from nodes.models.lengths import (
    MAX_SHORTENINGS,
    SHORTENED,
    choose_output_limit,
    choose_share,
    shorten_messages,
)
from nodes.models.recorded_call import take_reply
from nodes.models.reply_reading import clean_words, replace_lone_surrogates
from nodes.models.reply_stream import take_offered_reply
from nodes.models.request_form import EndpointKind, ToolOffer, get_output_methods, simplify_tool
from nodes.models.run_context import (
    RunContext,
    describe_messages,
    find_purpose,
    name_requested_schema,
)
from nodes.models.settings import EMBEDDED, ModelSettings
from nodes.models.structured_call import StructuredCall, StructuredReply
from nodes.models.usage import (
    UNCOUNTED,
    ModelSpeed,
    build_counts,
    compute_cost_usd,
    count_cached,
    estimate_usage,
    get_model_speed,
    read_usage,
)
from nodes.telemetry.tracing import has_listeners, label_model_run
from state import Tier, Usage

KEPT_METADATA = (
    "finish_reason",
    "stop_reason",
    "model_name",
    "model_provider",
    "id",
    SHORTENED,
)
"""The metadata of an answer to keep; the rest would enlarge every checkpoint."""

MAX_BOUND_TOOLS = 128
SHOWN_TOOLS = "shown_tools"
"""Key of a call's tools that may no longer be called, but were described to the model before."""


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
    kind: EndpointKind = "other"
    api_key: str | None = Field(default=None, exclude=True, repr=False)
    parameters: Mapping[str, Any] = Field(default_factory=dict)
    """Of every request, such as `temperature`."""

    _bound_tools: OrderedDict[int, tuple[Any, Mapping[str, Any]]] = PrivateAttr(
        default_factory=OrderedDict
    )
    """Descriptions of tools by the ids of the tools, which are kept so that no id is reused."""

    @property
    def _llm_type(self) -> str:
        return "guarded"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        name = self.model.partition(":")[2] or self.model
        return {"model": self.model, "model_name": name, "tier": self.tier}

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        return self.inner._get_ls_params(stop=stop, **kwargs)

    @property
    def speed(self) -> ModelSpeed:
        """The speed of this model's answers so far."""
        return get_model_speed(self.endpoint, self.model)

    @property
    def calls_at_once(self) -> int:
        """The limit for the calls of one run in flight."""
        return self.max_concurrency or self.settings.max_concurrency

    def with_parameters(self, parameters: Mapping[str, Any]) -> "GuardedModel":
        """Return the model with parameters of a role or a worker.

        Another provider's client takes those that are fields of its own in that provider's form.
        """
        is_own = self.kind not in ("openai", "compatible")
        fields = type(self.inner).model_fields if is_own else {}
        taken = {name: parameters[name] for name in parameters if name in fields}
        inner = self.inner.model_copy(update=taken) if taken else self.inner
        others = {name: parameters[name] for name in parameters if name not in taken}
        return self.model_copy(update={"inner": inner, "parameters": {**self.parameters, **others}})

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Return the model with tools in OpenAI's form; each request puts them in its own.

        Args:
            tool_choice: a tool's name or `any` when a call is wanted, None when words will do.
            kwargs: also `shown_tools`, which were on offer in earlier turns and are no longer.
        """
        described = [self._describe_tool(tool) for tool in tools]
        if shown := kwargs.pop(SHOWN_TOOLS, None):
            kwargs[SHOWN_TOOLS] = [self._describe_tool(tool) for tool in shown]
        return self.bind(tools=described, tool_choice=tool_choice, **kwargs)

    def _describe_tool(self, tool: Any) -> Mapping[str, Any]:
        """Return a tool in OpenAI's form; cached, as a worker binds the same tools each turn."""
        key = id(tool)
        if key not in self._bound_tools:
            described = convert_to_openai_tool(tool)
            if self.inner._llm_type != EMBEDDED:
                described = simplify_tool(described)
            self._bound_tools[key] = (tool, described)
            while len(self._bound_tools) > MAX_BOUND_TOOLS:
                self._bound_tools.popitem(last=False)
        return self._bound_tools[key][1]

    async def ainvoke(
        self,
        input: LanguageModelInput,
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AIMessage:
        """Return the answer; without a listener, LangChain's layers around a call are left out."""
        if not isinstance(input, list):
            return await super().ainvoke(input, config, stop=stop, **kwargs)
        messages = convert_to_messages(input)
        if offered := await take_offered_reply(self.model, messages, kwargs):
            return offered
        purpose = find_purpose(config, kwargs)
        if has_listeners(self, config):
            named = label_model_run(config, purpose, tier=self.tier, model=self.model)
            return await super().ainvoke(messages, named, stop=stop, purpose=purpose, **kwargs)
        result = await self._agenerate(messages, stop=stop, purpose=purpose, **kwargs)
        answer = result.generations[0].message
        assert isinstance(answer, AIMessage), "a model answers with a message of its own"
        return answer

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
        purpose: str = "",
        **kwargs: Any,
    ) -> ChatResult:
        purpose = (purpose or find_purpose(None, kwargs)).partition(":")[0]
        asked: dict[str, Any] = {"purpose": purpose, "messages": messages, "kwargs": kwargs}
        answer = partial(self._answer, **asked, stop=stop, run_manager=run_manager)
        message = await take_reply(self, **asked, answer=answer)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _answer(
        self,
        run_context: RunContext,
        *,
        purpose: str,
        messages: list[BaseMessage],
        kwargs: dict[str, Any],
        **how: Any,
    ) -> AIMessage:
        """Return the model's reply, charged and traced, without a known secret."""
        began_s = time.monotonic()
        call = ModelCall(self, run_context)
        event: dict[str, Any] = {
            "model": self.model,
            "tier": self.tier,
            "schema": name_requested_schema(kwargs),
            "purpose": purpose,
        }
        if self.settings.trace_content:
            event["prompt"] = describe_messages(messages)
        if self.settings.call_timeout_s is None:
            await run_context.emit_limits_scaled(self.model, call.speed)
        expected = self._estimate_call(messages, kwargs) if run_context.scope.budget else (0, None)
        try:
            with run_context.reserve_call(*expected) as call.hold_more:
                reply = await self._request_fitting_reply(call, messages, kwargs, **how)
        except SupervisorError as error:
            event["seconds"] = round(time.monotonic() - began_s, 6)
            await self._settle_failure(error, call, event)
            raise
        event["seconds"] = round(time.monotonic() - began_s, 6)
        message = await self._settle_reply(reply, call, event)
        return redact_message(message)

    async def _settle_failure(
        self, error: SupervisorError, call: ModelCall, event: dict[str, Any]
    ) -> None:
        """Charge the run for a call that has failed, and emit its events."""
        if isinstance(error, ModelUnknown):
            error.next = await name_nearest_models(error, self.inner, self.tier)
        event |= call.describe_failure(error)
        if call.wasted_usage:
            lost = self._attach_metadata(AIMessage(""), call.wasted_usage, event["seconds"], call)
            error.usage = read_usage(lost)
            await call.run_context.charge(error.usage)
            event |= build_counts(error.usage)
        if call.opened_circuit:
            await call.run_context.emit_circuit_open(self.model, call.opened_circuit, str(error))
        await call.run_context.emit("model_call", **event)

    async def _settle_reply(
        self, reply: StructuredReply, call: ModelCall, event: dict[str, Any]
    ) -> AIMessage:
        """Charge the run for an answered call, emit its events, and return the message."""
        run_context, seconds = call.run_context, event["seconds"]
        message = replace_lone_surrogates(reply.message)
        shortened = message.response_metadata.get(SHORTENED)
        said = {"method": reply.method, SHORTENED: shortened, "corrections": reply.corrections}
        event |= {key: value for key, value in said.items() if value}
        event |= {"reply": describe_messages([message])} if self.settings.trace_content else {}
        assert message.usage_metadata is not None, "a call has counted or estimated usage"
        counted = [*call.wasted_usage, message.usage_metadata]
        message = self._attach_metadata(message, counted, seconds, call)
        usage = read_usage(message)
        if run_context.scope.pace:  # a default deadline
            run_context.scope.pace.record_answer(seconds)
        await run_context.charge(usage)  # before anything else has its turn
        if reply.change:
            await run_context.emit("output_method", model=self.model, **reply.change)
        event |= build_counts(usage) | count_cached(message.usage_metadata)
        await run_context.emit("model_call", **event, tries=call.tries)
        return message

    async def _request_fitting_reply(
        self, call: ModelCall, messages: list[BaseMessage], kwargs: dict[str, Any], **how: Any
    ) -> StructuredReply:
        """Return the reply; a prompt that is too long for the model is shortened.

        What was left out is in the message's metadata, for the gaps of the report or answer.
        """
        left_out = 0
        for shortenings_left in range(MAX_SHORTENINGS, -1, -1):
            try:
                reply = await self._request_reply(call, messages, kwargs, **how)
            except ContextTooSmall as error:
                messages, cut = shorten_messages(messages, choose_share(error))
                if not (shortenings_left and cut):
                    raise
                left_out, window = left_out + cut, error.window
            else:
                break
        if left_out:
            gap = f"{left_out:,} characters were left out: they did not fit {window}"
            metadata = {**reply.message.response_metadata, SHORTENED: gap}
            message = reply.message.model_copy(update={"response_metadata": metadata})
            reply = replace(reply, message=message)
        return reply

    async def _request_reply(
        self, call: ModelCall, messages: list[BaseMessage], kwargs: dict[str, Any], **how: Any
    ) -> StructuredReply:
        """Return the reply, with tool calls where tools are on offer."""
        kwargs = {**kwargs}
        shown = kwargs.pop(SHOWN_TOOLS, ())
        if self.inner._llm_type == EMBEDDED:
            return StructuredReply(await call.run(messages, **how, **kwargs))
        is_of_protocol = self.kind in ("openai", "compatible")
        own = {"tools", "tool_choice"}
        if not is_of_protocol:  # a client may refuse what it does not know
            own.add("temperature")
        asked = {key: kwargs[key] for key in kwargs if key not in own}
        parameters = {**self.parameters, **asked, **how}
        if is_of_protocol:
            parameters = {"stream_usage": True, **parameters}
            if not parameters.keys() & {MAX_TOKENS, "max_completion_tokens"}:
                limits = self.settings.max_output_tokens
                parameters[MAX_TOKENS] = choose_output_limit(kwargs, limits, self.kind)
        if not kwargs.get("tools"):
            return StructuredReply(clean_words(await call.run(messages, **parameters)))
        methods = get_output_methods(self.endpoint, self.model, self.kind)
        if methods.get_current("tools") == "required_tool":
            shown = ()  # its tools are no part of the prompt's beginning
        return await StructuredCall(
            call=call,
            methods=methods,
            offer=ToolOffer(kwargs["tools"], kwargs.get("tool_choice"), shown),
            parameters=parameters,
        ).run(messages)

    def _estimate_call(
        self, messages: list[BaseMessage], kwargs: dict[str, Any]
    ) -> tuple[int, float | None]:
        offered = [*(kwargs.get("tools") or ()), *kwargs.get(SHOWN_TOOLS, ())]
        kwargs, output = {**kwargs, "tools": offered}, EXPECTED_OUTPUT_TOKENS
        tokens = estimate_tokens(messages, kwargs)
        usage = {"input_tokens": tokens - output, "output_tokens": output}
        return tokens, compute_cost_usd(self.model, usage, self.settings.prices)

    def estimate_prompt_usage(
        self, messages: Sequence[BaseMessage], kwargs: Mapping[str, Any]
    ) -> Usage:
        """Return what a call costs of which only the prompt was sent, as an estimate."""
        counted = estimate_usage(messages, kwargs, AIMessage(""))
        price = compute_cost_usd(self.model, counted, self.settings.prices)
        return Usage(
            model_calls=1,
            input_tokens=counted["input_tokens"],
            cost_usd=price,
            models=(self.model,),
            uncounted_calls=1,
        )

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


def apply_parameters(model: BaseChatModel, parameters: Mapping[str, Any]) -> BaseChatModel:
    """Return a model with parameters for its requests; the built-in one takes none."""
    if not parameters or not isinstance(model, GuardedModel) or model.model == EMBEDDED:
        return model
    return model.with_parameters(parameters)
