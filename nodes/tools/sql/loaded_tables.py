"""What loading the tables of files found, besides the tables."""

from dataclasses import dataclass, field


@dataclass
class LoadedTables:
    """By the name of each table."""

    broken: dict[str, Exception] = field(default_factory=dict)
    """Why it cannot be read; a file that is no table hides no other."""
    notes: dict[str, list[str]] = field(default_factory=dict)
    """What a user should know of how it was read."""
