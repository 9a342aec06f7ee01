"""The statements of a graph that each request needs, and those that several requests need in common."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from .statements import Item

__all__ = ["Group", "groups_of", "needed"]


@dataclasses.dataclass(eq=False)
class Group:
    """Statements that the same requests need.

    Attributes:
        requests: The numbers of those requests.
        items: The statements, in their order.
        inputs: The names that they read and do not bind, sorted.
        outputs: The names that they bind and others read.
    """

    requests: frozenset[int]
    items: list[Item]
    inputs: list[str] = dataclasses.field(default_factory=list)
    outputs: list[str] = dataclasses.field(default_factory=list)


def needed(items: Sequence[Item], names: Iterable[str], given: Iterable[str]) -> list[Item]:
    """The statements that bind names, and those that these read from, where the names in ``given`` are given."""
    given = set(given)
    found: set[Item] = set()
    wanted = set(names) - given
    for item in reversed(items):
        if item.binds & wanted:
            found.add(item)
            wanted -= item.binds - item.reads
            wanted |= item.reads - given
    return [item for item in items if item in found]


def groups_of(items: Sequence[Item], slices: Sequence[Sequence[Item]], fetched: Sequence[set[str]]) -> list[Group]:
    """Group statements by the requests that need them: what more requests need comes first.

    Args:
        items: All statements.
        slices: What each request needs.
        fetched: The names that each request fetches.
    """
    groups: dict[frozenset[int], Group] = {}
    for item in items:
        requests = frozenset(number for number, needs in enumerate(slices) if item in needs)
        if requests:
            groups.setdefault(requests, Group(requests, [])).items.append(item)
    order = {item: number for number, item in enumerate(items)}
    found = sorted(groups.values(), key=lambda group: (-len(group.requests), order[group.items[0]]))
    binders = [name for item in items for name in sorted(item.binds)]
    for group in found:
        bound: set[str] = set()
        inputs: set[str] = set()
        for item in group.items:
            inputs |= item.reads - bound
            bound |= item.binds
        read = set().union(*(item.reads for other in found if other is not group for item in other.items))
        read |= set().union(*(fetched[number] for number in group.requests))
        group.outputs = [name for name in dict.fromkeys(binders) if name in bound & read]
        group.inputs = sorted(inputs)
    return found
