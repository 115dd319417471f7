"""The timeline of a run as SVG."""

from math import floor, log10
from typing import Final

from graph.pictures.state_look import find_look
from graph.pictures.svg import (
    CHAR_WIDTH,
    HEADER_HEIGHT,
    LEGEND_HEIGHT,
    MARGIN,
    Element,
    add_element,
    add_legend,
    add_text,
    add_title,
    begin_picture,
    fit_text,
    write_picture,
)
from graph.pictures.timeline_picture import Bar, TimelinePicture, TimelineRow

LABEL_WIDTH: Final = 190.0
CHART_WIDTH: Final = 760.0
ROW_HEIGHT: Final = 26.0
AXIS_HEIGHT: Final = 22.0
BAR_HEIGHT: Final = 16.0
MIN_BAR_WIDTH: Final = 2.0
INDENT: Final = 14.0
_LEFT: Final = MARGIN + LABEL_WIDTH
_TOP: Final = MARGIN + HEADER_HEIGHT + AXIS_HEIGHT


def draw_timeline(picture: TimelinePicture) -> str:
    """Return the timeline as SVG, the same for the same trace."""
    width = _LEFT + CHART_WIDTH + MARGIN
    height = _TOP + len(picture.rows) * ROW_HEIGHT + LEGEND_HEIGHT + MARGIN
    root = begin_picture(width, height, picture.title, picture.summary, "Timeline")
    scale = CHART_WIDTH / max(picture.seconds, 1e-6)
    _add_axis(root, picture, scale)
    for index, row in enumerate(picture.rows):
        _add_row(root, row, _TOP + index * ROW_HEIGHT, scale)
    _add_timeline_legend(root, height, picture)
    return write_picture(root)


def choose_tick_s(seconds: float) -> float:
    """Return the seconds between two marks of an axis: 1, 2 or 5 of a power of ten."""
    raw = max(seconds, 1e-6) / 8
    power = 10.0 ** floor(log10(raw))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= raw * 0.999)


def _add_axis(root: Element, picture: TimelinePicture, scale: float) -> None:
    step = choose_tick_s(picture.seconds)
    digits = max(0, -floor(log10(step)))
    bottom = _TOP + len(picture.rows) * ROW_HEIGHT
    for index in range(int(picture.seconds / step) + 1):
        x = _LEFT + index * step * scale
        add_element(root, "path", class_="axis", d=f"M{x:.1f} {_TOP - 4:.1f}V{bottom:.1f}")
        label = f"{index * step:,.{digits}f} s"
        add_text(root, x, _TOP - 9, label, "quiet", "middle")


def _add_row(root: Element, row: TimelineRow, top: float, scale: float) -> None:
    middle, indent = top + ROW_HEIGHT / 2, row.depth * INDENT
    add_text(root, MARGIN + indent, middle + 4, fit_text(row.label, LABEL_WIDTH - indent - 12))
    for start, end in row.waits:
        line = f"M{_LEFT + start * scale:.1f} {middle:.1f}H{_LEFT + end * scale:.1f}"
        add_element(root, "path", class_="wait", d=line)
    for bar in row.bars:
        _add_bar(root, bar, middle, scale)
    for start, end in row.early:
        line = f"M{_LEFT + start * scale:.1f} {middle + 10:.1f}H{_LEFT + end * scale:.1f}"
        add_element(root, "path", class_="early", d=line)
    for start, end in row.calls:
        line = f"M{_LEFT + start * scale:.1f} {middle + 4:.1f}"
        add_element(root, "path", class_="call", d=f"{line}h{max(1.0, (end - start) * scale):.1f}")


def _add_bar(root: Element, bar: Bar, middle: float, scale: float) -> None:
    name = "supervisor" if bar.state == "supervisor" else find_look(bar.state).name
    group = add_element(root, "g", class_=name)
    add_title(group, f"{bar.note}, {bar.state}" if name != "supervisor" else bar.note)
    x, width = _LEFT + bar.start_s * scale, max(MIN_BAR_WIDTH, (bar.end_s - bar.start_s) * scale)
    add_element(
        group,
        "rect",
        class_="box retried" if bar.is_retried else "box",
        x=x,
        y=middle - BAR_HEIGHT / 2,
        width=width,
        height=BAR_HEIGHT,
        rx=min(3.0, width / 2),
    )
    if bar.is_critical:
        add_element(group, "rect", class_="outline", x=x, y=middle + 8.5, width=width, height=2.5)
    seconds = f"{bar.end_s - bar.start_s:.2f} s"
    if width > CHAR_WIDTH * len(seconds) + 8:
        add_text(group, x + 5, middle + 4, seconds, "small")


def _add_timeline_legend(root: Element, height: float, picture: TimelinePicture) -> None:
    bars = [bar for row in picture.rows for bar in row.bars if bar.state != "supervisor"]
    lines = [
        ("wait", "waiting", any(row.waits for row in picture.rows)),
        ("call", "tool", any(row.calls for row in picture.rows)),
        ("retried-line", "retried", any(bar.is_retried for bar in bars)),
        ("early", "begun early", any(row.early for row in picture.rows)),
        ("critical", "critical path", any(bar.is_critical for bar in bars)),
    ]
    states = {find_look(bar.state).name for bar in bars}
    shown = [(class_, label) for class_, label, is_used in lines if is_used]
    add_legend(root, MARGIN, height - MARGIN, states, shown)
