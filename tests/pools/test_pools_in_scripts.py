"""Pools that a script makes: in their workers TensorFlow is what the script sees, and errors of it keep their class.

All in one process, because the script needs TensorFlow itself.
"""

from __future__ import annotations

import pytest
from support import PythonRun

SCRIPT = """
from tf1sessions.scripts import settings
from tf1sessions.scripts.payload import ProgramSettings
# as in a process of `tf1sessions run`
settings.apply(ProgramSettings(intra_op_threads=1, inter_op_threads=2), "the script")

import tensorflow as tf
from tensorflow.contrib import slim
import tf1sessions as t1

def look(session, steps):
    import tensorflow as here
    weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
    step = tf.train.GradientDescentOptimizer(0.1).minimize((weight - 1.0) ** 2)
    session.initialize()
    for _ in range(steps):
        session.run(step)
    proto = tf.Session()._config
    return {
        "weight": round(float(session.run(weight)), 4),
        "same": here is tf and here.contrib.slim is slim,
        "version": here.__version__,
        "kind": type(weight).__name__,
        "threads": proto.intra_op_parallelism_threads,
    }

def fails(session):
    session.run(tf.matmul(tf.placeholder(tf.float32, name="the_input"), tf.constant([[1.0]])))

with t1.ProcessSessionPool(1) as pool:
    report(jobs=list(pool.map(look, [1, 2])), version=tf.__version__)
    cause = pool.submit(fails).exception().__cause__
    report(cause=isinstance(cause, tf.errors.InvalidArgumentError), remote=str(cause.__cause__))
    report(eager=pool.submit(lambda session: tf.executing_eagerly()).result())
"""


@pytest.mark.slow
def test_jobs_of_a_scripts_pool_see_tensorflow_1(run_python):
    done: PythonRun = run_python(SCRIPT)
    jobs = done.results["jobs"]
    assert [job.pop("weight") for job in jobs] == [0.2, 0.36]
    expected = {"same": True, "version": done.results["version"], "kind": "RefVariable", "threads": 1}
    assert jobs == [expected, expected]
    assert done.results["version"].startswith("1.15") and done.results["eager"] is False
    assert done.results["cause"], "an error of TensorFlow keeps its class"
    assert "in fails" in done.results["remote"] and "the_input" in done.results["remote"]
