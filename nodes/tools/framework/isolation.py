"""Call functions that read untrusted input in a child process, which can be killed.

A function is named `package.module:function`; its arguments and its result are JSON. It may raise
`ToolRefused`. The child gets no environment, so it holds no key; it has limits of memory and of
what it writes.
"""

import asyncio
import json
import os
import subprocess
import sys
from types import TracebackType
from typing import Any, Self

from nodes.errors import ToolFailed, ToolRefused
from nodes.limits.nesting import parse_json
from nodes.tools.framework.extras import explain_missing_module
from nodes.tools.framework.tool_packages import IMPORT_ROOT, find_tool_package

MAX_ANSWER_BYTES = 64_000_000
TIMEOUT_S = 60.0
"""Of a call."""
CHILD_PROGRAM = "nodes.tools.framework.isolated_child"


async def run_isolated(
    function: str,
    *,
    timeout_s: float = TIMEOUT_S,
    max_written_bytes: int = 0,
    failure: str = "{}",
    **arguments: Any,
) -> Any:
    """Call a function once in a child process of its own, and return its result.

    Args:
        failure: says what could not be done, and what to do instead; `{}` is the reason.

    Raises:
        ToolFailed: no result in time, or none at all.
        ToolRefused: the function refuses its arguments.
    """
    process = IsolatedFunction(function, timeout_s=timeout_s, max_written_bytes=max_written_bytes)
    async with process:
        try:
            return await process.call(**arguments)
        except ToolFailed as error:
            raise ToolFailed(failure.replace("{}", str(error))) from error


def run_isolated_blocking(
    function: str, *, timeout_s: float, max_written_bytes: int = 0, **arguments: Any
) -> Any:
    """Do as `run_isolated`, and wait in this thread.

    Raises:
        ToolFailed: no result in time, or none at all.
        ToolRefused: the function refuses its arguments.
    """
    try:
        done = subprocess.run(
            _build_command(function, max_written_bytes),
            input=json.dumps(arguments).encode() + b"\n",
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_build_environment(),
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ToolFailed(f"took longer than {timeout_s:g} s") from None
    return _parse_answer(done.stdout)


class IsolatedFunction:
    """A function in a child process, for many calls; the child starts again after a kill."""

    def __init__(self, function: str, *, timeout_s: float, max_written_bytes: int = 0) -> None:
        self._command = _build_command(function, max_written_bytes)
        self._timeout_s = timeout_s
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

    async def call(self, **arguments: Any) -> Any:
        """Call the function and return its result.

        Raises:
            ToolFailed: no result in time, or none at all.
            ToolRefused: the function refuses its arguments.
        """
        try:
            async with asyncio.timeout(self._timeout_s):
                line = await self._exchange_lines(arguments)
        except TimeoutError:
            await self._kill()
            raise ToolFailed(f"took longer than {self._timeout_s:g} s") from None
        except (ValueError, ConnectionError):
            await self._kill()
            raise ToolFailed("gave an answer that is too large, or none") from None
        if not line.endswith(b"\n") or b'"died"' in line[:10]:
            await self._kill()
        return _parse_answer(line)

    async def _exchange_lines(self, arguments: dict[str, Any]) -> bytes:
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
        child.stdin.write(json.dumps(arguments).encode() + b"\n")
        await child.stdin.drain()
        return await child.stdout.readline()

    async def _kill(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        if child.returncode is None:
            child.kill()
        await child.wait()


def _parse_answer(line: bytes) -> Any:
    if not line.endswith(b"\n"):
        raise ToolFailed("ended without an answer")
    answer = parse_json(line)
    if reason := answer.get("refused"):
        raise ToolRefused(reason)
    if reason := answer.get("died"):
        install = explain_missing_module(reason)
        raise ToolFailed(f"ended with {reason}" + (f"; {install}" if install else ""))
    return answer["result"]


def _build_command(function: str, max_written_bytes: int) -> tuple[str, ...]:
    package = map(str, find_tool_package(function) or ())
    python = (sys.executable, "-P", "-X", "utf8", "-m", CHILD_PROGRAM)
    return *python, function, str(max_written_bytes), *package


def _build_environment() -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join([str(IMPORT_ROOT), *filter(None, sys.path)])}
