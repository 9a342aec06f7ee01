"""Estimators and contrib.distribute on several replicas, against genuine TensorFlow 1.15.5, within a relative 1e-4."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import ROOT, PythonRun

sys.path.insert(0, str(ROOT / "tests" / "contrib"))
sys.path.insert(0, str(ROOT / "tests" / "golden" / "cases"))
import answers
import contrib_record

GOLDEN = ROOT / "tests" / "golden" / "data" / "estimator" / "distribute.json.gz"

_PROGRAM = """
import logging, os, sys, threading
sys.path.insert(0, sys.argv[1])
import distribute_cases as cases
import estimator_cases
import tf1sessions
from tf1sessions import contrib, estimator, tf1

tf1sessions.enable_v1_behavior()

class TensorFlow:
    contrib = contrib

    def __getattr__(self, name):
        return getattr(tf1, name)

tf = TensorFlow()
report(cases=cases.run(tf, estimator))

def uneven(world):
    made = cases.made(world, cases.squares(world))
    made.train(cases.data(world), steps=1)
    world.logged()
    alone = made.evaluate(cases.data(world, batch=5), steps=1)
    world.logged()
    each = [made.evaluate(cases.data(world, batch=5)) == alone for _ in range(3)]
    return each, [line for line in world.logged() if line.startswith("WARNING")]

def metric_names(world):
    def model_fn(features, labels, mode):
        loss = tf.reduce_mean(labels)
        metrics = {"loss": tf.metrics.mean(loss)}
        return estimator.EstimatorSpec(mode, loss=loss, train_op=tf.no_op(), eval_metric_ops=metrics)

    config = cases.config(world, cases.mirrored(world))
    return world.error(estimator.Estimator(model_fn, world.folder(), config).evaluate, cases.data(world))

def refused(world):
    os.environ["TF_CONFIG"] = '{"cluster": {"worker": ["h0:1", "h1:1"]}, "task": {"type": "worker", "index": 0}}'
    try:
        cluster = contrib.distribute.CollectiveAllReduceStrategy()
    finally:
        del os.environ["TF_CONFIG"]
    made = cases.made(world, cases.squares(world), cluster)
    return [world.error(call, cases.data(world)) for call in (made.train, made.evaluate)]

def exported_at_once(world):
    from concurrent.futures import ThreadPoolExecutor
    from tf1sessions.estimator import saved_models

    base, barrier = world.folder(), threading.Barrier(2, timeout=60)

    def export(_):
        barrier.wait()
        with saved_models.new_folder(base, None, False) as (folder, builder):
            barrier.wait()  # both build at the same time
            with tf.Graph().as_default(), tf.Session() as session:
                builder.add_meta_graph_and_variables(session, ["serve"])
        return os.path.exists(os.path.join(folder, b"saved_model.pb"))

    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(export, range(2))), len(os.listdir(base))

def malformed(world):
    found = []
    for text in ("{", "[]"):
        os.environ["TF_CONFIG"] = text
        try:
            found.append(world.error(estimator.RunConfig))
        finally:
            del os.environ["TF_CONFIG"]
    return found

own = {"malformed": malformed, "uneven": uneven, "metric_names": metric_names, "exported_at_once": exported_at_once}
report(own=estimator_cases.run(tf, estimator, own, own))
refusals = {"refused": refused}
report(refused=estimator_cases.run(tf, estimator, refusals, refusals)["refused"])
"""


@pytest.fixture(scope="module")
def found(run_python: Callable[..., PythonRun]) -> dict[str, Any]:
    return run_python(_PROGRAM, str(Path(__file__).resolve().parent), deadline=170).results


@pytest.mark.slow
def test_programs_do_what_they_did_on_1_15(found: dict[str, Any]) -> None:
    golden = contrib_record.load(GOLDEN)
    assert {"strategies", "steps", "losses"} <= golden.keys()
    assert answers.differences(found["cases"], golden, rtol=1e-4, atol=1e-6) == []


@pytest.mark.slow
def test_a_last_step_that_has_too_few_batches_does_nothing(found: dict[str, Any]) -> None:
    same, warnings = found["own"]["uneven"]
    assert same == [True] * 3
    reported = "WARNING The last 1 of 3 batches are left out: each step takes one for each of 2 replicas."
    assert warnings == [reported] * 3
    kind, text = found["own"]["metric_names"]
    assert kind == "ValueError" and "already defines a default metric" in text


@pytest.mark.slow
def test_a_chief_and_a_worker_may_export_at_once(found: dict[str, Any]) -> None:
    assert found["own"]["exported_at_once"] == [[True, True], 2]


@pytest.mark.slow
def test_a_malformed_tf_config_is_named(found: dict[str, Any]) -> None:
    (_, first), (kind, second) = found["own"]["malformed"]
    assert "the variable TF_CONFIG is not JSON: Expecting property name" in first
    assert kind == "ValueError" and "the variable TF_CONFIG is '[]', and not a JSON object" in second


@pytest.mark.slow
def test_a_strategy_of_a_cluster_is_refused(found: dict[str, Any]) -> None:
    for name, (kind, text) in zip(["train_distribute", "eval_distribute"], found["refused"], strict=True):
        assert kind == "ValueError"
        assert f"RunConfig({name}=...) is for the devices of one machine" in text
        assert "CollectiveAllReduceStrategy has 2 replicas on the cluster of TF_CONFIG" in text
