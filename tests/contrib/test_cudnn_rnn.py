"""contrib.cudnn_rnn: layers load a checkpoint of 1.15.5's cells, give its outputs, and save what cells load."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support import PythonRun, unpack

ARCHIVE = Path(__file__).resolve().parents[1] / "golden" / "data" / "contrib" / "cudnn_rnn.tar.gz"

_PROGRAM = """
import json, os, sys
import numpy as np
import tf1sessions
from tf1sessions.runtime import tf1 as tf

folder, way = sys.argv[1:]
if way == "script":
    tf1sessions.enable_v1_behavior()
from tf1sessions import contrib
cudnn = contrib.cudnn_rnn
tf.logging.set_verbosity(tf.logging.ERROR)
golden = json.load(open(os.path.join(folder, "outputs.json")))
x, lengths = np.array(golden["inputs"], "f"), golden["lengths"]
model = os.path.join(folder, "model")
LAYERS = {"cudnn_lstm": cudnn.CudnnLSTM, "cudnn_gru": cudnn.CudnnGRU, "cudnn_rnn_tanh": cudnn.CudnnRNNTanh,
          "cudnn_rnn_relu": cudnn.CudnnRNNRelu}

def as_it_is():  # to optimize the loops takes most of the time
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return tf.Session(config=config)

worst, counted, sizes, back = 0.0, 0, {}, {}
with tf.Graph().as_default(), as_it_is() as session:
    fetches, layers, others = {}, {}, {}
    for direction in ("unidirectional", "bidirectional"):
        for name, cls in LAYERS.items():
            with tf.variable_scope(direction):
                layer = layers[direction, name] = cls(2, 3, direction=direction, dropout=0.5)
                for part in ("all", "lengths"):
                    known = lengths if part == "lengths" else None
                    y, state = layer(tf.constant(x), sequence_lengths=known, training=False)
                    fetches[f"{direction} {name} {part}"] = [y, *state]
                    if part == "all" or direction == "unidirectional":
                        continue
                    turned, ends = layer(
                        tf.constant(x.transpose(1, 0, 2)), sequence_lengths=known, time_major=False, training=False,
                        initial_state=tuple(tf.zeros([3, 2 * layer.num_dirs, 3]) for _ in state),
                    )
                    others[f"{direction} {name} {part}"] = [tf.transpose(t, [1, 0, 2]) for t in (turned, *ends)]
            matrices = len(layer.canonical_weight_shapes)
            sizes[f"{direction} {name}"] = [layer.input_size, layer.num_dirs, layer.rnn_mode, matrices]
    report(variables=sorted(v.name for v in tf.global_variables()),
           trained=len(tf.trainable_variables()),
           shapes=[[str(t.shape) for t in fetches["bidirectional cudnn_lstm all"]]], sizes=sizes)
    session.run(tf.global_variables_initializer())
    zeros = [float(np.abs(session.run(layers["bidirectional", "cudnn_gru"].variables[0])[-72:]).max())]
    saveables = tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)
    tf.train.Saver(saveables).restore(session, model)
    for ways in (fetches, others):
        for key, values in session.run(ways).items():
            for value, expected in zip(values, golden["cases"][key], strict=True):
                worst = max(worst, float(np.abs(value.ravel() - expected).max()))
                counted += 1
    report(worst=worst, counted=counted, zeros=zeros)

    # what a saver of the whole graph writes: the vectors, and all variables of the cells
    path = tf.train.Saver().save(session, os.path.join(folder, "ours"))
    report(keys=sorted(n for n, _ in tf.train.list_variables(path)),
           golden_keys=sorted(n for n, _ in tf.train.list_variables(model)),
           same=all(np.allclose(tf.train.load_variable(path, n), tf.train.load_variable(model, n), atol=1e-6)
                    for n, _ in tf.train.list_variables(model)))
    session.run(tf.global_variables_initializer())
    tf.train.Saver().restore(session, path)
    found = session.run(fetches)
    report(again=max(float(np.abs(v.ravel() - e).max()) for k in found for v, e in zip(found[k], golden["cases"][k])))

with tf.Graph().as_default(), as_it_is() as session:  # a step of training moves a layer as it moves cells
    layer = cudnn.CudnnLSTM(1, 3, kernel_initializer=tf.random_uniform_initializer(seed=1))
    y, state = layer(tf.constant(x), (tf.ones([1, 3, 3]), tf.ones([1, 3, 3])))
    loss = tf.reduce_sum(tf.square(y)) + tf.reduce_sum(state[1])
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    session.run(tf.global_variables_initializer())
    start = session.run(layer.saveable.format_converter.opaque_to_tf_canonical(layer.variables[0]))
    losses = [session.run([loss, step])[0] for _ in range(3)]
    end = session.run(layer.saveable.format_converter.opaque_to_tf_canonical(layer.variables[0]))
    cell = cudnn.CudnnCompatibleLSTMCell(3)
    state = contrib.rnn.LSTMStateTuple(tf.ones([3, 3]), tf.ones([3, 3]))
    y, state = tf.nn.dynamic_rnn(cell, tf.constant(x), initial_state=state, time_major=True)
    loss = tf.reduce_sum(tf.square(y)) + tf.reduce_sum(state.c)
    kernel, bias = cell.variables
    gradients = tf.gradients(loss, [kernel, bias])
    # a bias is the sum of two, which both get its gradient
    steps = tf.group(kernel.assign_sub(0.1 * gradients[0]), bias.assign_sub(0.2 * gradients[1]))
    session.run([kernel.assign(start[0][0]), bias.assign(start[1][0])])
    theirs = []
    for _ in range(3):
        theirs.append(session.run(loss))
        session.run(steps)
    report(losses=[float(a) for a in losses], theirs=[float(a) for a in theirs],
           moved=float(np.abs(end[0][0] - session.run(kernel)).max()),
           drop=float(np.abs(end[0][0] - start[0][0]).max()))

def error(call):
    with tf.Graph().as_default():
        try:
            call()
        except Exception as error:
            text = str(error)
            # autograph says first where it is
            return [type(error).__name__, "Invalid initial_state type" in text if "in user code" in text else text[:40]]

report(errors=[
    error(lambda: cudnn.CudnnLSTM(1, 3, direction="x")), error(lambda: cudnn.CudnnLSTM(1, 3, input_mode="x")),
    error(lambda: cudnn.CudnnLSTM(1, 3, dtype=tf.int32)), error(lambda: cudnn.CudnnLSTM(1, 3)(tf.zeros([4, 5]))),
    error(lambda: cudnn.CudnnLSTM(1, 3).input_size), error(lambda: cudnn.CudnnLSTM(1, 3).canonical_weight_shapes),
    error(lambda: cudnn.CudnnLSTM(1, 3, input_mode="skip_input")(tf.zeros([4, 5, 3]))),
    error(lambda: cudnn.CudnnGRU(1, 3)(tf.zeros([4, 5, 3]), initial_state=tf.zeros([1, 5, 3]))),
])
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["script", "TF2 program"])
def test_layers_are_the_cells_of_1_15(run_python: Callable[..., PythonRun], tmp_path: Path, way: str) -> None:
    unpack(ARCHIVE, tmp_path)
    found = run_python(_PROGRAM, str(tmp_path), way).results
    names = ["cudnn_gru", "cudnn_lstm", "cudnn_rnn_relu", "cudnn_rnn_tanh"]
    assert found["variables"] == [
        f"{d}/{n}/opaque_kernel:0" for d in ("bidirectional", "unidirectional") for n in names
    ]
    assert found["trained"] == 8
    assert found["shapes"] == [["(5, 3, 6)", "(4, 3, 3)", "(4, 3, 3)"]]
    assert found["sizes"]["bidirectional cudnn_lstm"] == [4, 2, "lstm", 32]
    assert found["sizes"]["unidirectional cudnn_rnn_relu"] == [4, 1, "rnn_relu", 4]
    assert found["counted"] == 45 and found["worst"] < 1e-6 and found["zeros"] == [0.0]
    vectors = [name[: -len(":0")] for name in found["variables"]]
    assert found["keys"] == sorted(found["golden_keys"] + vectors) and found["same"]
    assert found["again"] < 1e-6
    assert found["losses"] == pytest.approx(found["theirs"], rel=1e-5)
    assert found["losses"][2] < found["losses"][0]
    assert found["moved"] < 1e-5 < 1e-2 < found["drop"]
    assert found["errors"] == [
        ["ValueError", "Invalid direction: x, expecting unidirec"],
        ["ValueError", "Invalid input_mode: x, expect one of (li"],
        ["ValueError", "Only support float16, float32, float64, "],
        ["ValueError", "Expecting input_shape with 3 dims, got 2"],
        ["ValueError", "'input_size' is unknown since layer has "],
        ["RuntimeError", "CudnnLSTM.canonical_weight_shapes invoke"],
        ["UnsupportedEnvironmentError", "input_mode is 'skip_input', and the firs"],
        ["TypeError", True],
    ]
