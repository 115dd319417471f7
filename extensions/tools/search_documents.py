"""Full-text search over the user's documents and the run's materials."""

import asyncio
from collections.abc import Iterable
from typing import Any

from langchain_core.tools import BaseTool, tool

from extensions.tools.documents.index import PassageIndex
from extensions.tools.documents.library import describe_unread, get_library
from extensions.tools.documents.passages import Passage
from nodes.errors import NothingToRead, ToolFailed
from nodes.text.counts import format_count
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.settings import ToolSettings

MAX_RESULTS = 20
MAX_SKIPPED = 20


def search_documents(settings: ToolSettings) -> BaseTool:
    """Build the search over `settings.documents`; the index is shared by the process."""
    library = get_library(settings.documents)

    @tool("search_documents")
    async def search(
        query: str, max_results: int = 6, materials: Materials = None
    ) -> dict[str, Any]:
        """Find passages in the user's documents and in the files of this run, best first.

        Any of the words may match; specific words (names, units, years) find more than sentences.
        Cite `source` exactly as given, and quote from `text`. No document has the `absent` words.
        Example: search_documents(query="AWS revenue growth 2025", max_results=6)
        """
        index, skipped, read = await library.get_index(materials)
        unread = describe_unread(skipped)
        if not read and not unread:
            raise NothingToRead(
                "there is nothing to search: no file that can be read is attached "
                "(on the command line: --file), and no folder of documents is set "
                "(setting: SUPERVISE_DOCUMENTS); use another tool, or report what is missing"
            )
        if not read:
            raise ToolFailed(f"no document could be read: {unread}")
        most = min(max(max_results, 1), MAX_RESULTS)
        hits = await asyncio.to_thread(index.search, query, 2 * most)
        passages = _drop_repeated(hit.passage for hit in hits)[:most]
        answer: dict[str, Any] = {
            "results": [
                {"source": each.source, "place": each.place, "text": each.text} for each in passages
            ]
        }
        answer |= await asyncio.to_thread(_list_absent, index, query) if hits else {}
        if not hits:
            answer["note"] = f"none of the words is in {format_count(read, 'document')}; try others"
        if skipped:
            answer["skipped"] = [
                {"source": item.source, "reason": item.reason} for item in skipped[:MAX_SKIPPED]
            ]
            if len(skipped) > MAX_SKIPPED:
                answer["cut"] = f"{MAX_SKIPPED} of {len(skipped)} skipped files are named"
        if unread:
            answer["gaps"] = [f"Not searched: {unread}"]
        return answer

    return search


def _list_absent(index: PassageIndex, query: str) -> dict[str, Any]:
    """Return the words that no document has, and whether they are at most half of the query."""
    held, absent = index.split_words(query)
    return {"absent": absent, "is_complete": len(absent) <= len(held)} if absent else {}


def _drop_repeated(passages: Iterable[Passage]) -> list[Passage]:
    """Return the passages without those whose words an earlier one has."""
    found = dict[str, Passage]()
    for each in passages:
        found.setdefault(" ".join(each.text.split()), each)
    return list(found.values())
