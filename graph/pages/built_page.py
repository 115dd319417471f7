"""The built script and style of a page, and one HTML file that holds both."""

from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any, Final

from nodes.errors.redaction import redact_text
from nodes.text.finite_json import format_finite_json

BUILT: Final = Path(__file__).parent / "built"
_ESCAPED_IN_SCRIPTS: Final = str.maketrans(
    {
        character: f"\\u{ord(character):04x}"
        for character in "<>&\N{LINE SEPARATOR}\N{PARAGRAPH SEPARATOR}"
    }
)
_PAGE: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="page"><noscript>A script in this page draws it; it loads nothing.</noscript></div>
<script type="application/json" id="{name}">{data}</script>
<script>{script}</script>
</body>
</html>
"""


@dataclass(frozen=True)
class BuiltPage:
    """The script and the style of a page."""

    script: str
    style: str


@cache
def load_built_page(name: str) -> BuiltPage:
    """Return the built files of `web/src/main-NAME.tsx`."""
    script, style = (
        (BUILT / f"{name}.{suffix}").read_text(encoding="utf-8") for suffix in ("js", "css")
    )
    return BuiltPage(script=script, style=style)


def format_page(page: BuiltPage, *, title: str, name: str, value: Any) -> str:
    """Return one HTML file that loads nothing, and in which only the page's own script can run.

    Args:
        name: id of the element that holds the JSON.
        value: JSON that the script reads, of untrusted texts; secrets are removed from it.
    """
    policy = (
        f"default-src 'none'; script-src {_hash_source(page.script)}; "
        f"style-src {_hash_source(page.style)}; base-uri 'none'; form-action 'none'"
    )
    return _PAGE.format(
        policy=escape(policy),
        title=escape(title),
        style=page.style,
        name=name,
        data=format_json_for_script(value),
        script=page.script,
    )


def format_json_for_script(value: Any) -> str:
    """Return JSON without secrets that cannot end the `script` element that holds it."""
    text = format_finite_json(value, ensure_ascii=False, separators=(",", ":"))
    # A lone surrogate cannot be written as UTF-8.
    encodable = redact_text(text).encode("utf-8", errors="replace").decode("utf-8")
    return encodable.translate(_ESCAPED_IN_SCRIPTS)


def _hash_source(text: str) -> str:
    """Return the source of a content policy that permits this inline text only."""
    return f"'sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}'"
