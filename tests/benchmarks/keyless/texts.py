"""Texts as a reader sees them: markup and white space do not count, numbers are numbers."""

import html
import re
from pathlib import Path

MARKUP = re.compile(r"^[ \t]*>[> \t]*|\\(?=[^\w\s])|\\(?=_)|[*`]+", re.MULTILINE)
"""The signs of quoted lines, of escapes, of emphasis and of code."""
TAG = re.compile(r"<[^>]*>")
NUMBER = re.compile(
    r"(?<![\w.,])[-\u2212]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w]|[.,]\d)"
)


def normalize(text: str) -> str:
    """Return a text without quotation and emphasis, with straight apostrophes and single spaces."""
    return " ".join(MARKUP.sub("", text.replace("\u2019", "'")).split())


def read_text(file: Path) -> str:
    """Return the text of a file; of HTML what stands between the tags."""
    text = file.read_bytes().decode("utf-8", "replace")
    return html.unescape(TAG.sub(" ", text)) if file.suffix == ".html" else text


def find_fact(pattern: str, text: str) -> bool:
    """Return whether a pattern is found in a text."""
    return re.search(pattern, normalize(text)) is not None


def list_numbers(text: str) -> list[tuple[float, int]]:
    """Return the numbers of a text, each with its decimal places; those inside words are none."""
    found = NUMBER.findall(text)
    plain = [number.replace(",", "").replace("\u2212", "-") for number in found]
    return [(float(number), _count_decimals(number)) for number in plain]


def _count_decimals(number: str) -> int:
    mantissa, _, exponent = number.lower().partition("e")
    return len(mantissa.partition(".")[2]) - int(exponent or 0)


def find_name(text: str, name: str) -> bool:
    """Return whether a text names something, on word boundaries; `_` and `.` may be spaces."""
    return re.search(build_name_pattern(name), text, re.IGNORECASE) is not None


def build_name_pattern(name: str) -> str:
    """Return the pattern of a name, on word boundaries; `_` and `.` may be spaces."""
    words = [re.escape(word) for word in re.split(r"[\W_]+", name) if word]
    return r"(?<![^\W_])" + r"[\W_]+".join(words) + r"(?![^\W_])"
