"""Asks a model for tool calls by the first method that its endpoint supports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from nodes.errors import ContextTooSmall, RequestRefused
from nodes.limits.patterns import Pattern
from nodes.models.call import ModelCall
from nodes.models.reply_reading import clean_words, read_reply
from nodes.models.request_form import (
    MethodUnsupported,
    OutputMethod,
    OutputMethods,
    ToolOffer,
    build_request,
)

STREAM_USAGE = "stream_usage"
"""The client's parameter that asks a stream for its usage."""
OPTIONAL_PARAMETERS: Mapping[str, str] = {
    "stream_options": STREAM_USAGE,
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "parallel_tool_calls": "parallel_tool_calls",
}
"""What a refusal may name, and the parameter that is then left out."""

_FORMAT_WORDS = Pattern(
    r"(?i)tool|function|response_format|json_schema|schema|grammar|sampler|jinja|template|guided"
    r"|structured|thinking|reasoning"
)
_LENGTH_WORDS = Pattern(r"(?i)context (?:length|size|window)|too long|maximum context")


@dataclass(frozen=True)
class StructuredReply:
    """The reply, and how it came."""

    message: AIMessage
    method: OutputMethod | None = None
    corrections: list[str] = field(default_factory=list)
    """What was wrong with its form."""
    change: dict[str, Any] | None = None
    """The method and the parameters that are used from now on, when those are others."""


@dataclass
class StructuredCall:
    """One call for tool calls; a refused or ignored method is followed by the next."""

    call: ModelCall
    methods: OutputMethods
    offer: ToolOffer
    parameters: dict[str, Any]
    """Of each request, whatever the method."""
    _reasons: list[str] = field(default_factory=list)

    async def run(self, messages: list[BaseMessage]) -> StructuredReply:
        """Return the reply; without readable calls it is the model's words.

        Raises:
            SupervisorError: the reason why there is no answer.
        """
        purpose = self.offer.purpose
        order = self.methods.list_from(purpose, self.methods.get_current(purpose))
        for method in order:
            is_last = method == order[-1]
            message = await self._try_method(method, messages, is_last=is_last)
            if message is None:
                continue
            if found := read_reply(message, self.offer, method):
                read, corrections = found
                self._note_call(message, method)
                return StructuredReply(read, method, corrections, self._keep(method))
            if self._is_answer(message, method) or is_last:
                return StructuredReply(clean_words(message), method)
            self._reasons.append(f"the reply ignored {method}")
            if message.usage_metadata is not None:
                self.call.record_waste(message.usage_metadata)
        raise AssertionError("the last method returns or raises")

    def _note_call(self, message: AIMessage, method: OutputMethod) -> None:
        """Use another way from now on where the endpoint did not force a call: it came as text."""
        self.methods.has_called |= method == "required_tool" and bool(message.tool_calls)
        others = self.methods.list_from(self.offer.purpose, method)[1:]
        if method == "required_tool" and not message.tool_calls and others:
            self._reasons.append(f"{method} was ignored: the call came as text")
            self.methods.keep(self.offer.purpose, others[0])

    async def _try_method(
        self, method: OutputMethod, messages: list[BaseMessage], *, is_last: bool
    ) -> AIMessage | None:
        """Return the reply; None when the method is not supported and another one is left."""
        try:
            request, asked = build_request(method, self.offer, messages, self.call.model.inner)
            self.call.reads_cut = lambda cut: read_reply(cut, self.offer, method) is not None
            self.call.wants_call = self.offer.purpose == "tools" and bool(self.offer.choice)
            self.call.may_run_on = method != "required_tool" or not self.methods.has_called
            return await self._send(request, asked)
        except MethodUnsupported as problem:
            refusal = RequestRefused(f"{self.call.name} cannot call tools", cause=str(problem))
        except RequestRefused as error:
            if isinstance(error, ContextTooSmall) or not _is_about_format(error):
                raise
            refusal = error
        if is_last:
            raise refusal
        self._reasons.append(f"{method} was refused: {refusal.cause or refusal}")
        return None

    async def _send(self, request: list[BaseMessage], asked: Mapping[str, Any]) -> AIMessage:
        """Return the reply to one request; a parameter that is refused by name is left out."""
        refused = self.methods.refused_parameters
        while True:
            sent = {key: self.parameters[key] for key in self.parameters if key not in refused}
            # Left out, the client's own default would take its place.
            off = {STREAM_USAGE: False} if STREAM_USAGE in refused else {}
            try:
                return await self.call.run(request, **{**sent, **off, **asked})
            except RequestRefused as error:
                name = find_refused_parameter(error, sent)
                if isinstance(error, ContextTooSmall) or not name:
                    raise
                refused.add(name)
                self._reasons.append(f"{name} was refused: {error.cause or error}")

    def _is_answer(self, message: AIMessage, method: OutputMethod) -> bool:
        """Return whether a reply without calls is one to return: words, or JSON that is broken."""
        return not self.offer.choice or (method == "json_schema" and "{" in message.text)

    def _keep(self, method: OutputMethod) -> dict[str, Any] | None:
        """Use a method from now on; return what to say where anything was refused or ignored."""
        purpose = self.offer.purpose
        if not self.methods.keep(purpose, method) and not self._reasons:
            return None
        current = self.methods.get_current(purpose)
        return {"purpose": purpose, "method": current, "reasons": self._reasons}


def _is_about_format(error: RequestRefused) -> bool:
    said = error.cause or error.what
    return bool(_FORMAT_WORDS.search(said)) and not _LENGTH_WORDS.search(said)


def find_refused_parameter(error: RequestRefused, sent: Mapping[str, Any]) -> str:
    """Return the optional parameter that an endpoint refuses by name; empty when there is none."""
    said = error.cause.lower()
    return next(
        (name for word, name in OPTIONAL_PARAMETERS.items() if word in said and name in sent), ""
    )
