"""Programs that train on several replicas, of two logical devices of the CPU; see estimator_cases.py.

The file has to run on Python 3.7 too.
"""

import re

import estimator_cases
import numpy as np
from estimator_cases import hook_class

CASES = {}
X = np.arange(24, dtype=np.float32).reshape(12, 2) / 10
Y = X[:, :1] * 2 - 1
TWO = ["/device:CPU:0", "/device:CPU:1"]
# What making a strategy says, and how it sums: each release in its own words.
STRATEGIES_SAY = re.compile(
    r"contrib module|not visible to TensorFlow|non-GPU devices|Using MirroredStrategy|Reduce to"
    "|with local_devices|compute_devices"
)


def case(function):
    CASES[function.__name__] = function
    return function


def run(tf, estimator, names=()):
    """What the cases return: those of these names, or all."""
    return estimator_cases.run(tf, estimator, names, CASES)


def mirrored(world):
    return world.tf.contrib.distribute.MirroredStrategy(devices=TWO)


def config(world, strategy, **kwargs):
    tf = world.tf
    two = tf.ConfigProto(device_count={"CPU": 2}, intra_op_parallelism_threads=1, inter_op_parallelism_threads=2)
    kwargs.setdefault("save_checkpoints_steps", 100)
    return world.estimator.RunConfig(
        tf_random_seed=1,
        log_step_count_steps=1,
        session_config=two,
        train_distribute=strategy,
        eval_distribute=strategy,
        **kwargs,
    )


def data(world, epochs=1, batch=2):
    def input_fn():
        return world.tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat(epochs).batch(batch)

    return input_fn


def logged(world):
    """What was logged, but for the step of a loss: it may be read before or after it is counted up."""
    return [re.sub(r", step = .*", "", line) for line in world.logged() if not STRATEGIES_SAY.search(line)]


def values(estimator):
    return {name: estimator.get_variable_value(name) for name in estimator.get_variable_names()}


def made(world, loss_of, strategy=None, folder=None, optimizer=None, warm_start_from=None, config_=None, **fields):
    """An Estimator of ``y = x w + b`` with the loss that a function of (labels, y) makes."""
    tf, e = world.tf, world.estimator

    def model_fn(features, labels, mode):
        x = features["x"]
        y = tf.layers.dense(x, 1, kernel_initializer=tf.ones_initializer(), name="out")
        if mode == "infer":
            return e.EstimatorSpec(mode, predictions={"y": y})
        loss = loss_of(labels, y)
        train = optimizer or (lambda: tf.train.MomentumOptimizer(0.05, 0.9))
        given = {name: value() for name, value in fields.items()}
        return e.EstimatorSpec(
            mode,
            loss=loss,
            train_op=train().minimize(loss, tf.train.get_global_step()),
            eval_metric_ops={"error": tf.metrics.mean_absolute_error(labels, y), "auc": tf.metrics.auc(labels > 0, y)},
            **given,
        )

    config_ = config_ or config(world, strategy or mirrored(world))
    return e.Estimator(model_fn, folder or world.folder(), config_, warm_start_from=warm_start_from)


def squares(world):
    return lambda labels, y: world.tf.reduce_mean(world.tf.square(y - labels))


def all_of(world, estimator, epochs=1):
    """What training and evaluation give."""
    estimator.train(data(world, epochs))
    return [logged(world), values(estimator), estimator.evaluate(data(world)), logged(world)]


@case
def strategies(world):
    """With one replica and with two. Predictions are made by one device."""
    d = world.tf.contrib.distribute
    each = [
        lambda: d.MirroredStrategy(devices=TWO),
        lambda: d.MirroredStrategy(),
        lambda: d.OneDeviceStrategy("/cpu:1"),
        lambda: d.ParameterServerStrategy(),
        lambda: d.CollectiveAllReduceStrategy(),
    ]
    found = []
    for strategy in each:
        estimator = made(world, squares(world), strategy())
        estimator.train(data(world), steps=2)
        found.append([logged(world), values(estimator)])
    return found + [estimator.evaluate(data(world)), list(estimator.predict(data(world)))[:2]]


@case
def without_gpus(world):
    """GPUs that are not there are an error, when the session is made."""
    d = world.tf.contrib.distribute
    each = [
        lambda: d.MirroredStrategy(num_gpus=2),
        lambda: d.ParameterServerStrategy(num_gpus_per_worker=2),
        lambda: d.CollectiveAllReduceStrategy(num_gpus_per_worker=2),
    ]
    found = [world.error(made(world, squares(world), strategy()).train, data(world)) for strategy in each]
    return [[kind, "Cannot assign a device for operation" in text] for kind, text in found]


@case
def losses(world):
    """A sum over the batch, a mean, and one that a module of losses makes."""
    tf = world.tf

    def module(reduction):
        return lambda labels, y: tf.losses.mean_squared_error(labels, y, reduction=reduction)

    kinds = tf.losses.Reduction
    each = [
        lambda labels, y: tf.reduce_sum(tf.square(y - labels)),
        module(kinds.SUM),
        module(kinds.SUM_BY_NONZERO_WEIGHTS),
    ]
    slow = dict(optimizer=lambda: tf.train.GradientDescentOptimizer(0.01))
    found = []
    for loss in each:
        estimator = made(world, loss, **slow)
        estimator.train(data(world), steps=1)
        found.append([logged(world), values(estimator)])
    return found


@case
def uneven(world):
    """Batches that do not go round; which of them an evaluation had was left to chance on 1.15.5."""
    estimator = made(world, squares(world))
    estimator.train(data(world, batch=5))
    return values(estimator)


@case
def steps(world):
    """Training goes on from its checkpoint, which has the values of one device."""
    folder = world.folder()
    estimator = made(world, squares(world), folder=folder)
    estimator.train(data(world, 9), steps=3)
    made(world, squares(world), folder=folder).train(data(world, 9), max_steps=5)
    found = [logged(world), values(estimator), estimator.evaluate(data(world), steps=2), logged(world)]
    events = [event for event in world.events(folder) if event[2] == "simple_value"]
    alone = made(world, squares(world), folder=folder, config_=config(world, None))
    alone.train(data(world, 9), steps=2)
    return found + [events, world.files(folder), values(alone), alone.evaluate(data(world))]


@case
def hooks(world):
    tf = world.tf
    notes = hook_class(tf)
    lines = []

    def scaffold():
        return tf.train.Scaffold(init_fn=lambda scaffold, session: lines.append("INIT"))

    estimator = made(
        world,
        squares(world),
        training_hooks=lambda: [notes("training", lines)],
        training_chief_hooks=lambda: [notes("chief", lines)],
        scaffold=scaffold,
    )
    estimator.train(data(world), hooks=[notes("given", lines)])
    estimator.evaluate(data(world), hooks=[notes("given", lines)])
    return lines


@case
def adam(world):
    estimator = made(world, squares(world), optimizer=lambda: world.tf.train.AdamOptimizer(0.1))
    estimator.train(data(world), steps=2)
    return [logged(world), values(estimator)]


@case
def batch_norm_and_clipping(world):
    tf, e = world.tf, world.estimator

    def model_fn(features, labels, mode):
        hidden = tf.layers.batch_normalization(features["x"], training=mode == "train", name="norm")
        y = tf.layers.dense(hidden, 1, kernel_initializer=tf.ones_initializer(), name="out")
        if mode == "infer":
            return e.EstimatorSpec(mode, predictions={"y": y})
        loss = tf.reduce_mean(tf.square(y - labels))
        step = tf.train.get_global_step()
        optimizer = tf.train.GradientDescentOptimizer(tf.train.exponential_decay(0.1, step, 2, 0.5))
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            gradients, variables = zip(*optimizer.compute_gradients(loss))  # noqa: B905  (not on Python 3.7)
            clipped, norm = tf.clip_by_global_norm(gradients, 1.0)
            train = optimizer.apply_gradients(list(zip(clipped, variables)), step)  # noqa: B905
        tf.summary.scalar("norm", norm)
        return e.EstimatorSpec(mode, loss=loss, train_op=train, predictions={"y": y})

    estimator = e.Estimator(model_fn, world.folder(), config(world, mirrored(world), save_summary_steps=1))
    found = all_of(world, estimator, 2)
    return found + [[event for event in world.events(estimator.model_dir) if event[2] == "simple_value"]]


@case
def canned(world):
    tf, e = world.tf, world.estimator
    columns = [tf.feature_column.numeric_column("x", [2])]
    estimator = e.LinearRegressor(
        feature_columns=columns,
        model_dir=world.folder(),
        config=config(world, mirrored(world)),
        optimizer=tf.train.GradientDescentOptimizer(0.001),
    )
    return all_of(world, estimator)


@case
def inputs(world):
    """What input functions may take and return."""
    tf = world.tf
    seen = []

    def with_context(input_context, mode):
        seen.append([mode, input_context.num_input_pipelines, input_context.num_replicas_in_sync])
        return data(world)()

    def tensors():
        return {"x": tf.constant(X)}, tf.constant(Y)

    made(world, squares(world)).train(with_context)
    problem = world.error(made(world, squares(world)).train, tensors)
    return [seen, problem and problem[0]]


@case
def warm_start_and_export(world):
    tf, e = world.tf, world.estimator
    first = made(world, squares(world))
    first.train(data(world))
    second = made(world, squares(world), warm_start_from=first.model_dir)
    second.train(data(world), steps=1)
    receiver = e.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None, 2])})
    path = second.export_savedmodel(world.folder(), receiver)
    with tf.Graph().as_default(), tf.Session() as session:
        model = tf.saved_model.loader.load(session, ["serve"], path)
        signature = model.signature_def["serving_default"]
        served = session.run(signature.outputs["y"].name, {signature.inputs["x"].name: X[:2]})
    return [values(first), values(second), served]


@case
def train_and_evaluate(world):
    e = world.estimator
    estimator = made(world, squares(world), config_=config(world, mirrored(world), save_checkpoints_steps=2))
    result, _ = e.train_and_evaluate(
        estimator,
        e.TrainSpec(data(world, 9), max_steps=4),
        e.EvalSpec(data(world), steps=None, start_delay_secs=0, throttle_secs=0),
    )
    return [result, logged(world)]


@case
def by_hand(world):
    """A strategy without an Estimator."""
    tf = world.tf
    strategy = mirrored(world)
    with strategy.scope():
        step = tf.contrib.distribute.StandardSingleLossStep(
            lambda: tf.data.Dataset.from_tensor_slices((X, Y)).repeat().batch(2),
            lambda context, batch: tf.reduce_mean(tf.square(tf.layers.dense(batch[0], 1, name="out") - batch[1])),
            tf.train.GradientDescentOptimizer(0.01),
            strategy,
        )
        start = step.initialize()
        train = step()
        replicas = strategy.extended.call_for_each_replica(lambda: tf.get_variable("v", initializer=2.0) * 3.0)
        total = strategy.reduce(tf.distribute.ReduceOp.SUM, replicas, axis=None)
        names = [variable.name for variable in tf.trainable_variables()]
        kernel = tf.trainable_variables()[0]
        two = tf.ConfigProto(device_count={"CPU": 2})
        with tf.Session(config=two) as session:
            session.run([start, tf.global_variables_initializer()])
            same = session.run(kernel.initializer) is None
            for _ in range(3):
                session.run(train)
            parts = [session.run(part) for part in strategy.unwrap(kernel)]
            return [names, session.run(total), len(parts), bool(np.all(parts[0] == parts[1])), same]
