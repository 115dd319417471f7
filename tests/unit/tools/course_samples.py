"""The shipped course."""

from pathlib import Path

EXAMPLES = Path(__file__).parents[3] / "teams" / "curriculum" / "sample"
