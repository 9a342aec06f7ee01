"""Counters that a training step raises, and which nothing in the graph puts in order with what reads them.

BERT's optimizer is the well-known case: its rate is computed from ``global_step``, and ``global_step.assign(global_step
+ 1)`` is grouped with the updates instead of waiting for them. TensorFlow 1 leaves to chance which of the two comes
first. In 1.15.5 it is mostly the counter. Of 80 steps with two threads it came first in 94 to 100 % (references, six
layers of 128, four kinds of rates), 76 to 100 % (references, one layer of 4) and 28 to 100 % (resources); with one
thread there were two outcomes as well. So it comes first here, in each step.
"""

from __future__ import annotations

from tf1sessions.models.graph_index import listed
from tf1sessions.porting.graphs.references import HANDLES, REFERENCES
from tf1sessions.porting.graphs.structure import CONTROL, Structure
from tf1sessions.runtime import tf

__all__ = ["counters", "notes"]

_ADDS = {"AssignAdd", "AssignSub", "AssignAddVariableOp", "AssignSubVariableOp"}
_ASSIGNS = {"Assign", "AssignVariableOp"}
_READS = {"Identity", "ReadVariableOp"}


def counters(structure: Structure) -> dict[str, str]:
    """The operations that change a single number to what is made of itself and of constants -> its variable."""
    found = {}
    for name in structure.order:
        node = structure.nodes[name]
        if node.op in _ADDS | _ASSIGNS and structure.context((name, CONTROL)) == ((), frozenset()):
            variable = _variable(structure, name)
            if variable is not None:
                found[name] = variable
    return found


def notes(structure: Structure) -> list[str]:
    """The counters that something reads in no order with their change, in sentences."""
    sentences = []
    for change, variable in counters(structure).items():
        made_of, values, ordered = _ancestors(structure, change), {variable}, {change}
        readers = []
        for name in structure.order:
            sources = {source for source, _ in structure.inputs[name]}
            if sources & ordered:
                ordered.add(name)
            elif sources & values and structure.nodes[name].op in _READS:
                values.add(name)
            elif sources & values and name not in made_of:
                readers.append(name)
        if readers:
            sentences.append(
                f"{change} changes {variable}, which {listed(readers, most=3)} read, and nothing orders the two: "
                "chance in TensorFlow 1, where mostly the change comes first, as it does here"
            )
    return sentences


def _ancestors(structure: Structure, name: str) -> dict[str, None]:
    found: dict[str, None] = {}
    queue = [name]
    while queue:
        one = queue.pop()
        if one in structure.nodes and one not in found:
            found[one] = None
            queue += [source for source, _ in structure.inputs[one]]
    return found


def _variable(structure: Structure, change: str) -> str | None:
    """The single number that an operation changes, if what it becomes is made of nothing but itself and constants."""
    nodes = structure.nodes
    found = None
    for name in _ancestors(structure, change):
        if any(key[1] == CONTROL or structure.is_given(key) for key in structure.inputs[name]):
            return None
        if nodes[name].op in REFERENCES | HANDLES:
            if found is not None or tf.TensorShape(nodes[name].attr["shape"].shape).rank != 0:
                return None
            found = name
        elif not structure.inputs[name] and nodes[name].op != "Const":
            return None
    old = len(structure.inputs[change]) > 1 and found in _ancestors(structure, structure.inputs[change][1][0])
    return found if old or nodes[change].op in _ADDS else None
