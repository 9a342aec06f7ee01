"""contrib.opt beyond its variables and steps: savers, SciPy, hooks and several workers, and errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support import PythonRun

_PROGRAM = """
import importlib.util, os, sys, threading
import numpy as np
import tf1sessions
from tf1sessions import contrib
from tf1sessions.runtime import tf1 as tf

folder, way = sys.argv[1:]
if way == "script":
    tf1sessions.enable_v1_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)
opt = contrib.opt
from tf1sessions.contrib.opt import sign_decay

def error(call):
    try:
        call()
    except Exception as error:
        return [type(error).__name__, str(error)[:60]]

# 1.15.5 saves v as 0.95, the average, and the average as 0.9
with tf.Graph().as_default(), tf.Session() as session:
    tf.train.get_or_create_global_step()
    v = tf.get_variable("v", initializer=tf.constant([1.0]))
    w = tf.get_variable("w", initializer=tf.constant([1.0]), trainable=False)
    optimizer = opt.MovingAverageOptimizer(tf.train.AdamOptimizer(0.1), 0.5)
    early = error(optimizer.swapping_saver)
    train = optimizer.minimize(tf.reduce_sum(v * v))
    session.run(tf.global_variables_initializer())
    session.run(train)
    path = optimizer.swapping_saver().save(session, os.path.join(folder, "average"))
    saved = {name: round(float(np.ravel(tf.train.load_variable(path, name))[0]), 5)
             for name, _ in tf.train.list_variables(path)}
    tf.train.Saver().restore(session, path)
    report(saved=saved, name=train.name, restored=float(session.run(v)[0]), early=early,
           missing=error(lambda: optimizer.swapping_saver([v])))

def scipy_optimizers():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.get_variable("x", initializer=[7.0, 7.0])
        loss = tf.reduce_sum(tf.square(x)) + tf.placeholder_with_default(0.0, [])
        session.run(tf.global_variables_initializer())
        losses, steps = [], []
        opt.ScipyOptimizerInterface(loss, options={"maxiter": 100}).minimize(
            session, fetches=[loss], loss_callback=losses.append,
            step_callback=lambda vector: steps.append(vector.copy()))
        free = session.run(x).tolist()
        session.run(x.initializer)
        opt.ScipyOptimizerInterface(loss, var_to_bounds={x: ([1, 2], np.inf)}).minimize(session)
        bounded = session.run(x).tolist()
        session.run(x.initializer)
        opt.ScipyOptimizerInterface(
            loss, equalities=[x[1] - 1.0], inequalities=[x[0] - 1.0], method="SLSQP").minimize(session)
        report(scipy=[free, bounded, session.run(x).tolist()], first=float(losses[0]), steps=len(steps) > 0,
               shapes=[len(vector) for vector in steps[:1]],
               jac=error(lambda: opt.ScipyOptimizerInterface(loss, jac=True).minimize(session)),
               base=error(lambda: opt.ExternalOptimizerInterface(loss).minimize(session))[0])

no_scipy = importlib.util.find_spec("scipy") is None
report(scipy_missing=error(scipy_optimizers) if no_scipy else None)
if not no_scipy:
    scipy_optimizers()

# one worker: local variables get the global ones, the saver saves these under the names of the others
with tf.Graph().as_default():
    step = tf.train.get_or_create_global_step()
    getter = opt.ElasticAverageCustomGetter("/cpu:0")
    with tf.variable_scope("m", custom_getter=getter):
        v = tf.get_variable("v", initializer=tf.constant([1.0]))
        fixed = tf.get_variable("fixed", initializer=tf.constant([1.0]), trainable=False)
    optimizer = opt.ElasticAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), 1, getter, communication_period=2)
    train = optimizer.minimize(tf.reduce_sum(v * v), global_step=step)
    saver = optimizer.swapping_saver()
    center = [x for x in tf.global_variables() if "center" in x.name][0]
    change = center.assign([5.0])
    hook = optimizer.make_session_run_hook(True, 0)
    class Change(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            session.run(change)
    with tf.train.MonitoredTrainingSession(hooks=[Change(), hook]) as session:
        start = float(session.run_step_fn(lambda step_context: step_context.session.run(v))[0])
        target = os.path.join(folder, "elastic")
        path = session.run_step_fn(lambda step_context: saver.save(step_context.session, target))
    report(elastic=[start, {n: tf.train.load_variable(path, n).tolist() for n, _ in tf.train.list_variables(path)}])

# two workers in one graph, each with its copy; accumulators and queue are shared by name
with tf.Graph().as_default(), tf.Session() as session:
    step = tf.train.get_or_create_global_step()
    trains, copies, inits = [], [], []
    getter = opt.ModelAverageCustomGetter("/cpu:0")
    with tf.variable_scope("", custom_getter=getter):
        v = tf.get_variable("v", initializer=tf.constant([1.0]))
    other = tf.get_variable("other", initializer=tf.constant([1.0]), collections=[tf.GraphKeys.LOCAL_VARIABLES])
    getter._global_map["other"] = getter._global_map["v"]  # the second worker's copy of the same variable
    for task, (copy, gradient) in enumerate(((v, 1.0), (other, 3.0))):
        with tf.variable_scope(f"worker{task}"):
            optimizer = opt.ModelAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), 2, task == 0, getter, 2)
            trains.append(optimizer.apply_gradients([(tf.constant([gradient]), copy)], step))
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    problems, values = [], []
    for turn in range(4):  # each second turn they wait for each other
        def run(train):
            try:
                session.run(train)
            except BaseException as problem:
                problems.append(repr(problem))
        threads = [threading.Thread(target=run, args=(train,)) for train in trains]
        for thread in threads: thread.start()
        for thread in threads: thread.join(60)
        values.append([float(x[0]) for x in session.run([v, other, getter._global_map["v"]])])
    report(problems=problems, workers=values, alive=any(thread.is_alive() for thread in threads),
           step=int(session.run(step)))

with tf.Graph().as_default():
    v = tf.get_variable("v", initializer=tf.ones([5, 2]))
    pair = [(tf.ones([5, 2]), v)]
    step = tf.train.get_or_create_global_step()
    drop = opt.DropStaleGradientOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), 1)
    pairs = drop.compute_gradients(tf.reduce_sum(v))
    report(errors=[
        error(lambda: opt.LARSOptimizer(0.1, momentum=-1.0)), error(lambda: opt.MultitaskOptimizerWrapper("Adam")),
        error(lambda: drop.apply_gradients([], step)), error(lambda: drop.apply_gradients(pairs)),
        error(lambda: opt.AddSignOptimizer(sign_decay_fn=sign_decay.get_linear_decay_fn(3)).apply_gradients(pair)),
        error(lambda: opt.RegAdagradOptimizer(0.1, initial_accumulator_value=0.0)),
        error(lambda: opt.ModelAverageOptimizer(tf.train.AdamOptimizer(), 1, True,
                                                opt.ModelAverageCustomGetter("/cpu:0")).apply_gradients(pair)),
    ])
    made = opt.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)
    sgd = made(weight_decay=lambda: 0.5, learning_rate=0.0)
    train = sgd.minimize(tf.reduce_sum(v))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        report(decayed=session.run(v)[0].tolist(), class_name=type(sgd).__name__)
"""


@pytest.mark.parametrize("way", ["script", "TF2 program"])
def test_optimizers(run_python: Callable[..., PythonRun], tmp_path: Path, way: str) -> None:
    found = run_python(_PROGRAM, str(tmp_path), way).results
    saved = found["saved"]
    assert saved["v"] == 0.95 and saved["v/ExponentialMovingAverage"] == 0.9 and saved["w"] == 1.0
    assert {"beta1_power", "beta2_power", "global_step", "v/Adam", "v/Adam_1"} < saved.keys()
    assert found["name"] == "train_with_avg" and found["restored"] == pytest.approx(0.95)
    assert found["early"] == ["RuntimeError", "Must call apply_gradients or minimize before creating the sw"]
    assert found["missing"] == ["ValueError", "Variable to swap v/ExponentialMovingAverage is not part of v"]
    if found["scipy_missing"]:
        assert found["scipy_missing"] == [
            "UnsupportedEnvironmentError",
            "ScipyOptimizerInterface needs SciPy, which is not installed.",
        ]
    else:
        for value, expected in zip(found["scipy"], ([0, 0], [1, 2], [1, 1]), strict=True):
            assert value == pytest.approx(expected, abs=1e-4)
        assert found["first"] == 98.0 and found["steps"] and found["shapes"] == [2]
        assert found["jac"][0] == "ValueError" and found["base"] == "NotImplementedError"
    assert found["elastic"] == [5.0, {"m/v": [5.0]}]
    # 1 - 1 and 1 - 3; 1 - 2 and 1 - 6, and their average; and again from there
    assert found["problems"] == [] and not found["alive"] and found["step"] == 2
    assert found["workers"] == [[0, -2, 1], [-3, -3, -3], [-4, -6, -3], [-7, -7, -7]]
    assert [name for name, _ in found["errors"]] == [
        "ValueError", "TypeError", "ValueError", "ValueError", "ValueError", "ValueError", "ValueError"
    ]  # fmt: skip
    assert found["decayed"] == [0.5, 0.5] and found["class_name"] == "OptimizerWithDecoupledWeightDecay"
