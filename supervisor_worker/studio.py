"""The guard of LangGraph's development server; `langgraph.json` names it as `http.app`."""

from extensions.server.studio_access import app

__all__ = ["app"]
