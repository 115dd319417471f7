"""Names that look like variables of ours and are none."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import Final

VARIABLE_PREFIX: Final = "SUPERVISE_"
CHECKOUT_VARIABLES: Final = frozenset(
    {
        "SUPERVISE_TEST_CONTRACTS",
        "SUPERVISE_TEST_AEGRA_PYTHON",
        "SUPERVISE_TEST_POSTGRES_URL",
        "SUPERVISE_REAL_GGUF",
    }
)
"""What the tests of a checkout read, besides the settings."""


def find_unknown_names(given: Iterable[str], settings: Collection[str]) -> dict[str, str]:
    """Return the names with our prefix that nothing reads, each with the nearest setting or ""."""
    known = {name.removeprefix(VARIABLE_PREFIX): name for name in settings}
    unknown = sorted({*given} - {*settings} - CHECKOUT_VARIABLES)
    named = [name for name in unknown if name.startswith(VARIABLE_PREFIX)]
    near = {
        name: get_close_matches(name.removeprefix(VARIABLE_PREFIX), known, n=1) for name in named
    }
    return {name: known[found[0]] if found else "" for name, found in near.items()}


def describe_unknown_name(name: str, near: str) -> str:
    """Return one line about a name that nothing reads.

    Args:
        near: the setting that may be meant; empty without one.
    """
    advice = f"did you mean {near}?" if near else "`supervise doctor` lists such names"
    return f"warning: {name} is not a setting and is ignored; {advice}"
