"""The OpenAI client, without its walk through all messages and schemas on each call."""

import inspect
import json
from functools import cache
from typing import Any

from langchain_core.language_models import LanguageModelInput
from langchain_openai import ChatOpenAI

from nodes.models.failures import clean_text
from nodes.models.structured.text_calls import ENCODED_TWICE, decode_arguments, is_encoded_twice

UNCHANGED_KEYS = ("messages", "tools", "tool_choice", "response_format")


class LeanChatOpenAI(ChatOpenAI):
    """Sends messages and schemas as extra body: the same JSON on the wire.

    The SDK compares each value of a request with the types of its parameters, to rename keys that
    need it. None of these do, and the walk took a third of a call's CPU time. Nor does it parse a
    reply by the response format: replies are validated here.
    """

    is_openai: bool = True
    """False for another server, which knows the limit of output tokens by its older name."""

    async def list_model_names(self) -> list[str]:
        """Return the names of the models that the endpoint lists."""
        page = await self.root_async_client.models.list()
        return [clean_text(str(model.id)) for model in page.data]

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        payload = super()._get_request_payload(input_, stop=stop, **kwargs)
        spared = {
            key: payload.pop(key)
            for key in [*payload]
            if key in UNCHANGED_KEYS or key not in _list_sdk_parameters(self.async_client.__class__)
        }
        if not self.is_openai and "max_completion_tokens" in payload:
            spared["max_tokens"] = payload.pop("max_completion_tokens")
        extra = {**spared, **(payload.get("extra_body") or {})}
        return {**payload, "messages": [], "extra_body": extra}

    def _create_chat_result(self, response: Any, generation_info: Any = None) -> Any:
        """Return the result; arguments that were encoded as JSON twice are decoded once."""
        twice = list[str]()
        for choice in getattr(response, "choices", None) or ():
            for call in getattr(choice.message, "tool_calls", None) or ():
                arguments = decode_arguments(call.function.arguments)
                if arguments is not None and is_encoded_twice(call.function.arguments):
                    call.function.arguments = json.dumps(arguments)
                    twice.append(call.function.name)
        result = super()._create_chat_result(response, generation_info)
        if twice:
            result.generations[0].message.response_metadata[ENCODED_TWICE] = twice
        return result


@cache
def _list_sdk_parameters(client: Any) -> frozenset[str]:
    """List the parameters that the SDK takes; others, such as `top_k`, are sent as they are."""
    return frozenset(inspect.signature(client.create).parameters)
