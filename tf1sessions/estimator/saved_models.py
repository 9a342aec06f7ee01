"""An Estimator's models as SavedModels."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..runtime import private
from ..runtime import tf1 as tf
from .model_fn import EXPORT_TAG_MAP, EstimatorSpec, ModeKeys

__all__ = ["add_meta_graph", "new_folder"]

_TRAIN_OP = "saved_model_train_op"
_CLAIMED_SECS = 0.2  # until the name is looked for again; arbitrary, below the second that it changes by


@contextlib.contextmanager
def new_folder(
    export_dir_base: Any, assets_extra: Mapping[str, str] | None, as_text: bool
) -> Iterator[tuple[bytes, Any]]:
    """A new folder named by the time, and a builder; what was built is in the folder when the block ends.

    Args:
        export_dir_base: Where the folder is made.
        assets_extra: Path below assets.extra -> file to copy.
        as_text: Whether it is written as text.
    """
    folder, building = _claimed(os.fsencode(export_dir_base))
    builder = tf.saved_model.Builder(building)
    yield folder, builder
    builder.save(as_text)
    for target, source in (assets_extra or {}).items():
        path = os.path.join(os.fsdecode(building), "assets.extra", target)
        tf.io.gfile.makedirs(os.path.dirname(path))
        tf.io.gfile.copy(source, path)
    tf.io.gfile.rename(building, folder)


def _claimed(export_dir_base: bytes) -> tuple[bytes, bytes]:
    """The folder for a model, and the one in which it is built, which was made: no other process builds there.

    Chief and workers of a cluster often export within the same second, which is all that the folders' names say.
    """
    tf.io.gfile.makedirs(export_dir_base)
    while True:
        folder: bytes = private.export_utils.get_timestamped_export_dir(export_dir_base)
        building: bytes = private.export_utils.get_temp_export_dir(folder)
        if b"://" in building:  # a remote file system: its makedirs() does not fail where the folder exists
            return folder, building
        try:
            os.mkdir(building)
        except FileExistsError:
            time.sleep(_CLAIMED_SECS)
            continue
        if not tf.io.gfile.exists(folder):
            return folder, building
        os.rmdir(building)  # another process ended between the two looks


def add_meta_graph(
    builder: Any,
    spec: EstimatorSpec,
    receiver: Any,
    checkpoint_path: str,
    *,
    export_tags: Sequence[str] | None,
    save_variables: bool,
    check_variables: bool,
    strip_default_attrs: bool,
    session_config: Any,
) -> None:
    """Adds the default graph to a SavedModel.

    Args:
        builder: The SavedModel's.
        spec: The model, built in the default graph.
        receiver: What its inputs are.
        checkpoint_path: Where the values of the variables are.
        export_tags: Tags of the graph; None for those of the model's mode.
        save_variables: Whether this graph's variables are saved, or were with an earlier graph.
        check_variables: Whether all variables must be in the checkpoint.
        strip_default_attrs: Whether attributes that have their defaults are left out.
        session_config: A ``tf.ConfigProto``.

    Raises:
        ValueError: A variable is not in the checkpoint.
    """
    signatures = _signatures(spec, receiver)
    if spec.train_op is not None:
        tf.add_to_collection(_TRAIN_OP, spec.train_op)
    with tf.Session(config=session_config) as session:
        local_init_op = spec.scaffold.local_init_op
        if local_init_op is None:
            local_init_op = tf.train.Scaffold.default_local_init_op()
        saver = spec.scaffold.saver or tf.train.Saver(sharded=True)
        if save_variables or check_variables:
            _restore(saver, session, checkpoint_path)
        arguments = {
            "tags": list(export_tags or EXPORT_TAG_MAP[spec.mode]),
            "signature_def_map": signatures,
            "assets_collection": tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            "main_op": local_init_op,
            "saver": saver,
            "strip_default_attrs": strip_default_attrs,
        }
        if save_variables:
            builder.add_meta_graph_and_variables(session, **arguments)
        else:
            builder.add_meta_graph(**arguments)


def _signatures(spec: EstimatorSpec, receiver: Any) -> dict[str, Any]:
    outputs = private.export_utils.export_outputs_for_mode(
        mode=spec.mode,
        serving_export_outputs=spec.export_outputs,
        predictions=spec.predictions,
        loss=spec.loss,
        metrics=spec.eval_metric_ops,
    )
    found: dict[str, Any] = private.export_utils.build_all_signature_defs(
        receiver.receiver_tensors,
        outputs,
        getattr(receiver, "receiver_tensors_alternatives", None),
        serving_only=spec.mode == ModeKeys.PREDICT,
    )
    return found


def _restore(saver: Any, session: Any, checkpoint_path: str) -> None:
    try:
        saver.restore(session, checkpoint_path)
    except tf.errors.NotFoundError as error:
        raise ValueError(
            "Could not load all requested variables from checkpoint. Please make sure your model_fn does not expect "
            f"variables that were not saved in the checkpoint.\n\nEncountered error with checkpoint: {checkpoint_path}"
            f"\n\n{error}"
        ) from error
