"""The package contrib itself, and its use in a TensorFlow 2 program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tf1sessions.source import contrib_addresses as addresses

PROGRAM = """
import sys, threading
import numpy as np
import tf1sessions
from tf1sessions import contrib

report(light="tensorflow" not in sys.modules, modules=contrib.__all__, listed=set(contrib.__all__) <= set(dir(contrib)))

def error(call):
    try:
        call()
    except Exception as error:
        return [type(error).__name__, isinstance(error, AttributeError), str(error)]

report(missing=error(lambda: contrib.ffmpeg.decode_audio), below=error(lambda: contrib.layers.no_such_name),
       has=[hasattr(contrib, "no_such_name"), hasattr(contrib.layers, "no_such_name"),
            hasattr(contrib.layers, "conv2d")])
tf = tf1sessions.tf1
report(library=error(lambda: contrib.util.loader.load_op_library("no_such_library.so"))[0])
report(eager=tf.executing_eagerly())

with tf.Graph().as_default() as graph:
    product = tf.matmul(tf.ones([2, 3]), tf.placeholder(tf.float32, [3, 1]))
    proto = contrib.util.make_tensor_proto([1.5, 2.5], shape=[2, 1])
    report(util=[
        contrib.util.constant_value(tf.constant([1, 2])).tolist(), contrib.util.constant_value(product),
        contrib.util.make_ndarray(proto).tolist(), contrib.util.ops_used_by_graph_def(graph.as_graph_def()),
        sorted(op.name for op in contrib.util.stripped_op_list_for_graph(graph.as_graph_def()).op),
    ])

def train(results, barrier):
    barrier.wait()
    with tf1sessions.GraphSession() as gs, contrib.framework.arg_scope(
        [contrib.layers.fully_connected], normalizer_fn=contrib.layers.batch_norm, activation_fn=tf.nn.tanh
    ):
        x = tf.placeholder(tf.float32, [None, 4])
        y = contrib.layers.fully_connected(x, 3, weights_initializer=contrib.layers.xavier_initializer(seed=1))
        loss = tf.reduce_mean(tf.square(y - 0.5))
        step = contrib.layers.optimize_loss(loss, tf.train.get_or_create_global_step(), 0.1, "Adam")
        gs.run(tf.global_variables_initializer())
        data = np.arange(32, dtype="float32").reshape(8, 4)
        results.append([float(gs.run(step, {x: data})) for _ in range(30)])

results, barrier = [], threading.Barrier(4, timeout=60)
threads = [threading.Thread(target=train, args=(results, barrier)) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
report(trained=[loss[-1] < loss[0] for loss in results], same=all(loss == results[0] for loss in results),
       outside=contrib.framework.current_arg_scope() == {}, still_eager=tf.executing_eagerly())
"""


def test_in_a_tensorflow_2_program(run_python: Callable[..., Any]) -> None:
    found = run_python(PROGRAM, fresh=True).results
    assert found["light"] and found["listed"] and {"framework", "layers", "slim"} <= set(found["modules"])
    for key, symbol in (("missing", "tf.contrib.ffmpeg.decode_audio"), ("below", "tf.contrib.layers.no_such_name")):
        kind, old_kind, text = found[key]
        assert (kind, old_kind) == ("MissingSymbolError", True)
        assert text.startswith(f"{symbol} is not available") and "code.py:15" in text
    assert found["has"] == [False, False, True]
    ops = ["Const", "MatMul", "Placeholder"]
    assert found["util"] == [[1, 2], None, [[1.5], [2.5]], ops, ops]
    assert found["library"] == "NotFoundError"
    assert found["eager"] and found["still_eager"] and found["outside"]
    assert found["trained"] == [True] * 4 and found["same"]


def test_inner_addresses() -> None:
    assert addresses.is_inner("layers", "python")
    assert addresses.is_inner("layers", "python.layers")
    assert addresses.is_inner("layers", "python.layers.layers")
    assert addresses.is_inner("slim", "nets")
    assert not addresses.is_inner("layers", "python.layers.no_such_thing")
    assert not addresses.is_inner("layers", "layers")
    assert not addresses.is_inner("no_such_module", "python")
