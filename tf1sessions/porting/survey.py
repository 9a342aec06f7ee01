"""The parts of a model that are converted, and those that are not: read off its graph and its module."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tf1sessions.models import census, subgraphs
from tf1sessions.models.graph_index import GraphIndex, listed, node_of
from tf1sessions.models.values import VARIABLES
from tf1sessions.porting.calls import GraphFunction, argument_names
from tf1sessions.porting.conversion import Conversion, Signature, Tensor, Variable
from tf1sessions.porting.graphs import counters
from tf1sessions.porting.graphs.structure import CONTROL, Structure, key_of
from tf1sessions.porting.modules import GraphModule
from tf1sessions.porting.sources import PLACEHOLDERS, Source
from tf1sessions.runtime import tf

__all__ = ["survey"]

_RANDOM = re.compile(
    r"^(Stateless)?(Random(?!\w*(Queue|Dataset|Seed|Key|Alg|Counter|Reset))|ParameterizedTruncatedNormal|"
    r"TruncatedNormal|Multinomial|SampleDistortedBoundingBox)"
)
_SAVING = re.compile(r"^(Save|SaveV2|SaveSlices|ShardedFilename|MergeV2Checkpoints)$")


def survey(source: Source, module: GraphModule, out: str, written: Mapping[str, str]) -> Conversion:
    """Return what converting would write.

    Args:
        source: What is converted.
        module: What was made of it.
        out: Where it goes.
        written: The names of the signatures -> what they are called there.

    Raises:
        ConversionError: A signature cannot become a function.
    """
    graph_index = source.graph_index
    functions = [*module.signatures.values(), *module.steps.values()]
    needed = _needed(graph_index, functions)
    part = GraphIndex(subgraphs.subgraph(graph_index, needed))
    flow, _ = census.control_flow(part, part.graph_def)
    return Conversion(
        source=source.where,
        kind=source.artifact.kind,
        out=out,
        written=False,
        signatures=tuple(_signature(written[name], source, name, call) for name, call in module.signatures.items()),
        functions={name: _step(call) for name, call in module.steps.items()},
        variables=tuple(_variable(graph_index, name, variable) for name, variable in module.by_name.items()),
        tables={each.name: each.detail for each in census.tables(source.artifact) if each.name in needed},
        assets=tuple(sorted({os.path.basename(file) for file in _assets(source, needed)})),
        loops=tuple(loop.frame for loop in flow.loops),
        conditions=flow.conditions,
        random=_random(part),
        left_out=tuple(_left_out(source, needed)),
        notes=(
            *filter(None, module.notes.split("\n")),
            *(note for name, call in module.signatures.items() for note in _arguments(written[name], call)),
            *_cuts(source, functions),
            *_counters(source, module),
        ),
    )


def _arguments(signature: str, call: GraphFunction) -> Iterator[str]:
    """Notes of the inputs that a signature of the SavedModel takes by another name, or not at all."""
    names = argument_names(name for name, spec in call.inputs.items() if not spec.optional)
    others = [f"{name} as {argument}" for name, argument in names.items() if name != argument]
    if others:
        yield f"the signature {signature} takes {', '.join(others)}: it needs names that Python takes for arguments"
    if kept := [name for name, spec in call.inputs.items() if spec.optional]:
        yield (
            f"the signature {signature} does not take {', '.join(kept)}: signatures have no optional inputs; it keeps "
            "the default, and the loaded object itself takes all"
        )


def _needed(graph_index: GraphIndex, functions: Iterable[GraphFunction]) -> set[str]:
    """The nodes that the functions are made of."""
    found: set[str] = set()
    for call in functions:
        roots = [node_of(tensor) for tensor in call.outputs.values()]
        found |= graph_index.ancestors([*roots, *call.effects], [spec.tensor for spec in call.inputs.values()])
    return found


def _signature(written: str, source: Source, name: str, call: GraphFunction) -> Signature:
    results = dict(zip(call.output_names, tf.nest.flatten(call.concrete.structured_outputs), strict=True))
    return Signature(
        written,
        tuple(_tensor(key, spec.tensor, spec, spec.optional) for key, spec in call.inputs.items()),
        tuple(_tensor(key, tensor, results[key]) for key, tensor in call.outputs.items()),
        source.prepared.interfaces[name].guessed and source.structures is None,
    )


def _tensor(name: str, tensor: str, spec: Any, optional: bool = False) -> Tensor:
    shape = None if spec.shape is None or spec.shape.rank is None else tuple(spec.shape.as_list())
    return Tensor(name, tensor, spec.dtype.name, shape, optional)


def _variable(graph_index: GraphIndex, name: str, variable: Any) -> Variable:
    shape = tuple(variable.shape.as_list()) if variable.shape.rank is not None else tuple(variable.numpy().shape)
    count = 1
    for size in shape:
        count *= size if size is not None else 1
    node = graph_index.nodes.get(name)
    made_of = "parts" if node is None else "variable" if node.op in VARIABLES else "constant"
    dtype = variable.dtype.base_dtype
    return Variable(name, dtype.name, shape, count * max(dtype.size, 1), bool(variable.trainable), made_of)


def _step(call: GraphFunction) -> str:
    takes = ", ".join(f"{key} ({spec.dtype.name})" for key, spec in call.inputs.items())
    loss = f"; gives {call.outputs['loss']} as loss" if "loss" in call.outputs else ""
    return f"runs {listed(call.effects, most=3)}; takes {takes or 'nothing'}{loss}"


def _assets(source: Source, needed: set[str]) -> Iterator[str]:
    filled = {each.name for each in census.tables(source.artifact) if each.name in needed}
    for name in filled:
        for consumer, _ in source.graph_index.consumers[name]:
            before = source.graph_index.ancestors([consumer.name])
            yield from (file for tensor, file in source.artifact.assets.items() if node_of(tensor) in before)


def _random(part: GraphIndex) -> dict[str, int]:
    found = Counter(node.op for _, node in census.every_node(part.graph_def) if _RANDOM.match(node.op))
    return dict(sorted(found.items()))


# ------------------------------------------------------------------------------------------------- remarks


def _cuts(source: Source, functions: Iterable[GraphFunction]) -> Iterator[str]:
    """Inputs that are no placeholders."""
    seen = set()
    for call in functions:
        for name, spec in call.inputs.items():
            node = source.graph_index.nodes[node_of(spec.tensor)]
            if node.op not in PLACEHOLDERS and spec.tensor not in seen:
                seen.add(spec.tensor)
                yield f"the input {name} is the tensor {spec.tensor} of a {node.op}: given in place of what computes it"


def _counters(source: Source, module: GraphModule) -> Iterator[str]:
    """Yield what TensorFlow 1 leaves to chance in a training step."""
    for call in module.steps.values():
        given = [key_of(spec.tensor) for spec in call.inputs.values()]
        effects = [(effect, CONTROL) for effect in call.effects]
        yield from counters.notes(Structure(source.graph_index.graph_def, effects, given, source.where))


def _left_out(source: Source, needed: set[str]) -> Iterator[str]:
    graph_index = source.graph_index
    rest = [node for node in graph_index.graph_def.node if node.name not in needed]
    variables = [node.name for node in rest if node.op in VARIABLES]
    if variables:
        yield f"{_count(variables, 'variable')} that no signature or function needs: {listed(variables)}"
    applies = [node.name for node in rest if re.match(r"^(Resource)?(Sparse)?Apply\w+$", node.op)]
    if applies:
        yield f"the training step ({_count(applies, 'update')} of variables): --train brings it along"
    summaries = [node.name for node in rest if node.op.endswith("Summary") or node.op.endswith("SummaryV2")]
    if summaries:
        yield f"{_count(summaries, 'operation')} for summaries: {listed(summaries, most=3)}"
    if any(_SAVING.match(node.op) for node in rest):
        yield "savers: tf.saved_model.save and tf.train.Checkpoint take their place"
    feeding = [*census.queues(graph_index.graph_def), *census.readers(graph_index.graph_def)]
    if names := [each.name for each in feeding if each.name not in needed]:
        what = _count(names, "queue or reader", "queues and readers")
        yield f"{what}, instead of which inputs are given: {listed(names)}"
    own = [node for node in graph_index.graph_def.node if node.name in needed and "_gradient_op_type" in node.attr]
    if own:
        kinds = sorted({node.attr["_gradient_op_type"].s.decode(errors="replace") for node in own})
        yield (
            f"gradients that the program had registered itself ({listed(kinds)}, for {listed([n.name for n in own])}): "
            "a GradientTape takes TensorFlow's own"
        )


def _count(names: list[str], one: str, more: str | None = None) -> str:
    return f"1 {one}" if len(names) == 1 else f"{len(names):,} {more or f'{one}s'}"
