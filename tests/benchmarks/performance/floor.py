"""The floor: a scheduler by hand, asyncio tasks over one aiohttp session; nothing is saved."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

MODEL = "gpt-5-mini"


@asynccontextmanager
async def open_floor(base_url: str) -> AsyncIterator[Callable[[], Awaitable[int]]]:
    """Open a session; what it yields runs a plan and returns the number of its results."""
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask_model(schema: str, prompt: str) -> Any:
            form = {"type": "json_schema", "json_schema": {"name": schema, "schema": {}}}
            messages = [{"role": "user", "content": prompt}]
            body = {"model": MODEL, "messages": messages, "response_format": form}
            async with session.post(f"{base_url}/chat/completions", json=body) as response:
                response.raise_for_status()
                reply = await response.json()
            return json.loads(reply["choices"][0]["message"]["content"])

        async def run_plan() -> int:
            plan = await ask_model("Plan", "Plan.")
            results: dict[str, asyncio.Task[Any]] = {}

            async def run_task(task: Any) -> Any:
                inputs = [await results[name] for name in task.get("depends_on", ())]
                return await ask_model("Report", f"task: {task['id']}\n{json.dumps(inputs)}")

            for task in plan["tasks"]:
                results[task["id"]] = asyncio.create_task(run_task(task))
            reports = await asyncio.gather(*results.values())
            await ask_model("Answer", json.dumps(reports))
            return len(reports)

        yield run_plan
