"""The answer of a run as a file: Markdown, or a Word document made of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from graph.display.streams import write_to_file
from graph.extensions import find_first
from nodes.errors import SupervisorError, UsageError
from nodes.errors.redaction import redact_text
from nodes.limits.patterns import Pattern
from nodes.text.markdown import escape_active_markdown, format_answer
from nodes.text.plain_text import sanitize_text, to_one_line

SUFFIXES: Final = (".md", ".docx")
MAX_WORD_CHARS: Final = 500_000
MAX_CLAIMS: Final = 200
MAX_LINE_CHARS: Final = 500
_HEADING_SIGN: Final = Pattern(r"(?m)^[ \t]*+#{1,6}[ \t]++")
_PARAGRAPHS: Final = Pattern(r"\n(?:[ \t]*+\n)++")


def write_answer(request: str, answer: Mapping[str, Any], path: Path) -> None:
    """Write an answer with its request, sources, gaps and proofs to a file.

    Raises:
        UsageError: its suffix is of another format, or there is no answer.
        OutputFailed: it cannot be written.
    """
    if path.suffix not in SUFFIXES:
        raise UsageError(f"no answer is written as {path.name}", next="name a .md or a .docx file")
    if not answer:
        raise UsageError("the run has no answer", next="leave --out out to see what it has done")
    title = to_one_line(request, 300)
    text = _format_document(title, answer)
    write_to_file(text if path.suffix == ".md" else write_word(text, title), path)


def write_word(markdown: str, title: str = "") -> bytes:
    """Return Markdown as a Word document, without secrets.

    Raises:
        UsageError: it is too long or too wide, or nothing here writes such documents.
    """
    refused, advice = "no Word document can be made of this", "save it as Markdown"
    if len(markdown) > MAX_WORD_CHARS:
        cause = f"it has {len(markdown):,} characters, a document at most {MAX_WORD_CHARS:,}"
        raise UsageError(refused, cause=cause, next=advice)
    text = redact_text(sanitize_text(markdown))
    title = title or text.partition("\n")[0].lstrip("# ")
    try:
        found = find_first(lambda each: each.write_word(text, title))
    except SupervisorError:
        raise
    except Exception as error:  # of a library that reads untrusted text
        raise UsageError(refused, cause=to_one_line(error, 200), next=advice) from None
    if found is None:
        lacks = "pip install 'supervisor-worker[documents]', or "
        raise UsageError("nothing here writes Word documents", next=f"{lacks}{advice}")
    return found


def _format_document(title: str, answer: Mapping[str, Any]) -> str:
    text, shown = str(answer.get("text", "")).strip(), format_answer(answer)
    lines = [f"# {title}", "", text, *map(_raise_heading, shown[len(text) :].splitlines())]
    claims = answer.get("claims") or ()
    proved = [each for each in claims if each.get("proof") not in (None, "stated")][:MAX_CLAIMS]
    lines += ["", "## Proofs"] if proved else []
    lines += ["", *(f"- {_format_proof(claim)}" for claim in proved)]
    return str(redact_text(escape_active_markdown(sanitize_text("\n".join([*lines, ""])))))


def _raise_heading(line: str) -> str:
    """Return a line that is all bold as a heading; others as they are."""
    is_heading = line.startswith("**") and line.endswith("**") and line.count("**") == 2
    return f"## {line[2:-2]}" if is_heading and len(line) > 4 else line


def _format_proof(claim: Mapping[str, Any]) -> str:
    said, quotation = (_quote(str(claim.get(name) or "")) for name in ("text", "quotation"))
    quotation = quotation or (said if "\n" in str(claim["text"]).strip() else "")
    quoted = f"“{quotation}”" if quotation else ""
    said = " ".join(filter(None, [said if said != quotation else "", quoted]))
    proof = "not proved" if claim["proof"] == "unproved" else claim["proof"]
    place = ", ".join(filter(None, [str(claim.get("source") or ""), str(proof)]))
    return f"{said} ({to_one_line(place, MAX_LINE_CHARS)})"


def _quote(text: str) -> str:
    """Return a quotation as one line without headings' signs, ` / ` between its paragraphs."""
    parts = _PARAGRAPHS.split(_HEADING_SIGN.sub("", text).strip())
    return to_one_line(" / ".join(parts), MAX_LINE_CHARS)
