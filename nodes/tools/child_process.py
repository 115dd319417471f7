"""Process untrusted input in a separate process that can be killed.

The child module calls `serve`; parent and child exchange one line of JSON each way per request.
The child gets no environment, so it holds no key.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nodes.errors import ToolFailed, ToolRefused
from nodes.tools.child_server import serve_requests as serve_requests

MAX_ANSWER_BYTES = 64_000_000
PROJECT_ROOT = str(Path(__file__).resolve().parents[2])
"""Folder that `nodes` is imported from, also when it is the current folder."""


class ChildProcess:
    """A child process that answers requests; it starts on first use, and again after a kill."""

    def __init__(self, module: str, *, timeout_s: float) -> None:
        self._command, self._timeout_s = _build_command(module), timeout_s
        self._child: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._kill()

    async def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send one request and wait for its answer.

        Raises:
            ToolFailed: no answer in time, or no answer at all.
            ToolRefused: the child refuses the request.
        """
        try:
            async with asyncio.timeout(self._timeout_s):
                line = await self._exchange_lines(request)
        except TimeoutError:
            await self._kill()
            raise ToolFailed(f"took longer than {self._timeout_s:g} s") from None
        except (ValueError, ConnectionError):
            await self._kill()
            raise ToolFailed("gave an answer that is too large, or none") from None
        if not line.endswith(b"\n") or b'"died"' in line[:10]:
            await self._kill()
        return _parse_answer(line)

    async def _exchange_lines(self, request: Mapping[str, Any]) -> bytes:
        child = self._child
        if child is None or child.returncode is not None:
            child = self._child = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_build_environment(),
                limit=MAX_ANSWER_BYTES,
            )
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write(json.dumps(request).encode() + b"\n")
        await child.stdin.drain()
        return await child.stdout.readline()

    async def _kill(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        if child.returncode is None:
            child.kill()
        await child.wait()


def ask_once(module: str, request: Mapping[str, Any], *, timeout_s: float) -> dict[str, Any]:
    """Send one request to a new child and wait for the answer in this thread.

    Raises:
        ToolFailed: no answer in time, or no answer at all.
        ToolRefused: the child refuses the request.
    """
    try:
        done = subprocess.run(
            _build_command(module),
            input=json.dumps(request).encode() + b"\n",
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_build_environment(),
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ToolFailed(f"took longer than {timeout_s:g} s") from None
    return _parse_answer(done.stdout)


def _parse_answer(line: bytes) -> dict[str, Any]:
    if not line.endswith(b"\n"):
        raise ToolFailed("ended without an answer")
    answer: dict[str, Any] = json.loads(line)
    if reason := answer.get("refused"):
        raise ToolRefused(reason)
    if reason := answer.get("died"):
        raise ToolFailed(f"ended with {reason}")
    return answer


def _build_command(module: str) -> tuple[str, ...]:
    return sys.executable, "-P", "-X", "utf8", "-m", module


def _build_environment() -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join([PROJECT_ROOT, *filter(None, sys.path)])}
