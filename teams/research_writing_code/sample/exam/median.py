"""Print the median of some waiting times, in minutes."""

WAITS = [12, 3, 7, 25, 9, 4, 16]


def median(values: list[float]) -> float:
    """Give the middle one of some values, or the mean of the two in the middle."""
    ranked = sorted(values)
    half = len(ranked) // 2
    return ranked[half] if len(ranked) % 2 else (ranked[half - 1] + ranked[half]) / 2


if __name__ == "__main__":
    print(f"median of {len(WAITS)} values: {median(WAITS)} minutes")
