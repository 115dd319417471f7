"""A process that runs one variant: a line on stdin asks for some runs at once, a line answers.

python -m tests.benchmarks.performance.contender VARIANT BASE_URL [POSTGRES_URL]
"""

import asyncio
import gc
import json
import resource
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.benchmarks.performance.variants import Variant, open_variant


async def measure_runs(variant: Variant, count: int, label: str) -> dict[str, Any]:
    """Run some at once: seconds by the clock and of the processor, bytes left, results."""
    threads = [f"{label}-{index}" for index in range(count)]
    runs = [await variant.prepare(thread) for thread in threads]
    gc.collect()
    bytes_before, processor_before = variant.count_bytes(), time.process_time()
    began_s = time.perf_counter()
    results = await asyncio.gather(*(run() for run in runs))
    wall_s = time.perf_counter() - began_s
    processor_s = time.process_time() - processor_before
    measured = {
        "wall_s": wall_s,
        "processor_s": processor_s,
        "bytes": variant.count_bytes() - bytes_before,
        "results": sum(results),
        "peak_bytes": read_peak_bytes(),
    }
    for thread in threads:
        variant.forget(thread)
    return measured


def read_peak_bytes() -> int:
    """Return the most memory that this process has held."""
    status = Path("/proc/self/status")
    if status.exists():  # what `getrusage` returns includes the parent's, at the start
        lines = status.read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def allow_many_files() -> None:
    """Raise the limit of open files, of which every call in flight is one, as far as allowed."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with suppress(ValueError, OSError):  # macOS has a lower limit than it says
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def serve_requests(name: str, base_url: str, postgres_url: str) -> None:
    """Answer each line, which is a number of runs, until stdin is closed."""
    with tempfile.TemporaryDirectory() as folder:
        opening = open_variant(
            name, base_url=base_url, folder=Path(folder), postgres_url=postgres_url
        )
        async with opening as variant:
            print(json.dumps({"ready": name}), flush=True)
            number = 0
            while line := await asyncio.to_thread(sys.stdin.readline):
                number += 1
                try:
                    answer = await measure_runs(variant, int(line), f"run-{number}")
                except Exception as error:  # goes into the table, in place of figures
                    answer = describe_error(error)
                print(json.dumps(answer), flush=True)


def describe_error(error: Exception) -> dict[str, str]:
    """Return the answer that says what failed."""
    return {"error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    allow_many_files()
    chosen, address, *database = sys.argv[1:]
    try:
        asyncio.run(serve_requests(chosen, address, "".join(database)))
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:  # the variant cannot be opened, or its database is lost
        print(json.dumps(describe_error(error)), flush=True)
