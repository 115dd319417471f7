"""Builds what calls a remote worker: its address, and its headers with their variables."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final

from extensions.remote.run import RemoteRun
from extensions.remote.session import RemoteAgent, RemoteSession
from nodes.errors import SettingsInvalid
from nodes.errors.redaction import register_secrets
from nodes.execution.outside_worker import OutsideTask
from nodes.net.connection import RemoteUnreachable
from nodes.schemas.servers import RemoteSpec
from nodes.text.variables import FindVariable, VariableUnset, expand_variables

EXTRAS: Final = {"agent_protocol": "remote", "a2a": "a2a"}
"""The extra of this application that each protocol needs."""
_PUBLIC_HEADERS: Final = frozenset(("accept", "accept-language", "content-type", "user-agent"))


class RemoteWorker:
    """A worker on another server, as an attempt asks it."""

    def __init__(self, agent: RemoteAgent) -> None:
        self.agent = agent

    async def probe(self, timeout_s: float) -> str:
        """Return what it offers, as `probe_remote_agent` does."""
        return await probe_remote_agent(self.agent, timeout_s)

    def start(self, task: OutsideTask) -> RemoteRun:
        """Return an attempt at a task."""
        return RemoteRun(agent=self.agent, task=task)


async def probe_remote_agent(agent: RemoteAgent, timeout_s: float) -> str:
    """Return what a remote worker offers, in one line; nothing is started there.

    Raises:
        RemoteError: it does not answer in time, or cannot be used.
    """
    try:
        async with asyncio.timeout(timeout_s), agent.open({}) as session:
            return await session.probe()
    except TimeoutError:
        raise RemoteUnreachable(
            f"{agent.spec.host} cannot be reached", cause=f"no answer within {timeout_s:g} s"
        ) from None


def build_remote_agent(worker: str, spec: RemoteSpec, find: FindVariable) -> RemoteAgent:
    """Return what calls a remote worker; nothing is connected yet.

    Raises:
        SettingsInvalid: a variable that a header names is not set.
        ImportError: the packages of the protocol are not installed.
    """
    own = expand_headers(worker, spec, find)
    _import_protocol(spec)

    def open_session(more: Mapping[str, str]) -> AbstractAsyncContextManager[RemoteSession]:
        headers = {**more, **own}
        if spec.protocol == "a2a":
            from extensions.remote.a2a_protocol import open_a2a

            return open_a2a(spec, headers)
        from extensions.remote.agent_protocol import open_agent_protocol

        return open_agent_protocol(spec, headers)

    return RemoteAgent(spec, open_session)


def expand_headers(worker: str, spec: RemoteSpec, find: FindVariable) -> dict[str, str]:
    """Return the headers with their variables; their values are secrets from now on.

    Raises:
        SettingsInvalid: a variable is not set, or a value is not one line.
    """
    headers = {}
    for name, text in spec.headers.items():
        try:
            value, secrets = expand_variables(text, find)
        except VariableUnset as error:
            raise SettingsInvalid(
                f"the header {name} of worker {worker} needs {error.name}, which is not set",
                next=f"set {error.name} in the environment or in a trusted .env, or write "
                f"${{{error.name}:-default}}",
            ) from None
        if not value.isprintable() or not value.isascii():
            raise SettingsInvalid(
                f"the header {name} of worker {worker} is not one line of ASCII characters"
            )
        if name.lower() not in _PUBLIC_HEADERS:
            register_secrets([*secrets, value, value.rpartition(" ")[2]])
        headers[name] = value
    return headers


def _import_protocol(spec: RemoteSpec) -> None:
    """Import the client now, in the thread that builds workers, and not while others work."""
    if spec.protocol == "a2a":
        import extensions.remote.a2a_protocol
    else:
        import extensions.remote.agent_protocol  # noqa: F401
    from nodes.net.connection import load_certificates

    load_certificates()
