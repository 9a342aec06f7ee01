"""A model's graph as today's TensorFlow takes it, and what it takes and gives. Nothing of it has run, or been imported.

::

    Artifact ──▶ upgrades ──▶ checks ──▶ interfaces ──▶ without what is unknown ──▶ vet ──▶ without what is risky

It is vetted before TensorFlow sees it, because to infer shapes TensorFlow runs parts of what it imports.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tf1sessions.errors import ModelError, ModelFileError, UnsafeModelError, UsageError
from tf1sessions.models import checks, interface, risks, subgraphs, upgrades, values
from tf1sessions.models.files import Artifact
from tf1sessions.models.graph_index import GraphIndex, listed, node_of, tensor_name
from tf1sessions.models.interface import Interface, TensorSpec
from tf1sessions.runtime import private

__all__ = ["Prepared", "allowed_ops", "default_signature", "refuse"]


class Prepared:
    """See the module.

    Args:
        artifact: What was read.
        inputs, outputs: As for :func:`~tf1sessions.load`.
        allow_ops: Operations that may run although they touch files, the network or Python; None for all.

    Attributes:
        artifact: As given.
        graph_index: The graph.
        interfaces: By the names of the signatures.
        allowed: As ``allow_ops``.
        main: The operations that initialize a SavedModel or an export.
        whole: The graph before what needs unknown operations was left out.
        unknown: The unknown operations, with their nodes.
        notes: What was chosen and upgraded, in sentences.

    Raises:
        ModelError: As :func:`~tf1sessions.load`.
        UsageError: A tensor that ``inputs`` or ``outputs`` names is not there.

    Thread-safety: vet() is safe from any thread.
    """

    def __init__(
        self,
        artifact: Artifact,
        inputs: Sequence[str] | Mapping[str, str] | None = None,
        outputs: Sequence[str] | Mapping[str, str] | None = None,
        allow_ops: Collection[str] | None = (),
    ) -> None:
        self.artifact = artifact
        self.allowed = None if allow_ops is None else allowed_ops(allow_ops)
        graph_def, upgraded = upgrades.upgrade(artifact.graph_def)
        checks.check(graph_def, artifact)
        graph_def = checks.hardened(graph_def)
        graph_index = self.whole = GraphIndex(graph_def)
        notes = [*artifact.notes, *upgraded]

        interfaces = _interfaces(artifact, graph_index, inputs, outputs)
        self.unknown = upgrades.unknown_operations(graph_def)
        if self.unknown:
            graph_def, interfaces, note = subgraphs.without_unknown(
                self.unknown, graph_index, interfaces, artifact.path
            )
            graph_index = GraphIndex(graph_def)
            notes.append(note)
        is_named = inputs is not None or outputs is not None
        _check_tensors(graph_index, interfaces, artifact.path, is_named=is_named)
        self.interfaces = interfaces
        self.main = values.main_operations(artifact, graph_index)
        self._saver = artifact.meta_graph.saver_def if artifact.meta_graph is not None else None

        self._vetted = graph_index
        for name, one in interfaces.items():
            roots = [spec.tensor for spec in one.outputs.values()]
            self.vet(roots, [spec.tensor for spec in one.inputs.values()], f"signature {name!r}")
        self.vet(self.main, artifact.assets, "initialization", assets=artifact.assets)
        self.graph_index = (
            graph_index if self.allowed is None else GraphIndex(subgraphs.without_risks(graph_index, self.allowed))
        )
        self.notes: tuple[str, ...] = tuple(notes)

    def vet(
        self,
        fetches: Collection[str],
        feeds: Collection[str],
        what: str = "what is run",
        assets: Collection[str] = (),
    ) -> None:
        """Refuses a request whose operations touch files, the network or Python.

        Args:
            fetches: Names of tensors and operations.
            feeds: Names of the tensors that are fed.
            what: For the message.
            assets: Those of ``feeds`` that are fed with the paths of the artifact's own files. To fill a table from
                these is no risk. What a caller feeds is not among them, whatever its name.

        Raises:
            UnsafeModelError: It would run what was not allowed.
        """
        if self.allowed is None:
            return
        found = risks.risky(
            self._vetted.graph_def,
            self._vetted.graph_def.library,
            [name for name in fetches if node_of(name) in self._vetted.nodes],
            feeds=list(feeds),
            saver=self._saver,
            assets=self.artifact.assets.keys() & set(assets),
        )
        refuse(found, self.allowed, what, self.artifact.path)


def refuse(found: Mapping[str, list[str]], allowed: Collection[str], what: str, path: str) -> None:
    """Refuses operations that touch files, the network or Python.

    Args:
        found: As from :func:`~tf1sessions.models.risks.risky`.
        allowed: Operations that may run.
        what: What would run them.
        path: The model's.

    Raises:
        UnsafeModelError: One is not allowed.
    """
    refused = {op: names for op, names in found.items() if op not in allowed}
    if refused:
        reached = "; ".join(f"{op} ({risks.RISKS[op].why}): {listed(names)}" for op, names in refused.items())
        allowing = ", ".join(f'"{op}"' for op in refused)
        options = " ".join(f"--allow-op {op}" for op in refused)
        raise UnsafeModelError(
            f"{what} of this model would run {reached}",
            where=path,
            next_step=f"If you trust whoever wrote it: allow_ops={{{allowing}}}, or on the command line {options}.",
            nodes=refused,
        )


def default_signature(signatures: Collection[str], asked: str | None, notes: list[str]) -> str:
    """The signature that a model answers to: the one that is asked for, or the first of those that usually are it.

    Args:
        signatures: Their names.
        asked: By the caller.
        notes: Gets a sentence where there was a choice.

    Raises:
        UsageError: There is no such signature.
    """
    if asked is not None:
        if asked not in signatures:
            raise UsageError(
                f"there is no signature {asked!r}",
                where="signature=",
                next_step=interface.other_signatures(asked, signatures),
            )
        return asked
    name = interface.default_name(signatures)
    if len(signatures) > 1 and name not in interface.DEFAULT_NAMES:
        notes.append(f"of the signatures {', '.join(map(repr, signatures))}, {name!r} is the model's own")
    return name


def _interfaces(artifact: Artifact, graph_index: GraphIndex, inputs: Any, outputs: Any) -> dict[str, Interface]:
    """The signatures of the file, or the one that the caller names, or the one that the graph suggests."""
    if inputs is None and outputs is None:
        interfaces = {
            name: interface.of_signature(name, signature, graph_index)
            for name, signature in sorted(artifact.signatures.items())
            if not name.startswith("__saved_model")
        }
        interfaces = {name: one for name, one in interfaces.items() if one.outputs}
        if interfaces:
            return interfaces
    named_inputs, named_outputs = (_tensors(names) for names in (inputs, outputs))
    for role, tensors in (("input", named_inputs), ("output", named_outputs)):
        for tensor in tensors or ():
            _check_tensor(graph_index, role, tensor, tensor, artifact.path)
    guessed = interface.guess(graph_index, named_inputs, named_outputs)
    if isinstance(inputs, Mapping):
        _check_fed_once(inputs)
        guessed = dataclasses.replace(guessed, inputs=_renamed(guessed.inputs, inputs))
    if isinstance(outputs, Mapping):
        guessed = dataclasses.replace(guessed, outputs=_renamed(guessed.outputs, outputs))
    if not guessed.outputs:
        raise ModelError(
            "no outputs can be inferred from the graph",
            where=artifact.path,
            next_step="Name them: outputs=['probs:0'], --output probs:0. `tf1sessions inspect` shows what is there.",
        )
    return {guessed.name: guessed}


def _check_fed_once(inputs: Mapping[str, str]) -> None:
    """No tensor is two inputs: of two values for it, all but one would be dropped."""
    names: dict[str, str] = {}
    for name, tensor in inputs.items():
        if (first := names.setdefault(tensor_name(tensor), name)) != name:
            raise UsageError(
                f"the inputs {first!r} and {name!r} are both the tensor {tensor!r}",
                where="load()",
                next_step="Give each tensor one name.",
            )


def _renamed(specs: Mapping[str, TensorSpec], names: Mapping[str, str]) -> dict[str, TensorSpec]:
    by_tensor = {spec.tensor: spec for spec in specs.values()}
    return {name: dataclasses.replace(by_tensor[tensor_name(tensor)], name=name) for name, tensor in names.items()}


def _tensors(names: Any) -> list[str] | None:
    if names is None:
        return None
    if isinstance(names, (str, bytes)):
        raise UsageError(
            f"inputs= or outputs= is the string {names!r}", where="load()", next_step=f"Give a list: [{names!r}]."
        )
    found = list(names.values() if isinstance(names, Mapping) else names)
    if wrong := [name for name in found if not isinstance(name, str)]:
        raise UsageError(
            f"inputs= or outputs= has {wrong[0]!r:.60}, which is no name",
            where="load()",
            next_step="Give names of tensors as text: ['probs:0'].",
        )
    return [tensor_name(name) for name in found]


def _check_tensors(graph_index: GraphIndex, interfaces: Mapping[str, Interface], path: str, *, is_named: bool) -> None:
    """Every input and output is in the graph.

    Raises:
        UsageError: One is not, and the caller names them.
        ModelFileError: One is not, and the file names them.
    """
    for one in interfaces.values():
        for role, specs in (("input", one.inputs), ("output", one.outputs)):
            for spec in specs.values():
                _check_tensor(graph_index, role, spec.name, spec.tensor, path, is_named=is_named)


def _check_tensor(
    graph_index: GraphIndex, role: str, name: str, tensor: str, path: str, *, is_named: bool = True
) -> None:
    node = None if tensor.startswith("^") else graph_index.nodes.get(node_of(tensor))
    index = int(tensor.rpartition(":")[2])
    if node is None or index >= len(interface.output_types(node)):
        what = f"the {role} {name!r} is the tensor {tensor!r}, which the graph does not have"
        near = difflib.get_close_matches(node_of(tensor), graph_index.nodes, 3)
        hint = f"Near to it are {', '.join(near)}." if near else "`tf1sessions inspect` lists what is there."
        if is_named:
            raise UsageError(what, where=path, next_step=hint)
        raise ModelFileError(what, where=path, next_step=hint, path=path)


def allowed_ops(names: Collection[str]) -> frozenset[str]:
    """Returns the operations that a caller allows.

    Raises:
        UsageError: One of the names is no operation, which would allow nothing without a word.
    """
    if isinstance(names, str):
        raise UsageError(
            f"allow_ops is the string {names!r}",
            where="load()",
            next_step=f"Give a set of operations: allow_ops={{{names!r}}}.",
        )
    for name in names:
        if not isinstance(name, str) or (name not in risks.RISKS and private.op_def_registry.get(name) is None):
            folded = {op.lower(): op for op in risks.RISKS}
            near = ", ".join(folded[each] for each in difflib.get_close_matches(str(name).lower(), folded, 3))
            raise UsageError(
                f"{name!r} is to be allowed (allow_ops, --allow-op), and is no operation of TensorFlow",
                next_step=f"Near to it: {near}." if near else "`tf1sessions inspect` shows a model's risks.",
            )
    return frozenset(names)
