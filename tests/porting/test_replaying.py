"""A script that was recorded on TensorFlow 1.15.5 runs on today's, is recorded again, and computes the same."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import ROOT, wait_for

from tf1sessions.errors import ScriptUsageError, UsageError
from tf1sessions.porting import replaying, traces
from tf1sessions.porting.parity.programs import ProgramSide
from tf1sessions.porting.replaying import replay
from tf1sessions.porting.rewriting import verification
from tf1sessions.porting.trace_comparison import TraceComparison, compare
from tf1sessions.scripts.jobs import Job

pytest_plugins = ("warm_commands",)
pytestmark = pytest.mark.usefixtures("warm_commands")

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
@pytest.mark.parametrize(
    ("steps", "is_model"),
    [(0, False), (2, False), (2, True)],
    ids=["before the first run", "between runs", "of a script that leaves a model"],
)
def test_ctrl_c_is_heard(
    steps: int, is_model: bool, golden: traces.Trace, tmp_path: Path, null: tuple[int, int, int]
) -> None:
    """What was recorded until then is no result, which a comparison would start the script again for."""
    begun = tmp_path / "begun"
    script = tmp_path / "program.py"
    waits = f"if step == {steps}: open({str(begun)!r}, 'w').close(); __import__('time').sleep(60)"
    script.write_text(
        PROGRAM.replace("        session.run(y, {x: step", f"        {waits}\n        session.run(y, {{x: step"),
        encoding="utf-8",
    )

    def interrupt() -> None:
        wait_for(begun.exists, "the script's step")
        os.kill(os.getpid(), signal.SIGINT)

    pressing = threading.Thread(target=interrupt)
    pressing.start()
    with pytest.raises(KeyboardInterrupt):
        if is_model:
            ProgramSide(str(script), ("5", "0"))
        else:
            replay(golden, Job(script=str(script), args=("5", "0")), out=tmp_path / "today.npz", stdio=null)
    pressing.join()


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


LATE = """
import atexit
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
x = tf.placeholder(tf.float32, [])
y = tf.identity(x * 2.0, name="y")
session = tf.Session()
atexit.register(lambda: print(session.run(y, {x: 2.0})))
session.run(y, {x: 1.0})
"""


@pytest.mark.slow
@pytest.mark.parametrize("plain", [False, True], ids=["as a script", "as a ported program"])
def test_runs_of_functions_of_atexit_are_recorded(tmp_path: Path, null: tuple[int, int, int], plain: bool) -> None:
    script, out = tmp_path / "late.py", tmp_path / "late.npz"
    script.write_text(LATE, encoding="utf-8")
    job = Job(script=str(script))
    if plain:
        wanted = replaying.recording(out, job.shown, job.args, job.path) | {"script": job.shown, "arguments": []}
        assert verification._run_plain("plain_run", wanted, str(tmp_path), {}, 120) == 0
    else:
        replaying.record(job, out=out, stdio=null).trace.close()
    with traces.read(out) as trace:
        assert [float(step.fetches["y:0"]) for step in traces.steps(trace)] == [2.0, 4.0]
