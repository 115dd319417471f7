"""A clock and a processor that stand still until a test moves them."""

from nodes.limits.outside_waits import OutsideWaits


class Moments:
    """The clocks of the waits of a run."""

    def __init__(self) -> None:
        self.clock_s = self.processor_s = 100.0
        self.waits = OutsideWaits(lambda: self.clock_s, lambda: self.processor_s)

    def pass_time(self, seconds: float, *, computed_s: float = 0.0) -> None:
        """Move the clock, and the processor's by what was computed meanwhile."""
        self.clock_s += seconds
        self.processor_s += computed_s
