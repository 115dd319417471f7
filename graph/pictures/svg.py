"""SVG as text: elements of the standard library's XML, a style for light, dark and paper."""

from collections.abc import Iterable, Sequence
from typing import Final
from xml.etree import ElementTree

from rich.cells import cell_len, set_cell_size

from graph.display.progress import COULD_NOT
from graph.display.text import cut_middle, to_one_line
from graph.pictures.state_look import LOOKS, Colours
from nodes.limits.patterns import Pattern

MARGIN: Final = 20.0
HEADER_HEIGHT: Final = 58.0
LEGEND_HEIGHT: Final = 34.0
CHAR_WIDTH: Final = 7.2
"""Pixels of an average character of 13 px; a wide one takes two."""
BOLD_CHAR_WIDTH: Final = 8.3
"""The same in bold."""
SMALL_CHAR_WIDTH: Final = 5.7
"""The same at 11 px."""
_NOT_XML: Final = Pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_FONT: Final = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif"
_LEGEND_LABELS: Final = {"asking": "waits for an answer", "escalated": COULD_NOT}
Element = ElementTree.Element


def clean_text(text: object, max_chars: int = 300) -> str:
    """Return a text on one line, without secrets and characters that XML does not allow."""
    return _NOT_XML.sub("", to_one_line(text, max_chars))


def fit_text(text: object, pixels: float, char_width: float = CHAR_WIDTH) -> str:
    """Return a text on one line, cut to a width."""
    line, cells = clean_text(text, 400), max(1, int(pixels / char_width))
    return line if cell_len(line) <= cells else f"{set_cell_size(line, cells - 1).rstrip()}…"


def fit_name(name: str, pixels: float, char_width: float = CHAR_WIDTH) -> str:
    """Return a name cut in its middle; one of wide characters is cut at its end."""
    line = clean_text(name, 400)
    if cell_len(line) != len(line):
        return fit_text(line, pixels, char_width)
    return cut_middle(line, max(2, int(pixels / char_width)))


def add_element(parent: Element, tag: str, **attributes: str | float) -> Element:
    """Return a new element below another; `class_` is written as `class`, numbers in pixels."""
    shown = {
        name.rstrip("_").replace("_", "-"): value
        if isinstance(value, str)
        else f"{value:.4g}"
        if abs(value) < 1
        else f"{value:.1f}".removesuffix(".0")
        for name, value in attributes.items()
    }
    return ElementTree.SubElement(parent, tag, shown)


def add_text(
    parent: Element, x: float, y: float, text: str, class_: str = "", anchor: str = "start"
) -> None:
    """Add one line of text, whose direction of writing touches no other text."""
    named = {"class_": class_} if class_ else {}
    placed = {} if anchor == "start" else {"text_anchor": anchor}
    add_element(parent, "text", x=x, y=y, **named, **placed).text = text


def add_title(parent: Element, text: str) -> None:
    """Add what a screen reader says and a mouse shows."""
    add_element(parent, "title").text = clean_text(text, 600)


def begin_picture(width: float, height: float, title: str, summary: str, kind: str) -> Element:
    """Return the root of a picture with its heading, description and style."""
    root = Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {width:.0f} {height:.0f}",
            "width": f"{width:.0f}",
            "height": f"{height:.0f}",
            "role": "img",
            "aria-labelledby": "title desc",
        },
    )
    add_element(root, "title", id="title").text = clean_text(f"{kind}: {title}", 300)
    add_element(root, "desc", id="desc").text = clean_text(summary, 600)
    add_element(root, "style").text = _write_style()
    add_element(root, "rect", class_="paper", width=width, height=height)
    room = width - 2 * MARGIN
    add_text(root, MARGIN, MARGIN + 12, fit_text(title, room), "heading")
    add_text(root, MARGIN, MARGIN + 32, fit_text(summary, room), "quiet")
    return root


def add_legend(
    root: Element, x: float, y: float, states: Iterable[str], others: Sequence[tuple[str, str]] = ()
) -> None:
    """Add what the marks and lines mean; `others` are pairs of a line's class and its meaning."""
    for name in (each for each in LOOKS if each in set(states)):
        label = _LEGEND_LABELS.get(name, name)
        group = add_element(root, "g", class_=name)
        add_mark(group, name, x, y - 10)
        add_text(group, x + 18, y, label, "quiet")
        x += 34 + CHAR_WIDTH * len(label)
    for class_, label in others:
        add_element(root, "path", class_=class_, d=f"M{x:.0f} {y - 4:.0f}h24")
        add_text(root, x + 30, y, label, "quiet")
        x += 46 + CHAR_WIDTH * len(label)


def add_mark(parent: Element, name: str, x: float, y: float) -> None:
    """Add the mark of a state, 12 pixels wide."""
    add_element(
        parent, "path", class_="mark", d=LOOKS[name].mark, transform=f"translate({x:.1f} {y:.1f})"
    )


def write_picture(root: Element) -> str:
    """Return the picture as one text."""
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True) + "\n"


def _write_style() -> str:
    rules = [
        f"text{{font:13px {_FONT};fill:#1b2027;unicode-bidi:isolate}}",
        ".heading{font-size:16px;font-weight:600}.name{font-weight:600}.small{font-size:11px}",
        ".quiet{font-size:12px;fill:#525c6b}.paper{fill:#ffffff}",
        ".arrow,.optional,.critical,.axis,.wait{fill:none;stroke:#8b94a3;stroke-width:1.3}",
        ".optional{stroke-dasharray:5 4}.axis{stroke:#d5d9e0;stroke-width:1}",
        ".critical{stroke:#a8209a;stroke-width:2.4}.wait{stroke-dasharray:2 3}",
        ".head{fill:#8b94a3}.head-critical,.outline{fill:#a8209a}",
        ".mark{fill:none;stroke-width:1.8;stroke-linecap:round;stroke-linejoin:round}",
        ".many{fill:none;stroke:#8b94a3;stroke-width:1}",
        ".retried{fill-opacity:.4;stroke-dasharray:3 2}.early{stroke:#8250df;stroke-width:3}",
        ".retried-line{stroke:#525c6b;stroke-width:8;stroke-opacity:.3}",
        ".call{stroke:#525c6b;stroke-width:2.4}.supervisor>.box{fill:#d5d9e0;stroke:#8b94a3}",
        *(_write_state(look.name, look.light, look.is_dashed) for look in LOOKS.values()),
        ".path>.box{stroke:#a8209a;stroke-width:2.6}",
    ]
    dark = [
        "text{fill:#e8ebf0}.quiet{fill:#a9b2bf}.paper{fill:#14171c}",
        ".arrow,.optional,.wait,.many{stroke:#727c8c}.axis{stroke:#363d48}",
        ".critical{stroke:#f08be4}.head{fill:#727c8c}.head-critical,.outline{fill:#f08be4}",
        ".early{stroke:#d2a8ff}.call,.retried-line{stroke:#a9b2bf}",
        ".supervisor>.box{fill:#363d48;stroke:#727c8c}",
        *(_write_state(look.name, look.dark, False) for look in LOOKS.values()),
        ".path>.box{stroke:#f08be4}",
    ]
    return "".join(rules) + f"@media screen and (prefers-color-scheme:dark){{{''.join(dark)}}}"


def _write_state(name: str, colours: Colours, is_dashed: bool) -> str:
    dashes = ";stroke-dasharray:5 3" if is_dashed else ""
    return (
        f".{name}>.box{{fill:{colours.fill};stroke:{colours.line}{dashes}}}"
        f".{name}>.mark{{stroke:{colours.line}}}"
    )
