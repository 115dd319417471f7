"""The development server refuses tools that block its event loop."""

from typing import Any

import pytest
from blockbuster import blockbuster_ctx

from nodes.errors import ToolRefused
from nodes.tools.framework.settings import ToolSettings
from tests.contracts import DISTRIBUTION, read_contracts
from tests.shipped_tools import load_shipped_tools
from tests.unit.tools.document_samples import write_pdf
from tests.unit.tools.fhir_samples import make_bundle, make_observation

pytestmark = pytest.mark.slow

CHANGE = {"a.diff": "--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+x = eval(y)\n"}
PORTFOLIO = {
    "holdings.csv": "ticker,quantity\nAAA,10\nBBB,5\n",
    "prices.csv": "date,AAA,BBB\n2025-01-02,19,41\n2025-01-03,20,40\n",
}
LAUNCH = {
    "sales.csv": "price,units\n" + "".join(f"{n},{900 // n}\n" for n in range(5, 20)),
    "copy.md": "## SMS\n\nIt is here. Reply STOP\n",
    "notes.md": "The rival costs 12 EUR.",
}
SUPPORT = {
    "app.log": "2026-01-02 10:00:00 ERROR disk full\nTypeError: x\n    at f (/a/b.js:3:4)\n",
    "help.md": "# Disk\n\nThe error that the disk is full is mended by a larger disk.\n",
}
CODE = {"a.py": "print(1)\n"}
INCIDENT = {
    "app.py": "def work(a):\n    return 1 / len(a)\n",
    "app.log": "2026-03-09 06:00:00 ERROR it failed\n",
    "staging.yaml": "a: 1\n",
    "production.yaml": "a: 2\n",
}
RECORD = {"b.json": make_bundle(make_observation("fresh", 5, "2024"))}
PRODUCT = {"a.md": "# Features\n\n- Export: CSV\n- Price: 5 EUR\n"}
STATED = [{"text": f"{name} — Price: 5 EUR", "source": f"{name}.md"} for name in "ab"]
CALLS: dict[str, dict[str, Any]] = {
    "calculate": {"expression": "1 + 1"},
    "search_documents": {"query": "aws"},
    "check_sources": {"claims": [{"text": "17 %", "source": "a.pdf"}]},
    "analyze_table": {},
    "query_database": {"sql": "SELECT * FROM sheet"},
    "format_document": {"markdown": "# AWS", "format": "docx"},
    "fetch_page": {"url": "http://127.0.0.1/"},
    "read_material": {"name": "a.py", "first_line": 1, "materials": CODE},
    "scan_security": {"materials": CHANGE},
    "find_bugs": {"materials": CHANGE},
    "find_slow_code": {"materials": CHANGE},
    "check_style": {"materials": CHANGE},
    "search_history": {"materials": CHANGE},
    "market_data": {"as_of": "2025-01-03", "materials": PORTFOLIO},
    "allocation_analysis": {"materials": PORTFOLIO},
    "trade_list": {"equal_weights": True, "materials": PORTFOLIO},
    "price_elasticity": {"materials": LAUNCH},
    "launch_price": {"unit_cost_amount": 2, "materials": LAUNCH},
    "check_copy": {"materials": LAUNCH},
    "price_points": {"materials": LAUNCH},
    "extract_clauses": {
        "material": DISTRIBUTION.name,
        "query": "term",
        "materials": read_contracts(DISTRIBUTION),
    },
    "check_playbook": {"material": DISTRIBUTION.name, "materials": read_contracts(DISTRIBUTION)},
    "verify_quotations": {
        "claims": [
            {"text": "law", "source": DISTRIBUTION.name, "quotation": "laws of the State of Oregon"}
        ],
        "materials": read_contracts(DISTRIBUTION),
    },
    "analyze_log": {"pasted": "", "materials": SUPPORT},
    "search_help": {"query": "disk error", "materials": SUPPORT},
    "draft_ticket": {"asked": "Let me talk to a person", "materials": SUPPORT},
    "legal_reference": {"query": "How big may a deposit be?", "materials": {"a.md": "Deposit"}},
    "medical_reference": {"query": "How is a burn cooled?"},
    "technical_reference": {"query": "What is PKCE?"},
    "financial_reference": {"query": "What is EBITDA?"},
    "check_code": {"materials": CODE},
    "run_code": {"materials": CODE},
    "check_prose": {"materials": {"a.md": "It is a text of words."}},
    "compose_document": {
        "format": "docx",
        "materials": {"a.md": "It is a text of words."},
    },
    "explain_error": {"materials": INCIDENT},
    "find_symbol": {"names": ["work"], "materials": INCIDENT},
    "search_code": {"query": "return", "materials": INCIDENT},
    "log_metrics": {"materials": INCIDENT},
    "query_logs": {"select": "SELECT count(*) FROM app", "materials": INCIDENT},
    "compare_config": {"materials": INCIDENT},
    "read_bundle": {"material": "b.json", "materials": RECORD},
    "lab_trends": {"material": "b.json", "materials": RECORD},
    "medication_list": {"material": "b.json", "materials": RECORD},
    "interval_check": {"material": "b.json", "materials": RECORD},
    "prerequisite_graph": {"chains": ["A -> B"]},
    "check_objectives": {"objectives": ["Understand cells", "Label a leaf"]},
    "readability": {"materials": {"a.md": "A leaf makes sugar out of light. " * 9}},
    "read_features": {"material": "a.md", "materials": PRODUCT},
    "feature_matrix": {"claims": STATED},
    "draft_note": {"claims": [{"text": "It failed."}], "findings": [], "audience": "team"},
    "risk_matrix": {"findings": [{"severity": "low", "message": "Notices missing. [notices 2/5]"}]},
}


@pytest.mark.parametrize("name", CALLS)
async def test_no_tool_blocks_the_event_loop(tmp_path, name):
    (tmp_path / "docs").mkdir()
    write_pdf(tmp_path / "docs" / "a.pdf", "AWS grew 17 %")
    (tmp_path / "docs" / "b.md").write_text("AWS")
    (tmp_path / "sheet.csv").write_text("a,b\n1,2\n")
    settings = ToolSettings(
        documents=tmp_path / "docs",
        sql_url=str(tmp_path / "sheet.csv"),
        output=tmp_path / "out",
        repository=tmp_path,
        run_code=True,
    )
    (tool,) = load_shipped_tools([name], settings)

    with blockbuster_ctx():
        try:
            assert await tool.ainvoke(CALLS[name])
        except ToolRefused:
            assert name in ("fetch_page", "search_history")
