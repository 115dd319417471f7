"""In which format a picture is drawn: as the option says, or as the file's suffix does."""

from pathlib import Path
from typing import Final, Literal

from nodes.errors import UsageError

PictureFormat = Literal["mermaid", "svg"]
_NAMES: Final[dict[PictureFormat, str]] = {"mermaid": "Mermaid", "svg": "SVG"}
_SUFFIXES: Final[dict[PictureFormat, tuple[str, ...]]] = {
    "mermaid": (".mmd", ".md", ".mermaid", ".txt"),
    "svg": (".svg",),
}
"""Of files that may hold each; a file without a suffix may hold any."""


def choose_format(
    subject: str, allowed: tuple[PictureFormat, ...], given: PictureFormat | None, out: Path | None
) -> PictureFormat:
    """Return the format of a picture: the one given, else that of the file, else the first allowed.

    Args:
        subject: what is drawn, as the beginning of a sentence.

    Raises:
        UsageError: it is not drawn in that format, or the file's suffix is of another.
    """
    suffix = out.suffix.lower() if out else ""
    of_file = next((name for name, known in _SUFFIXES.items() if suffix in known), None)
    chosen = given or of_file or allowed[0]
    if chosen not in allowed:
        only = allowed[0]
        option = f"--format {only}" if given else f"--out FILE{_SUFFIXES[only][0]}"
        raise UsageError(f"{subject} is drawn as {_NAMES[only]} only", next=option)
    if suffix and suffix not in _SUFFIXES[chosen]:
        raise UsageError(
            f"{_NAMES[chosen]} does not fit a file named {suffix}",
            next=" or ".join(f"--out FILE{_SUFFIXES[each][0]}" for each in allowed),
        )
    return chosen
