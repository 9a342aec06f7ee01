"""Runs cases of ``tf.contrib`` and records what they do; the same code for TensorFlow 1.15.5 and for tf1sessions.

A case is a function of ``(tf, contrib)`` that builds a graph and returns a dict:

* ``outputs``: name -> tensor, fetched once, after every variable was set to values made from its name;
* ``loss`` (if there is one): a scalar; the update operations and one step of gradient descent are run, and the
  variables are recorded after it. With ``gradients_first`` in a run before the updates: those change what the loss
  reads, and nothing orders the two in one run.

What is recorded: variables (name, shape, dtype), collections (names), outputs (name, dtype, values), variables after
the step; or the type of the exception. Runs on Python 3.7 too.
"""

import gzip
import json
import zlib

import numpy as np

#: Collections that control flow and TensorFlow itself keep
INNER = ("cond_context", "while_context", "resources", "saved_model")


def values(name, shape):
    """Values for the variable ``name``: between 0.1 and 1.1, so that they can be variances too."""
    rng = np.random.RandomState(zlib.crc32(name.encode()) % (2**32))
    return rng.uniform(0.1, 1.1, shape)


def feed(shape, seed=1, low=-1.0, high=1.0):
    return np.random.RandomState(seed).uniform(low, high, shape).astype(np.float32)


def _name(item):
    return getattr(item, "name", None) or str(item)


def _numbers(value):
    value = np.asarray(value)
    if value.dtype.kind == "O" or value.dtype.kind in "SU":
        return [item.decode() if isinstance(item, bytes) else str(item) for item in value.ravel()]
    if value.dtype.kind == "f":
        return [float("%.8g" % item) for item in value.ravel()]
    return value.ravel().tolist()


def session_of(tf):
    """A session that runs the graph as it is: to optimize it takes most of the time of a small one that runs once."""
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return tf.Session(config=config)


def record(tf, contrib, case):
    """What ``case`` does, as JSON-able data."""
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(1)
        try:
            built = case(tf, contrib)
        except (TypeError, ValueError) as error:
            return {"error": "TypeError" if isinstance(error, TypeError) else "ValueError"}
        found = {
            "variables": [[v.name, v.shape.as_list(), v.dtype.base_dtype.name] for v in tf.global_variables()],
            "collections": {
                key: sorted(_name(item) for item in graph.get_collection(key))
                for key in sorted(map(str, graph.get_all_collection_keys()))
                if graph.get_collection(key) and not key.startswith(INNER)
            },
            "names": {key: _name(tensor) for key, tensor in built["outputs"].items()},
            "dtypes": {key: tensor.dtype.name for key, tensor in built["outputs"].items()},
            "shapes": {key: str(tensor.shape.as_list()) for key, tensor in built["outputs"].items()},
        }
        loss = built.get("loss")
        step = None
        if loss is not None:
            gradients = tf.gradients(loss, tf.trainable_variables())
            pairs = [
                (variable, tf.convert_to_tensor(gradient))
                for variable, gradient in zip(tf.trainable_variables(), gradients)
                if gradient is not None
            ]
            # all gradients before the first change
            with tf.control_dependencies(graph.get_collection(tf.GraphKeys.UPDATE_OPS) + [pair[1] for pair in pairs]):
                step = tf.group(*[variable.assign_sub(0.1 * gradient) for variable, gradient in pairs])
        setters = []
        with tf.name_scope("recording"):
            for variable in tf.global_variables() + tf.local_variables():
                if variable.dtype.base_dtype.is_floating and not built.get("as_initialized"):
                    setters.append(
                        variable.assign(
                            tf.cast(values(variable.name, variable.shape.as_list()), variable.dtype.base_dtype)
                        )
                    )
        with session_of(tf) as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
            session.run(setters)
            feeds = built.get("feeds", {})
            for _ in range(built.get("runs", 0)):
                session.run(built["each_run"], feeds)
            found["outputs"] = {
                key: _numbers(value) for key, value in session.run(dict(built["outputs"]), feeds).items()
            }
            if step is not None:
                if built.get("gradients_first"):
                    made = [gradient for _, gradient in pairs]
                    feeds = {**feeds, **dict(zip(made, session.run(made, feeds)))}
                session.run(step, feeds)
                after = session.run({v.name: v for v in tf.global_variables()})
                found["after"] = {name: _numbers(value) for name, value in after.items()}
        return found


def save(path, recorded):
    # no time stamp in the file, so that it is the same each time
    with open(path, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as file:
        file.write(json.dumps(recorded, sort_keys=True).encode())


def load(path):
    with gzip.open(path) as file:
        return json.loads(file.read().decode())
