"""What a call of a converted model costs, against the session of TensorFlow 1 on the same graph and the same inputs.

    python benchmarks/ported.py [--quick] [--models LSTM,CNN] [--alone]

Prints microseconds, and how many times as fast as the session the module is, in brackets by the processor's time:
``Session.run`` on a restored graph, as a TensorFlow 1 program has it; the module that ``porting.function`` makes of the
checkpoint, called with the same arrays, its results as arrays; and the module called with tensors. Also a training
step: the graph's own train operation. With --alone each side is measured in processes of its own, three times, as where
a model was converted there is no session any more. What is aimed at: at least 1.0 in each line.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import statistics
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf2
from children import by_turns

import tf1sessions as t1

tf = t1.tf1


def mlp(width):
    x = tf.placeholder(tf.float32, [None, width], name="x")
    hidden = tf.layers.dense(tf.layers.dense(x, width, tf.nn.relu), width, tf.nn.relu)
    return tf.layers.dense(hidden, 10), lambda rows: np.ones([rows, width], np.float32)


def cnn():
    x = tf.placeholder(tf.float32, [None, 28, 28, 1], name="x")
    net = tf.layers.max_pooling2d(tf.layers.conv2d(x, 16, 5, activation=tf.nn.relu), 2, 2)
    net = tf.layers.max_pooling2d(tf.layers.conv2d(net, 32, 5, activation=tf.nn.relu), 2, 2)
    return tf.layers.dense(tf.layers.flatten(net), 10), lambda rows: np.ones([rows, 28, 28, 1], np.float32)


def lstm():
    x = tf.placeholder(tf.float32, [None, 20, 16], name="x")
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(64), x, dtype=tf.float32)
    return tf.layers.dense(outputs[:, -1], 10), lambda rows: np.ones([rows, 20, 16], np.float32)


#: How often each side is made: where its variables lie, and what TensorFlow hands to other threads, is luck. Each side
#: is the first one half of the time.
COPIES = 4
#: How many processes each side has with --alone.
ALONE = 3
#: Seconds of a spell; short against the turn that an operating system gives a process.
SPELL = 0.003

MODELS = {"MLP of 64": lambda: mlp(64), "MLP of 1024": lambda: mlp(1024), "CNN": cnn, "LSTM": lstm}


def build(make):
    """The output, made as TensorFlow 1 made it: variables are references, loops of Switch and Merge."""
    output, batch = make()
    y = tf.identity(output, name="y")
    loss = tf.reduce_mean(tf.square(y - 0.5), name="loss")
    tf.train.AdamOptimizer(1e-4).minimize(loss, name="step")
    return y, batch


def costs(calls, seconds):
    """Microseconds of each call, and of the processor in it: the lowest twentieth of short spells that take turns.

    What else runs on the machine adds to most spells; a few are free of it if they are short. Which call has the next
    spell is drawn: a call finds in the processor's caches what the one before it has left there.
    """
    found = {name: ([], []) for name in calls}
    turns, draw = list(calls.items()), random.Random(0)
    for call in calls.values():
        for _ in range(5):
            call()
    end = time.perf_counter() + seconds * len(calls)
    while time.perf_counter() < end:
        draw.shuffle(turns)
        for name, call in turns:
            count, begin, used = 0, time.perf_counter(), time.process_time()
            while time.perf_counter() - begin < SPELL:
                call()
                count += 1
            found[name][0].append((time.perf_counter() - begin) / count * 1e6)
            found[name][1].append((time.process_time() - used) / count * 1e6)
    return {name: [statistics.mean(sorted(one)[: len(one) // 20 + 1]) for one in each] for name, each in found.items()}


def restored(path, stack):
    """A session with the checkpoint's graph and values, and what finds things in its graph by name."""
    graph = tf.Graph()
    with graph.as_default():
        session = stack.enter_context(contextlib.closing(tf.Session()))
        tf.train.import_meta_graph(path + ".meta").restore(session, path)
    return session, graph.as_graph_element


def of_sessions(path, x, stack):
    """Calls of sessions. One is called and another one trains, as of the modules: neither warms the other's caches."""
    session, get = restored(path, stack)
    y, feeds = get("y:0"), {get("x:0"): x}
    trains, get = restored(path, stack)
    step, loss, batch = get("step"), get("loss:0"), {get("x:0"): x}
    return {
        "session": lambda: session.run(y, feeds),
        "session trains": lambda: trains.run([step, loss], batch),
    }


def of_modules(path, x):
    called = t1.porting.function(path + ".meta", inputs={"x": "x:0"}, outputs={"y": "y:0"})
    trained = t1.porting.function(
        path + ".meta", inputs={"x": "x:0"}, outputs={"y": "y:0", "loss": "loss:0"}, train="step"
    )
    tensor = tf2.constant(x)
    return {
        "module": lambda: called(x=x)["y"].numpy(),
        "tensors": lambda: called(x=tensor),
        "module trains": lambda: trained.train(x=x)["loss"].numpy(),
    }


def sides(path, x, stack, sessions_first=True):
    """The calls that are compared, of sessions and modules of their own."""
    if sessions_first:
        calls = of_sessions(path, x, stack) | of_modules(path, x)
    else:
        calls = of_modules(path, x) | of_sessions(path, x, stack)
    np.testing.assert_allclose(calls["module"](), calls["session"](), atol=1e-5)
    return calls


def saved(make, folder):
    """A checkpoint, and what makes a batch for it."""
    path = os.path.join(folder, "model.ckpt")
    with tf.Graph().as_default(), v1_graph(), tf.Session() as session:
        _, batch = build(make)
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, path)
    return path, batch


def measure(name, make, rows, folder, seconds):
    path, batch = saved(make, folder)
    # The modules are called outside of any graph: in one, calls are made part of it.
    with contextlib.ExitStack() as stack:
        copies = [sides(path, batch(rows), stack, number % 2 == 0) for number in range(COPIES)]
        calls = {(what, number): call for number, copy in enumerate(copies) for what, call in copy.items()}
        each = costs(calls, seconds)
    tell(name, rows, {what: [each[what, number] for number in range(COPIES)] for what in copies[0]})


def measure_alone(name, rows, folder, seconds):
    """The same with each side in a process of its own."""
    saved(MODELS[name], folder)
    begin = f"sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})\nimport ported\n"
    ways = {side: f"{begin}ported.one_side({side!r}, {name!r}, {rows}, {seconds})" for side in ("sessions", "modules")}
    rounds = by_turns(ways, ALONE, folder)
    tell(name, rows, {what: [one[what] for one in each] for each in rounds.values() for what in each[0]})


def one_side(side, name, rows, seconds):
    """Run in a process of its own, whose argument is the folder of the checkpoint: prints the costs of its calls."""
    path = os.path.join(sys.argv[1], "model.ckpt")
    with tf.Graph().as_default(), v1_graph():
        _, batch = build(MODELS[name])
    with contextlib.ExitStack() as stack:
        calls = of_sessions(path, batch(rows), stack) if side == "sessions" else of_modules(path, batch(rows))
        print(json.dumps(costs(calls, seconds)))


def tell(name, rows, each):
    """Prints a line of the table, of the costs by the clock and of the processor, several of each call."""
    found = {what: [statistics.mean(one[kind] for one in costs) for kind in (0, 1)] for what, costs in each.items()}
    columns = [name, rows]
    for ours, theirs in (("module", "session"), ("tensors", "session"), ("module trains", "session trains")):
        wall, processor = (found[theirs][kind] / found[ours][kind] for kind in (0, 1))
        if ours != "tensors":
            columns += [f"{found[theirs][0]:.0f}", f"{found[ours][0]:.0f}"]
        columns.append(f"{wall:.2f} ({processor:.2f})")
    print("| " + " | ".join(map(str, columns)) + " |", flush=True)


class v1_graph:
    """Reference variables and TensorFlow 1's loops while a graph is made; as it was afterwards."""

    def __enter__(self):
        self._resources, self._control_flow = tf.resource_variables_enabled(), tf.control_flow_v2_enabled()
        tf.disable_resource_variables()
        tf.disable_control_flow_v2()

    def __exit__(self, *error):
        if self._resources:
            tf.enable_resource_variables()
        if self._control_flow:
            tf.enable_control_flow_v2()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer spells")
    parser.add_argument("--models", default=",".join(MODELS), help="which of " + ", ".join(MODELS))
    parser.add_argument("--alone", action="store_true", help="each side in processes of its own")
    options = parser.parse_args()
    seconds = 0.5 if options.quick else 2.0
    print("| model | rows | Session.run | module | times | with tensors | train op, session | module | times |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in options.models.split(","):
        for rows in (1, 256):
            with tempfile.TemporaryDirectory() as folder:
                if options.alone:
                    measure_alone(name, rows, folder, seconds)
                else:
                    measure(name, MODELS[name], rows, folder, seconds)


if __name__ == "__main__":
    main()
