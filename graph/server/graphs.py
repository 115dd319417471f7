"""The shipped teams as graphs, for `langgraph.json`. Only LangGraph's server imports this.

By default the server traces to LangSmith as soon as it finds a key. `langgraph.json` turns that
off, and the settings turn it on again if tracing is enabled.
"""

from langsmith.utils import get_env_var

from graph.settings import Settings
from graph.supervisor import build_supervisor

SETTINGS = Settings()
SETTINGS.export_tracing()
# The server has read the variable before, and LangSmith caches it.
get_env_var.cache_clear()  # type: ignore[attr-defined]  # overloads hide its lru_cache

code_review = build_supervisor("code_review", settings=SETTINGS)
competitive_intelligence = build_supervisor("competitive_intelligence", settings=SETTINGS)
contract_review = build_supervisor("contract_review", settings=SETTINGS)
curriculum = build_supervisor("curriculum", settings=SETTINGS)
engineering_ops = build_supervisor("engineering_ops", settings=SETTINGS)
expert_router = build_supervisor("expert_router", settings=SETTINGS)
market_analysis = build_supervisor("market_analysis", settings=SETTINGS)
organisation = build_supervisor("organisation", settings=SETTINGS)
patient_summary = build_supervisor("patient_summary", settings=SETTINGS)
portfolio_rebalancing = build_supervisor("portfolio_rebalancing", settings=SETTINGS)
product_launch = build_supervisor("product_launch", settings=SETTINGS)
research_writing_code = build_supervisor("research_writing_code", settings=SETTINGS)
tech_support = build_supervisor("tech_support", settings=SETTINGS)
