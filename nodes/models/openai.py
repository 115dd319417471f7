"""The OpenAI client, without its walk through all messages and schemas, and its transport.

The client's own transport needs about three times the CPU per call, and its connections are bound
to the first event loop that uses them.
"""

import json
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property
from typing import Any, Final, cast

import aiohttp
import httpx2
import openai
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessageChunk, BaseMessage, BaseMessageChunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI

from nodes.errors import ResponseTooLarge
from nodes.limits.nesting import parse_json
from nodes.limits.per_loop import PerLoop
from nodes.models.failures import clean_text
from nodes.models.json_reading import ENCODED_TWICE, decode_arguments, is_encoded_twice

PATH: Final = "/chat/completions"
OPTIONS: Final[Any] = {"security": {"bearer_auth": True}}
MAX_BODY_BYTES = 10_000_000
"""After decoding."""
CONNECT_TIMEOUT_S = 10.0
KEEPALIVE_S = 15.0


class LeanChatOpenAI(ChatOpenAI):
    """Sends a request as it is, over the shared transport, and reads the reply as plain JSON.

    The SDK compares each value of a request with the types of its parameters, to rename keys that
    need it, and builds objects from each value of a reply. No key needs it, and replies are
    validated elsewhere; both took more CPU time than the request itself. Streams are still the
    SDK's, as plain JSON too.
    """

    is_openai: bool = True
    """False for another server, which knows the limit of output tokens by its older name."""

    async def list_model_names(self) -> list[str]:
        """Return the names of the models that the endpoint lists."""
        page = await self.root_async_client.models.list()
        return [clean_text(str(model.id)) for model in page.data]

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        body = self._build_body(messages, stop=stop, **kwargs)
        body.pop("stream", None)
        client = self.root_async_client
        # Without the layers of a client, which take more time than the request.
        response = await get_shared_transport().send(
            "POST",
            f"{str(client.base_url).rstrip('/')}{PATH}",
            _build_headers(client),
            json.dumps(body, ensure_ascii=False, allow_nan=False).encode(),
        )
        capped = _CappedBody(response)
        try:
            content = b"".join([chunk async for chunk in capped])
        finally:
            await capped.aclose()
        if response.status >= 300:
            raise _build_status_error(response.status, _list_headers(response), content)
        result: ChatResult = self._create_chat_result(_read_json(content))
        return result

    def _build_body(self, messages: LanguageModelInput, **kwargs: Any) -> dict[str, Any]:
        body = super()._get_request_payload(messages, **kwargs)
        if not self.is_openai and "max_completion_tokens" in body:
            body["max_tokens"] = body.pop("max_completion_tokens")
        return {**body, **(body.pop("extra_body", None) or {})}

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        *,
        stream_usage: bool | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        body = {**self._build_body(messages, stop=stop, **kwargs), "stream": True}
        if self._should_stream_usage(stream_usage, **kwargs):
            body["stream_options"] = {"include_usage": True}
        events = await self.root_async_client.post(
            PATH,
            body=body,
            cast_to=object,
            stream=True,
            stream_cls=openai.AsyncStream[object],
            options=OPTIONS,
        )
        kind: type[BaseMessageChunk] = AIMessageChunk
        async with events:
            async for event in events:
                chunk = self._convert_chunk_to_generation_chunk(cast(Any, event), kind, {})
                if chunk is not None:
                    kind = chunk.message.__class__
                    yield chunk

    def _create_chat_result(self, response: Any, generation_info: Any = None) -> Any:
        """Return the result; arguments that were encoded as JSON twice are decoded once."""
        twice = list[str]()
        for function in _list_called_functions(response):
            written = function.get("arguments")
            if isinstance(written, str) and is_encoded_twice(written):
                arguments = decode_arguments(written)
                if arguments is not None:
                    function["arguments"] = json.dumps(arguments)
                    twice.append(str(function.get("name")))
        result = super()._create_chat_result(response, generation_info)
        if twice:
            result.generations[0].message.response_metadata[ENCODED_TWICE] = twice
        return result


def _build_headers(client: openai.AsyncOpenAI) -> dict[str, str]:
    """Return the headers of a request; those that the user has set come before the client's own."""
    given = (*client.auth_headers.items(), *client.default_headers.items())
    return {name.lower(): value for name, value in given if isinstance(value, str)}


def _build_status_error(
    status: int, headers: list[tuple[str, str]], content: bytes
) -> openai.APIStatusError:
    """Return what the SDK raises for an answer with this status."""
    request = httpx2.Request("POST", PATH)
    response = httpx2.Response(status, headers=headers, content=content, request=request)
    body = _read_json(content)
    detail = body.get("error", body) if isinstance(body, dict) else body
    return openai.APIStatusError(f"Error code: {status}", response=response, body=detail)


def _read_json(content: bytes) -> Any:
    """Return a reply's JSON; as text what is none, which is refused where the reply is read."""
    try:
        return parse_json(content)
    except ValueError:
        return content.decode(errors="replace")


def _list_called_functions(response: Any) -> Iterator[dict[str, Any]]:
    """Yield the functions that a reply calls, as far as it has the form of one."""
    choices = response.get("choices") if isinstance(response, dict) else None
    for choice in choices if isinstance(choices, list) else ():
        message = choice.get("message") if isinstance(choice, dict) else None
        calls = message.get("tool_calls") if isinstance(message, dict) else None
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and isinstance(call.get("function"), dict):
                yield call["function"]


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """Sends requests over one aiohttp session per event loop; a loop that ends closes its own."""

    def __init__(self) -> None:
        self._sessions = PerLoop(_make_session, lambda session: session.close())

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; the body of the response is streamed.

        Raises:
            ResponseTooLarge: the body exceeds the cap.
            httpx2.TransportError: the connection cannot be made, or breaks.
        """
        content = await request.aread()
        response = await self.send(request.method, str(request.url), request.headers, content)
        return httpx2.Response(
            response.status,
            headers=_list_headers(response),
            stream=_CappedBody(response),
            request=request,
        )

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> aiohttp.ClientResponse:
        """Send what is not yet a request; the caller reads the body, and releases the response.

        Raises:
            ResponseTooLarge: the body exceeds the cap.
            httpx2.TransportError: the connection cannot be made, or breaks.
        """
        session = await self._sessions.open()
        with _translate_errors(httpx2.ConnectError):
            response = await session.request(
                method,
                url,
                headers={**headers, "accept-encoding": "gzip, deflate"},
                data=body,
                allow_redirects=False,
                ssl=self._tls if url.startswith("https:") else True,
            )
        if (response.content_length or 0) > MAX_BODY_BYTES:
            response.close()
            raise _build_size_error()
        return response

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return httpx2.create_ssl_context()


@cache
def get_shared_transport() -> AiohttpTransport:
    """Return the transport that all clients of the process share, with its connections."""
    return AiohttpTransport()


def _make_session() -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEPALIVE_S, ttl_dns_cache=60)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S)
    return aiohttp.ClientSession(connector=connector, timeout=timeout)


def _list_headers(response: aiohttp.ClientResponse) -> list[tuple[str, str]]:
    """Return a response's headers without those of the body before it was decoded."""
    decoded = ("content-encoding", "content-length", "transfer-encoding")
    return [(k, v) for k, v in response.headers.items() if k.lower() not in decoded]


class _CappedBody(httpx2.AsyncByteStream):
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        with _translate_errors(httpx2.ReadError):
            async for chunk in self._response.content.iter_any():
                read += len(chunk)
                if read > MAX_BODY_BYTES:
                    self._response.close()
                    raise _build_size_error()
                yield chunk

    async def aclose(self) -> None:
        if self._response.content.is_eof():
            self._response.release()
        else:
            self._response.close()


def _build_size_error() -> ResponseTooLarge:
    return ResponseTooLarge(
        f"the endpoint's answer is over {MAX_BODY_BYTES:,} bytes",
        next="check that the address is that of a model endpoint",
    )


@contextmanager
def _translate_errors(kind: type[httpx2.TransportError]) -> Iterator[None]:
    try:
        yield
    except (TimeoutError, aiohttp.ServerTimeoutError) as error:
        raise httpx2.ConnectTimeout(str(error)) from error
    except (aiohttp.ClientError, OSError) as error:
        raise kind(str(error) or type(error).__name__) from error
