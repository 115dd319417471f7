"""Opens the team in LangGraph's development server: `langgraph dev` in this folder."""

from pathlib import Path

from supervisor_worker import build_supervisor

team = build_supervisor(Path(__file__).parent)
