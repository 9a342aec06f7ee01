"""The source of the values that convert()'s result is compared with: a session of TensorFlow 1's side.

::

    ReferenceSession ──▶ a thread: the source in a session, inputs made, its answers ──┐
    convert(): makes the module, writes it                                             ├──▶ prove ──▶ Proof
    the SavedModel, loaded again ──────────────────────────────────────────────────────┘

The session has its answers while the module is made or written, which takes about as long.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import enum
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tf1sessions.errors import ConversionError
from tf1sessions.files import temporary_folder
from tf1sessions.models.files import Artifact
from tf1sessions.models.model import Model
from tf1sessions.models.starvation import refuse_starved
from tf1sessions.porting.checkpoints.writing import CheckpointWriter
from tf1sessions.porting.conversion import Conversion, Proof
from tf1sessions.porting.modules import GraphModule
from tf1sessions.porting.proof import ReferenceAnswer, answered, prove
from tf1sessions.porting.sources import Port, Source
from tf1sessions.runtime import tf

__all__ = ["ReferenceSession", "ValuesFrom"]

tf2: Any = tf.compat.v2


class ValuesFrom(enum.Enum):
    """The source of the values of a session's variables."""

    NOWHERE = "nothing is compared, so there is no session"
    SOURCE = "it restores them as the module does, and may start before there is a module"
    MODEL = "it is that of the Model which was given; the module reads its variables first, as a run may change them"
    MODULE = "they were initialized for the module; a session that initialized its own would draw others"

    @classmethod
    def choose(cls, source: Port, opened: Source, own_ends: bool, initialize: bool) -> ValuesFrom:
        """Choose for a source that is to be compared.

        Args:
            source, opened: What is converted, and what was read of it.
            own_ends: Whether inputs and outputs were named by the caller, and are not those of the file.
            initialize: Whether variables without a value are initialized.
        """
        if initialize or opened.structures is not None:
            return cls.MODULE
        return cls.MODEL if isinstance(source, Model) and not own_ends else cls.SOURCE


class ReferenceSession:
    """The source in a session, and its answers to inputs that are made. Use it in ``with``, around making the module.

    Args:
        source, opened, own_ends: As for :meth:`ValuesFrom.choose`.
        values_from: Where the session has the values of its variables from.
    """

    def __init__(self, source: Port, opened: Source, own_ends: bool, values_from: ValuesFrom) -> None:
        self._source = source
        self._opened = opened
        self._own_ends = own_ends
        self._values_from = values_from
        # To ask a node for an attribute that it does not have adds that: the module has its own graph.
        self._artifact = opened.artifact if values_from is ValuesFrom.NOWHERE else _copy(opened.artifact)
        self._stack = contextlib.ExitStack()
        self._answers: concurrent.futures.Future[tuple[Model, dict[str, ReferenceAnswer]]] | None = None

    def __enter__(self) -> ReferenceSession:
        if self._values_from is ValuesFrom.SOURCE:
            self._start(self._artifact)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def module_made(self, module: GraphModule, found: Conversion) -> None:
        """Start the session if it waited for the module."""
        if self._values_from is ValuesFrom.MODEL:
            self._start(self._artifact)
        elif self._values_from is ValuesFrom.MODULE and not any(each.made_of == "parts" for each in found.variables):
            artifact = self._artifact
            if module.by_name:
                artifact = dataclasses.replace(artifact, checkpoint=self._stack.enter_context(_checkpoint_of(module)))
            self._start(artifact)

    def compare(self, folder: str, names: Mapping[str, str], functions: Iterable[str]) -> Proof:
        """Load what was written, and compare it with the source's answers.

        Args:
            folder: What was written.
            names: The signatures, and what they are called there.
            functions: The other functions there, which are named as not compared.

        Raises:
            ConversionError: As :func:`~tf1sessions.porting.proof.prove`; or TensorFlow cannot load it.
        """
        if self._answers is None:
            why = "the variables that were joined were initialized for it, and no session has these values in parts"
            return Proof({}, dict.fromkeys(names.values(), why))
        model, answers = self._answers.result()
        loaded = self._loaded(folder)
        written = {
            (model.signature.name if self._own_ends else name): (called, loaded.signatures[called])
            for name, called in names.items()
        }
        proof = prove(model, answers, written)
        steps = dict.fromkeys(functions, "it changes variables, and what was written has those of the model")
        return dataclasses.replace(proof, not_compared={**proof.not_compared, **steps})

    def _loaded(self, folder: str) -> Any:
        try:
            return tf2.saved_model.load(folder)
        except MemoryError:
            raise
        except Exception as error:  # functions that do not fit each other can make it raise anything
            reason = str(error).partition("\n")[0]
            raise ConversionError(
                f"TensorFlow cannot load what was written: {type(error).__name__}: {reason:.500}",
                where=self._artifact.path,
                next_step="Nothing was written. The model may be damaged: compare its files with the original's.",
            ) from error

    def _start(self, artifact: Artifact) -> None:
        models = self._stack.enter_context(contextlib.ExitStack())
        thread = self._stack.enter_context(concurrent.futures.ThreadPoolExecutor(1, "tf1sessions-proof"))  # ends first
        self._answers = thread.submit(self._ask, artifact, models)

    def _ask(self, artifact: Artifact, models: contextlib.ExitStack) -> tuple[Model, dict[str, ReferenceAnswer]]:
        if self._values_from is ValuesFrom.MODEL:
            assert isinstance(self._source, Model)
            model = self._source
        else:
            model = models.enter_context(Model(artifact, allow_ops=self._opened.prepared.allowed, **self._ends()))
        names = [model.signature.name] if self._own_ends else list(self._opened.prepared.interfaces)
        if model is not self._source:
            for name in names:
                refuse_starved(model, model.signatures[name])
        return model, answered(model, names)

    def _ends(self) -> dict[str, Any]:
        """Return the arguments of Model for the inputs and outputs that the caller named."""
        if not self._own_ends:
            return {}
        interface = self._opened.prepared.interfaces[self._opened.signature]
        return {
            "inputs": {name: spec.tensor for name, spec in interface.inputs.items()},
            "outputs": {name: spec.tensor for name, spec in interface.outputs.items()},
        }


def _copy(artifact: Artifact) -> Artifact:
    graph_def = tf.GraphDef()
    graph_def.CopyFrom(artifact.graph_def)
    return dataclasses.replace(artifact, graph_def=graph_def)


@contextlib.contextmanager
def _checkpoint_of(module: GraphModule) -> Iterator[str]:
    """Write a module's variables to a checkpoint, which is there as long as the block lasts."""
    with temporary_folder("tf1sessions-") as folder:
        prefix = os.path.join(folder, "values")
        with CheckpointWriter(prefix) as writer:
            for name, variable in module.by_name.items():
                writer.add(name, variable.numpy())
        del module  # its variables need not be in memory until the block ends
        yield prefix
