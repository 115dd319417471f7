"""Results are made to fit."""

from hypothesis import given
from hypothesis import strategies as st

from nodes.errors import RateLimited
from nodes.synthesis.reduction import cut_report, measure_size, pack_reports, reduce_reports
from state import Claim, Report
from supervisor_worker.testing.fake_models import make_models
from tests.node_runs import NodeRun

reports = st.builds(
    Report,
    task=st.sampled_from(("A", "B", "C")),
    output=st.text(alphabet="abc xyz.", max_size=9_000),
    claims=st.lists(st.builds(Claim, text=st.text("abc ", min_size=1, max_size=300))).map(tuple),
)


@given(reports)
def test_a_report_that_is_cut_fits(report: Report) -> None:
    assert measure_size([cut_report(report, 3_000)]) <= 3_000


@given(st.lists(reports, min_size=1, max_size=8))
def test_groups_fit_and_keep_the_order(found: list[Report]) -> None:
    groups = pack_reports(found, 4_000, max_reports=3)

    assert [report.task for group in groups for report in group] == [each.task for each in found]
    assert all(measure_size(group) <= 4_000 and len(group) <= 3 for group in groups)


def test_a_report_that_fits_is_not_touched() -> None:
    report = Report(task="A", output="short", claims=(Claim(text="c"),))

    assert pack_reports([report], 4_000, max_reports=3) == [[report]]


async def test_reports_without_words_are_kept_where_no_model_summarises_them() -> None:
    silent = [Report(task=name, claims=(Claim(text="It is so."),)) for name in ("A", "B")]
    model = make_models(Answer=RateLimited("later")).model

    kept, _, lost = await NodeRun().call(
        reduce_reports, lambda: model, "Compare.", silent, max_chars=2_000, is_asked=True
    )

    assert kept[0].output == "No text."
    assert lost
