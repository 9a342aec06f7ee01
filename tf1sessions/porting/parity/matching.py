"""The pairs of inputs and outputs of two sides: by name, else by dtype and shape where those are unique."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tf1sessions.errors import UsageError
from tf1sessions.models.graph_index import tensor_name
from tf1sessions.models.interface import TensorSpec
from tf1sessions.runtime import tf

__all__ = ["find_name", "given_for", "matched", "refuse_unknown"]


def matched(
    left: Mapping[str, TensorSpec],
    right: Mapping[str, TensorSpec],
    role: str,
    given: Mapping[str, str],
    sides: tuple[str, str],
) -> dict[str, str]:
    """Pairs the names of two sides.

    Args:
        left, right: Inputs or outputs of the sides.
        role: ``"input"`` or ``"output"``.
        given: What the user says: a name on the left -> a name on the right; tensors' names will do.
        sides: What the sides are called.

    Returns:
        Name on the left -> name on the right, in the order of the left.

    Raises:
        UsageError: Some cannot be paired. For names that are not there see :func:`refuse_unknown`.
    """
    pairs = {}
    for mine, theirs in given.items():
        one, other = find_name(mine, left), find_name(theirs, right)
        if one is not None and other is not None:
            pairs[one] = other
    _by(lambda name, spec: {name}, left, right, pairs)  # alone first: a tensor may be called as another one there
    _by(lambda name, spec: {name, spec.tensor}, left, right, pairs)
    _by(lambda name, spec: {name.lower().rpartition("/")[2].partition(":")[0]}, left, right, pairs)
    _by(lambda name, spec: {(spec.dtype, str(spec.shape))} if spec.dtype is not None else set(), left, right, pairs)
    _by_kind(left, right, pairs)
    rest = [name for name, spec in left.items() if name not in pairs and not spec.optional]
    others = [name for name, spec in right.items() if name not in pairs.values() and not spec.optional]
    missing = rest or others if role == "input" else (rest and others) or not pairs
    if missing:
        example = f"--map {(rest or list(left) or ['a'])[0]}={(others or list(right) or ['b'])[0]}"
        raise UsageError(
            f"the {role}s of the two sides do not match: {sides[0]} has {given_for(left)}; "
            f"{sides[1]} has {given_for(right)}",
            where="verify()",
            next_step=f"Say which is which: {example}.",
        )
    return {name: pairs[name] for name in left if name in pairs}


def refuse_unknown(
    given: Mapping[str, str],
    inputs: tuple[Mapping[str, TensorSpec], Mapping[str, TensorSpec]],
    outputs: tuple[Mapping[str, TensorSpec], Mapping[str, TensorSpec]],
    sides: tuple[str, str],
) -> None:
    """Refuses pairs of names of which a side has one neither as an input nor as an output, or the two in other roles.

    Args:
        given: What the user says: a name on the left -> a name on the right.
        inputs, outputs: What the left and the right side have.
        sides: What the sides are called.

    Raises:
        UsageError: The message lists what both sides have.
    """
    for pair in given.items():
        roles = [
            {role for role, specs in (("input", inputs), ("output", outputs)) if find_name(name, specs[at]) is not None}
            for at, name in enumerate(pair)
        ]
        if roles[0] & roles[1]:
            continue
        wrong = [f"{side} has no {name!r}" for side, name, role in zip(sides, pair, roles, strict=True) if not role]
        if not wrong:
            wrong = [f"{pair[0]!r} is an {min(roles[0])}, and {pair[1]!r} an {min(roles[1])}"]
        have = [
            f"{side} has the inputs {given_for(inputs[at])}, and the outputs {given_for(outputs[at])}"
            for at, side in enumerate(sides)
        ]
        raise UsageError(
            "; ".join(wrong), where="--map {}={}".format(*pair), next_step=f"Of what there is, {'; '.join(have)}."
        )


def given_for(specs: Mapping[str, TensorSpec]) -> str:
    """Specs for people."""
    parts = []
    for name, spec in specs.items():
        dtype = spec.dtype.name if spec.dtype is not None else ""
        shape = "" if spec.shape is None else str(tf.TensorShape(spec.shape)).replace("None", "?")
        parts.append(" ".join(filter(None, [repr(name), dtype, shape])))
    return ", ".join(parts) or "none"


def find_name(name: str, specs: Mapping[str, TensorSpec]) -> str | None:
    """Return which of the specs has this name, or a tensor of this name; None for none."""
    if name in specs:
        return name
    return next((key for key, spec in specs.items() if tensor_name(name) == spec.tensor), None)


def _by(keys: Any, left: Mapping[str, TensorSpec], right: Mapping[str, TensorSpec], pairs: dict[str, str]) -> None:
    """Pairs what is left over and has a key that is unique on both sides."""
    mine = _unique(keys, left, pairs.keys())
    theirs = _unique(keys, right, pairs.values())
    for key, name in mine.items():
        if key in theirs and name not in pairs and theirs[key] not in pairs.values():
            pairs[name] = theirs[key]


def _unique(keys: Any, specs: Mapping[str, TensorSpec], taken: Iterable[str]) -> dict[Any, str]:
    found: dict[Any, list[str]] = {}
    taken = set(taken)
    for name, spec in specs.items():
        if name not in taken:
            for key in keys(name, spec):
                found.setdefault(key, []).append(name)
    return {key: names[0] for key, names in found.items() if len(names) == 1}


def _by_kind(left: Mapping[str, TensorSpec], right: Mapping[str, TensorSpec], pairs: dict[str, str]) -> None:
    """Pairs those of which only one of the other side's can be: dtype and shape agree as far as they are known."""
    mine = {name: spec for name, spec in left.items() if name not in pairs}
    theirs = {name: spec for name, spec in right.items() if name not in pairs.values()}
    able = {a: [b for b in theirs if _agree(mine[a], theirs[b])] for a in mine}
    for a, found in able.items():
        if len(found) == 1 and sum(found[0] in each for each in able.values()) == 1:
            pairs[a] = found[0]


def _agree(a: TensorSpec, b: TensorSpec) -> bool:
    if a.dtype is not None and b.dtype is not None and a.dtype != b.dtype:
        return False
    return bool(tf.TensorShape(a.shape).is_compatible_with(tf.TensorShape(b.shape)))
