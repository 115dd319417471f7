"""How long tasks wait for what runs outside the process, and how much of it together."""

from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state import Usage
from tests.moments import Moments


def test_tasks_that_wait_at_the_same_time_save_all_but_one_of_the_waits():
    now = Moments()

    with now.waits.count("a"), now.waits.count("b"), now.waits.count("c"):
        now.pass_time(2.0)
    with now.waits.count("a"):
        now.pass_time(1.0)

    taken = [now.waits.take(name) for name in "abc"]
    assert [each.waited_s for each in taken] == pytest.approx([3, 2, 2])
    assert sum(each.overlapped_s for each in taken) == pytest.approx(4)
    assert now.waits.take("a") == Usage()


def test_seconds_in_which_the_process_computed_are_no_wait():
    now = Moments()

    with now.waits.count("a"), now.waits.count("b"):
        now.pass_time(2.0, computed_s=2.0)

    assert now.waits.take("a") == now.waits.take("b") == Usage()


def test_several_cores_at_work_do_not_make_a_wait_negative():
    now = Moments()

    with now.waits.count("a"):
        now.pass_time(1.0, computed_s=4.0)
        now.pass_time(1.0)

    assert now.waits.take("a").waited_s >= 0


def test_calls_of_one_task_at_the_same_time_are_one_wait():
    now = Moments()

    with now.waits.count("a"), now.waits.count("a"):
        now.pass_time(2.0)

    assert now.waits.take("a") == Usage(waited_s=2.0)


def test_a_call_that_fails_has_been_waited_for_and_is_open_no_more():
    now = Moments()

    with pytest.raises(OSError), now.waits.count("a"):
        now.pass_time(1.0)
        raise OSError
    now.pass_time(5.0)
    with now.waits.count("b"):
        now.pass_time(1.0)

    assert now.waits.take("a") == now.waits.take("b") == Usage(waited_s=1.0)


@given(st.lists(st.tuples(st.sets(st.sampled_from("abcd")), st.floats(0, 10)), max_size=8))
def test_what_overlaps_is_the_sum_of_the_waits_less_the_time_in_which_any_task_waited(parts):
    now = Moments()

    for tasks, seconds in parts:
        with ExitStack() as stack:
            for task in sorted(tasks):
                stack.enter_context(now.waits.count(task))
            now.pass_time(seconds)

    taken = [now.waits.take(name) for name in "abcd"]
    waited_s = sum(seconds for tasks, seconds in parts if tasks)
    together_s = sum(each.waited_s for each in taken) - waited_s
    assert sum(each.overlapped_s for each in taken) == pytest.approx(together_s, abs=1e-6)
