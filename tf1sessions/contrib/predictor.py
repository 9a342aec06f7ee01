"""``tf.contrib.predictor``: functions from arrays to arrays, of SavedModels and of estimators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..runtime import tf1 as tf

__all__ = ["from_contrib_estimator", "from_estimator", "from_saved_model"]


class Predictor:
    """A model in a session of its own.

    It is safe to call from several threads. The session stays open as long as the object lives; close
    :attr:`session` to free it earlier.

    Args:
        graph: The graph.
        session: A session of it, with the variables restored.
        feed_tensors: The inputs by name.
        fetch_tensors: The outputs by name.
    """

    def __init__(
        self, graph: Any, session: Any, feed_tensors: Mapping[str, Any], fetch_tensors: Mapping[str, Any]
    ) -> None:
        self._graph = graph
        self._session = session
        self._feed_tensors = dict(feed_tensors)
        self._fetch_tensors = dict(fetch_tensors)

    @property
    def graph(self) -> Any:
        return self._graph

    @property
    def session(self) -> Any:
        return self._session

    @property
    def feed_tensors(self) -> dict[str, Any]:
        return self._feed_tensors

    @property
    def fetch_tensors(self) -> dict[str, Any]:
        return self._fetch_tensors

    def __repr__(self) -> str:
        return f"{type(self).__name__} with feed tensors {self._feed_tensors} and fetch_tensors {self._fetch_tensors}"

    def __call__(self, input_dict: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs by name for inputs by name.

        Raises:
            ValueError: There is no such input.
        """
        unexpected = sorted(set(input_dict) - set(self._feed_tensors))
        if unexpected:
            raise ValueError(f"Got unexpected keys in input_dict: {unexpected}\nexpected: {sorted(self._feed_tensors)}")
        feeds = {self._feed_tensors[name]: value for name, value in input_dict.items()}
        found: dict[str, Any] = self._session.run(self._fetch_tensors, feeds)
        return found


def from_saved_model(
    export_dir: Any,
    signature_def_key: str | None = None,
    signature_def: Any = None,
    input_names: Mapping[str, str] | None = None,
    output_names: Mapping[str, str] | None = None,
    tags: Any = None,
    graph: Any = None,
    config: Any = None,
) -> Predictor:
    """A predictor from a SavedModel.

    Args:
        export_dir: The SavedModel's folder.
        signature_def_key: Its signature; "serving_default" if nothing of this and the next three is given.
        signature_def: A ``SignatureDef``, in place of one of the model's.
        input_names: Names of inputs -> names of tensors, in place of a signature's.
        output_names: Names of outputs -> names of tensors, likewise.
        tags: The tags of the graph: a set, or a text with commas between; "serve" without it.
        graph: The graph to load into; a new one without it.
        config: A ``tf.ConfigProto``.

    Raises:
        ValueError: Arguments contradict, or there is no such signature.
    """
    if (input_names is None) != (output_names is None):
        raise ValueError("input_names and output_names must both be specified or both be unspecified.")
    ways = [signature_def_key is not None, signature_def is not None, input_names is not None]
    if sum(ways) > 1:
        raise ValueError(
            "You must specify at most one of signature_def_key OR signature_def OR (input_names AND output_names)."
        )
    if isinstance(tags, str):
        tags = [tag.strip() for tag in tags.split(",")]
    graph = graph or tf.Graph()
    with graph.as_default():
        session = tf.Session(config=config)
        try:
            meta = tf.saved_model.loader.load(session, list(tags or [tf.saved_model.SERVING]), export_dir)
            if input_names is None or output_names is None:
                if signature_def is None:
                    signature_def = _signature(meta, signature_def_key)
                input_names = {name: info.name for name, info in signature_def.inputs.items()}
                output_names = {name: info.name for name, info in signature_def.outputs.items()}
            feeds = {name: graph.get_tensor_by_name(tensor) for name, tensor in input_names.items()}
            fetches = {name: graph.get_tensor_by_name(tensor) for name, tensor in output_names.items()}
        except BaseException:
            session.close()
            raise
    return Predictor(graph, session, feeds, fetches)


def _signature(meta: Any, key: str | None) -> Any:
    key = key or tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if key not in meta.signature_def:
        raise ValueError(
            f"Got signature_def_key '{key}'. Available signatures are {sorted(meta.signature_def)}. "
            f"Original error: '{key}'"
        )
    return meta.signature_def[key]


def from_estimator(
    estimator: Any,
    serving_input_receiver_fn: Callable[[], Any],
    output_key: str | None = None,
    graph: Any = None,
    config: Any = None,
) -> Predictor:
    """A predictor from a ``tf.estimator.Estimator`` and its latest checkpoint.

    Args:
        estimator: The estimator.
        serving_input_receiver_fn: Returns a ``ServingInputReceiver``.
        output_key: Which of the model's ``export_outputs``; the default one without it.
        graph: The graph to build in; a new one without it.
        config: A ``tf.ConfigProto``.

    Raises:
        TypeError: It is an estimator of ``contrib.learn``.
        ValueError: There is no checkpoint, or no such output.
    """
    from .learn.estimator import BaseEstimator

    if isinstance(estimator, BaseEstimator):
        raise TypeError("Expected estimator to be of type tf.estimator.Estimator, but got tf.contrib.learn.Estimator.")
    graph = graph or tf.Graph()
    with graph.as_default():
        tf.train.get_or_create_global_step()
        receiver = serving_input_receiver_fn()
        spec = estimator.model_fn(receiver.features, None, "infer", estimator.config)
        outputs = spec.export_outputs or {}
        key = output_key or tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
        if key not in outputs:
            raise ValueError(f"output_key must be one of {sorted(outputs)}; got {key}")
        signature = outputs[key].as_signature_def(receiver.receiver_tensors)
        fetches = {name: graph.get_tensor_by_name(info.name) for name, info in signature.outputs.items()}
        return _restored(graph, estimator, spec.scaffold, receiver.receiver_tensors, fetches, config)


def from_contrib_estimator(
    estimator: Any,
    prediction_input_fn: Callable[[], Any],
    input_alternative_key: str | None = None,
    output_alternative_key: str | None = None,
    graph: Any = None,
    config: Any = None,
) -> Predictor:
    """A predictor from an estimator of ``contrib.learn`` and its latest checkpoint.

    Args:
        estimator: The estimator.
        prediction_input_fn: Returns ``InputFnOps``.
        input_alternative_key: None: there is one input.
        output_alternative_key: Which of the model's output alternatives; the only one without it, and all predictions
            if it has none.
        graph: The graph to build in; a new one without it.
        config: A ``tf.ConfigProto``.

    Raises:
        TypeError: It is a ``tf.estimator.Estimator``.
        ValueError: There is no checkpoint, or no such alternative.
    """
    from .learn.estimator import BaseEstimator

    if not isinstance(estimator, BaseEstimator):
        raise TypeError("Expected estimator to be of type tf.contrib.learn.Estimator.")
    if input_alternative_key is not None:
        raise ValueError("from_contrib_estimator: input_alternative_key is not available")
    graph = graph or tf.Graph()
    with graph.as_default():
        tf.train.get_or_create_global_step()
        found = prediction_input_fn()
        ops = estimator.model_fn(found.features, None, "infer", estimator.config)
        alternatives = ops.output_alternatives or {}
        if alternatives:
            if output_alternative_key is None and len(alternatives) == 1:
                (output_alternative_key,) = alternatives
            if output_alternative_key not in alternatives:
                raise ValueError(f"output_alternative_key must be one of {list(alternatives)}")
            fetches = alternatives[output_alternative_key][1]
        else:
            fetches = ops.predictions if isinstance(ops.predictions, dict) else {"output": ops.predictions}
        return _restored(graph, estimator, ops.scaffold, found.default_inputs, fetches, config)


def _restored(
    graph: Any, estimator: Any, scaffold: Any, feeds: Mapping[str, Any], fetches: Mapping[str, Any], config: Any
) -> Predictor:
    path = tf.train.latest_checkpoint(estimator.model_dir)
    if path is None:
        raise ValueError(f"Couldn't find trained model at {estimator.model_dir}.")
    creator = tf.train.ChiefSessionCreator(
        scaffold=scaffold or tf.train.Scaffold(), checkpoint_filename_with_path=path, config=config
    )
    return Predictor(graph, creator.create_session(), feeds, fetches)
