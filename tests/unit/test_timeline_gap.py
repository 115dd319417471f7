"""The gap of a run that another instance of a server took over."""

from graph.runs.timeline import read_timeline


def test_the_time_without_an_instance_is_a_span():
    request = {"t": 0.0, "kind": "request", "task": "", "worker": ""}
    taken = {"t": 9.5, "kind": "taken_over", "task": "", "worker": "", "gap_s": 7.0}

    found = read_timeline([request, taken])

    gaps = [(span.name, span.start_s, span.end_s) for span in found.spans]
    assert gaps == [("no instance at work", 2.5, 9.5)]
