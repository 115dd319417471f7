"""Convert Markdown to a self-contained page."""

import html

from markdown_it import MarkdownIt

_PAGE_TEMPLATE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ max-width: 46rem; margin: 3rem auto; padding: 0 1rem;
  font: 1.05rem/1.6 Georgia, serif; color: #222; }}
h1, h2, h3, h4 {{ font-family: system-ui, sans-serif; line-height: 1.25; margin-top: 2em; }}
h1 {{ margin-top: 0; }}
table {{ border-collapse: collapse; width: 100%; margin: 1.5em 0; font-size: .95em; }}
th, td {{ border-bottom: 1px solid #ccc; padding: .4em .7em; text-align: left; }}
th {{ border-bottom: 2px solid #444; }}
blockquote {{ margin-left: 0; padding-left: 1em; border-left: 3px solid #bbb; color: #555; }}
pre {{ overflow-x: auto; background: #f5f5f5; padding: .8em; }}
@media print {{ body {{ margin: 0; max-width: none; }} }}
</style>
</head>
<body>
{body}</body>
</html>
"""


def build_markdown_parser() -> MarkdownIt:
    """Build a Markdown parser with tables; HTML in the source is text."""
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def to_html(markdown: str, title: str) -> bytes:
    """Return a whole page; nothing in it loads or runs."""
    body = build_markdown_parser().disable("image").render(markdown)
    return _PAGE_TEMPLATE.format(title=html.escape(title), body=body).encode()
