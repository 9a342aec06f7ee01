"""Cases of ``tf.contrib.opt``: name -> function of (tf, contrib); see contrib_record.py. Runs on Python 3.7 too.

Each trains a dense variable, a table that is read by rows, and a constant factor for some steps, on ref and on resource
variables, and records all variables after it.
"""

import importlib

import numpy as np
from contrib_record import feed

CASES = {}


def model(tf, resource, sparse=True, getter=None, rows=None):
    """A dense and a sparse variable, and a loss; the losses' gradients change from step to step."""
    with tf.variable_scope("model", use_resource=resource, custom_getter=getter):
        dense = tf.get_variable("dense", initializer=tf.constant(feed([3, 2], 1, 0.5, 1.5)))
        loss = tf.reduce_sum(tf.square(tf.matmul(tf.constant(feed([4, 3], 2)), dense) - 0.3))
        if sparse:
            table = tf.get_variable("table", initializer=tf.constant(feed([5, 2], 3, 0.5, 1.5)))
            rows = tf.gather(table, [1, 3, 1] if rows is None else rows)
            loss += tf.reduce_sum(tf.square(rows - 0.1)) + tf.reduce_sum(rows)
    return loss


def read_first(tf, pairs):
    """``pairs`` whose gradients are there only when all of them are, before the first change."""
    with tf.control_dependencies([getattr(gradient, "values", gradient) for gradient, _ in pairs]):
        return [
            (
                tf.IndexedSlices(tf.identity(gradient.values), gradient.indices, gradient.dense_shape)
                if isinstance(gradient, tf.IndexedSlices)
                else tf.identity(gradient),
                variable,
            )
            for gradient, variable in pairs
        ]


def variables(tf):
    return {
        v.op.name: tf.identity(v, name="read_" + v.op.name.replace("/", "_"))
        for v in tf.global_variables() + tf.local_variables()
    }


#: What a variable scope's use_resource is: None is ref variables in 1.15.5 and in scripts, and resource variables else.
EITHER = (None, True)


def case(name, make, runs=3, sparse=True, step=True, resources=EITHER):
    for resource in resources:

        def build(tf, contrib, resource=resource):
            global_step = tf.train.get_or_create_global_step() if step else None
            loss = model(tf, resource, sparse)
            optimizer = make(tf, contrib.opt, global_step)
            pairs = read_first(tf, optimizer.compute_gradients(loss))
            with tf.control_dependencies([getattr(gradient, "values", gradient) for gradient, _ in pairs]):
                train = optimizer.apply_gradients(pairs, global_step=global_step)
            return {"outputs": variables(tf), "each_run": train, "runs": runs, "as_initialized": True}

        CASES["%s %s" % (name, "resource" if resource else "default")] = build


case("AdamW", lambda tf, o, s: o.AdamWOptimizer(0.1, 0.05))
case("MomentumW", lambda tf, o, s: o.MomentumWOptimizer(0.1, 0.05, 0.9))
case("MomentumW nesterov", lambda tf, o, s: o.MomentumWOptimizer(0.1, 0.05, 0.9, use_nesterov=True))
case(
    "extended",
    lambda tf, o, s: o.extend_with_decoupled_weight_decay(tf.train.RMSPropOptimizer)(0.1, learning_rate=0.01),
)
case(
    "extended adagrad",
    lambda tf, o, s: o.extend_with_decoupled_weight_decay(tf.train.AdagradOptimizer)(0.1, learning_rate=0.01),
)
case("Nadam", lambda tf, o, s: o.NadamOptimizer(0.05))
case("LazyAdam", lambda tf, o, s: o.LazyAdamOptimizer(0.05))
case("LazyAdamGS", lambda tf, o, s: o.LazyAdamGSOptimizer(s, 0.05))
case("AdamGS", lambda tf, o, s: o.AdamGSOptimizer(s, 0.05, beta1=0.8))
case("AdaMax", lambda tf, o, s: o.AdaMaxOptimizer(0.05))
case("AddSign", lambda tf, o, s: o.AddSignOptimizer(0.05), resources=(None,))
case("AddSign decay", lambda tf, o, s: o.AddSignOptimizer(0.05, sign_decay_fn=linear(tf)), resources=(None,))
case("PowerSign", lambda tf, o, s: o.PowerSignOptimizer(0.05), resources=(None,))
case("PowerSign decay", lambda tf, o, s: o.PowerSignOptimizer(0.05, sign_decay_fn=linear(tf)), resources=(None,))
case("LARS", lambda tf, o, s: o.LARSOptimizer(0.5))
case("LARS skip", lambda tf, o, s: o.LARSOptimizer(0.05, skip_list=["dense"], use_nesterov=True))
case("LARS nesterov", lambda tf, o, s: o.LARSOptimizer(0.5, 0.8, 0.01, 0.01, 1e-3, use_nesterov=True))
# with the svd_eps of 1e-6 that it has unless given, the step is rounding times 1e6, and another on every processor
case("GGT", lambda tf, o, s: o.GGTOptimizer(0.05, svd_eps=1e-2), sparse=False)
case("GGT small window", lambda tf, o, s: o.GGTOptimizer(0.05, window=2, eps=10.0), sparse=False, runs=4)
case("RegAdagrad", lambda tf, o, s: o.RegAdagradOptimizer(0.05))
case("Shampoo", lambda tf, o, s: o.ShampooOptimizer(s), resources=(None,))
case("Shampoo settings", lambda tf, o, s: o.ShampooOptimizer(s, 4, 0.5, 0.5, 0.9, 0.1, 0.1, 2, 2, 0.01), runs=5)
case("Shampoo iterative", lambda tf, o, s: o.ShampooOptimizer(s, use_iterative_root=True, epsilon=0.1))
case("DropStale", lambda tf, o, s: o.DropStaleGradientOptimizer(tf.train.MomentumOptimizer(0.05, 0.9), 1))
case("DropStale all", lambda tf, o, s: o.DropStaleGradientOptimizer(tf.train.GradientDescentOptimizer(0.05), -1))
case("Multitask", lambda tf, o, s: o.MultitaskOptimizerWrapper(tf.train.MomentumOptimizer(0.05, 0.9)))


def other_rows(name, make, resources=EITHER):
    """The rows that are read are others in each step: what becomes of those that are not read, is recorded too."""
    for resource in resources:

        def build(tf, contrib, resource=resource):
            step = tf.train.get_or_create_global_step()
            rows = tf.gather(tf.constant([[1, 3, 1], [0, 3, 2], [4, 4, 0], [2, 1, 3]]), step)
            train = make(contrib.opt).minimize(model(tf, resource, rows=rows), global_step=step)
            return {"outputs": variables(tf), "each_run": train, "runs": 4, "as_initialized": True}

        CASES["%s other rows %s" % (name, "resource" if resource else "default")] = build


other_rows("Nadam", lambda o: o.NadamOptimizer(0.05))
other_rows("LazyAdam", lambda o: o.LazyAdamOptimizer(0.05))
other_rows("AdaMax", lambda o: o.AdaMaxOptimizer(0.05))
other_rows("AddSign", lambda o: o.AddSignOptimizer(0.05), (None,))
other_rows("PowerSign", lambda o: o.PowerSignOptimizer(0.05), (None,))
other_rows("LARS", lambda o: o.LARSOptimizer(0.5, use_nesterov=True))
case("MovingAverage", lambda tf, o, s: o.MovingAverageOptimizer(tf.train.AdamOptimizer(0.05), 0.9))
case(
    "MovingAverage at once",
    lambda tf, o, s: o.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.05), 0.9, s, sequential_update=True),
)


def linear(tf):
    return lambda step: tf.maximum(0.0, 1.0 - tf.cast(step, tf.float32) / 4.0)


def decayed_variables(tf, contrib):
    loss = model(tf, None)
    dense, _ = tf.trainable_variables()
    optimizer = contrib.opt.AdamWOptimizer(0.1, 0.05)
    pairs = read_first(tf, optimizer.compute_gradients(loss))
    with tf.control_dependencies([getattr(gradient, "values", gradient) for gradient, _ in pairs]):
        train = optimizer.apply_gradients(pairs, decay_var_list=[dense])
    return {"outputs": variables(tf), "each_run": train, "runs": 2, "as_initialized": True}


CASES["AdamW decay_var_list"] = decayed_variables


def clipping(resource, colocate):
    def build(tf, contrib):
        loss = model(tf, resource)
        dense, table = tf.trainable_variables()
        optimizer = contrib.opt.VariableClippingOptimizer(
            tf.train.GradientDescentOptimizer(0.05), {dense: [0], table: [1]}, 0.7, colocate_clip_ops_with_vars=colocate
        )
        return {"outputs": variables(tf), "each_run": optimizer.minimize(loss), "runs": 2, "as_initialized": True}

    return build


CASES["VariableClipping default"] = clipping(None, False)
CASES["VariableClipping resource"] = clipping(True, False)
CASES["VariableClipping colocated"] = clipping(None, True)


def zero_gradients(tf, contrib):
    loss = model(tf, None, sparse=False)
    other = tf.get_variable("other", [2], initializer=tf.ones_initializer())
    loss += 0.0 * tf.reduce_sum(other)
    optimizer = contrib.opt.MultitaskOptimizerWrapper(tf.train.AdamOptimizer(0.05))
    pairs, norm = contrib.opt.clip_gradients_by_global_norm(optimizer.compute_gradients(loss), 0.5)
    train = optimizer.apply_gradients(pairs)
    outputs = dict(variables(tf), norm=norm)
    outputs.update({"gradient%d" % i: tf.convert_to_tensor(g) for i, (g, _) in enumerate(pairs)})
    return {"outputs": outputs, "each_run": train, "runs": 2, "as_initialized": True}


CASES["Multitask zero gradients"] = zero_gradients


def reg_adagrad(resource):
    def build(tf, contrib):
        loss = model(tf, resource)
        optimizer = contrib.opt.RegAdagradOptimizer(0.05)
        train = optimizer.minimize(loss)
        with optimizer.avoid_updating_slots(), tf.control_dependencies([train]):
            train = tf.group(train, optimizer.minimize(0.1 * model_again(tf)))
        return {"outputs": variables(tf), "each_run": train, "runs": 2, "as_initialized": True}

    return build


def model_again(tf):
    dense, table = tf.trainable_variables()
    return tf.reduce_sum(tf.square(dense)) + tf.reduce_sum(tf.gather(table, [0, 2]))


CASES["RegAdagrad without slots default"] = reg_adagrad(None)
CASES["RegAdagrad without slots resource"] = reg_adagrad(True)


def averaged(kind, sparse=False, runs=5):
    """The optimizers that average over workers, with one worker."""

    def build(tf, contrib):
        o = contrib.opt
        global_step = tf.train.get_or_create_global_step()
        getter = getattr(o, kind + "CustomGetter")("/cpu:0")
        loss = model(tf, None, sparse, getter)
        sgd = tf.train.GradientDescentOptimizer(0.05)
        if kind == "ElasticAverage":
            optimizer = o.ElasticAverageOptimizer(sgd, 1, getter, communication_period=2, moving_rate=0.3)
        elif kind == "ModelAverage":
            optimizer = o.ModelAverageOptimizer(sgd, 1, True, getter, interval_steps=2)
        else:
            optimizer = o.AGNOptimizer(sgd, 1, getter, communication_period=2)
        train = optimizer.apply_gradients(read_first(tf, optimizer.compute_gradients(loss)), global_step)
        outputs = variables(tf)
        return {"outputs": outputs, "each_run": train, "runs": runs, "as_initialized": True}

    return build


for kind in ("ElasticAverage", "ModelAverage", "AGN"):
    CASES[kind] = averaged(kind)


def decays(tf, contrib):
    decay = inner("sign_decay")
    steps = [0, 1, 3, 5, 9, 10, 12]
    found = {}
    for key, make in {
        "linear": decay.get_linear_decay_fn(10),
        "cosine": decay.get_cosine_decay_fn(10),
        "cosine periods": decay.get_cosine_decay_fn(10, num_periods=2, zero_after=1),
        "restart": decay.get_restart_decay_fn(10, num_periods=3),
        "restart zero": decay.get_restart_decay_fn(10, num_periods=2, zero_after=1),
    }.items():
        found[key] = tf.stack([make(tf.constant(step, tf.int64)) for step in steps])
    return {"outputs": found}


def inner(name):
    """A module that 1.15.5 had below contrib.opt, by its address there or by ours."""
    try:
        return importlib.import_module("tensorflow.contrib.opt.python.training." + name)
    except ImportError:
        return importlib.import_module("tf1sessions.contrib.opt." + name)


CASES["sign decays"] = decays


def roots(tf, contrib):
    functions = inner("matrix_functions")
    base = feed([4, 4], 7)
    matrix = tf.constant(base.dot(base.T) + np.eye(4, dtype=np.float32))
    found = {
        "square root": functions.matrix_square_root(matrix, 4),
        "root 4": functions.matrix_inverse_pth_root(matrix, 4, -0.25),
        "root 2": functions.matrix_inverse_pth_root(matrix, 4, -0.5, iter_count=3),
    }
    return {"outputs": {key: tf.identity(value) for key, value in found.items()}}


CASES["matrix functions"] = roots


def wrong(name, make):
    def build(tf, contrib):
        make(tf, contrib.opt).minimize(model(tf, None))
        return {"outputs": {}}

    CASES["wrong " + name] = build


wrong("weight decay", lambda tf, o: o.AdamWOptimizer())
wrong("LARS momentum", lambda tf, o: o.LARSOptimizer(0.1, momentum=-1.0))
wrong("argument", lambda tf, o: o.NadamOptimizer(rate=0.1))
wrong("optimizer", lambda tf, o: o.MultitaskOptimizerWrapper("Adam"))
wrong("GGT sparse", lambda tf, o: o.GGTOptimizer(0.1))
wrong("number of workers", lambda tf, o: o.MovingAverageOptimizer(tf.train.AdamOptimizer(), average_decay="a"))
wrong("RegAdagrad", lambda tf, o: o.RegAdagradOptimizer(0.1, initial_accumulator_value=0.0))
