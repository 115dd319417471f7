"""The connection to a remote worker: each fault has its error, and nothing leaves the server."""

from collections.abc import Callable

import httpx
import pytest

from extensions.remote.agent_protocol import AgentProtocolSession, open_agent_protocol
from extensions.remote.session import RemoteRequest
from nodes.errors import RemoteError
from nodes.net.connection import (
    CappedTransport,
    RemoteBusy,
    RemoteInvalid,
    RemoteRefused,
    RemoteTooLarge,
    RemoteUnauthorized,
    RemoteUnknown,
    RemoteUnreachable,
    RemoteUnreadable,
)
from nodes.schemas.servers import RemoteSpec

SPEC = RemoteSpec(url="https://agents.example.com", graph="crew")
REQUEST = RemoteRequest(key="one", words="Count.", full_text="Count.")
Answer = Callable[[httpx.Request], httpx.Response]


async def begin(answer: Answer) -> None:
    async with open_agent_protocol(SPEC, {}, httpx.MockTransport(answer)) as session:
        await session.begin(REQUEST)


def refuse(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused")


def say_nothing(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadTimeout("silent")


def reply(status: int, text: str = "{}", **headers: str) -> Answer:
    return lambda _: httpx.Response(status, text=text, headers=headers)


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (refuse, RemoteUnreachable, "cannot be reached"),
        (say_nothing, RemoteUnreachable, "no answer in time"),
        (reply(401), RemoteUnauthorized, "refuses the credentials (401)"),
        (reply(403, '{"detail": "no \\u001b[31m seat"}'), RemoteUnauthorized, "no [31m seat"),
        (reply(404), RemoteUnknown, "(404)"),
        (reply(422, '{"detail": "wrong input"}'), RemoteInvalid, "wrong input"),
        (reply(429), RemoteBusy, "(429)"),
        (reply(503, "down"), RemoteBusy, "(503)"),
        (reply(200, "<html>welcome</html>"), RemoteUnreadable, "cannot be read"),
        (reply(200, '{"version": 99}'), RemoteUnreadable, "cannot be read"),
        (reply(302, location="https://evil.example/"), RemoteRefused, "redirects"),
        (reply(200, "x", **{"content-encoding": "gzip"}), RemoteUnreadable, "compressed"),
    ],
)
async def test_each_fault_of_the_far_side_has_its_error_in_one_line(
    answer: Answer, error: type[RemoteError], words: str
) -> None:
    with pytest.raises(RemoteError) as raised:
        await begin(answer)

    assert type(raised.value) is error
    assert words in raised.value.format_line()
    assert "\n" not in raised.value.format_line()
    assert "\x1b" not in raised.value.format_line()


async def test_a_pause_that_the_far_side_asks_for_is_kept() -> None:
    with pytest.raises(RemoteBusy) as raised:
        await begin(reply(429, **{"retry-after": "7"}))

    assert raised.value.retry_after_s == 7


async def test_an_answer_of_fifty_megabytes_is_not_read_to_its_end() -> None:
    sent = 0

    async def flood():
        nonlocal sent
        for _ in range(50):
            sent += 1_000_000
            yield b"x" * 1_000_000

    inner = httpx.MockTransport(lambda _: httpx.Response(200, content=flood()))
    async with httpx.AsyncClient(transport=CappedTransport(inner, SPEC), base_url=SPEC.url) as http:
        with pytest.raises(RemoteTooLarge, match="larger than 20 MB"):
            await http.get("/")

    assert sent <= 22_000_000


async def test_credentials_are_not_sent_to_an_address_that_the_far_side_names() -> None:
    called: list[httpx.URL] = []

    def note(request: httpx.Request) -> httpx.Response:
        called.append(request.url)
        return httpx.Response(200)

    inner = httpx.MockTransport(note)
    async with httpx.AsyncClient(transport=CappedTransport(inner, SPEC)) as http:
        with pytest.raises(RemoteRefused, match="names another address"):
            await http.get("https://evil.example/", headers={"authorization": "Bearer x"})

    assert called == []


async def test_no_key_of_the_environment_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGSMITH_API_KEY", "lsv2_pt_0123456789abcdef")
    seen: list[httpx.Headers] = []

    def note(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers)
        return httpx.Response(500)

    with pytest.raises(RemoteBusy):
        await begin(note)

    assert "x-api-key" not in seen[0]
    assert "lsv2" not in str(seen)


async def test_cancelling_what_never_began_calls_nothing() -> None:
    async with open_agent_protocol(SPEC, {}, httpx.MockTransport(refuse)) as session:
        assert isinstance(session, AgentProtocolSession)
        await session.cancel()
