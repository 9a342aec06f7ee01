"""A script that was recorded on TensorFlow 1.15.5 runs on today's, is recorded again, and computes the same."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import ROOT

from tf1sessions.errors import ScriptUsageError, UsageError
from tf1sessions.porting import traces
from tf1sessions.porting.replaying import replay
from tf1sessions.porting.trace_comparison import TraceComparison, compare
from tf1sessions.scripts.jobs import Job

GOLDEN = ROOT / "tests" / "golden" / "data" / "recorded.npz"
SCRIPT = ROOT / "tests" / "golden" / "cases" / "recorded_program.py"
LOSS = "mean_squared_error/value:0"


@pytest.fixture
def golden() -> Iterator[traces.Trace]:
    with traces.read(GOLDEN) as trace:
        yield trace


@pytest.fixture
def null() -> Iterator[tuple[int, int, int]]:
    descriptor = os.open(os.devnull, os.O_RDWR)
    yield descriptor, descriptor, descriptor
    os.close(descriptor)


def run(trace: traces.Trace, job: Job, out: Path, null: tuple[int, int, int], *given: str) -> TraceComparison:
    replayed = replay(trace, job, out=out, given=given, stdio=null)
    assert replayed.exit_code == 0
    with replayed.trace as other:
        assert other.versions["tensorflow"].startswith("2.") and other.options == trace.options
        return compare(trace, other)


@pytest.mark.slow
def test_with_the_seeds_feeds_and_variables_of_the_trace_all_is_equal(
    golden: traces.Trace, tmp_path: Path, null: tuple[int, int, int]
) -> None:
    """Though the program, left alone, would draw and feed other values."""
    job = Job(script=str(SCRIPT), args=("6",), env={"SHIFT": "0.5"})
    found = run(golden, job, tmp_path / "today.npz", null, "seeds", "feeds", "variables")
    assert found.equal, str(found)
    assert found.calls == golden.count and not found.random and not found.left_out
    tensors = {(tensor.role, tensor.session, tensor.name): tensor for tensor in found.tensors}
    assert tensors["fetch", 1, LOSS].compared == 6
    assert tensors["fetch", 1, "twice:0"].differing == tensors["initial", 1, "out/kernel"].differing == 0
    assert {session for _, session, _ in tensors} == {1, 2, 3}


PROGRAM = """
import sys
import tensorflow as tf

x = tf.placeholder(tf.float32, [])
y = tf.identity(x * 2.0, name="y")
with tf.Session() as session:
    for step in range(int(sys.argv[1])):
        session.run(y, {x: step + float(sys.argv[2])})  # train
    session.run(y, {x: 100 + float(sys.argv[2])})  # test
"""


@pytest.mark.slow
def test_feeds_are_those_of_the_same_line(golden: traces.Trace, tmp_path: Path, null: tuple[int, int, int]) -> None:
    """Also where the program makes more calls at one line than the trace has, or fewer, or makes them at a new line."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")

    def values(trace: traces.Trace) -> list[float]:
        (series,) = trace.find("fetch", 1, "y:0")
        return [float(trace.value(series, row)) for row in range(series.rows)]

    made = replay(golden, Job(script=str(script), args=("3", "0")), out=tmp_path / "made.npz", stdio=null)
    with made.trace as trace:
        assert values(trace) == [0, 2, 4, 200]
        found = []
        for number, (text, count) in enumerate([(PROGRAM, "5"), (PROGRAM, "2"), (PROGRAM.replace("# test", "#"), "2")]):
            script.write_text(text, encoding="utf-8")
            job = Job(script=str(script), args=(count, "7"))
            with replay(trace, job, out=tmp_path / f"{number}.npz", given=["feeds"], stdio=null).trace as other:
                compared = compare(trace, other)
                found.append((text == PROGRAM, count, values(other), compared.tensors[0].differing, compared.unmatched))
        called = "run(y:0) is called 4 times on the left and {} times on the right"
        assert sorted(found) == [
            (False, "2", [0, 2, 200], 0, (called.format(3),)),
            (True, "2", [0, 2, 200], 0, (called.format(3),)),
            (True, "5", [0, 2, 4, 2 * (3 + 7), 2 * (4 + 7), 200], 0, (called.format(6),)),
        ]


@pytest.mark.slow
def test_what_the_program_does_otherwise_is_reported(
    golden: traces.Trace, tmp_path: Path, null: tuple[int, int, int]
) -> None:
    job = Job(script=str(SCRIPT), args=("5",), env={"SHIFT": "0.5"})
    found = run(golden, job, tmp_path / "today.npz", null, "variables")
    tensors = {(tensor.role, tensor.name): tensor for tensor in found.tensors}
    assert tensors["initial", "hidden/kernel"].differing == 0
    assert found.first is not None and (found.first.tensor.role, found.first.call) == ("feed", 2)
    assert not found.random  # operations have the seeds of TensorFlow 1, though none were given
    assert any("is called 6 times on the left and 5 times on the right" in text for text in found.unmatched)
    assert not found.equal and "first parts: what is fed to" in str(found)


@pytest.mark.slow
def test_a_script_that_runs_no_session_is_named(
    golden: traces.Trace, tmp_path: Path, null: tuple[int, int, int]
) -> None:
    script = tmp_path / "nothing.py"
    script.write_text("import sys\nsys.exit(3)\n")
    out = tmp_path / "today.npz"
    out.write_text("of yesterday")
    with pytest.raises(ScriptUsageError, match="nothing.py ended with exit code 3, and nothing of it was recorded"):
        replay(golden, script, out=out, stdio=null)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["nothing.py"]
    script.write_text("import time\ntime.sleep(600)\n")
    with pytest.raises(ScriptUsageError, match="nothing.py took longer than 8 seconds, and nothing of it was recorded"):
        replay(golden, script, out=out, stdio=null, time_limit=8)


def test_what_a_trace_cannot_give(golden: traces.Trace, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a trace cannot give 'luck'.*variables, feeds, seeds"):
        replay(golden, SCRIPT, out=tmp_path / "today.npz", given=["luck"])
