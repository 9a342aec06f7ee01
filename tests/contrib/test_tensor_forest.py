"""contrib.tensor_forest: forests that learn, in the library, in scripts, and from a checkpoint on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support import PythonRun

_PROGRAM = """
import os, sys, tempfile
import numpy as np
import tf1sessions
from tf1sessions.runtime import tf1 as tf
if sys.argv[1] == "script":
    tf1sessions.enable_v1_behavior()
from tf1sessions import contrib
tf.logging.set_verbosity(tf.logging.ERROR)
forest = contrib.tensor_forest.tensor_forest
iris = contrib.learn.datasets.load_iris()
data, target = iris.data.astype(np.float32), iris.target

def build(**other):
    params = forest.ForestHParams(
        num_classes=3, num_features=4, num_trees=5, max_nodes=60, split_after_samples=10, **other
    ).fill()
    x, y = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int64, [None])
    graphs = forest.RandomForestGraphs(params)
    train, loss = graphs.training_graph(x, y), graphs.training_loss(x, y)
    return x, y, train, loss, graphs.inference_graph(x)[0], graphs

path = os.path.join(tempfile.mkdtemp(), "forest")
with tf.Graph().as_default(), tf.Session() as session:
    x, y, train, loss, infer, graphs = build()
    extra = graphs.average_size(), graphs.average_impurity(), graphs.feature_importances()
    session.run(tf.global_variables_initializer())
    before = session.run([infer, extra], {x: data})
    feeds = {x: data, y: target}
    losses = [float(session.run([train, loss], feeds)[1]) for _ in range(8)]
    saver = tf.train.Saver()
    saver.save(session, path)
    saved = session.run(infer, feeds)
    session.run(train, feeds)
    later, numbers = session.run([infer, extra], feeds)
    report(
        before=[before[0].min().item(), before[0].max().item(), before[1][0].item()],
        losses=losses,
        size=numbers[0].item(),
        impurity=numbers[1].item(),
        importances=numbers[2].tolist(),
        accuracy=float((later.argmax(1) == target).mean()),
        sums=[later.sum(1).min().item(), later.sum(1).max().item()],
    )
with tf.Graph().as_default(), tf.Session() as session:
    x, y, train, loss, infer, _ = build()
    tf.train.Saver().restore(session, path)
    report(restored=bool((session.run(infer, {x: data}) == saved).all()))
    session.run(train, {x: data, y: target})
    report(goes_on_alike=bool((session.run(infer, {x: data}) == later).all()))

estimators = contrib.tensor_forest.random_forest
def input_fn():
    return {"a": tf.constant(data[:, :2]), "b": tf.constant(data[:, 2:])}, tf.constant(target)
def numbers_fn():
    return tf.constant(data), tf.constant(data[:, 0] * 2.0)
params = dict(num_features=4, num_trees=5, max_nodes=60, split_after_samples=10)
classifier = estimators.TensorForestEstimator(forest.ForestHParams(num_classes=3, **params))
classifier.fit(input_fn=input_fn, steps=10)
regressor = estimators.TensorForestEstimator(forest.ForestHParams(num_classes=1, regression=True, **params))
regressor.fit(input_fn=numbers_fn, steps=12)
report(
    classifier={k: float(v) for k, v in classifier.evaluate(input_fn=input_fn, steps=1).items()},
    classes=[int(p["classes"]) for p, _ in zip(classifier.predict(input_fn=input_fn), range(150))][::50],
    scores=[float(p["scores"]) for p, _ in zip(regressor.predict(input_fn=numbers_fn), range(150))],
    truth=(data[:, 0] * 2.0).tolist(),
)
stopping = estimators.TensorForestEstimator(
    forest.ForestHParams(num_classes=3, **dict(params, max_nodes=5)), early_stopping_rounds=3
)
stopping.fit(input_fn=input_fn, steps=60)
report(stopped_at=int(stopping.get_variable_value("global_step")))
for name, call in {
    "incomplete": lambda: forest.ForestHParams(num_classes=3).fill(),
    "old trees": lambda: forest.RandomForestGraphs(forest.ForestHParams(num_classes=3, **params), tree_configs=["x"]),
}.items():
    try:
        call()
    except ValueError as error:
        report(**{"error " + name: str(error)})
"""


@pytest.mark.parametrize("way", ["script", "TF2 program"])
def test_forests_learn(run_python: Callable[..., PythonRun], way: str) -> None:
    found = run_python(_PROGRAM, way).results
    assert found["before"] == pytest.approx([1 / 3, 1 / 3, 1.0])
    assert found["losses"] == sorted(found["losses"], reverse=True) and found["losses"][-1] < -5
    assert found["size"] > 9 and found["impurity"] < 0.1
    assert sum(found["importances"]) == pytest.approx(1.0) and np.argmax(found["importances"]) >= 2
    assert found["accuracy"] > 0.95 and found["sums"] == pytest.approx([1.0, 1.0])
    assert found["restored"] and found["goes_on_alike"]
    assert found["classifier"]["accuracy"] > 0.95 and found["classifier"]["global_step"] == 10
    assert found["classes"] == [0, 1, 2]
    scores, truth = np.array(found["scores"]), np.array(found["truth"])
    assert np.mean((scores - truth) ** 2) < 0.2 * truth.var()
    assert found["stopped_at"] < 60
    assert "num_features must be given" in found["error incomplete"]
    assert "cannot be read" in found["error old trees"]


_TREES = """
import numpy as np
from tf1sessions.contrib.tensor_forest import trees
def shape_of(**other):
    given = dict(trees=3, nodes=15, slots=4, candidates=6, features=2, outputs=2, regression=False)
    given.update(split_after_samples=20, bagging_fraction=1.0, feature_bagging_fraction=1.0)
    given.update(strictly_less=False, seed=1)
    return trees.Shape(**{**given, **other})

rng = np.random.RandomState(0)
shape = shape_of()
state = trees.empty(shape)
untouched = True
for _ in range(30):
    data = rng.uniform(size=(25, 2)).astype(np.float32)
    before = {name: value.copy() for name, value in state.items()}
    grown = trees.grow(shape, state, data, (data[:, 0] > data[:, 1]).astype(np.int64))
    untouched = untouched and all((state[name] == before[name]).all() for name in state)
    state = grown
slots = [len(set(row[row >= 0])) for row in state["slot"]]
report(
    untouched=bool(untouched),
    sizes=state["size"].tolist(),
    seen=state["stats"][:, 0].sum(-1).tolist(),
    slots=slots,
    slots_used=state["slot_used"].sum(1).tolist(),
)

shape = shape_of(feature_bagging_fraction=0.5, trees=6)
state = trees.empty(shape)
for _ in range(5):
    data = rng.uniform(size=(40, 2)).astype(np.float32)
    state = trees.grow(shape, state, data, (data.sum(1) > 1).astype(np.int64))
report(split_by=[sorted({int(i) for i in row[row >= 0]}) for row in state["feature"]])

shape = shape_of()
state = trees.empty(shape)
for _ in range(5):
    state = trees.grow(shape, state, rng.uniform(size=(40, 2)), np.zeros(40, np.int64))
answers, variance = trees.predict(shape, state, np.zeros((2, 2), np.float32))
report(pure=state["size"].tolist(), answers=answers.tolist(), variance=variance.max().item())
"""


def test_trees_keep_to_their_rules(run_python: Callable[..., PythonRun]) -> None:
    found = run_python(_TREES).results
    assert found["untouched"]  # growing returns another state
    assert found["sizes"] == [15] * 3  # all nodes, and not one more
    assert all(20 <= seen < 750 for seen in found["seen"])  # by the root, until it split
    assert found["slots"] == found["slots_used"]
    assert all(len(features) == 1 for features in found["split_by"])
    assert {features[0] for features in found["split_by"]} == {0, 1}
    assert found["pure"] == [1] * 3 and found["answers"] == [[1.0, 0.0]] * 2 and found["variance"] == 0.0
