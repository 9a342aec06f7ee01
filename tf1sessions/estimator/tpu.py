"""``tf.estimator.tpu``: an Estimator that can be determined to use a TPU, on a machine that has none.

With ``use_tpu=False`` a :class:`TPUEstimator` is an Estimator whose functions find the size of a batch in
``params["batch_size"]`` and whose ``model_fn`` returns a :class:`TPUEstimatorSpec`. It trains, evaluates, predicts and
exports on this machine's processors and GPUs, as it did in 1.15.5. With ``use_tpu=True`` it can be made, and says that
there is no TPU when it is to run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ..runtime import tf1 as tf
from . import tpu_experimental as experimental
from .estimator import Estimator
from .model_fn import EstimatorSpec, ModeKeys
from .run_config import RunConfig as _RunConfig
from .util import function_args, log

__all__ = [
    "InputPipelineConfig",
    "RunConfig",
    "TPUConfig",
    "TPUEstimator",
    "TPUEstimatorSpec",
    "experimental",
    "export_estimator_savedmodel",
]

_RESERVED = ["batch_size", "context"]


class InputPipelineConfig:
    """The place where ``input_fn`` is called for a TPU: of no effect without one."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class _Config(NamedTuple):
    iterations_per_loop: Any
    num_shards: Any
    num_cores_per_replica: Any
    per_host_input_for_training: Any
    tpu_job_name: Any
    initial_infeed_sleep_secs: Any
    input_partition_dims: Any
    eval_training_input_configuration: Any
    experimental_host_call_every_n_steps: Any


class TPUConfig(_Config):
    """Settings of a TPU; without one, :attr:`iterations_per_loop` counts for the log only.

    Args:
        iterations_per_loop: Steps of training in one ``Session.run``, or a time such as "60s".
        num_shards: Of no effect.
        num_cores_per_replica: A power of 2 up to 128.
        per_host_input_for_training: One of :class:`InputPipelineConfig`; True for PER_HOST_V1, False for PER_SHARD_V1.
        tpu_job_name: The name of the TPU's job.
        initial_infeed_sleep_secs: Seconds before the first batch.
        input_partition_dims: How inputs are split, with PER_HOST_V2 only.
        eval_training_input_configuration: ``InputPipelineConfig.PER_HOST_V1`` or ``SLICED``.
        experimental_host_call_every_n_steps: Steps between calls of ``host_call``, on a TPU.

    Raises:
        ValueError: An argument is out of its range.
    """

    __slots__ = ()

    def __new__(
        cls,
        iterations_per_loop: int | str = 2,
        num_shards: int | None = None,
        num_cores_per_replica: int | None = None,
        per_host_input_for_training: Any = True,
        tpu_job_name: str | None = None,
        initial_infeed_sleep_secs: int | None = None,
        input_partition_dims: Any = None,
        eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1,
        experimental_host_call_every_n_steps: int = 1,
    ) -> TPUConfig:
        good = isinstance(iterations_per_loop, int) and iterations_per_loop >= 1
        if not good and not re.fullmatch(r"[1-9]\d*[smh]", str(iterations_per_loop)):
            raise ValueError(
                f"Invalid TPUConfig `iterations_per_loop` value {iterations_per_loop!r}. Value must be positive "
                "integer value or time-based value `<N><s|m|h>`, such as `3600s`, `60m`, `1h`."
            )
        if num_shards is not None and num_shards < 1:
            raise ValueError(f"TPUConfig num_shards must be positive, got {num_shards}")
        cores = [2**power for power in range(8)]
        if num_cores_per_replica is not None and num_cores_per_replica not in cores:
            raise ValueError(f"num_cores_per_replica must be {', '.join(map(str, cores))}; got {num_cores_per_replica}")
        if isinstance(per_host_input_for_training, bool):
            per_host_input_for_training = (
                InputPipelineConfig.PER_HOST_V1 if per_host_input_for_training else InputPipelineConfig.PER_SHARD_V1
            )
        if input_partition_dims is not None:
            if per_host_input_for_training != InputPipelineConfig.PER_HOST_V2:
                raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
            if not 1 <= len(input_partition_dims) <= 2:
                raise ValueError("input_partition_dims must be a list/tuple with one or two elements.")
        if eval_training_input_configuration not in (InputPipelineConfig.PER_HOST_V1, InputPipelineConfig.SLICED):
            raise ValueError(
                "eval_training_input_configuration must be PER_HOST_V1 or SLICED; got "
                f"{eval_training_input_configuration}"
            )
        return super().__new__(
            cls,
            iterations_per_loop,
            num_shards,
            num_cores_per_replica,
            per_host_input_for_training,
            tpu_job_name,
            initial_infeed_sleep_secs,
            input_partition_dims,
            eval_training_input_configuration,
            experimental_host_call_every_n_steps,
        )


class RunConfig(_RunConfig):
    """A ``tf.estimator.RunConfig`` with what a TPU needs.

    Args:
        tpu_config: A :class:`TPUConfig`; the default one without it.
        evaluation_master: The address of the evaluations' session, ``master`` without it.
        master: The address of the session.
        cluster: A ``ClusterResolver``, in place of ``master``.
        **kwargs: Arguments of ``tf.estimator.RunConfig``.

    Raises:
        ValueError: Both ``master`` and ``cluster`` are given.
    """

    def __init__(
        self,
        tpu_config: TPUConfig | None = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        if master is not None and cluster is not None:
            raise ValueError("Both master and cluster are set.")
        if cluster is not None:
            master = cluster.master()
            spec = cluster.cluster_spec()
            if spec:
                self._cluster_spec = spec
                if self._session_config is not None:
                    self._session_config.cluster_def.CopyFrom(spec.as_cluster_def())
        if master is not None:
            self._master = master
        if evaluation_master is not None:
            self._evaluation_master = evaluation_master
        elif not self._evaluation_master:
            self._evaluation_master = self._master

    @property
    def tpu_config(self) -> TPUConfig:
        return self._tpu_config

    @property
    def cluster(self) -> Any:
        return self._cluster

    def replace(self, **kwargs: Any) -> RunConfig:
        """A copy with other values, as of ``tf.estimator.RunConfig``, and of ``tpu_config``."""
        tpu_config = kwargs.pop("tpu_config", None)
        new = super().replace(**kwargs)
        assert isinstance(new, RunConfig)
        if tpu_config is not None:
            new._tpu_config = tpu_config
        return new


class _Spec(NamedTuple):
    mode: Any
    predictions: Any
    loss: Any
    train_op: Any
    eval_metrics: Any
    export_outputs: Any
    scaffold_fn: Any
    host_call: Any
    training_hooks: Any
    evaluation_hooks: Any
    prediction_hooks: Any


class TPUEstimatorSpec(_Spec):
    """The result of the ``model_fn`` of a :class:`TPUEstimator`; see ``tf.estimator.EstimatorSpec``.

    Args:
        mode: One of ``tf.estimator.ModeKeys``.
        predictions: A tensor or a dict of them.
        loss: A scalar.
        train_op: What to run for a step.
        eval_metrics: (function, tensors): the function gets the tensors, a list of them by position and a dict by
            name, and returns name -> (value, update op).
        export_outputs: name -> ``ExportOutput``.
        scaffold_fn: A function without arguments that returns a ``tf.train.Scaffold``.
        host_call: (function, tensors), as ``eval_metrics``: what the function returns is run at each step.
        training_hooks: Hooks of the training.
        evaluation_hooks: Hooks of evaluations.
        prediction_hooks: Hooks of predictions.

    Raises:
        ValueError: Something that ``mode`` needs is missing, or a pair is none.
        TypeError: An argument is of another kind.
        RuntimeError: The function of a pair does not take its tensors.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: Any,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metrics: Any = None,
        export_outputs: Mapping[str, Any] | None = None,
        scaffold_fn: Callable[[], Any] | None = None,
        host_call: Any = None,
        training_hooks: Iterable[Any] | None = None,
        evaluation_hooks: Iterable[Any] | None = None,
        prediction_hooks: Iterable[Any] | None = None,
    ) -> TPUEstimatorSpec:
        _check_call(eval_metrics, "eval_metrics")
        _check_call(host_call, "host_call")
        spec = EstimatorSpec(
            mode,
            predictions,
            loss,
            train_op,
            export_outputs=export_outputs,
            training_hooks=training_hooks,
            evaluation_hooks=evaluation_hooks,
            prediction_hooks=prediction_hooks,
        )
        return super().__new__(
            cls,
            mode=mode,
            predictions=spec.predictions,
            loss=spec.loss,
            train_op=spec.train_op,
            eval_metrics=eval_metrics,
            export_outputs=export_outputs,
            scaffold_fn=scaffold_fn,
            host_call=host_call,
            training_hooks=spec.training_hooks,
            evaluation_hooks=spec.evaluation_hooks,
            prediction_hooks=spec.prediction_hooks,
        )

    def as_estimator_spec(self) -> EstimatorSpec:
        """The ``EstimatorSpec`` of this machine: the functions of the pairs are called."""
        metrics = _call(self.eval_metrics) if self.eval_metrics else None
        hooks: tuple[Any, ...] = ()
        if self.host_call:
            result = _call(self.host_call)
            if result is None:
                raise ValueError("host_call must return a tensor, an operation, or a list or dict of them; got None")
            hooks = (_HostCallHook(result),)
        scaffold = self.scaffold_fn() if self.scaffold_fn else None
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=scaffold,
            training_hooks=self.training_hooks + hooks,
            evaluation_hooks=self.evaluation_hooks + hooks,
            prediction_hooks=self.prediction_hooks + hooks,
        )


def _check_call(pair: Any, name: str) -> None:
    """Checks (function, tensors)."""
    if pair is None:
        return
    if not isinstance(pair, (tuple, list)):
        raise ValueError(f"{name} should be tuple or list")
    if len(pair) != 2:
        raise ValueError(f"{name} should have two elements.")
    function, tensors = pair
    if not callable(function):
        raise TypeError(f"{name}[0] should be callable.")
    if not isinstance(tensors, (tuple, list, dict)):
        raise ValueError(f"{name}[1] should be tuple or list, or dict.")
    if isinstance(tensors, (tuple, list)):
        takes = function_args(function)
        if not _takes_any_number(function) and len(tensors) != len(takes):
            raise RuntimeError(
                f"In TPUEstimatorSpec.{name}, length of tensors {len(tensors)} does not match method args of the "
                f"function, which takes {len(takes)}."
            )


def _takes_any_number(function: Callable[..., Any]) -> bool:
    code = getattr(function, "__code__", None)
    return code is None or bool(code.co_flags & 0x04) or bool(getattr(function, "__defaults__", None))


def _call(pair: tuple[Callable[..., Any], Any]) -> Any:
    function, tensors = pair
    return function(**tensors) if isinstance(tensors, dict) else function(*tensors)


class _HostCallHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Runs what ``host_call`` returned, in each run."""

    def __init__(self, fetches: Any) -> None:
        self._fetches = fetches

    def before_run(self, run_context: Any) -> Any:
        del run_context
        return tf.train.SessionRunArgs(self._fetches)


class _ExamplesPerSecondHook(tf.train.StepCounterHook):  # type: ignore[misc]
    """Logs steps per second and examples per second."""

    def __init__(self, batch_size: int | None, every_n_steps: int, output_dir: str) -> None:
        super().__init__(every_n_steps=every_n_steps, output_dir=output_dir)
        self._batch_size = batch_size

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        rates = {"global_step/sec": elapsed_steps / elapsed_time}
        if self._batch_size is not None:
            rates["examples/sec"] = self._batch_size * rates["global_step/sec"]
        for tag, rate in rates.items():
            if self._summary_writer is not None:
                self._summary_writer.add_summary(
                    tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=rate)]), global_step
                )
            log.info("%s: %g", tag, rate)


class TPUEstimator(Estimator):
    """An Estimator whose functions get the size of a batch as ``params["batch_size"]``.

    Args:
        model_fn: As of an Estimator; it has to take ``params``, and may return a :class:`TPUEstimatorSpec`.
        model_dir: Where checkpoints are.
        config: A :class:`RunConfig` of this module.
        params: A dict or ``HParams``, without "batch_size" and "context".
        use_tpu: Whether it is to run on a TPU, of which there are none here.
        train_batch_size: The size of a batch in training.
        eval_batch_size: ... in evaluations.
        predict_batch_size: ... in predictions.
        batch_axis: Of no effect here.
        eval_on_tpu: Whether evaluations run on the TPU, too, if ``use_tpu``.
        export_to_tpu: Of no effect here: a graph for TPUs is not exported.
        export_to_cpu: Whether a graph for this kind of machine is exported; it has to be.
        warm_start_from: As of an Estimator.
        embedding_config_spec: None: embeddings on a TPU cannot be had.
        export_saved_model_api_version: Of no effect here.

    Raises:
        ValueError: ``config`` is of another kind, or a batch size or key of ``params`` is wrong.
    """

    def __init__(
        self,
        model_fn: Any = None,
        model_dir: Any = None,
        config: RunConfig | None = None,
        params: Any = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: Any = None,
        embedding_config_spec: Any = None,
        export_saved_model_api_version: Any = None,
    ) -> None:
        if not isinstance(config, RunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and any(name in params for name in _RESERVED):
            raise ValueError(f"{_RESERVED} are reserved keys but existed in params {params}.")
        sizes = {
            "train_batch_size": train_batch_size,
            "eval_batch_size": eval_batch_size,
            "predict_batch_size": predict_batch_size,
        }
        if use_tpu:
            _check_batch_sizes(sizes)
        if embedding_config_spec is not None:
            raise ValueError("embedding_config_spec: embeddings on a TPU are not available without a TPU")
        del batch_axis, export_to_tpu, export_saved_model_api_version
        self._use_tpu = use_tpu
        self._eval_on_tpu = eval_on_tpu
        self._export_to_cpu = export_to_cpu
        self._batch_sizes = dict(zip((ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT), sizes.values(), strict=True))
        self._exporting = False
        self._log_every_n_steps = _log_interval(config)
        config = config.replace(log_step_count_steps=None)
        super().__init__(model_fn, model_dir, config, params, warm_start_from)
        log.info("_TPUContext: eval_on_tpu %s", eval_on_tpu)
        if eval_on_tpu and not use_tpu:
            log.warning("eval_on_tpu ignored because use_tpu is False.")

    def _assert_members_are_not_overridden(self) -> None:
        pass  # this class overrides what it needs to

    def _call_input_fn(self, input_fn: Callable[..., Any], mode: str) -> Any:
        """Calls ``input_fn`` on the CPU, with the size of a batch in its ``params``."""
        if self._use_tpu and not (mode == ModeKeys.EVAL and not self._eval_on_tpu):
            raise RuntimeError(
                "Cannot find any TPU cores in the system. Please double check Tensorflow master address and TPU "
                f"worker(s). TPUEstimator(use_tpu=False) does {mode!r} on this machine."
            )
        takes = function_args(input_fn)
        if "params" not in takes:
            raise ValueError(
                f"input_fn ({input_fn}) does not include params argument, required by TPUEstimator to pass batch size "
                'as params["batch_size"]'
            )
        given = {"mode": mode, "config": self.config}
        arguments = {name: value for name, value in given.items() if name in takes}
        with tf.device("/cpu:0"):
            return input_fn(params=self._sized_params(mode), **arguments)

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        """Calls ``model_fn``, with the size of a batch in its ``params``, for this machine."""
        params = self._sized_params(mode)
        takes = function_args(self._model_fn)
        if "params" not in takes and "batch_size" in params:
            raise ValueError(
                f"model_fn ({self._model_fn}) does not include params argument, required by TPUEstimator to pass batch "
                "size as params['batch_size']"
            )
        if "labels" not in takes and labels is not None:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        _add(params, "use_tpu", False)
        given = {"labels": labels, "mode": mode, "params": params, "config": config}
        log.info("Calling model_fn.")
        log.info("Running %s on CPU", mode)
        given = {name: value for name, value in given.items() if name in takes}
        found: Any = self._model_fn(features=features, **given)
        spec = found.as_estimator_spec() if isinstance(found, TPUEstimatorSpec) else found
        if not isinstance(spec, EstimatorSpec):
            raise ValueError(f"model_fn should return a TPUEstimatorSpec or an EstimatorSpec, and returned {found!r}")
        log.info("Done calling model_fn.")
        if mode == ModeKeys.TRAIN and self._log_every_n_steps is not None:
            hook = _ExamplesPerSecondHook(self._batch_sizes[mode], self._log_every_n_steps, self.model_dir)
            spec = spec._replace(training_hooks=(*spec.training_hooks, hook))
        return spec

    def _add_meta_graph_for_mode(self, *args: Any, **kwargs: Any) -> None:
        """Exports the graph for this kind of machine; its ``model_fn`` is given no size of a batch."""
        if not self._export_to_cpu:
            raise ValueError("TPUEstimator: export_to_cpu=False leaves nothing to export without a TPU")
        self._exporting = True
        try:
            super()._add_meta_graph_for_mode(*args, **kwargs)
        finally:
            self._exporting = False

    def _sized_params(self, mode: str) -> Any:
        """A copy of the parameters with the size of a batch, if it is known."""
        params = self.params
        if not self._exporting and self._batch_sizes[mode] is not None:
            _add(params, "batch_size", self._batch_sizes[mode])
        return params


def _check_batch_sizes(sizes: Mapping[str, Any]) -> None:
    if sizes["train_batch_size"] is None:
        raise ValueError("`train_batch_size` cannot be `None`")
    for name, size in sizes.items():
        if size is not None and not isinstance(size, int):
            raise TypeError(f"{name} must be int, got {type(size)}")
        if size is not None and size < 1:
            raise ValueError(f"{name} must be positive, got {size}")


def _log_interval(config: RunConfig) -> int | None:
    """The number of runs between lines in the log: a run was to have ``iterations_per_loop`` steps."""
    steps, loop = config.log_step_count_steps, config.tpu_config.iterations_per_loop
    if steps is None:
        return None
    return -(-steps // loop) if isinstance(loop, int) else 1


def _add(params: Any, name: str, value: Any) -> None:
    """Sets ``name`` in a dict or in ``HParams``."""
    if hasattr(params, "add_hparam"):
        if name in params:
            params.set_hparam(name, value)
        else:
            params.add_hparam(name, value)
    else:
        params[name] = value


def export_estimator_savedmodel(
    estimator: TPUEstimator,
    export_dir_base: str,
    serving_input_receiver_fn: Callable[[], Any],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> bytes:
    """Exports ``estimator`` for machines without a TPU; see ``Estimator.export_saved_model``."""
    return estimator.export_saved_model(
        export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path
    )
