"""The measured speed of a model's answers, and how much longer than usual it may take."""

from collections import deque
from functools import cache
from statistics import median

USUAL_TOKENS_PER_S = 30.0
"""The speed that the default limits in seconds are made for."""
MAX_FACTOR = 20.0
MIN_FACTOR = 1.5
"""A smaller factor is noise: short answers measure the prompt, too."""
MIN_OUTPUT_TOKENS = 32
"""A shorter answer measures the way to the endpoint rather than the model."""
WINDOW_ANSWERS = 9
MAX_SILENT_CALLS = 3
"""Calls without an answer, in a row, that count: a model has up to eight times the usual time."""
MAX_NOTED_RUNS = 64


class ModelSpeed:
    """Output tokens a second of one model behind one endpoint; shared by all runs."""

    def __init__(self) -> None:
        self._speeds: deque[float] = deque(maxlen=WINDOW_ANSWERS)
        self.timeouts = 0
        """Calls without an answer in time; each counts as an answer at half the speed."""
        self._silent_calls, self._has_read = 0, False
        self._noted_runs: deque[str] = deque(maxlen=MAX_NOTED_RUNS)

    @property
    def tokens_per_s(self) -> float | None:
        """The median of the last answers, time for the prompt included; None before the first."""
        return median(self._speeds) if self._speeds else None

    @property
    def limit_factor(self) -> float:
        """By how much a limit in seconds is multiplied that was not set: at least 1."""
        speed = self.tokens_per_s
        factor = USUAL_TOKENS_PER_S / speed if speed else 1.0
        return min(MAX_FACTOR, factor) if factor >= MIN_FACTOR else 1.0

    def record_answer(
        self, output_tokens: int, seconds: float, *, has_read_little: bool = False
    ) -> None:
        """Count an answer, unless it is too short to measure the model.

        Args:
            has_read_little: most of its prompt was in the server's cache, so that it says less of
                how long others take: it counts only until a prompt was read, or after a timeout.
        """
        self._silent_calls = 0
        if output_tokens < MIN_OUTPUT_TOKENS or seconds <= 0:
            return
        if not has_read_little and not self._has_read:
            self._has_read = True
            self._speeds.clear()
        if not has_read_little or not self._has_read:
            self._speeds.append(output_tokens / seconds)

    def record_timeout(self) -> None:
        """Count a call that ended at the default limit as an answer at half the speed.

        Without this a model too slow for its first answer would never get more time. One that
        stays silent counts no further: it hangs.
        """
        self.timeouts += 1
        self._has_read = False
        self._silent_calls += 1
        if self._silent_calls <= MAX_SILENT_CALLS:
            self._speeds.append((self.tokens_per_s or USUAL_TOKENS_PER_S) / 2)

    def note_run(self, run_id: str) -> bool:
        """Return whether this is the first time that a run asks."""
        is_new = run_id not in self._noted_runs
        if is_new:
            self._noted_runs.append(run_id)
        return is_new


@cache
def get_model_speed(endpoint: str, model: str) -> ModelSpeed:
    """Return the speed of a model behind an endpoint."""
    return ModelSpeed()
