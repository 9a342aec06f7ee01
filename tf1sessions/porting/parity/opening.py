"""Opens a side, by what the user gave."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tf1sessions.errors import ModelFileError, UsageError
from tf1sessions.files import walk
from tf1sessions.models.files import check_is_file, checkpoint_reader, read
from tf1sessions.models.graph_index import tensor_name
from tf1sessions.models.interface import TensorSpec
from tf1sessions.models.model import Model, load
from tf1sessions.models.prepared import refuse
from tf1sessions.models.risks import asset_arguments, risky
from tf1sessions.models.starvation import refuse_starved
from tf1sessions.porting.parity import functions
from tf1sessions.porting.parity.artifacts import ArtifactSide
from tf1sessions.porting.parity.callables import CallableSide, of_module
from tf1sessions.porting.parity.functions import FunctionSide
from tf1sessions.porting.parity.programs import ProgramSide
from tf1sessions.porting.parity.recordings import RecordingSide, is_recording
from tf1sessions.porting.parity.sides import Side
from tf1sessions.runtime import tf

__all__ = ["is_script", "open_side"]


def open_side(
    source: Any,
    role: str,
    *,
    signature: str | None = None,
    outputs: Collection[str] = (),
    allow_ops: Collection[str] = (),
    other: Side | None = None,
    names: Mapping[str, str] | None = None,
    args: Sequence[str] = (),
) -> Side:
    """Opens one side.

    Args:
        source: A path, ``"module.py:function"``, or an object.
        role: ``"left"`` or ``"right"``, for errors.
        signature: Which signature of a model.
        outputs: Which tensors are the outputs of a model that names none, as the left side calls them.
        allow_ops: As for :func:`tf1sessions.load`.
        other: The other side, if that is open: its tensors are those that a script's graph is asked for.
        names: Which name of the left is which of the right.
        args: The arguments of a script.

    Raises:
        UsageError: There is no such thing, or it is none that can be compared.
        ModelError: A model cannot be loaded.
    """
    if isinstance(source, str | os.PathLike):
        return _of_path(os.fspath(source), role, signature, outputs, allow_ops, other, names or {}, args)
    if isinstance(source, Model):
        return ArtifactSide(source, source.path, signature, owned=False)
    what = getattr(source, "__name__", None) or type(source).__name__
    if hasattr(source, "structured_input_signature"):
        return FunctionSide(source, what)
    if isinstance(getattr(source, "concrete", None), object) and hasattr(source, "by_name"):
        return FunctionSide(source.concrete, what, "converted model", source)
    if getattr(source, "signatures", None) and not callable(source):
        return functions.of_saved_model(source, what, signature)
    if callable(source):
        return CallableSide(source, what)
    raise UsageError(
        f"{source!r} cannot be compared",
        where=role,
        next_step="Give a path of a model, a script or a recording, a loaded model, or a function.",
    )


def _of_path(
    path: str,
    role: str,
    signature: str | None,
    outputs: Collection[str],
    allow_ops: Collection[str],
    other: Side | None,
    names: Mapping[str, str],
    args: Sequence[str],
) -> Side:
    if is_script(path):
        fetches, feeds = (_tensors(role, specs, names) for specs in _specs(other))
        return ProgramSide(path, args, fetches, feeds, allow_ops)
    if is_recording(path):
        return RecordingSide(path, _tensors(role, _specs(other)[0], names) or ())
    module, colon, name = path.rpartition(":")
    if colon and name.isidentifier() and not os.path.exists(path):
        return of_module(module, name, role)
    if _is_of_tensorflow_2(path):
        _vet(path, allow_ops)
        return functions.of_saved_model(_loaded(path), path, signature)
    named = [names.get(name, name) if role == "right" else name for name in outputs]
    without_names = named and not read(path).signatures
    model = load(path, signature=signature, outputs=named if without_names else None, allow_ops=allow_ops)
    refuse_starved(model, model.signature)
    return ArtifactSide(model, path)


def is_script(source: Any) -> bool:
    """Whether a side is a script: a path that ends as those of Python programs and notebooks do."""
    return isinstance(source, str | os.PathLike) and os.fspath(source).endswith((".py", ".ipynb"))


def _specs(side: Side | None) -> tuple[Mapping[str, TensorSpec], Mapping[str, TensorSpec]]:
    """The outputs and the inputs of a graph of TensorFlow 1; none of another side, which names tensors otherwise."""
    if not isinstance(side, ArtifactSide):
        return {}, {}
    return side.outputs or {}, side.inputs or {}


def _tensors(role: str, specs: Mapping[str, TensorSpec], names: Mapping[str, str]) -> list[str] | None:
    """The tensors that the other side has, as the script's side names them."""
    known = names if role == "right" else {right: left for left, right in names.items()}
    found = [known.get(name, known.get(spec.tensor, spec.tensor)) for name, spec in specs.items()]
    return [tensor_name(name) for name in found] or None


def _vet(path: str, allow_ops: Collection[str]) -> None:
    """Refuses a SavedModel of TensorFlow 2 that would touch files, the network or Python, wherever in it.

    Raises:
        UnsafeModelError: It would, and that was not allowed.
        ModelFileError: TensorFlow would read another file than the one that is looked into.
    """
    artifact = read(path)
    if os.path.exists(os.path.join(path, "saved_model.cpb")):
        raise ModelFileError(
            f"{path} has a saved_model.cpb beside its saved_model.pb, which TensorFlow would take instead",
            where="verify()",
            next_step="Remove the one that is not the model.",
            path=path,
        )
    meta_graph, graph_def = artifact.meta_graph, artifact.graph_def
    found = risky(
        graph_def,
        graph_def.library,
        saver=meta_graph.saver_def if meta_graph is not None else None,
        assets=artifact.assets,
        asset_arguments=asset_arguments(graph_def, meta_graph.object_graph_def) if meta_graph is not None else None,
    )
    refuse(found, allow_ops, "loading", path)


def _loaded(path: str) -> Any:
    """Load a SavedModel by TensorFlow 2.

    Raises:
        ModelFileError: It cannot: a file of it is damaged, or is none.
    """
    for folder, _, names in walk(path):
        for name in names:
            check_is_file(os.path.join(folder, name))
    values = os.path.join(path, "variables", "variables")
    if os.path.exists(values + ".index"):
        checkpoint_reader(values)
    try:
        with tf.init_scope():
            return tf.saved_model.load_v2(path)
    except MemoryError:
        raise
    except Exception as error:  # objects that do not fit each other can make it raise anything
        reason = str(getattr(error, "message", None) or error).partition("\n")[0]
        raise ModelFileError(
            f"TensorFlow cannot load {path}: {type(error).__name__}: {reason:.500}",
            where="verify()",
            next_step="It may be damaged or incomplete: copy the whole folder again.",
            path=path,
        ) from error


def _is_of_tensorflow_2(path: str) -> bool:
    """Whether it is a SavedModel with the objects that TensorFlow 2 saves."""
    file = os.path.join(path, "saved_model.pb")
    if not os.path.isfile(file):
        return False
    artifact = read(path)
    return bool(artifact.meta_graph is not None and len(artifact.meta_graph.object_graph_def.nodes))
