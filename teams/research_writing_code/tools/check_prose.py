"""Measure texts, and check them for habits that style books name."""

import asyncio
from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from nodes.tools.framework.argument_types import FileName
from nodes.tools.framework.isolation import run_isolated
from nodes.tools.framework.materials import Materials

from .materials.selection import select_texts

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
CHILD_FUNCTION = f"{__package__}.prose.child_program:check_texts"


@tool
async def check_prose(
    text: Annotated[str, Field(description="A text that you wrote, instead of a file")] = "",
    files: Annotated[
        list[FileName] | None,
        Field(description="Names of the texts to check; all of them by default"),
    ] = None,
    max_words: Annotated[
        int | None, Field(description="Length allowed for each text, in words", ge=1, le=1_000_000)
    ] = None,
    materials: Materials = None,
) -> dict[str, Any]:
    """Check English prose: length, reading grade, long sentences, clichés, likely misspellings.

    Remarks have file and line; the words themselves are not changed. A text of more words than
    `max_words` is a finding.
    """
    texts = await asyncio.to_thread(select_texts, text, files or (), materials)
    report: dict[str, Any] = await run_isolated(
        CHILD_FUNCTION,
        failure=", ".join(texts) + " cannot be read: {}; hand over less of it",
        texts=texts,
        max_words=max_words,
    )
    return report
