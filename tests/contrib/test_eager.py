"""contrib.eager and contrib.autograph: the answers are those of 1.15.5."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from support import PythonRun

_PROGRAM = """
import os, sys
import numpy as np
import tf1sessions
from tf1sessions import contrib
from tf1sessions.runtime import tf1 as tf
from tensorflow.python.util import tf_inspect

folder = sys.argv[1]
tfe = contrib.eager
def error(call):
    try:
        call()
    except Exception as error:
        return [type(error).__name__, str(error)[:40]]
def plain(value):
    return [np.round(np.float64(v), 5).tolist() for v in tf.nest.flatten(value)]

# ---- eager
m = tfe.metrics
accuracy = m.Accuracy()
accuracy([1, 2, 3], [1, 2, 4])
mean = m.Mean("foo")
returned = [mean(2.0), mean([1.0, 3.0], weights=[1.0, 3.0])]
other = m.Mean("bar")
other(10.0)
before = mean.result()
mean.aggregate([other])
report(metrics=plain([accuracy.result(), before, mean.value()]), returned=plain(returned),
       names=[v.name for v in accuracy.variables + mean.variables], dtypes=[v.dtype.name for v in mean.variables])
accuracy.init_variables()
accuracy([1, 2], [1, 1], weights=[3.0, 1.0])
others = [m.BinaryAccuracy(0.5), m.CategoricalAccuracy(), m.SparseAccuracy()]
others[0]([0.0, 1.0, 1.0], [0.4, 0.6, 0.3]), others[1]([[0.0, 1.0]], [[0.1, 0.9]]), others[2]([0, 1], [[0.1, 0.9]] * 2)
report(again=plain([accuracy.result()] + [metric.result() for metric in others]))

v = tfe.Variable(3.0, name="v")
f = lambda x, y: x * x * x * y - x * y * y
first = tfe.gradients_function(f)
report(gradients=plain([first(2.0, 3.0), tfe.gradients_function(lambda x, y: first(x, y)[0])(2.0, 3.0)[0],
                        tfe.value_and_gradients_function(f, [1])(2.0, 3.0), tfe.gradients_function(f, ["y"])(2.0, 3.0),
                        tfe.implicit_gradients(lambda x: v * x * v)(2.0)[0][0],
                        tfe.implicit_value_and_gradients(lambda x: v * x)(2.0)[0],
                        tfe.gradients_function(f)(2.0, 3.0, dy=2.0)]),
       variable=[isinstance(v, tfe.Variable) and not isinstance(3, tfe.Variable),
                 tfe.implicit_gradients(lambda x: v * x)(2.0)[0][1] is v],
       wrong=[error(lambda: tfe.implicit_gradients(lambda x: x)(1.0)), error(lambda: first("a", None)),
              error(lambda: tfe.gradients_function(f, ["z"])(1.0, 2.0))])
iterator = tfe.Iterator(tf.data.Dataset.range(4))
report(iterator=[int(iterator.next()), int(next(iterator)), int(iterator.get_next()), [int(x) for x in iterator]],
       types=[iterator.output_types.name, str(iterator.output_shapes), iterator.output_classes.__name__],
       end=error(iterator.get_next)[0])
double = tfe.defun(lambda x: x * 2)
@tfe.defun(input_signature=[tfe.TensorSpec([None], tf.float32)])
def total(x):
    return tf.reduce_sum(x)
report(functions=plain([double(3.0), total(tf.constant([1.0, 2.0])), tfe.py_func(lambda x: x + 1, [1.0], tf.float32)]),
       devices=[len(tfe.list_devices()) > 0, tfe.num_gpus() >= 0, tfe.in_eager_mode()],
       numbers=[tfe.DEVICE_PLACEMENT_EXPLICIT, tfe.DEVICE_PLACEMENT_WARN, tfe.DEVICE_PLACEMENT_SILENT,
                tfe.SYNC, tfe.ASYNC])
path = tfe.Saver([v]).save(os.path.join(folder, "model"), global_step=3)
v.assign(5.0)
tfe.Saver({"v": v}).restore(path)
with tfe.restore_variables_on_create(path):
    made = tfe.Variable(0.0, name="v")
with tfe.restore_variables_on_create(path, lambda name: "v"):
    mapped = tf.get_variable("w", initializer=0.0)
def lacking():
    with tfe.restore_variables_on_create(path):
        tfe.Variable(0.0, name="lacking")
optimizer = tf.train.AdamOptimizer()
optimizer.apply_gradients([(tf.constant(1.0), v)])
report(saved=[os.path.basename(path), *plain([made, mapped])], lacking=error(lacking)[0],
       optimizer=len(tfe.get_optimizer_variables(optimizer)))

@contrib.autograph.convert()
def branches(x):
    if x > 0:
        x = x * 2
    while x < 10:
        x = x + 3
    return x
report(arguments=tf_inspect.getfullargspec(branches).args)
autograph = contrib.autograph
options = autograph.ConversionOptions(recursive=True)
def listed(x):
    found = []
    autograph.set_element_type(found, tf.int32)
    for i in tf.range(x):
        if i > 1:
            found.append(i)
    return autograph.stack(found)
report(converted_call=[int(autograph.converted_call(branches.__wrapped__, options, (tf.constant(1),), {})),
                       int(autograph.converted_call(branches.__wrapped__, options, (), {"x": tf.constant(-5)}))],
       listed=autograph.to_graph(listed, experimental_optional_features=autograph.Feature.LISTS)(
           tf.constant(5)).numpy().tolist(),
       kinds=[issubclass(autograph.AutoGraphError, Exception), autograph.StackTraceMapper.__name__, options.recursive])
store = tfe.EagerVariableStore()
for _ in range(2):
    with store.as_default():
        tf.layers.dense(tf.ones([1, 2]), 3, name="l1")
report(store=[x.name for x in store.variables()], trainable=len(store.trainable_variables()))
tracked = tfe.Checkpointable()
tracked.part = tfe.Variable(2.0)
kept = tfe.Checkpoint(root=tracked).save(os.path.join(folder, "tracked"))
tracked.part.assign(3.0)
with tfe.execution_mode(tfe.ASYNC):
    tfe.async_wait()
tfe.set_execution_mode(tfe.SYNC)
tfe.async_clear_error()
tfe.Checkpoint(root=tracked).restore(kept)
report(tracked=float(tracked.part))

def caught(call):
    try:
        return np.float64(call()).tolist()
    except Exception as error:
        return type(error).__name__ + ": " + str(error)
ran = []
tfe.add_execution_callback(lambda op_type, inputs, attrs, outputs, op_name: ran.append(
    [op_type, len(inputs), list(attrs), len(outputs), op_name]))
tf.split(tf.constant([1.0, 2.0]), 2, name="halves")
tfe.clear_execution_callbacks()
tf.split(tf.constant([1.0, 2.0]), 2)
log, line = tfe.defun(tf.log), tf.constant([-1.0, 0.0, 1.0])
with tfe.errstate("raise"):
    inside = [caught(lambda: tf.log(0.0)), caught(lambda: tf.log(line)), caught(lambda: tf.constant(3) // 2),
              tfe.seterr("warn")["inf_or_nan"].name, caught(lambda: tf.log(0.0)),
              tfe.seterr("raise")["inf_or_nan"].name, caught(lambda: log(tf.constant(0.0))).partition("__inference")[0]]
def callback(function, value, **more):
    return caught(lambda: function("T", [], None, [tf.constant(3.0), tf.constant(value)], "n", **more) or 0)
report(ran=ran, inside=inside, after=[tfe.seterr()["inf_or_nan"].value, caught(lambda: tf.log(0.0)) == float("-inf")],
       callbacks=[callback(tfe.inf_callback, np.inf), callback(tfe.inf_callback, np.nan),
                  callback(tfe.nan_callback, [np.nan, np.inf]), callback(tfe.nan_callback, np.inf),
                  callback(tfe.inf_nan_callback, 1.0), callback(tfe.inf_nan_callback, np.inf, action="print"),
                  callback(tfe.inf_nan_callback, 1.0, action="x"), caught(lambda: tfe.seterr("x"))])

report(autograph=[int(branches(tf.constant(1))), "if_stmt" in contrib.autograph.to_code(branches.__wrapped__)])

modes = []
class Test(tf.test.TestCase):
    @tfe.run_test_in_graph_and_eager_modes
    def test_it(self):
        modes.append(tf.executing_eagerly())
        self.assertEqual(self.evaluate(tf.constant(2) + 1), 3)
Test("test_it").debug()
report(modes=modes)

class Net(tfe.Network):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.l1 = self.track_layer(tf.layers.Dense(3))
        self.l2 = self.track_layer(tf.layers.Dense(2, name="out"))
    def call(self, x):
        return self.l2(self.l1(x))

class OuterNet(tfe.Network):
    def __init__(self):
        super().__init__()
        self.net = self.track_layer(Net())
        self.last = self.track_layer(tf.layers.Dense(1))
    def call(self, x):
        return self.last(self.net(x))

nets = [Net(), Net(), Net(name="foo"), OuterNet(),
        tfe.Sequential([tf.layers.Dense(3), tf.nn.relu, tf.layers.Dense(2)], name="seq")]
for net in nets * 2:
    net(tf.ones([2, 4]))
report(networks=[[x.name for x in net.variables if "kernel" in x.name] for net in nets],
       parts=[nets[0].get_layer("out") is nets[0].l2, nets[0].get_layer(index=0) is nets[0].l1,
              nets[3].name, nets[1].name],
       not_there=[error(lambda: nets[0].track_layer(3))[0], error(lambda: nets[0].get_layer("x"))[0],
                  error(lambda: nets[0].get_layer(index=7))[0], error(nets[0].get_layer)[0]])

# ---- a graph
with tf.Graph().as_default(), tf.Session() as session:
    metric = m.Mean("graph mean")
    update = metric(tf.placeholder_with_default([1.0, 4.0], [2]))
    result = metric.result()
    start = metric.init_variables()
    session.run(start)
    empty = session.run(result)
    session.run([update])
    report(graph=[float(session.run(result)), bool(np.isnan(empty))], local=[x.name for x in tf.local_variables()],
           converted=int(session.run(branches(tf.constant(-4)))),
           errors=[error(lambda: tfe.Iterator(tf.data.Dataset.range(2)))[0], error(lambda: tfe.Saver([]))[0]])
"""


def test_eager(run_python: Callable[..., PythonRun], tmp_path: Path) -> None:
    found = run_python(_PROGRAM, str(tmp_path)).results
    assert found["metrics"] == [0.66667, 2.4, 3.66667]
    assert found["returned"] == [2.0, [1.0, 9.0], [1.0, 3.0]]
    assert found["names"] == ["Accuracy/numer:0", "Accuracy/denom:0", "foo/numer:0", "foo/denom:0"]
    assert found["dtypes"] == ["float64", "float64"]
    assert found["again"] == [0.75, 0.66667, 1.0, 0.5]
    # 3 x² y - y² and x³ - 2 x y at (2, 3), and 6 x y
    assert found["gradients"] == [27.0, -4.0, 36.0, 6.0, -4.0, -4.0, 12.0, 6.0, 54.0, -8.0]
    assert found["variable"] == [True, True]
    assert [kind for kind, _ in found["wrong"]] == ["ValueError"] * 3
    assert found["iterator"] == [0, 1, 2, [3]] and found["types"] == ["int64", "()", "Tensor"]
    assert found["end"] == "OutOfRangeError"
    assert found["functions"] == [6.0, 3.0, 2.0] and found["devices"] == [True, True, True]
    assert found["numbers"] == [0, 1, 2, 0, 1]
    assert found["saved"] == ["model-3", 3.0, 3.0] and found["lacking"] == "NotFoundError"
    assert found["optimizer"] == 4
    assert found["arguments"] == ["x"]  # what Keras asks of a model's call()
    assert found["converted_call"] == [11, 10] and found["listed"] == [2, 3, 4]
    assert found["kinds"] == [True, "StackTraceMapper", True]
    assert found["store"] == ["l1/bias:0", "l1/kernel:0"] and found["trainable"] == 2 and found["tracked"] == 2.0
    assert found["ran"] == [["Split", 2, ["num_split", 2, "T", 1], 2, "halves"]]
    of_log = "InfOrNanError: Output 1 of 1 of TFE operation "
    assert found["inside"] == [
        f"{of_log}Log (name: None) contains 1 inf(s) out of a total of 1 element(s). Tensor value: -inf",
        f"{of_log}Log (name: None) contains 1 inf(s) and 1 nan(s) out of a total of 3 element(s). "
        "Tensor value: [ nan -inf   0.]",
        *(1.0, "RAISE", float("-inf"), "WARN", of_log),
    ]
    assert found["after"] == ["ignore", True]
    of_second = "InfOrNanError: Output 2 of 2 of TFE operation T (name: 'n') contains 1 "
    assert found["callbacks"] == [
        f"{of_second}inf(s) out of a total of 1 element(s). Tensor value: inf",
        0.0,
        f"{of_second}nan(s) out of a total of 2 element(s). Tensor value: [nan inf]",
        *[0.0] * 3,
        *["ValueError: 'x' is not a valid ExecutionCallback"] * 2,
    ]
    assert found["autograph"] == [11, True] and found["modes"] == [False, True]
    # the names of 1.15.5
    assert found["networks"] == [
        ["net/dense/kernel:0", "net/out/kernel:0"],
        ["net_1/dense/kernel:0", "net_1/out/kernel:0"],
        ["foo/dense/kernel:0", "foo/out/kernel:0"],
        ["outer_net/net/dense/kernel:0", "outer_net/net/out/kernel:0", "outer_net/dense/kernel:0"],
        ["seq/dense/kernel:0", "seq/dense_1/kernel:0"],
    ]
    assert found["parts"] == [True, True, "outer_net", "net_1"]
    assert found["not_there"] == ["TypeError", "ValueError", "ValueError", "ValueError"]
    assert found["graph"] == [2.5, True] and found["local"] == ["graphmean/numer:0", "graphmean/denom:0"]
    assert found["converted"] == 11 and found["errors"] == ["RuntimeError", "RuntimeError"]
