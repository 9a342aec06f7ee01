"""The pairs of variables of a checkpoint and of objects.

In this order, each step for what the ones before it have left:

1. the names that the user gives
2. the same name
3. rules: the same layer under the names of another library, numbers by rank, without the scope that all have in common
4. a suggestion from shapes and names: the best pairing of layers, then of variables, as far as no other is as good

Variables are paired by layers, that is by scopes, because the parts of one belong together and can lie otherwise
(``layouts.py``). Nothing here reads a value.
"""

from __future__ import annotations

import collections
import dataclasses
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np

from tf1sessions.porting.checkpoints import assignment
from tf1sessions.porting.checkpoints.layouts import AS_IT_IS, CellLayout, CudnnGru, Gru, Layout, PartLayout
from tf1sessions.porting.checkpoints.names import canonical, role_of, words_of
from tf1sessions.porting.checkpoints.reading import Spec
from tf1sessions.porting.checkpoints.renaming import Renaming

__all__ = ["Match", "Matching", "match"]

#: How much better than any other a pairing must be; names that are alike differ by more. It is arbitrary.
_MARGIN = 0.05
_PART = "part_"
_GRU_PART = re.compile(r"(.*)/(gates|candidate(?:/(?:input|hidden)_projection)?)")


@dataclasses.dataclass(frozen=True)
class Match:
    """Variables of the checkpoint that are variables of the objects.

    Attributes:
        sources: Their names in the checkpoint.
        targets: Their names in the objects.
        layout: How their values lie on the two sides.
        how: By which step they were found.
    """

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    layout: Layout
    how: str


@dataclasses.dataclass
class Matching:
    """The pairs that were found.

    Attributes:
        matches: What belongs together.
        candidates: A variable of the objects -> those of the checkpoint that it could be, where several are as likely.
        misfits: A variable of the objects -> the one of the checkpoint that has its name, and another shape or dtype.
        unknown: Names that the user gives and that neither side has, in sentences.
        hints: A variable of the objects -> why a layer of the checkpoint that is much like its own cannot be it.
    """

    matches: list[Match] = dataclasses.field(default_factory=list)
    candidates: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    misfits: dict[str, str] = dataclasses.field(default_factory=dict)
    unknown: list[str] = dataclasses.field(default_factory=list)
    hints: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class _Group:
    """The variables of one layer: role -> variable. The roles of a GRU's are ``gates/kernel`` and so on."""

    scope: str
    roles: Mapping[str, Spec]


def match(
    sources: Mapping[str, Spec], targets: Mapping[str, Spec], renaming: Renaming, forget_bias: float = 1.0
) -> Matching:
    """Pairs the variables of two sides.

    Args:
        sources: Those of the checkpoint, without slots, averages and counters.
        targets: Those of the objects, in their order.
        renaming: What the user says, from names of the checkpoint to those of the objects.
        forget_bias: What the LSTM cells of the checkpoint add to their forget gates.
    """
    return _Matcher(sources, targets, forget_bias).run(renaming)


class _Matcher:
    def __init__(self, sources: Mapping[str, Spec], targets: Mapping[str, Spec], forget_bias: float) -> None:
        self.sources = dict(sources)  # what is left on each side
        self.targets = dict(targets)
        self.forget_bias = forget_bias
        self.found = Matching()
        # What lies otherwise in Keras than in TensorFlow 1's cells, so that it belongs to nothing by itself.
        self.in_cells = _in_cells(targets) if not _in_cells(sources) else frozenset()

    def run(self, renaming: Renaming) -> Matching:
        self._given(renaming)
        self._joined_parts()
        self._same_names(_shifted(self.sources, self.targets))
        self._by_rule("rule: same layer", canonical)
        self._same_names(frozenset())
        self._misfits()
        self._by_rule("rule: same layer, outer scopes apart", _canonical_within)
        self._suggested_layers()
        self._suggested_variables()
        for group in _groups(self.targets):
            hint = _why_no_cell(group)
            self.found.hints.update((name, hint) for name in _names(group) if hint)
        return self.found

    def _take(self, sources: Iterable[str], targets: Iterable[str], layout: Layout, how: str) -> None:
        match_ = Match(tuple(sources), tuple(targets), layout, how)
        self.found.matches.append(match_)
        for name in match_.sources:
            self.sources.pop(name)
        for name in match_.targets:
            self.targets.pop(name)

    def _take_layer(self, source: _Group, target: _Group, how: str) -> bool:
        """Pairs two layers that fit: as a cell with its own layout, or each part with its like."""
        pairs = _fit(source, target, self.forget_bias)
        for sources, targets, layout in pairs or ():
            self._take(sources, targets, layout, how)
        return pairs is not None

    # ------------------------------------------------------------------------------------------------- 1 and 2: names

    def _given(self, renaming: Renaming) -> None:
        layers = {name: group for group in _groups(self.sources) for name in _names(group)}
        new_names = {name: new for name in self.sources if (new := self._new_name(name, renaming)) is not None}
        target_layers = _layers_by_name(_groups(self.targets))
        for name, new in sorted(new_names.items(), key=lambda pair: pair[1] in self.targets):  # whole layers first
            if name not in self.sources:
                continue  # it went with its layer
            if new in self.targets and new not in self.in_cells and _fits(self.sources[name], self.targets[new]):
                self._take([name], [new], AS_IT_IS, "names=")
                continue
            source, target = layers[name], _found(target_layers, new)
            whole = {_scope_of(target_layers, new_names[each]) for each in _names(source) if each in new_names}
            if target and len(whole) == 1 and self._is_left(source, target) and _lies_otherwise(source, target):
                if self._take_layer(source, target, "names="):
                    continue
            if new in self.targets:
                self._misfit(name, new)
            else:
                self.found.unknown.append(f"{name!r} is to be {new!r}, and no variable of the objects is named so")
        for old, new in renaming.unused.items():
            self.found.unknown.append(f"{old!r} is to be {new!r}, and no variable of the checkpoint is named so")

    def _new_name(self, name: str, renaming: Renaming) -> str | None:
        """Return the user's name of a variable in the objects; by its last step's role, if that is how it is there."""
        new = renaming(name)
        if new is None:
            return None
        new = new.removesuffix(":0")
        return new if new in self.targets else _with_role(new)

    def _is_left(self, source: _Group, target: _Group) -> bool:
        return self.sources.keys() >= set(_names(source)) and self.targets.keys() >= set(_names(target))

    def _misfit(self, source: str, target: str) -> None:
        self.found.misfits[target] = source
        self.sources.pop(source)
        self.targets.pop(target)

    def _joined_parts(self) -> None:
        """Variables of the objects that are the parts of one: ``table/part_0``, ``table/part_1``."""
        parts: dict[str, list[str]] = collections.defaultdict(list)
        for name in self.targets:
            whole, _, last = name.rpartition("/")
            if last.startswith(_PART) and last[len(_PART) :].isdecimal() and name not in self.sources:
                parts[whole].append(name)
        for whole, names in parts.items():
            names.sort(key=lambda name: int(name.rpartition("_")[2]))
            layout = _parting(self.sources.get(whole), [self.targets[name] for name in names])
            if layout is not None:
                self._take([whole], names, layout, "same name, in parts")

    def _same_names(self, without: Collection[str]) -> None:
        layers = {group.scope: group for group in _groups(self.sources)}
        for group in _groups(self.targets):
            if group.scope in without:
                continue
            for name in _names(group):
                if name in self.sources and name not in self.in_cells and _fits(self.sources[name], self.targets[name]):
                    self._take([name], [name], AS_IT_IS, "same name")
            if all(name in self.in_cells for name in _names(group)) and group.scope in layers:
                self._take_layer(layers[group.scope], group, "same name")

    def _misfits(self) -> None:
        for name in list(self.targets):
            if name in self.sources and name not in self.in_cells:
                self._misfit(name, name)

    # ------------------------------------------------------------------------------------------------------- 3: rules

    def _by_rule(self, how: str, keys: Callable[[list[str]], Mapping[str, Any]]) -> None:
        sources, targets = _groups(self.sources), _groups(self.targets)
        mine, theirs = (keys([group.scope for group in groups]) for groups in (sources, targets))
        by_key: dict[Any, list[_Group]] = collections.defaultdict(list)
        for group in sources:
            by_key[mine[group.scope]].append(group)
        counts = collections.Counter(theirs[group.scope] for group in targets)
        for group in targets:
            key = theirs[group.scope]
            if group.scope and counts[key] == 1 and len(by_key[key]) == 1 and by_key[key][0].scope:
                self._take_layer(by_key[key][0], group, how)

    # ------------------------------------------------------------------------------------------------- 4: suggestions

    def _suggested_layers(self) -> None:
        sources, targets = _groups(self.sources), _groups(self.targets)
        costs = np.full([len(targets), len(sources)], np.inf)
        likeness = _likeness([group.scope for group in targets], [group.scope for group in sources])
        for row, target in enumerate(targets):
            for column, source in enumerate(sources):
                if len(target.roles) > 1 and _fit(source, target, self.forget_bias) is not None:
                    costs[row, column] = 1.0 - likeness[row, column]
        for rows, columns in _blocks(costs):
            clear, undecided = assignment.undecided(costs[np.ix_(rows, columns)], _MARGIN)
            for row, column in clear.items():
                self._take_layer(sources[columns[column]], targets[rows[row]], "suggested")
            for row, could in undecided.items():
                pairs = [_fit(sources[columns[column]], targets[rows[row]], self.forget_bias) or [] for column in could]
                for name in _names(targets[rows[row]]):
                    self.found.candidates[name] = tuple(
                        " + ".join(olds) for fit in pairs for olds, news, _ in fit if name in news
                    )

    def _suggested_variables(self) -> None:
        paired = {*self.found.candidates, *self.in_cells}
        targets = [spec for name, spec in self.targets.items() if name not in paired]
        taken = {old for olds in self.found.candidates.values() for each in olds for old in each.split(" + ")}
        sources = [spec for name, spec in self.sources.items() if name not in taken]
        costs = np.full([len(targets), len(sources)], np.inf)
        likeness = _likeness(*([_with_role(spec.name) for spec in specs] for specs in (targets, sources)))
        for row, target in enumerate(targets):
            for column, source in enumerate(sources):
                if _fits(source, target):
                    costs[row, column] = 1.0 - likeness[row, column]
        for rows, columns in _blocks(costs):
            clear, undecided = assignment.undecided(costs[np.ix_(rows, columns)], _MARGIN)
            for row, column in clear.items():
                self._take([sources[columns[column]].name], [targets[rows[row]].name], AS_IT_IS, "suggested")
            for row, could in undecided.items():
                self.found.candidates[targets[rows[row]].name] = tuple(sources[columns[c]].name for c in could)


# ----------------------------------------------------------------------------------------------------- names and layers


def _groups(specs: Mapping[str, Spec]) -> list[_Group]:
    """The layers of one side. What has no scope is a layer each."""
    scopes: dict[str, dict[str, Spec]] = {}
    whole = {name.partition("/candidate/")[0] for name in specs if "/candidate/" in name}
    for name, spec in specs.items():
        scope, _, leaf = name.rpartition("/")
        role = role_of(leaf)
        of_gru = _GRU_PART.fullmatch(scope)
        if of_gru is not None and of_gru[1] in whole:
            scope, role = of_gru[1], f"{of_gru[2]}/{role}"
        scopes.setdefault(scope, {})[role] = spec
    return [_Group(scope, roles) for scope, roles in scopes.items()]


def _names(group: _Group) -> list[str]:
    return [spec.name for spec in group.roles.values()]


def _layers_by_name(groups: Iterable[_Group]) -> dict[str, _Group]:
    """Layers by the names of their variables and by their scopes."""
    groups = list(groups)
    return {group.scope: group for group in groups} | {name: group for group in groups for name in _names(group)}


def _found(layers: Mapping[str, _Group], name: str) -> _Group | None:
    """The layer of a variable; of a GRU's ``gates/kernel``, too."""
    return next((layers[each] for each in (_outer(name, steps) for steps in range(4)) if each in layers), None)


def _scope_of(layers: Mapping[str, _Group], name: str) -> str | None:
    layer = _found(layers, name)
    return layer.scope if layer else None


def _lies_otherwise(source: _Group, target: _Group) -> bool:
    """Whether the variables of a layer have other names, or other shapes, in the objects."""
    return "recurrent_kernel" in target.roles or "depthwise_kernel" in source.roles


def _outer(name: str, steps: int) -> str:
    for _ in range(steps):
        name = name.rpartition("/")[0]
    return name


def _with_role(name: str) -> str:
    scope, _, leaf = name.rpartition("/")
    return f"{scope}/{role_of(leaf)}" if scope else role_of(leaf)


def _canonical_within(scopes: list[str]) -> dict[str, tuple[tuple[str, int], ...]]:
    """As :func:`canonical`, without the outer scopes that all have in common."""
    keys = canonical(scopes)
    shared = os.path.commonprefix([key[:-1] for key in keys.values()]) if keys else ()
    return {scope: key[len(shared) :] for scope, key in keys.items()}


def _in_cells(specs: Mapping[str, Spec]) -> frozenset[str]:
    """The variables of Keras's recurrent cells."""
    groups = _groups(specs)
    return frozenset(name for group in groups if "recurrent_kernel" in group.roles for name in _names(group))


def _shifted(sources: Mapping[str, Spec], targets: Mapping[str, Spec]) -> frozenset[str]:
    """Scopes that both sides have, and that are not the same layer.

    Of ``dense, dense_1`` and ``dense_1, dense_2`` the two ``dense_1`` are not: the numbers of one side have gone on
    from what the program had made before.
    """
    mine, theirs = (canonical([group.scope for group in _groups(side)]) for side in (sources, targets))
    families = [collections.Counter((key[:-1], key[-1][0]) for key in side.values() if key) for side in (mine, theirs)]
    return frozenset(
        scope
        for scope in mine.keys() & theirs.keys()
        if mine[scope] != theirs[scope]
        and families[0][mine[scope][:-1], mine[scope][-1][0]] == families[1][theirs[scope][:-1], theirs[scope][-1][0]]
    )


def _likeness(left: list[str], right: list[str]) -> Any:
    """Return how much names of two sides are alike, from 0 to 1: half by their words, half by their numbers."""
    sides = []
    for names in (left, right):
        keys = canonical(names)
        sides.append([(words_of(keys[name]), tuple(rank for _, rank in keys[name] if rank)) for name in names])
    found = np.zeros([len(left), len(right)])
    for row, (words, numbers) in enumerate(sides[0]):
        for column, (others, other_numbers) in enumerate(sides[1]):
            shared = len(words & others) / max(len(words | others), 1)
            found[row, column] = 0.5 * shared + 0.5 * (numbers == other_numbers)
    return found


def _blocks(costs: Any) -> list[tuple[list[int], list[int]]]:
    """Rows and columns that can be paired only with one another, each block by itself."""
    possible = np.isfinite(costs)
    left, blocks = set(range(len(costs))), []
    while left:
        rows, columns, new = set(), set(), {left.pop()}
        while new:
            rows |= new
            columns |= {int(column) for row in new for column in np.flatnonzero(possible[row])}
            new = {int(row) for column in columns for row in np.flatnonzero(possible[:, column])} - rows
        left -= rows
        if columns:
            blocks.append((sorted(rows), sorted(columns)))
    return blocks


# ------------------------------------------------------------------------------------------------------------- fitting

_Pairs = list[tuple[list[str], list[str], Layout]]


def _fits(source: Spec, target: Spec) -> bool:
    """Whether a value of ``source`` can be one of ``target``."""
    return (
        len(source.shape) == len(target.shape)
        and all(want in (None, have) for have, want in zip(source.shape, target.shape, strict=True))
        and (source.dtype == target.dtype or {source.dtype, target.dtype} == {"int32", "int64"})
    )


def _fit(source: _Group, target: _Group, forget_bias: float) -> _Pairs | None:
    """Map the variables of a layer to those of another; None where they cannot become those."""
    if source.roles.keys() == target.roles.keys():
        pairs = [([source.roles[role].name], [spec.name], AS_IT_IS) for role, spec in target.roles.items()]
        return pairs if all(_fits(source.roles[role], spec) for role, spec in target.roles.items()) else None
    if "recurrent_kernel" in target.roles:
        return _cell_fit(source, target, forget_bias)
    if source.roles.keys() == {"depthwise_kernel", *(target.roles.keys() - {"kernel"})}:  # slim's, without pointwise
        renamed = _Group(source.scope, {"kernel" if r == "depthwise_kernel" else r: s for r, s in source.roles.items()})
        kernel = target.roles.get("kernel")
        return _fit(renamed, target, forget_bias) if kernel and len(kernel.shape) == 4 else None
    return None


def _cell_fit(source: _Group, target: _Group, forget_bias: float) -> _Pairs | None:
    roles = ["kernel", "recurrent_kernel", "bias"][: len(target.roles)]
    if not all(role in target.roles for role in roles):
        return None
    shapes = [target.roles[role].shape for role in roles]
    (inputs, width), (units, _) = shapes[0], shapes[1]
    if inputs is None or units is None or width is None or not units:
        return None
    gates = width // units
    new = [target.roles[role].name for role in roles]
    layout: Layout
    if gates == 3:
        parts = ["gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias"]
        expected = [(inputs + units, 2 * units), (2 * units,), (inputs + units, units), (units,)]
        layout = Gru(inputs)
        if len(roles) < 3:
            return None
        if len(shapes[2]) == 2:  # reset_after=True
            parts = parts[:2] + [f"candidate/{each}_projection/{r}" for each in ("input", "hidden") for r in roles[::2]]
            expected = [*expected[:2], (inputs, units), (units,), (units, units), (units,)]
            layout = CudnnGru(inputs)
    elif gates in (1, 4):
        parts = ["kernel", "bias"][: len(roles) - 1]
        expected = [(inputs + units, width), (width,)][: len(parts)]
        in_bias = gates == 1 or "cudnn_compatible_lstm_cell" in source.scope  # which has no forget_bias
        layout = CellLayout(inputs, (0, 2, 1, 3) if gates == 4 else (0,), 0.0 if in_bias else forget_bias)
    else:
        return None
    if source.roles.keys() != set(parts) or [source.roles[part].shape for part in parts] != expected:
        return None
    if any(source.roles[part].dtype != target.roles["kernel"].dtype for part in parts):
        return None
    return [([source.roles[part].name for part in parts], new, layout)]


def _why_no_cell(group: _Group) -> str:
    """Return why no cell of TensorFlow 1 can be a layer of Keras."""
    bias = group.roles.get("bias")
    if "recurrent_kernel" in group.roles and bias is not None and len(bias.shape) == 2:
        return (
            "it is a GRU with reset_after=True, which multiplies before it resets, as CudnnCompatibleGRUCell does; "
            "TensorFlow 1's GRUCell is as the layer with reset_after=False"
        )
    return ""


def _parting(whole: Spec | None, parts: list[Spec]) -> Layout | None:
    """Find by which axis parts of a variable make up the whole."""
    if whole is None or any(len(part.shape) != len(whole.shape) or part.dtype != whole.dtype for part in parts):
        return None
    for axis, size in enumerate(whole.shape):
        sizes = [part.shape[axis] or 0 for part in parts]
        rest = {part.shape[:axis] + part.shape[axis + 1 :] for part in parts}
        if sum(sizes) == size and rest == {whole.shape[:axis] + whole.shape[axis + 1 :]}:
            return PartLayout(axis, tuple(sizes))
    return None
