"""Regular expressions that end: matching stops after a limit, whatever the text.

Python's `re` cannot be stopped: on 100 kB of one letter the plain pattern `[a-z]+:` takes half a
minute, and a nested repetition never ends. `regex` has the same syntax and takes a time limit.
"""

import re
from collections.abc import Callable, Iterator
from functools import cached_property, reduce
from operator import or_
from typing import Any, Final

from nodes.errors import ToolFailed

LIMIT_S: Final = 2.0
"""Processor time of this process for one call; texts that mean no harm take milliseconds."""
LONG_CHARS: Final = 10_000
"""From here on other threads run during a search; handing over costs more than a short one."""
_FLAGS: Final = ("IGNORECASE", "MULTILINE", "DOTALL", "VERBOSE", "ASCII")


class PatternTimeout(ToolFailed):
    """A text was not searched to its end, so nothing is known of what it holds."""


class Pattern:
    """A regular expression in the syntax of `re`, compiled when it is first used.

    Every method takes what its namesake in `re` takes, and raises `PatternTimeout` when it has
    used `LIMIT_S` seconds of processor time.
    """

    def __init__(self, pattern: str, flags: re.RegexFlag = re.NOFLAG) -> None:
        self.pattern, self.flags = pattern, flags

    def __repr__(self) -> str:
        return f"Pattern({self.pattern!r})"

    def check(self) -> None:
        """Compile the pattern now.

        Raises:
            ValueError: it is no regular expression; the message says where.
        """
        import regex  # type: ignore[import-untyped]

        try:
            _ = self._compiled
        except regex.error as error:
            raise ValueError(str(error)) from error

    def search(self, text: str, pos: int = 0, endpos: int | None = None) -> re.Match[str] | None:
        """Return the first match anywhere in a text."""
        found: re.Match[str] | None = self._run(text, "search", text, pos, endpos)
        return found

    def match(self, text: str, pos: int = 0, endpos: int | None = None) -> re.Match[str] | None:
        """Return the match at the start of a text."""
        found: re.Match[str] | None = self._run(text, "match", text, pos, endpos)
        return found

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Return the match of a whole text."""
        found: re.Match[str] | None = self._run(text, "fullmatch", text)
        return found

    def finditer(
        self, text: str, pos: int = 0, endpos: int | None = None
    ) -> Iterator[re.Match[str]]:
        """Return all matches, found at once: what the caller does between two must not count."""
        return iter(self._run(text, "finditer", text, pos, endpos))

    def findall(self, text: str) -> list[Any]:
        """Return the text of all matches, or of their groups."""
        return list(self._run(text, "findall", text))

    def split(self, text: str, maxsplit: int = 0) -> list[str]:
        """Return the parts of a text between the matches."""
        return list(self._run(text, "split", text, maxsplit))

    def sub(self, new: str | Callable[[re.Match[str]], str], text: str, count: int = 0) -> str:
        """Return a text with the matches replaced."""
        return str(self._run(text, "sub", new, text, count))

    def _run(self, text: str, method: str, *args: Any) -> Any:
        is_long = len(text) >= LONG_CHARS
        try:
            found = getattr(self._compiled, method)(*args, timeout=LIMIT_S, concurrent=is_long)
            return list(found) if method == "finditer" else found
        except TimeoutError:
            raise PatternTimeout(
                f"a text of {len(text):,} characters takes too long to search: it repeats itself"
            ) from None

    @cached_property
    def _compiled(self) -> Any:
        import regex  # the command line's help can do without it

        flags = [getattr(regex, name) for name in _FLAGS if self.flags & re.RegexFlag[name]]
        return regex.compile(self.pattern, reduce(or_, flags, 0))
