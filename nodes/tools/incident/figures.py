"""All that is computed of a set of logs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from nodes.tools.incident.changes import Change, changes, last_before
from nodes.tools.incident.logs import Entry
from nodes.tools.incident.traffic import Stretch, buckets, failures, rise, stretch, traffic, width_s
from nodes.tools.incident.unfit import NothingFits


@dataclass(frozen=True)
class Figures:
    """All that is computed of a set of logs."""

    counted: list[Entry]
    unit: str
    whole: Stretch
    width_s: int
    buckets: list[Stretch]
    failing: list[Entry]
    messages: list[tuple[Entry, int]]
    """What is logged with errors, and how often; the most frequent first."""
    changes: list[Change]

    @property
    def peak(self) -> Stretch:
        """Give the bucket with the highest rate of errors; of equals the one with more of them."""
        return max(self.buckets, key=lambda one: (one.rate, one.errors))

    @cached_property
    def onset(self) -> Stretch | None:
        """Give the bucket at which errors rose most clearly; None where no rise stands out."""
        return rise(self.buckets)

    @property
    def source(self) -> str:
        """Name the file that most of the entries are of."""
        ((name, _),) = Counter(entry.source for entry in self.counted).most_common(1)
        return name

    @property
    def suspect(self) -> Change | None:
        """Name the last change before the errors rose."""
        if self.onset is None or self.onset.begins is None:
            return None
        return last_before(self.changes, self.onset.begins + timedelta(seconds=self.width_s))

    def around(self, change: Change) -> tuple[Stretch, Stretch]:
        """Sum up what came before a change, and what came after."""
        before = [entry for entry in self.counted if entry.time and entry.time < change.time]
        after = [entry for entry in self.counted if entry.time and entry.time >= change.time]
        return stretch(before), stretch(after)


def figures(entries: Sequence[Entry]) -> Figures:
    """Compute everything from the entries of one or several logs.

    Raises:
        NothingFits: nothing with a time can be counted.
    """
    chosen = traffic(entries)
    if not chosen:
        raise NothingFits(
            "no log with times was given: a CSV or JSON-lines file with a column such as time and "
            "one of status, level, or requests and errors is needed"
        )
    width = width_s(chosen)
    is_lines = not (chosen[0].is_request or chosen[0].requests is not None)
    return Figures(
        chosen,
        "log line" if is_lines else "request",
        stretch(chosen, chosen[0].time),
        width,
        buckets(chosen, width),
        [entry for entry in chosen if failures(entry)],
        _messages(entries),
        changes(entries),
    )


def _messages(entries: Sequence[Entry]) -> list[tuple[Entry, int]]:
    held: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.is_failing and entry.message:
            held.setdefault(entry.message, []).append(entry)
    counts = [(same[0], len(same)) for same in held.values()]
    return sorted(counts, key=lambda one: -one[1])
