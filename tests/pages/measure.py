"""Measure what a viewer costs a run, and what memory the live page takes.

python -m tests.pages.measure [--tasks 40] [--runs 8] [--server dev|aegra]
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.endpoint.process import run_endpoint_process
from tests.pages import scenarios, servers
from tests.pages.__main__ import run_driver


def main() -> int:
    """Print the figures; return 1 if they could not be measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--task-seconds", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--server", choices=servers.NAMES, default="dev")
    parser.add_argument("--screenshots", type=Path, default=Path("build/pages"))
    options = parser.parse_args()
    options.screenshots.mkdir(parents=True, exist_ok=True)
    scenario = scenarios.build_wide(options.tasks, task_s=options.task_seconds)
    with (
        tempfile.TemporaryDirectory() as folder,
        run_endpoint_process(scenario) as endpoint,
        servers.run_server(options.server, Path(folder), endpoint.base_url) as server,
    ):
        given = {
            **server,
            "name": f"{options.tasks}-tasks",
            "screenshots": str(options.screenshots.resolve()),
            "request": scenarios.REQUEST,
            "runs": options.runs,
        }
        is_right, said = run_driver("measure.mjs", given)
    print(said)
    return int(not is_right)


if __name__ == "__main__":
    sys.exit(main())
