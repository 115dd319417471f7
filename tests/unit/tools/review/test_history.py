"""What a repository remembers of the lines that a diff takes away."""

from pathlib import Path

import pytest
from dulwich import porcelain

from nodes.errors import ToolRefused
from tests.unit.tools.review.changes import call_review_tool, make_diff

pytestmark = pytest.mark.slow

FIRST = "def pay(order):\n    total = order.total\n    return charge(total)\n"
FIXED = (
    "def pay(order):\n    if order.total <= 0:\n        raise ValueError(order.total)\n"
    "    total = order.total\n    return charge(total)\n"
)
FIND = "def find(name):\n    query = 'SELECT * FROM t WHERE name = {}\n    return run(query, {})\n"
RAW = FIND.format("' + name", "()")
SAFE = FIND.format("?'", "(name,)")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository in which two files were fixed."""
    folder = tmp_path / "shop"
    folder.mkdir()
    repository = porcelain.init(str(folder))
    versions = [
        ({"pay.py": FIRST, "find.py": RAW}, "Add payments and search", "Ana"),
        ({"pay.py": FIXED}, "Fix payments of negative amounts", "Ben"),
        ({"find.py": SAFE}, "Close an SQL injection (CVE-2024-0001)", "Ana"),
    ]
    for files, message, author in versions:
        for name, text in files.items():
            (folder / name).write_text(text)
        porcelain.add(repository, paths=[str(folder / name) for name in files])
        who = f"{author} <{author.lower()}@shop.example>".encode()
        porcelain.commit(repository, message=message.encode(), author=who, committer=who)
    repository.close()
    return folder


async def test_lines_that_a_fix_brought_and_the_diff_takes_away_are_found(root: Path) -> None:
    answer = await call_review_tool(
        "search_history", {"change.diff": make_diff(pay__py=(FIXED, FIRST))}, root
    )

    (finding,) = answer["findings"]
    assert finding["severity"] == "medium" and finding["confidence"] >= 80
    assert "Fix payments of negative amounts" in finding["message"] and "Ben" in finding["message"]
    assert finding["file"] == "pay.py" and "2 lines" in finding["message"]


async def test_an_undone_fix_of_a_vulnerability_is_grave(root: Path) -> None:
    answer = await call_review_tool(
        "search_history", {"change.diff": make_diff(find__py=(SAFE, RAW))}, root
    )

    (finding,) = answer["findings"]
    assert finding["severity"] == "high" and "CVE-2024-0001" in finding["message"]


async def test_a_change_that_undoes_nothing_has_no_findings_and_tells_who_knows_the_file(
    root: Path,
) -> None:
    after = FIXED + "\n\ndef refund(order):\n    return charge(-order.total)\n"

    answer = await call_review_tool(
        "search_history", {"change.diff": make_diff(pay__py=(FIXED, after))}, root
    )

    assert answer["findings"] == []
    assert "- `pay.py`: 2 commits, 1 of them fixes" in answer["summary"]


async def test_without_a_repository_it_says_so_and_it_refuses_a_folder_that_is_none(
    tmp_path: Path,
) -> None:
    materials = {"change.diff": make_diff(pay__py=(FIXED, FIRST))}

    unset = await call_review_tool("search_history", materials)

    assert "SUPERVISE_REPOSITORY" in unset["gaps"][0] and unset["findings"] == []
    with pytest.raises(ToolRefused, match="not a git repository"):
        await call_review_tool("search_history", materials, tmp_path)


async def test_lines_that_a_review_brought_and_the_diff_takes_away_are_found(root: Path) -> None:
    named = FIXED.replace("charge(total)", "charge(total, currency=order.currency)")
    (root / "pay.py").write_text(named)
    with porcelain.open_repo_closing(str(root)) as repository:
        porcelain.add(repository, paths=[str(root / "pay.py")])
        porcelain.commit(repository, message=b"Apply suggestions from code review")

    answer = await call_review_tool(
        "search_history", {"change.diff": make_diff(pay__py=(named, FIXED))}, root
    )

    (finding,) = answer["findings"]
    assert "that a review brought" in finding["message"] and finding["severity"] == "medium"


async def test_what_other_materials_say_of_a_changed_file_is_listed_without_a_repository() -> None:
    materials = {
        "change.diff": make_diff(pay__py=(FIXED, FIRST)),
        "reviews.md": "# Reviews\n\n- pay.py: amounts below zero are refused\n- repay.py: fine\n",
    }

    answer = await call_review_tool("search_history", materials)

    assert "`reviews.md`, line 3: “- pay.py: amounts below zero" in answer["summary"]
    assert "repay.py" not in answer["summary"]
    assert any("SUPERVISE_REPOSITORY" in gap for gap in answer["gaps"])


async def test_other_materials_are_listed_beside_the_history(root: Path) -> None:
    materials = {
        "change.diff": make_diff(pay__py=(FIXED, FIRST)),
        "reviews.md": "pay.py again loses its check",
    }

    answer = await call_review_tool("search_history", materials, root)

    assert len(answer["findings"]) == 1 and "again loses its check" in answer["summary"]


async def test_paths_that_lead_out_of_the_repository_are_not_looked_up(root: Path) -> None:
    diff = make_diff(pay__py=(FIXED, FIRST)).replace("a/pay.py", "a/../pay.py")

    answer = await call_review_tool(
        "search_history", {"change.diff": diff.replace("b/", "b/../")}, root
    )

    assert answer["findings"] == [] and "commits" not in answer["summary"]
