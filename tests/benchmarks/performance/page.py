"""The page that shows the figures: what lies between its two marks is replaced."""

import re
import shutil
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "performance.md"
LEFT_OUT = ("Stored", "Peak memory", "Calls in flight", "Measured workflows", "Growth")
"""Beginnings of titles whose tables are in `tables.md` only."""
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"


def publish_report(report: str, plot: Path, *, page: Path = PAGE) -> None:
    """Write the tables into the page, and the plot, if there is one, beside it.

    Raises:
        ValueError: the page lacks a mark.
    """
    sections = re.split(r"^### ", report, flags=re.MULTILINE)
    shown = "### ".join(each for each in sections if not each.startswith(LEFT_OUT))
    text = page.read_text(encoding="utf-8")
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} lacks the marks between which figures belong")
    page.write_text(f"{head}{BEGIN}\n{shown}\n{END}{tail}", encoding="utf-8")
    if plot.exists():
        images = page.parent / "images"
        images.mkdir(exist_ok=True)
        shutil.copyfile(plot, images / plot.name)
