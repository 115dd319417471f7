"""Report what failed in a log, from its tracebacks and error lines."""

from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from extensions.tools.logs.entries import Log
from extensions.tools.logs.reader import is_log, read_log
from nodes.errors import NothingToRead, ToolRefused
from nodes.tools.framework.argument_types import FileName, Text
from nodes.tools.framework.materials import Materials, get_material_text, resolve_material_name

from .support.log_diagnosis import diagnose_logs

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
NO_LOG_MESSAGE = (
    "there is no log or traceback in the task or its files. Attach one (on the command line: "
    "--file), or paste it into the request: without one, only a language model or a human can "
    "diagnose it"
)
MAX_PASTED_CHARS = 200_000


@tool
def analyze_log(
    pasted: Annotated[
        Text,
        Field(
            description="The log lines or the traceback that the task itself contains, copied with "
            "their line breaks; empty if all of them are in files",
            max_length=MAX_PASTED_CHARS,
        ),
    ],
    log: Annotated[
        FileName | None,
        Field(
            description="Name of the one log to read; by default every log among the files",
        ),
    ] = None,
    materials: Materials = None,
) -> dict[str, Any]:
    """Return what failed in a log or a traceback of Python, Java or JavaScript, how often, where.

    Returns each kind of error with its first and last time, its chain of causes, and the product's
    own call nearest to the root cause; of a log without errors, the most frequent warnings.
    Example: analyze_log(pasted="", log="worker.log")
    """
    if log:
        name = resolve_material_name(log, materials)
        named = read_log(name, get_material_text(name, materials))
        if not _holds_entries(named):
            raise ToolRefused(f"{name} is not a log: no line has a time, a level or a traceback")
        return diagnose_logs([named])
    held = (materials or {}).items()
    found = [read_log(name, text) for name, text in held if is_log(name, text)]
    if found := [each for each in found if _holds_entries(each)]:
        return diagnose_logs(found)
    read = read_log("the request", pasted)
    if read.failures or len(read.entries) > 1:
        return diagnose_logs([read], is_pasted=True)
    raise NothingToRead(NO_LOG_MESSAGE)


def _holds_entries(log: Log) -> bool:
    return bool(log.failures) or any(entry.stamp or entry.level for entry in log.entries)
