"""Builds what calls a remote worker: its address, and its headers with their variables."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from extensions.remote.run import RemoteRun
from extensions.remote.session import OpenSession, RemoteSession
from nodes.errors import SettingsInvalid
from nodes.errors.redaction import register_secrets
from nodes.execution.outside_worker import OutsideTask
from nodes.net.connection import RemoteUnreachable, load_certificates
from nodes.schemas.servers import PUBLIC_HEADERS, RemoteSpec
from nodes.text.variables import FindVariable, VariableUnset, expand_variables
from state import Report


@dataclass(frozen=True)
class RemoteWorker:
    """A worker on another server, as an attempt asks it."""

    spec: RemoteSpec
    open: OpenSession

    async def probe(self, timeout_s: float) -> str:
        """Return what it offers, in one line; nothing is started there.

        Raises:
            RemoteError: it does not answer in time, or cannot be used.
        """
        try:
            async with asyncio.timeout(timeout_s), self.open({}) as session:
                return await session.probe()
        except TimeoutError:
            raise RemoteUnreachable(
                f"{self.spec.host} cannot be reached", cause=f"no answer within {timeout_s:g} s"
            ) from None

    async def do(self, task: OutsideTask) -> Report:
        """Return the report of an attempt at a task."""
        return await RemoteRun(spec=self.spec, open=self.open, task=task).run()


def build_remote_worker(worker: str, spec: RemoteSpec, find: FindVariable) -> RemoteWorker:
    """Return a remote worker; nothing is connected yet.

    Raises:
        SettingsInvalid: a variable that a header names is not set.
        ImportError: the packages of the protocol are not installed.
    """
    own = expand_headers(worker, spec, find)
    open_session = _import_protocol(spec)
    return RemoteWorker(spec, lambda more: open_session(spec, {**more, **own}))


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
                next=error.advice,
            ) from None
        if not value.isprintable() or not value.isascii():
            raise SettingsInvalid(
                f"the header {name} of worker {worker} is not one line of ASCII characters"
            )
        if name.lower() not in PUBLIC_HEADERS:
            register_secrets([*secrets, value, value.rpartition(" ")[2]])
        headers[name] = value
    return headers


def _import_protocol(
    spec: RemoteSpec,
) -> Callable[[RemoteSpec, Mapping[str, str]], AbstractAsyncContextManager[RemoteSession]]:
    """Import the client now, in the thread that builds workers, and not while others work."""
    load_certificates()
    if spec.protocol == "a2a":
        from extensions.remote.a2a_protocol import open_a2a

        return open_a2a
    from extensions.remote.agent_protocol import open_agent_protocol

    return open_agent_protocol
