"""A child process for the tests of isolation: does what it is told, good or bad."""

import os
import sys
from typing import Any

from nodes.tools.child_server import MAX_MEMORY_BYTES, serve_requests


def answer_request(request: dict[str, Any]) -> dict[str, Any]:
    match request["do"]:
        case "hang":
            os.read(os.pipe()[0], 1)
        case "die":
            os._exit(1)
        case "fail":
            raise ValueError("no such thing")
        case "write":
            with open(request["path"], "w") as file:
                file.write("x")
        case "hoard":
            bytearray(MAX_MEMORY_BYTES)
        case "print":
            sys.stdout.write("noise")
    result: dict[str, dict[str, Any]] = {
        "environment": {"names": sorted(os.environ)},
        "refuse": {"refused": "not this"},
    }
    return result.get(request["do"], {"pid": os.getpid()})


if __name__ == "__main__":
    serve_requests(answer_request)
