"""Runs cases of the canned estimators and records what they do; the same code for 1.15.5 and for tf1sessions.

A case is a function of ``(tf, estimator, contrib)`` that returns a dict: ``estimator``, ``features`` (name -> array),
``labels`` (array, dict of arrays, or None), and ``modes``. What is recorded of each mode: variables, collections, the
keys of a checkpoint, predictions, loss, metrics, signatures, tags of summaries, and in training all variables after one
step; or the type of the exception. Runs on Python 3.7 too.
"""

import os
import tempfile

from contrib_record import _name, _numbers, load, save, session_of, values  # noqa: F401

#: Of the graph's own making, or objects that have no name
INNER = ("cond_context", "while_context", "resources", "saved_model", "table_initializer", "metric_variables")


def _tensors(tf, tree):
    if isinstance(tree, dict):
        return {key: _tensors(tf, value) for key, value in tree.items()}
    return tree(tf) if callable(tree) else tf.constant(tree)


def _signatures(tf, spec):
    """Name -> [method, inputs, outputs] of what would be exported, for a receiver of serialized examples."""
    receiver = tf.placeholder(tf.string, [None], name="receiver")
    found = {}
    for key, output in (spec.export_outputs or {}).items():
        try:
            signature = output.as_signature_def({"examples": receiver})
        except ValueError:
            found[str(key)] = ["ValueError"]
            continue
        found[str(key)] = [type(output).__name__, signature.method_name] + [
            sorted((name, info.dtype) for name, info in side.items()) for side in (signature.inputs, signature.outputs)
        ]
    return found


def _tags(tf, session, values):
    merged = tf.summary.merge_all()
    if merged is None:
        return []
    summary = tf.Summary.FromString(session.run(merged))
    return sorted(
        [item.tag, float("%.6g" % item.simple_value) if values and item.HasField("simple_value") else "-"]
        for item in summary.value
    )


def _checkpoint(tf, session):
    with tempfile.TemporaryDirectory() as folder:
        path = tf.train.Saver().save(session, os.path.join(folder, "model"), write_meta_graph=False)
        return [[name, list(shape)] for name, shape in tf.train.list_variables(path)]


def _named(tree):
    """Key -> name of a tensor."""
    return {str(key): _name(tensor) for key, tensor in tree.items()}


def record_mode(tf, built, mode):
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(1)
        tf.train.create_global_step()
        features = _tensors(tf, built["features"])
        labels = None if mode == "infer" else _tensors(tf, built["labels"])
        estimator = built["estimator"]
        spec = estimator.model_fn(features=features, labels=labels, mode=mode, config=estimator.config)
        found = {
            "variables": [[v.name, v.shape.as_list(), v.dtype.base_dtype.name] for v in tf.global_variables()],
            "collections": {
                key: sorted(_name(item) for item in graph.get_collection(key))
                for key in sorted(map(str, graph.get_all_collection_keys()))
                if graph.get_collection(key) and not key.startswith(INNER)
            },
            "signatures": _signatures(tf, spec),
        }
        predictions = {str(key): tensor for key, tensor in (spec.predictions or {}).items()}
        found["predictions"] = {
            key: [_name(tensor), tensor.dtype.name, tensor.shape.as_list()] for key, tensor in predictions.items()
        }
        metrics = {str(key): pair for key, pair in (spec.eval_metric_ops or {}).items()}
        found["metrics"] = {key: _name(pair[0]) for key, pair in metrics.items()}
        setters = []
        with tf.name_scope("recording"):
            for variable in tf.global_variables():
                if variable.dtype.base_dtype.is_floating:
                    value = values(variable.op.name, variable.shape.as_list())
                    setters.append(variable.assign(tf.cast(value, variable.dtype.base_dtype)))
        with session_of(tf) as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
            session.run(setters)
            found["checkpoint"] = _checkpoint(tf, session) if mode == "train" else []
            found["summaries"] = _tags(tf, session, built.get("random") != mode)
            if built.get("random") != mode:
                outputs = predictions if spec.loss is None else dict(predictions, loss=spec.loss)
                found["outputs"] = {key: _numbers(value) for key, value in session.run(outputs).items()}
            if metrics:
                session.run([pair[1] for pair in metrics.values()])
                measured = session.run({key: pair[0] for key, pair in metrics.items()})
                found["outputs"].update({"metric " + key: _numbers(value) for key, value in measured.items()})
            if mode == "train":
                session.run(spec.train_op)
                if built.get("random") != mode:
                    after = session.run({v.op.name: v for v in tf.global_variables()})
                    found["after"] = {name: _numbers(value) for name, value in after.items()}
        return found


def record(tf, estimator, contrib, case):
    """What ``case`` does in each mode, as JSON-able data; ``contrib`` is ``tf.contrib.estimator``."""
    try:
        built = case(tf, estimator, contrib)
    except (TypeError, ValueError) as error:
        return {"error": "TypeError" if isinstance(error, TypeError) else "ValueError"}
    found = {}
    for mode in built["modes"]:
        try:
            found[mode] = record_mode(tf, built, mode)
        except (TypeError, ValueError) as error:
            found[mode] = {"error": "TypeError" if isinstance(error, TypeError) else "ValueError"}
        except tf.errors.OpError as error:
            found[mode] = {"error": type(error).__name__}
    return found
