"""A child process for the tests of isolation: does what it is told, good or bad."""

import os
import sys
from typing import Any

from nodes.errors import ToolRefused
from nodes.tools.framework.isolated_child import MAX_MEMORY_BYTES


def act(deed: str, path: str = "") -> dict[str, Any]:
    match deed:
        case "hang":
            os.read(os.pipe()[0], 1)
        case "die":
            os._exit(1)
        case "fail":
            raise ValueError("no such thing")
        case "write":
            with open(path, "w") as file:
                file.write("x")
        case "hoard":
            bytearray(MAX_MEMORY_BYTES)
        case "print":
            sys.stdout.write("noise")
        case "refuse":
            raise ToolRefused("not this")
    return {"names": sorted(os.environ), "pid": os.getpid()}
