"""The shipped record of a run by a real language model, replayed as it was."""

from pathlib import Path
from typing import Final

from extensions.replay.record_file import read_record
from extensions.replay.show import print_replay, run_replay
from graph.display.labels import format_seconds
from graph.display.stderr_console import print_to_stderr
from nodes.tools.framework.extras import require_packages

RECORD: Final = Path(__file__).parent / "demo.record"
MODEL: Final = "Qwen2.5-Coder 1.5B Instruct (4 bits, llama.cpp on two processor cores)"
"""Who made the record; it has the name under which the server offers the model."""


def show_demo(*, is_fast: bool, as_json: bool, quiet: bool) -> int:
    """Replay the shipped record; print what it is, and the answer."""
    record = read_record(RECORD)
    begun = record.segments[0].begun
    # Without them the team's tools are not there, nor the examples in the prompts of the record.
    require_packages("demo", "the record's team and its prompts")
    took = max(
        (float(each["event"]["t"]) for each in record.segments[-1].entries if "event" in each),
        default=0.0,
    )
    if not quiet:
        day = str(begun["began"])[:10]
        pace = "shown at once" if is_fast else f"shown as it was, {format_seconds(took)}"
        hint = "" if is_fast else "; --fast shows it at once"
        print_to_stderr(
            f"a record of a run by {MODEL}, made on {day}, {pace}: nothing is asked now{hint}",
            style="bold",
        )
    done = run_replay(record, is_paced=not is_fast, quiet=quiet)
    return print_replay(done, as_json=as_json, quiet=quiet)
