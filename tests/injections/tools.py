"""The web's tools over a simulated world, declared as the shipped ones; and two of a user's own."""

from langchain_core.tools import BaseTool, tool

from extensions.tools import fetch_page as fetching
from extensions.tools import web_search as searching
from nodes.errors import ToolRefused
from nodes.security.tool_access import get_shipped_access
from nodes.tools.framework.settings import ToolSettings
from tests.injections.fake_internet import RUNNING_INTERNETS


def web_search(settings: ToolSettings) -> BaseTool:
    """Build the shipped search over the world's engine."""
    found = searching.web_search(settings, search=RUNNING_INTERNETS[-1].search_web)
    return found.model_copy(update={"metadata": get_shipped_access("web_search").metadata})


def fetch_page(settings: ToolSettings) -> BaseTool:
    """Build the shipped fetcher, which reaches the world alone."""
    found = fetching.fetch_page(settings, policy=RUNNING_INTERNETS[-1].build_policy())
    return found.model_copy(update={"metadata": get_shipped_access("fetch_page").metadata})


@tool
def send(text: str) -> str:
    """Send a text to somebody; it does not declare what it is."""
    RUNNING_INTERNETS[-1].mails.append(text)
    return "sent"


@tool
def meter(name: str) -> str:
    """Read a meter, which is out of order."""
    raise ToolRefused(RUNNING_INTERNETS[-1].failure)


meter.metadata = {"reads": ["untrusted"], "sends": "nothing"}
