"""MemoryPlan with TensorFlow: protos, what a process has settled, eager execution, lanes; see memory_checks.py."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support import PythonRun

PROGRAM = "memory_checks.py"


def test_memory_plan(check: str, findings: dict[str, str | None]) -> None:
    assert findings[check] is None, findings[check]


@pytest.mark.gpu
@pytest.mark.slow
def test_a_share_is_what_the_process_holds(run_python: Callable[..., PythonRun]) -> None:
    """On a real GPU: the driver, asked for this process, says the share that was planned, and a context."""
    done = run_python(
        """
        import os
        import tf1sessions as t1

        tf = t1.tf1
        plan = t1.MemoryPlan(workers=4)
        plan.apply(worker=1)
        with t1.GraphSession() as gs:
            gs.run(tf.reduce_sum(tf.random.uniform([1000, 1000])))
            cards = [device for device in gs.session.list_devices() if device.device_type == "GPU"]
            try:
                t1.GraphSession(t1.SessionConfig(memory_fraction=0.9))
            except t1.errors.MemoryPlanConflict as error:
                report(conflict=str(error))
        report(limits_mb=[card.memory_limit_bytes / 2**20 for card in cards], planned_mb=plan.share(1).memory_mb)
        """
    ).results
    assert done["limits_mb"] == [pytest.approx(done["planned_mb"], rel=0.03)]  # NVML counts what CUDA reserves
    assert "MemoryPlan.apply(worker=1)" in done["conflict"]


@pytest.mark.gpu
@pytest.mark.slow
def test_lanes_have_hard_caps(run_python: Callable[..., PythonRun]) -> None:
    """On a real GPU: each lane has its part, and the graph of a lane's session runs on it."""
    done = run_python(
        """
        import tf1sessions as t1

        tf = t1.tf1
        plan = t1.MemoryPlan(limit_mb=2000, lanes=2)
        found = []
        for lane in (0, 1):
            with t1.GraphSession(plan.config(lane=lane)) as gs:
                x = tf.placeholder(tf.float32, [None, None], name="x")
                y = tf.matmul(x, x)
                metadata = tf.RunMetadata()
                options = tf.RunOptions(output_partition_graphs=True)
                gs.run(y, {x: [[1.0, 2.0], [3.0, 4.0]]}, options, metadata)
                found.append([n.device for g in metadata.partition_graphs for n in g.node if n.op == "MatMul"])
                limits = [d.memory_limit_bytes / 2**20 for d in gs.session.list_devices() if d.device_type == "GPU"]
        report(found=found, limits=limits)
        """
    ).results
    assert [[name.rpartition("device:")[2] for name in names] for names in done["found"]] == [["GPU:0"], ["GPU:1"]]
    assert done["limits"] == [1000.0, 1000.0]


def test_an_eager_operation_came_first(run_python: Callable[..., PythonRun]) -> None:
    """The plan cannot be carried out any more, which is reported; nothing is settled by it."""
    done = run_python(
        """
        import tensorflow
        import tf1sessions as t1
        from tf1sessions.sessions import gpu_settings

        tensorflow.constant(1.0) + 1.0
        try:
            t1.MemoryPlan(gpus=(), lanes=2).apply()
        except t1.errors.MemoryPlanConflict as error:
            report(text=str(error), cause=type(error.__cause__).__name__, settled=gpu_settings.current())
        t1.MemoryPlan(gpus=()).apply()  # asks TensorFlow for nothing that it does not do already
        """
    ).results
    assert "TensorFlow was used before the plan was applied" in done["text"]
    assert "code.py:8" in done["text"] and "first lines" in done["text"]
    assert (done["cause"], done["settled"]) == ("RuntimeError", None)


def test_a_plan_crosses_to_another_process(run_python: Callable[..., PythonRun]) -> None:
    """Planned once, in one process; applied in the workers."""
    done = run_python(
        """
        import pickle
        import tf1sessions as t1

        plan = t1.MemoryPlan(workers=2, fraction=0.25, machine={"gpus": [{"total_mb": 16000}], "cores": 4})
        again = pickle.loads(pickle.dumps(plan))
        report(same=again == plan and again.config(1) == plan.config(1) and hash(again) == hash(plan))
        """
    ).results
    assert done == {"same": True}
