"""An Estimator made of a SavedModel that an Estimator exported: :class:`SavedModelEstimator`.

Data flow: each mode has a graph in the SavedModel. The Estimator's graph gets that graph's global step first, and then,
when the input function has made the features, the rest, with the features in place of what a server would feed. The
values of the variables are those of the SavedModel until training has saved a checkpoint.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...estimator.estimator import Estimator
from ...estimator.model_fn import EXPORT_TAG_MAP, EstimatorSpec, ModeKeys
from ...estimator.warm_start import WarmStartSettings
from ...runtime import private
from ...runtime import tf1 as tf

__all__ = ["SavedModelEstimator"]

_STEP = tf.GraphKeys.GLOBAL_STEP
_TRAIN_OP = "saved_model_train_op"
#: Collections that an export fills.
_OF_EXPORTS = ("saved_model_main_op", "legacy_init_op", "saved_model_assets", _TRAIN_OP)


class SavedModelEstimator(Estimator):
    """An Estimator whose model is in a SavedModel; it can do what modes were exported.

    Args:
        saved_model_dir: The folder of the SavedModel, which an Estimator exported.
        model_dir: Where checkpoints and summaries of further training go.

    Raises:
        ValueError: There is no SavedModel.
    """

    def __init__(self, saved_model_dir: Any, model_dir: Any = None) -> None:
        folder = os.fsdecode(saved_model_dir)
        if not tf.saved_model.loader.maybe_saved_model_directory(folder):
            raise ValueError(f"Directory provided has an invalid SavedModel format: {folder}")
        self._saved_model_dir = folder
        self._graphs = {
            frozenset(graph.meta_info_def.tags): graph
            for graph in private.loader_impl.parse_saved_model(folder).meta_graphs
        }
        values = os.path.join(folder, "variables", "variables")
        names = [name for name, _ in tf.train.list_variables(values)]
        super().__init__(
            self._model_fn_of_graph, model_dir, warm_start_from=WarmStartSettings(values, vars_to_warm_start=names)
        )

    def _assert_members_are_not_overridden(self) -> None:
        """Allow what is overridden: it is meant to be."""

    def _graph_of(self, mode: str) -> Any:
        tags = frozenset(EXPORT_TAG_MAP[mode])
        if tags not in self._graphs:
            raise RuntimeError(
                f"{mode} mode is not available in the SavedModel. Use saved_model_cli to check that the Metagraph for "
                "this mode has been exported."
            )
        return self._graphs[tags]

    def _create_global_step(self, graph: Any) -> Any:
        """The global step alone: it is the same in all of the SavedModel's graphs."""
        saved = next(iter(self._graphs.values()))
        for collection in (_STEP, tf.GraphKeys.GLOBAL_VARIABLES):
            for encoded in saved.collection_def[collection].bytes_list.value:
                definition = private.variable_pb2.VariableDef.FromString(encoded)
                if definition.variable_name == f"{_STEP}:0":
                    with graph.as_default():
                        return _imported_step(saved.graph_def, definition)
        raise ValueError(f"The SavedModel in {self._saved_model_dir} has no {_STEP}: no Estimator exported it.")

    def _model_fn_of_graph(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        saved = self._graph_of(mode)
        signature = saved.signature_def[_signature_of(mode, saved)]
        graph = tf.get_default_graph()
        step = tf.train.get_global_step(graph)
        inputs = _fed(signature.inputs, features, labels)
        for collection in (_STEP, tf.GraphKeys.GLOBAL_VARIABLES):  # where the import adds it
            graph.clear_collection(collection)
        tf.train.import_meta_graph(saved, input_map={f"{_STEP}:0": _handle(step), **inputs})
        outputs = {name: _tensor(graph, info) for name, info in signature.outputs.items()}
        scaffold = self._scaffold(saved, graph)
        train_op = _train_op(saved, graph) if mode == ModeKeys.TRAIN else None
        for collection in _OF_EXPORTS:
            graph.clear_collection(collection)
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(
                mode, predictions=outputs, export_outputs=_export_outputs(saved, graph), scaffold=scaffold
            )
        return EstimatorSpec(
            mode,
            loss=outputs["loss"],
            predictions=_predictions(outputs),
            train_op=train_op,
            eval_metric_ops=_metrics(outputs),
            scaffold=scaffold,
        )

    def _scaffold(self, saved: Any, graph: Any) -> Any:
        """Return what initializes as a server would: tables, and files that the model needs."""
        initializer = private.loader_impl.get_init_op(saved)
        if initializer is not None:
            graph.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, initializer)
        assets = private.loader_impl.get_asset_tensors(self._saved_model_dir, saved)
        return tf.train.Scaffold(
            local_init_feed_dict={graph.get_tensor_by_name(name): path for name, path in assets.items()}
        )


def _imported_step(graph_def: Any, definition: Any) -> Any:
    """The variable, with the operations that make it, in the default graph and its collections."""
    part = tf.GraphDef(versions=graph_def.versions)
    part.node.extend(node for node in graph_def.node if node.name == _STEP or node.name.startswith(f"{_STEP}/"))
    tf.import_graph_def(part, name="")
    step = tf.Variable.from_proto(definition)
    for collection in (tf.GraphKeys.GLOBAL_VARIABLES, _STEP):
        tf.add_to_collection(collection, step)
    return step


def _handle(variable: Any) -> Any:
    return variable.handle if hasattr(variable, "handle") else variable._ref()


def _signature_of(mode: str, saved: Any) -> str:
    if mode == ModeKeys.PREDICT:
        return str(tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY)
    return mode


def _fed(inputs: Mapping[str, Any], features: Any, labels: Any) -> dict[str, Any]:
    """Name of a tensor that is fed -> what takes its place.

    Raises:
        ValueError: Neither features nor labels have it.
    """
    given = dict(features) if isinstance(features, dict) else {"feature": features, "input": features}
    given.update(labels if isinstance(labels, dict) else {} if labels is None else {"label": labels})
    found = {}
    for key, info in inputs.items():
        if key not in given:
            raise ValueError(
                f'Key "{key}" not found in features or labels passed in to the model function. All required keys: '
                f"{inputs.keys()}"
            )
        if info.WhichOneof("encoding") == "coo_sparse":
            sparse = info.coo_sparse
            found[sparse.indices_tensor_name] = given[key].indices
            found[sparse.values_tensor_name] = given[key].values
            found[sparse.dense_shape_tensor_name] = given[key].dense_shape
        else:
            found[info.name] = tf.convert_to_tensor(given[key])
    return found


def _tensor(graph: Any, info: Any) -> Any:
    return tf.saved_model.utils.get_tensor_from_tensor_info(info, graph)


def _predictions(outputs: Mapping[str, Any]) -> Any:
    if "predictions" in outputs:
        return outputs["predictions"]
    return {name.removeprefix("predictions/"): x for name, x in outputs.items() if name.startswith("predictions/")}


def _metrics(outputs: Mapping[str, Any]) -> dict[str, Any]:
    end = "/value"
    return {
        name.removesuffix(end): (value, outputs[f"{name.removesuffix(end)}/update_op"])
        for name, value in outputs.items()
        if name.startswith("metrics/") and name.endswith(end)
    }


def _train_op(saved: Any, graph: Any) -> Any:
    found = private.loader_impl.get_train_op(saved)
    if found is None:
        found = (graph.get_collection(_TRAIN_OP) or graph.get_collection(tf.GraphKeys.TRAIN_OP) or [None])[0]
    return found


def _export_outputs(saved: Any, graph: Any) -> dict[str, Any]:
    """Return what the model would be exported with again."""
    found = {}
    for name, signature in saved.signature_def.items():
        outputs = {key: _tensor(graph, info) for key, info in signature.outputs.items()}
        if signature.method_name == tf.saved_model.signature_constants.PREDICT_METHOD_NAME:
            found[name] = private.export_output.PredictOutput(outputs)
        elif signature.method_name == tf.saved_model.signature_constants.CLASSIFY_METHOD_NAME:
            found[name] = private.export_output.ClassificationOutput(outputs.get("scores"), outputs.get("classes"))
        elif signature.method_name == tf.saved_model.signature_constants.REGRESS_METHOD_NAME:
            found[name] = private.export_output.RegressionOutput(outputs["outputs"])
    return found
