"""The conditions of a graph: which ends of branches are one condition, and what one borrows from another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tf1sessions.models.arguments import output_types
from tf1sessions.porting.graphs.local_lists import LocalLists
from tf1sessions.porting.graphs.structure import CONTROL, ENTER, EXIT, MERGE, SWITCH, Key, Structure, reach
from tf1sessions.runtime import tf

__all__ = ["ConditionGroup", "Conditions"]


class ConditionGroup:
    """Ends of branches of one predicate that share something inside: it must run once, so they are one condition."""

    def __init__(self, structure: Structure, end: str) -> None:
        self._structure = structure
        self.ends = [end]
        self.borrowed: dict[str, ConditionGroup] = {}  # what another group computes in its branch
        self.predicate = structure.branches[end].predicate
        self.frame, self.condition = structure.context((end, CONTROL))

    def starts(self) -> list[Key]:
        return [key for name in self.ends for key in self._structure.inputs[name]]

    def inside(self, key: Key) -> bool:
        """Whether something is computed in one of the branches only."""
        if self._structure.is_given(key) or key[0] in self.borrowed:
            return False
        frame, condition = self._structure.context(key)
        depth = len(self.frame)
        if len(frame) > depth:
            condition = self._structure.loops[frame[: depth + 1]].outside
        return frame[:depth] == self.frame and condition > self.condition

    def source(self, key: Key) -> Key:
        """Return what to wait for to have a tensor from outside: the condition, where it is borrowed."""
        lender = self.borrowed.get(key[0])
        return key if lender is None else (lender.ends[0], CONTROL)

    def starts_at(self, name: str) -> bool:
        """Whether a node is where the loop around this begins: what is before it is of another time or place."""
        structure = self._structure
        frame = structure.frames[name]
        kind = structure.nodes[name].op
        begins = kind in ENTER or (kind in MERGE and name not in structure.branches)
        return begins and bool(frame) and frame == self.frame[: len(frame)]


class Conditions:
    """The ends of branches of a graph in groups.

    What two ends share must run once, so they are one group; except where one of them needs the other. A gradient does:
    it takes what is inside of the branch that it is the gradient of, and comes from what follows that. Its group then
    borrows what they share: the other condition gives it as a result of its own. So does each condition between::

        cond 1 ─▶ cond 2 ─▶ tensor ─▶ as a result of cond 2 ─▶ as one of cond 1 ─▶ gradient of cond 1 ─▶ of cond 2
    """

    def __init__(self, structure: Structure, lists: LocalLists) -> None:
        self._structure = structure
        self._lists = lists
        self._groups: dict[str, ConditionGroup] = {}
        self._lent: dict[ConditionGroup, dict[Key, None]] = {}
        owners: dict[tuple[str, Key], ConditionGroup] = {}
        self._owners = owners
        for end in structure.branches:
            group = self._groups[end] = ConditionGroup(structure, end)
            for key in list(reach(structure, group.starts(), group.inside)):
                if not group.inside(key) or _is_pivot(structure, key[0]):
                    continue
                other = self._now(owners.setdefault((key[0], group.predicate), group))
                if other is group:
                    continue
                if self._needed_by(group, other):
                    if self._can_be_lent(other, key):
                        group.borrowed[key[0]] = other
                elif self._needed_by(other, group):
                    owners[key[0], group.predicate] = group
                    if self._can_be_lent(group, key):
                        other.borrowed[key[0]] = group
                else:
                    group = self._join(other, group)
        for group in dict.fromkeys(self._groups.values()):
            for key in self.borrowed(group):
                lender: ConditionGroup | None = self._now(group.borrowed[key[0]])
                while lender is not None:
                    self._lent.setdefault(lender, {})[key] = None
                    lender = self.lender_within(lender, key)

    def group(self, end: str) -> ConditionGroup:
        return self._groups[end]

    @property
    def lend_handles(self) -> bool:
        """Whether one of the tensors that are borrowed is the handle of an array."""
        return any(self._lists.is_handle(key) for keys in self._lent.values() for key in keys)

    def borrowed(self, group: ConditionGroup) -> list[Key]:
        """The tensors that a group takes from the branches of others."""
        around = reach(self._structure, group.starts(), group.inside) if group.borrowed else ()
        return [key for key in around if key[0] in group.borrowed and key[1] != CONTROL]

    def lent(self, group: ConditionGroup) -> Iterable[tuple[Key, bool, Any]]:
        """The tensors that others take from the branches of a group; of which branch, and the dtype."""
        for key in self._lent.get(group, ()):
            yield key, self.side(group, key), self.dtype(key)

    def side(self, group: ConditionGroup, key: Key) -> bool:
        """In which branch of a group a tensor is."""
        return next(value for predicate, value in self._structure.context(key)[1] if predicate == group.predicate)

    def lender_within(self, group: ConditionGroup, key: Key) -> ConditionGroup | None:
        """The condition in the branch of a group that a tensor is in; None where it is in none."""
        around = group.condition | {(group.predicate, self.side(group, key))}
        for predicate, _ in self._structure.context(key)[1] - around:
            found = self._owners.get((key[0], predicate))
            if found is not None and found.condition == around:
                return self._now(found)
        return None

    def dtype(self, key: Key) -> Any:
        """Return the dtype of a tensor; None where its node does not say, or where there are no zeros of it."""
        if self._lists.is_handle(key):
            return tf.float32
        types = output_types(self._structure.nodes[key[0]])
        dtype = tf.as_dtype(types[key[1]]) if key[1] < len(types) and types[key[1]] is not None else None
        return None if dtype is None or dtype in (tf.resource, tf.variant) or dtype._is_ref_dtype else dtype

    def _now(self, group: ConditionGroup) -> ConditionGroup:
        """The group that this one has become part of."""
        return self._groups[group.ends[0]]

    def _join(self, one: ConditionGroup, other: ConditionGroup) -> ConditionGroup:
        one.ends += other.ends
        one.borrowed |= other.borrowed
        for end in other.ends:
            self._groups[end] = one
        return one

    def _can_be_lent(self, group: ConditionGroup, key: Key) -> bool:
        count = len(output_types(self._structure.nodes[key[0]]))
        known = all(self.dtype((key[0], index)) is not None for index in range(count))
        frame, condition = self._structure.context(key)
        if not known or frame != group.frame:
            return False
        within = self.lender_within(group, key)
        return len(condition - group.condition) == 1 if within is None else self._can_be_lent(within, key)

    def _needed_by(self, group: ConditionGroup, other: ConditionGroup) -> bool:
        """Whether a group needs the results of another."""
        structure = self._structure
        seen: set[str] = set()
        queue = [key[0] for key in reach(structure, group.starts(), group.inside) if not group.inside(key)]
        while queue:
            name = queue.pop()
            if name in seen or name not in structure.nodes or group.starts_at(name):
                continue
            seen.add(name)
            ends = [name]
            if name in self._groups:
                found = self._groups[name]
                if found is other:
                    return True
                ends = [*found.ends, *(lender.ends[0] for lender in found.borrowed.values())]
            elif structure.nodes[name].op in EXIT:
                loop = structure.loops[structure.frames[name]]
                ends = [*ends, *loop.variables, *loop.constants, *(back for _, back in loop.variables.values())]
            queue += [end for end in ends if end != name]
            queue += [source for source, _ in structure.inputs[name] if (source, CONTROL) != (name, CONTROL)]
        return False


def _is_pivot(structure: Structure, name: str) -> bool:
    """Whether a node only passes on what decides, or an input of the branch."""
    node = structure.nodes[name]
    if node.op == "Identity":
        name = structure.inputs[name][0][0]
    return name in structure.nodes and structure.nodes[name].op in SWITCH
