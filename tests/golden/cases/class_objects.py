"""Objects that TF1 programs meet: each name without an underscore in front is one.

Runs on TensorFlow 1.15.5 (make_classes.py records what ``type`` and ``isinstance`` say of them) and under
``tf1sessions run`` (tests/scripts/test_classes.py compares it).
"""

import os as _os
import tempfile as _tempfile

import numpy as _np
import tensorflow as _tf

_FOLDER = _tempfile.mkdtemp()


def _error(function, *args):
    try:
        function(*args)
    except Exception as error:
        return error


# tensors and variables
placeholder = _tf.placeholder(_tf.float32, [None, 4], name="x")
constant = _tf.constant([1.0, 2.0])
total = placeholder + 1.0
operation = constant.op
strings = _tf.constant("a")
ref_variable = _tf.get_variable("ref", [4, 2])
resource_variable = _tf.get_variable("res", [2], use_resource=True)
variable = _tf.Variable(1.0)
variable_resource = _tf.Variable(1.0, use_resource=True)
partitioned_variable = _tf.get_variable("part", [4, 2], partitioner=_tf.fixed_size_partitioner(2))
global_step = _tf.train.get_or_create_global_step()
trainable = _tf.trainable_variables()[0]
read_value = resource_variable.read_value()
variable_value = ref_variable.value()
initialized_value = ref_variable.initialized_value()
assign_ref = _tf.assign(ref_variable, _tf.zeros([4, 2]))
assign_resource = _tf.assign(resource_variable, _tf.zeros([2]))
assign_add_resource = resource_variable.assign_add([1.0, 1.0])
scatter_resource = _tf.scatter_add(resource_variable, [0], [1.0])
shape, dimension, unknown_shape = placeholder.shape, placeholder.shape[1], _tf.placeholder(_tf.float32).shape
dtype, ref_dtype = placeholder.dtype, ref_variable.dtype
sparse_tensor = _tf.SparseTensor([[0, 0]], [1.0], [2, 2])
sparse_placeholder = _tf.sparse_placeholder(_tf.float32)
sparse_value = _tf.SparseTensorValue([[0, 0]], [1.0], [2, 2])
indexed_slices = _tf.gradients(_tf.gather(ref_variable, [0]), ref_variable)[0]
gradient = _tf.gradients(_tf.reduce_sum(placeholder * 2.0), placeholder)[0]
ragged = _tf.ragged.constant([[1], [2, 3]])
tensor_array = _tf.TensorArray(_tf.float32, 2)
loop = _tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
condition = _tf.cond(_tf.constant(True), lambda: 1.0, lambda: 2.0)
case = _tf.case([(_tf.constant(True), lambda: 1.0)], default=lambda: 2.0)
py_func = _tf.py_func(lambda: _np.float32(1), [], _tf.float32)
group, no_op, tied = _tf.group(constant), _tf.no_op(), _tf.tuple([constant])[0]
random, printed = _tf.random_normal([2]), _tf.Print(constant, [constant])
moment, top, unique = _tf.nn.moments(placeholder, [0])[0], _tf.nn.top_k(placeholder, 2), _tf.unique([1, 1])
split, unstacked = _tf.split(placeholder, 2, axis=1), _tf.unstack(_tf.zeros([2, 3]))
mapped = _tf.map_fn(lambda a: a, constant)
metric = _tf.metrics.mean(constant)
collection = _tf.trainable_variables()

# graphs, sessions and what runs give
graph, graph_def = _tf.get_default_graph(), _tf.get_default_graph().as_graph_def()
scope = _tf.get_variable_scope()
with _tf.variable_scope("s") as variable_scope:
    pass
with _tf.name_scope("n") as name_scope:
    pass
session = _tf.Session()
(
    ran_array, ran_scalar, ran_integer, ran_string, ran_strings, ran_nothing, ran_dict, ran_sparse
) = session.run([
    constant, _tf.reduce_sum(constant), _tf.shape(constant)[0], strings, _tf.constant(["a"]), no_op, {"a": constant},
    sparse_tensor,
])  # fmt: skip
run_error = _error(session.run, _tf.Assert(_tf.constant(False), [constant]))
reuse_error = _error(_tf.get_variable, "ref", [4, 2])

# training
gradient_descent, adam, adagrad, rms_prop, ftrl = (
    getattr(_tf.train, each + "Optimizer")(0.1) for each in ("GradientDescent", "Adam", "Adagrad", "RMSProp", "Ftrl")
)
momentum, average = _tf.train.MomentumOptimizer(0.1, 0.9), _tf.train.ExponentialMovingAverage(0.9)
loss = _tf.reduce_sum(_tf.square(_tf.matmul(placeholder, ref_variable)))
train_op, train_op_with_step = adam.minimize(loss), adam.minimize(loss, global_step=global_step)
gradient_and_variable = adam.compute_gradients(loss)[0]
learning_rate = _tf.train.exponential_decay(0.1, global_step, 10, 0.9)
saver = _tf.train.Saver()
saver_def = saver.saver_def
coordinator = _tf.train.Coordinator()
queue = _tf.FIFOQueue(3, [_tf.float32], shapes=[[]])
shuffle_queue = _tf.RandomShuffleQueue(3, 1, [_tf.float32], shapes=[[]])
queue_runner = _tf.train.QueueRunner(queue, [queue.enqueue(1.0)])
dequeued, queue_size = queue.dequeue(), queue.size()
reader, batch = _tf.TextLineReader(), _tf.train.batch([constant], 2)
hook, logging_hook = _tf.train.StopAtStepHook(last_step=2), _tf.train.LoggingTensorHook([loss], every_n_iter=1)
scaffold, session_creator = _tf.train.Scaffold(), _tf.train.ChiefSessionCreator()
cluster, device_spec = _tf.train.ClusterSpec({"a": ["b:1"]}), _tf.DeviceSpec(job="a")
estimator_spec = _tf.estimator.EstimatorSpec("train", loss=loss, train_op=train_op)
run_config = _tf.estimator.RunConfig()

# messages and files
config, gpu_options, run_options, run_metadata = (
    _tf.ConfigProto(),
    _tf.GPUOptions(),
    _tf.RunOptions(),
    _tf.RunMetadata(),
)
summary_op, merged = _tf.summary.scalar("loss", loss), _tf.summary.merge_all()
summary, summary_value, event = _tf.Summary(), _tf.Summary.Value(tag="a", simple_value=1.0), _tf.Event()
example, feature, fixed_len_feature = _tf.train.Example(), _tf.train.Feature(), _tf.FixedLenFeature([], _tf.int64)
writer = _tf.summary.FileWriter(_FOLDER)
record_writer = _tf.python_io.TFRecordWriter(_os.path.join(_FOLDER, "r"))
gfile = _tf.gfile.GFile(_os.path.join(_FOLDER, "g"), "w")
fast_gfile = _tf.gfile.FastGFile(_os.path.join(_FOLDER, "g"), "w")

# data
dataset = _tf.data.Dataset.from_tensor_slices([1, 2, 3])
batches, numbers, shuffled, repeated = dataset.batch(2), dataset.map(abs), dataset.shuffle(3), dataset.repeat()
zipped = _tf.data.Dataset.zip((dataset, dataset))
records, lines = _tf.data.TFRecordDataset(["a"]), _tf.data.TextLineDataset(["a"])
iterator, initializable_iterator = dataset.make_one_shot_iterator(), dataset.make_initializable_iterator()
following = iterator.get_next()
output_types, output_shapes, output_classes = dataset.output_types, dataset.output_shapes, dataset.output_classes
table = _tf.contrib.lookup.index_table_from_tensor(["a"])
numeric_column = _tf.feature_column.numeric_column("a")

# layers, cells, initializers
dense_layer, dense_output = _tf.layers.Dense(2), _tf.layers.dense(placeholder, 2)
dropout_output, convolved = _tf.layers.dropout(placeholder), _tf.layers.conv2d(_tf.zeros([1, 4, 4, 1]), 2, 2)
keras_dense = _tf.keras.layers.Dense(2)
keras_dense_output = keras_dense(placeholder)
keras_kernel, keras_input = keras_dense.kernel, _tf.keras.layers.Input([3])
keras_sequential = _tf.keras.Sequential([_tf.keras.layers.Dense(1, input_shape=[3])])
keras_model = _tf.keras.Model(keras_input, _tf.keras.layers.Dense(1)(keras_input))
keras_adam, keras_callback = _tf.keras.optimizers.Adam(), _tf.keras.callbacks.EarlyStopping()
keras_variable, keras_placeholder = _tf.keras.backend.variable(1.0), _tf.keras.backend.placeholder([2])
keras_l1, keras_l2, keras_l1_l2 = (getattr(_tf.keras.regularizers, each)() for each in ("l1", "l2", "l1_l2"))
keras_glorot, keras_he, keras_lecun, keras_zeros, keras_identity, keras_orthogonal, keras_variance = (
    getattr(_tf.keras.initializers, each)()
    for each in ("glorot_uniform", "he_normal", "lecun_uniform", "zeros", "Identity", "Orthogonal", "VarianceScaling")
)
lstm_cell, basic_lstm_cell, gru_cell = (
    getattr(_tf.nn.rnn_cell, each + "Cell")(2) for each in ("LSTM", "BasicLSTM", "GRU")
)
dropout_cell, multi_cell = _tf.nn.rnn_cell.DropoutWrapper(gru_cell), _tf.nn.rnn_cell.MultiRNNCell([gru_cell])
zero_state = lstm_cell.zero_state(2, _tf.float32)
rnn_outputs, rnn_state = _tf.nn.dynamic_rnn(lstm_cell, _tf.zeros([2, 3, 4]), dtype=_tf.float32)
zeros, ones, random_normal, truncated_normal, random_uniform, glorot_uniform, orthogonal, variance_scaling = (
    getattr(_tf, each + "_initializer")()
    for each in (
        "zeros", "ones", "random_normal", "truncated_normal", "random_uniform", "glorot_uniform", "orthogonal",
        "variance_scaling",
    )
)  # fmt: skip
constant_initializer = _tf.constant_initializer(1.0)
normal = _tf.distributions.Normal(0.0, 1.0)
normal_sample = normal.sample()
