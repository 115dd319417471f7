"""The timeline of a run as SVG."""

from math import floor, log10
from typing import Final

from graph.pictures.state_look import find_look
from graph.pictures.svg import (
    HEADER_HEIGHT,
    LEGEND_HEIGHT,
    MARGIN,
    SMALL_CHAR_WIDTH,
    Element,
    add_element,
    add_legend,
    add_mark,
    add_text,
    add_title,
    begin_picture,
    fit_name,
    write_picture,
)
from graph.pictures.timeline_picture import Bar, TimelinePicture, TimelineRow

LABEL_WIDTH: Final = 190.0
CHART_WIDTH: Final = 760.0
ROW_HEIGHT: Final = 26.0
LOW_ROW_HEIGHT: Final = 15.0
"""Height of each of many rows."""
MAX_HIGH_ROWS: Final = 70
AXIS_HEIGHT: Final = 22.0
MARK_WIDTH: Final = 18.0
"""Of a mark with the space around it."""
MIN_BAR_WIDTH: Final = 2.0
INDENT: Final = 14.0
_LEFT: Final = MARGIN + LABEL_WIDTH
_TOP: Final = MARGIN + HEADER_HEIGHT + AXIS_HEIGHT


def draw_timeline(picture: TimelinePicture) -> str:
    """Return the timeline as SVG, the same for the same trace."""
    width = _LEFT + CHART_WIDTH + MARGIN
    row_height = ROW_HEIGHT if len(picture.rows) <= MAX_HIGH_ROWS else LOW_ROW_HEIGHT
    bottom = _TOP + len(picture.rows) * row_height
    height = bottom + LEGEND_HEIGHT + MARGIN
    root = begin_picture(width, height, picture.title, picture.summary, "Timeline")
    scale = CHART_WIDTH / max(picture.seconds, 1e-6)
    _add_axis(root, picture.seconds, bottom, scale)
    for index, row in enumerate(picture.rows):
        _add_row(root, row, _TOP + (index + 0.5) * row_height, row_height - 10, scale)
    _add_timeline_legend(root, height, picture)
    return write_picture(root)


def choose_tick_s(seconds: float) -> float:
    """Return the seconds between two marks of an axis: 1, 2 or 5 of a power of ten."""
    raw = max(seconds, 1e-6) / 8
    power = 10.0 ** floor(log10(raw))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= raw * 0.999)


def _add_axis(root: Element, seconds: float, bottom: float, scale: float) -> None:
    step = choose_tick_s(seconds)
    digits = max(0, -floor(log10(step)))
    for index in range(int(seconds / step) + 1):
        x = _LEFT + index * step * scale
        add_element(root, "path", class_="axis", d=f"M{x:.1f} {_TOP - 4:.1f}V{bottom:.1f}")
        label = f"{index * step:,.{digits}f} s"
        add_text(root, x, _TOP - 9, label, "quiet", "middle")


def _add_row(root: Element, row: TimelineRow, middle: float, height: float, scale: float) -> None:
    """Add a row whose bars are `height` pixels high."""
    indent = row.depth * INDENT
    add_text(root, MARGIN + indent, middle + 4, fit_name(row.label, LABEL_WIDTH - indent - 12))
    for start, end in row.waits:
        _add_line(root, "wait", start, end, middle, scale)
    for bar in row.bars:
        _add_bar(root, bar, middle, height, scale)
    for start, end in row.early:
        _add_line(root, "early", start, end, middle, scale)
    for start, end in row.calls:
        _add_line(root, "call", start, end, middle + height / 2 - 2, scale)


def _add_line(
    root: Element, class_: str, start_s: float, end_s: float, y: float, scale: float
) -> None:
    width = max(1.0, (end_s - start_s) * scale)
    path = f"M{_LEFT + start_s * scale:.1f} {y:.1f}h{width:.1f}"
    add_element(root, "path", class_=class_, d=path)


def _add_bar(root: Element, bar: Bar, middle: float, height: float, scale: float) -> None:
    is_task = bar.state != "supervisor"
    name = find_look(bar.state).name if is_task else bar.state
    group = add_element(root, "g", class_=name)
    add_title(group, f"{bar.note}, {bar.state}" if is_task else bar.note)
    x, width = _LEFT + bar.start_s * scale, max(MIN_BAR_WIDTH, (bar.end_s - bar.start_s) * scale)
    place = {"x": x, "y": middle - height / 2, "width": width}
    class_ = "box retried" if bar.is_retried else "box"
    add_element(group, "rect", class_=class_, **place, height=height, rx=min(3.0, width / 2))
    if bar.is_critical:
        line = {**place, "y": middle + height / 2 + 1}
        add_element(group, "rect", class_="outline", **line, height=2.5)
    if height < ROW_HEIGHT - 10:
        return
    mark = MARK_WIDTH if is_task and not bar.is_retried else 4.0
    if mark == MARK_WIDTH:
        # The mark of a bar with too little room is on its right.
        add_mark(group, name, x + 3 if width >= MARK_WIDTH else x + width + 3, middle - 6)
    seconds = f"{bar.end_s - bar.start_s:.2f} s"
    if width > SMALL_CHAR_WIDTH * len(seconds) + mark + 4:
        add_text(group, x + mark, middle + 4, seconds, "small")


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
