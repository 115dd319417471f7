"""Asks an endpoint once, in a process of its own, and says what memory that took.

python -m tests.unit.models.memory_child BASE_URL
"""

import asyncio
import json
import resource
import sys

from langchain_core.messages import HumanMessage

from nodes.errors import SupervisorError
from nodes.models.catalog import ModelCatalog
from nodes.models.settings import ModelSettings


async def ask_once(base_url: str) -> str:
    """Return the code of the error that the endpoint's answer becomes."""
    settings = ModelSettings(
        fast="openai:gpt-5-mini", base_url=base_url, api_key="sk-x", max_tries=1
    )
    model = ModelCatalog(settings).get_chat_model("fast")
    try:
        await model.ainvoke([HumanMessage("warm up")])
        before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        await model.ainvoke([HumanMessage("hello")])
    except SupervisorError as error:
        after_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return json.dumps({"code": error.code, "grown_kib": after_kib - before_kib})
    return json.dumps({"code": "none"})


if __name__ == "__main__":
    sys.stdout.write(asyncio.run(ask_once(sys.argv[1])))
