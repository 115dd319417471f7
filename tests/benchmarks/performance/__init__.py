"""How fast plans run: against the limit, a scheduler without a framework, and LangGraph's waves."""
