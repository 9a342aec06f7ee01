"""verify(): the same inputs through two sides, and what comes out of them compared.

::

    open both sides ──▶ match inputs ──▶ check or make values ──▶ run both ──▶ match outputs ──▶ compare
                                                                   │
                              all_tensors: in topological order, ◀─┘  a block of tensors at a time, fetched from both,
                                                                      measured and let go
                              the first that parts ──▶ causes/: why

Outputs are of a run of their own, which computes nothing else: TensorFlow may fuse operations there that must stay
apart where all tensors are asked for.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tf1sessions.errors import Tf1SessionsError, UsageError
from tf1sessions.models.graph_index import listed, node_of
from tf1sessions.models.interface import TensorSpec
from tf1sessions.models.prepared import allowed_ops
from tf1sessions.porting.parity import inputs as given_inputs
from tf1sessions.porting.parity.causes.evidence import gather
from tf1sessions.porting.parity.causes.registry import find_causes
from tf1sessions.porting.parity.comparison import Compared, Comparison, LeftOut, Parting, ToleranceUse
from tf1sessions.porting.parity.inputs import Given
from tf1sessions.porting.parity.matching import find_name, given_for, matched, refuse_unknown
from tf1sessions.porting.parity.measures import is_float, measure, wide
from tf1sessions.porting.parity.opening import is_script, open_side
from tf1sessions.porting.parity.recordings import RecordingSide, compared_call_by_call, is_recording
from tf1sessions.porting.parity.sides import RUN_ERRORS, Side, array
from tf1sessions.porting.parity.tolerances import BY_DTYPE, Tolerance, Tolerances, records_of
from tf1sessions.porting.parity.views import blocks
from tf1sessions.porting.trace_comparison import TraceComparison
from tf1sessions.runtime import tf

__all__ = ["device", "verify"]

#: A script makes its variables itself, so they are rounded as its training is.
_TRAINED = tuple(
    dataclasses.replace(each, op="Variable VariableV2 ReadVariableOp", reason="a script trains its variables anew")
    for each in BY_DTYPE
)
_FAILED = "which TensorFlow could not give"


def verify(
    left: Any,
    right: Any,
    *,
    inputs: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    all_tensors: bool = False,
    tolerances: Any = None,
    names: Mapping[str, str] | None = None,
    outputs: Collection[str] = (),
    signature: str | None = None,
    seed: int = 0,
    allow_ops: Collection[str] = (),
    given: Collection[str] = (),
    seeds: str | None = None,
    once: bool = False,
    args: Sequence[str] | None = None,
) -> Comparison | TraceComparison:
    """Puts the same inputs through two sides, and compares what comes out.

    Args:
        left: The reference: a path of anything that :func:`tf1sessions.load` takes, of a SavedModel of TensorFlow 2, of
            a script (``train.py``: what its last session leaves behind), of a recording (``trace.npz``);
            ``"module.py:function"``; a loaded model, a ConcreteFunction, a Keras model, or any callable that takes
            arrays by the names of the inputs.
        right: What is held against it, likewise.
        inputs: Arrays by the names of the inputs (on either side), or the path of an ``.npz`` file with them. What is
            not given is made: the same each time, of the dtype and shape that the input has.
        all_tensors: Compares every tensor, too, that the outputs are made of and both sides have under one name.
        tolerances: Records (:class:`~tf1sessions.porting.parity.tolerances.Tolerance`, or dicts of its fields), or the
            path of a TOML or JSON file with them. They count before the defaults.
        names: Which input or output of the left is which of the right, where their names do not say it. A name that its
            side does not have is an error.
        outputs: Which outputs of the left are compared, by their names or those of their tensors; of a model that names
            no outputs, its tensors. By default all that the left has: a right side that lacks one is not equal.
        signature: Which signature of the models, where they have several.
        seed: Of the inputs that are made.
        allow_ops: Operations that a model may run although they touch files, the network or Python.
        given: Of a recording and a script: what the script gets from the recording (``"variables"``, ``"feeds"``,
            ``"seeds"``).
        seeds: Likewise: whose seeds operations get that have none of their own, ``"tf1"`` (by their number, as
            TensorFlow 1 counted them; the default) or ``"tf2"``.
        once: Likewise: the script runs once alone, even where a second run would show the cause of a difference.
        args: The arguments of the scripts; by default none, or those of the recording that a script is held against.

    Returns:
        A :class:`~tf1sessions.porting.parity.comparison.Comparison`; of two recordings, or a recording and a script,
        which are compared call by call, a :class:`~tf1sessions.porting.trace_comparison.TraceComparison`, whose
        ``diagnosis`` is the cause of the first difference. ``str()`` of either is a report, and ``equal`` the outcome.

    Raises:
        UsageError: A side cannot be found; inputs or outputs do not match; a value does not fit its input.
        ModelError: A model cannot be loaded.

    Thread-safety: safe to call from any thread.

    Example:
        >>> import numpy as np
        >>> found = verify(lambda x: x * 2, lambda x: x + x, inputs={"x": np.arange(3.0)})
        >>> found.equal
        True
    """
    allow_ops = allowed_ops(allow_ops)
    if args is not None and not (is_script(left) or is_script(right)):
        raise UsageError("arguments are for a script, and neither side is one", where=" ".join(["--", *args]))
    if is_recording(left) and (is_recording(right) or is_script(right)):
        unused = {
            "inputs": inputs,
            "all_tensors": all_tensors,
            "names": names,
            "outputs": outputs,
            "signature": signature,
            "allow_ops": allow_ops,
        }
        if useless := [what for what, value in unused.items() if value]:
            raise UsageError(f"{useless[0]} is not for what is compared call by call", where=f"{useless[0]}=")
        return compared_call_by_call(left, right, tolerances, given, seeds, once, args)
    for what, value in (("given", given), ("seeds", seeds), ("once", once)):
        if value:
            raise UsageError(f"{what} is for a recording and a script", where=f"{what}=")
    own = _TRAINED if is_script(left) or is_script(right) else ()
    records = Tolerances((*records_of(tolerances), *own), device())
    values = given_inputs.read(inputs) if isinstance(inputs, str | os.PathLike) else dict(inputs or {})
    where = os.fspath(inputs) if isinstance(inputs, str | os.PathLike) else "inputs="
    with contextlib.ExitStack() as stack:
        opened: dict[str, Side] = {}
        # Scripts and recordings last: what the other side gives decides which of their tensors are meant.
        for role, source in sorted({"left": left, "right": right}.items(), key=lambda each: _asks(each[1])):
            side = open_side(
                source,
                role,
                signature=signature,
                outputs=outputs,
                allow_ops=allow_ops,
                other=next(iter(opened.values()), None),
                names=names,
                args=args or (),
            )
            opened[role] = stack.enter_context(side.opened())
        one, other = opened["left"], opened["right"]
        return _Verification(one, other, records, names or {}, outputs).compare(values, where, seed, all_tensors)


def _asks(source: Any) -> bool:
    """Whether a side needs to know the other one."""
    return is_script(source) or is_recording(source)


@dataclasses.dataclass(frozen=True)
class _Fed:
    """Return the same values by the names of either side."""

    given: tuple[Given, ...]
    left: dict[str, Any]
    right: dict[str, Any]


#: Why a default tolerance is relative alone.
_BELOW = "all values are smaller than the error that is allowed else, which would let any values pass"


def _is_below(tolerance: Tolerance, values: Any) -> bool:
    """Whether a default tolerance would let any values of that size pass."""
    if tolerance.source != "default" or not tolerance.absolute or not values.size or not is_float(values.dtype):
        return False
    sizes = np.abs(wide(values))
    return bool(np.max(sizes, where=np.isfinite(sizes), initial=0.0) <= tolerance.absolute)


class _Verification:
    """One comparison."""

    def __init__(
        self, left: Side, right: Side, tolerances: Tolerances, names: Mapping[str, str], outputs: Collection[str]
    ) -> None:
        self._left = left
        self._right = right
        self._sides = (left.what, right.what)
        self._tolerances = tolerances
        self._names = names
        self._asked = outputs
        self._missing: tuple[str, ...] = ()  # outputs of the left that the right lacks
        self._notes = [*_side_notes(left, "left"), *_side_notes(right, "right")]
        self._left_out: list[LeftOut] = []
        self._values: tuple[dict[str, Any], dict[str, Any]] = ({}, {})  # of the outputs, until causes are found
        self._specs: tuple[Mapping[str, TensorSpec], Mapping[str, TensorSpec]] = ({}, {})  # of the inputs

    def compare(self, values: Mapping[str, Any], where: str, seed: int, all_tensors: bool) -> Comparison:
        fed = self._inputs(values, where, seed)
        outputs = self._outputs(fed)
        tensors: tuple[Compared, ...] = ()
        if all_tensors:
            tensors = tuple(self._tensors(fed))
        self._notes += self._randomness()
        if not all_tensors and not all(each.equal for each in outputs) and self._left.view and self._right.view:
            self._notes.append("all_tensors (--all-tensors) finds the first tensor that parts")
        first = next((each for each in (*tensors, *outputs) if not each.equal), None)
        parting = None if first is None else self._parting(first, tensors, fed, first in outputs)
        return Comparison(
            left=(self._left.what, self._left.kind),
            right=(self._right.what, self._right.kind),
            inputs=fed.given,
            outputs=outputs,
            missing=self._missing,
            tensors=tensors,
            first=parting,
            tolerances=_uses((*outputs, *tensors)),
            left_out=tuple(self._left_out),
            notes=tuple(dict.fromkeys(self._notes)),
            device=self._tolerances.device,
            versions=(("tensorflow", tf.__version__), ("numpy", np.__version__)),
        )

    # -- inputs

    def _inputs(self, values: Mapping[str, Any], where: str, seed: int) -> _Fed:
        for side in (self._left, self._right):
            if isinstance(side, RecordingSide) and not values:
                values, where = side.recorded, f"the recording {side.what}"
        left, right = self._left.inputs, self._right.inputs
        if left is None and right is None:
            if not values:
                raise UsageError(
                    f"neither {self._sides[0]} nor {self._sides[1]} says what its inputs are",
                    where="inputs=",
                    next_step="Give them: --inputs data.npz.",
                )
            left = right = {name: _spec_of(name, value) for name, value in values.items()}
        left = left if left is not None else right
        right = right if right is not None else left
        assert left is not None and right is not None
        self._specs = (left, right)
        pairs = matched(left, right, "input", self._names, self._sides)
        by_name = {}
        for name, value in values.items():
            if (mine := _input_named(name, left, right, pairs, where)) in by_name:
                raise UsageError(f"the input {mine!r} is given twice, once as {name!r}", where=where)
            by_name[mine] = value
        needed = {name: spec for name, spec in left.items() if name in pairs and name not in by_name}
        needed = {name: spec for name, spec in needed.items() if not spec.optional}
        found = given_inputs.made(needed, self._left.view or self._right.view, seed) if needed else {}
        fed = _Fed((), {}, {})
        given = []
        for name, theirs in pairs.items():
            if name in by_name:
                value = given_inputs.checked(name, by_name[name], left[name], where)
                how = f"given by {where}" if where != "inputs=" else "given"
            elif name in found:
                value, how = found[name]
            else:
                continue
            fed.left[name] = value
            fed.right[theirs] = given_inputs.checked(theirs, value, right[theirs], f"{how}, for {self._sides[1]}")
            given.append(Given(name, theirs, _dtype(value), value.shape, how))
        return dataclasses.replace(fed, given=tuple(given))

    # -- outputs

    def _outputs(self, fed: _Fed) -> tuple[Compared, ...]:
        mine, theirs = self._run(self._left, fed.left, fed), self._run(self._right, fed.right, fed)
        self._values = (mine, theirs)
        left = {name: self._output_spec(self._left, name, value) for name, value in mine.items()}
        right = {name: self._output_spec(self._right, name, value) for name, value in theirs.items()}
        refuse_unknown(self._names, self._specs, (left, right), self._sides)
        pairs = matched(self._chosen(left), right, "output", self._names, self._sides)
        if not self._asked:
            self._missing = tuple(name for name in left if name not in pairs)
        if self._missing:
            both = " ".join(f"--output {name}" for name in pairs)
            self._notes.append(f"to compare only what both sides have, name it: outputs={list(pairs)} ({both})")
        if not self._asked and (only := [name for name in right if name not in pairs.values()]):
            self._notes.append(f"only the right side has the output {listed(only)}")
        return tuple(
            self._compared(name, other, "output", mine[name], theirs[other], ()) for name, other in pairs.items()
        )

    def _chosen(self, outputs: Mapping[str, TensorSpec]) -> Mapping[str, TensorSpec]:
        """Return the outputs of the left that are asked for."""
        chosen = {asked: find_name(asked, outputs) for asked in self._asked}
        if unknown := [asked for asked, name in chosen.items() if name is None]:
            raise UsageError(
                f"{self._sides[0]} has no output {unknown[0]!r}",
                where="outputs=",
                next_step=f"It has {given_for(outputs)}.",
            )
        return {name: spec for name, spec in outputs.items() if not self._asked or name in chosen.values()}

    @staticmethod
    def _run(side: Side, given: Mapping[str, Any], fed: _Fed) -> dict[str, Any]:
        try:
            return side.run(given)
        except Tf1SessionsError:
            raise
        except RUN_ERRORS as error:
            made = [each.name for each in fed.given if each.how.startswith("made")]
            op = getattr(error, "op", None)
            raise UsageError(
                f"{side.what} failed with these inputs: {_reason(error)}",
                where=f"{type(error).__name__} at {op.name!r}" if op is not None else type(error).__name__,
                next_step=f"Give values that it takes for {listed(made)}: --inputs data.npz." if made else None,
            ) from error

    def _output_spec(self, side: Side, name: str, value: Any) -> TensorSpec:
        known = (side.outputs or {}).get(name)
        return dataclasses.replace(_spec_of(name, value), tensor=known.tensor if known is not None else name)

    def _compared(
        self, name: str, other: str, op: str, mine: Any, theirs: Any, inputs: tuple[str, ...], under: Any = None
    ) -> Compared:
        tolerance = self._tolerances.of(op, name, _dtype(mine))
        inherited = under is not None and under.looseness > tolerance.looseness
        tolerance = under if inherited else tolerance
        difference = None
        if mine.shape == theirs.shape:
            if op == "output" and _is_below(tolerance, mine):
                tolerance = dataclasses.replace(tolerance, absolute=0.0, reason=_BELOW)
            difference = measure(mine, theirs, tolerance.absolute, tolerance.relative, tolerance.ulps)
        return Compared(
            name,
            other,
            op,
            _dtype(mine),
            _dtype(theirs),
            mine.shape,
            theirs.shape,
            difference,
            tolerance,
            inherited,
            inputs,
        )

    # -- all tensors

    def _tensors(self, fed: _Fed) -> Iterator[Compared]:
        left, right = self._left.view, self._right.view
        for side, view in ((self._left, left), (self._right, right)):
            if view is None:
                self._notes.append(f"only outputs were compared: of {side.what}, {side.no_view}")
        if left is None or right is None:
            return
        common = [name for name in left.tensors if name in right.tensors]
        if only := [name for name in left.tensors if name not in right.tensors]:
            self._left_out.append(LeftOut("that only the left side has under their name", len(only), tuple(only[:8])))
        if only := [name for name in right.tensors if name not in left.tensors]:
            self._left_out.append(LeftOut("that only the right side has under their name", len(only), tuple(only[:8])))
        for role, view in (("left", left), ("right", right)):
            for why, names in view.left_out.items():
                self._left_out.append(LeftOut(f"of the {role} side {why}", len(names), tuple(names[:8])))
        loosest: dict[str, Tolerance] = {}
        rows = max([each.shape[0] for each in fed.given if each.shape], default=1)
        failed: list[str] = []
        for block in blocks(common, left, rows):
            for name, mine, theirs in self._fetched(block, fed, failed):
                seen = left.tensors[name]
                under = max(
                    (loosest[each] for each in seen.inputs if each in loosest),
                    key=lambda each: each.looseness,
                    default=None,
                )
                found = self._compared(name, name, seen.node.op, mine, theirs, seen.inputs, under)
                if not found.same:
                    loosest[name] = found.tolerance
                yield found
        if failed:
            self._left_out.append(LeftOut(_FAILED, len(failed), tuple(failed[:8])))

    def _fetched(self, names: Sequence[str], fed: _Fed, failed: list[str]) -> Iterator[tuple[str, Any, Any]]:
        """The values of tensors on both sides; those that cannot be had are added to ``failed``."""
        waiting = [list(names)]
        while waiting:
            some = waiting.pop()
            try:
                mine, theirs = self._left.fetch(some, fed.left), self._right.fetch(some, fed.right)
            except RUN_ERRORS:
                if len(some) == 1:
                    failed += some
                else:
                    waiting += [some[len(some) // 2 :], some[: len(some) // 2]]
                continue
            yield from zip(some, mine, theirs, strict=True)

    # -- why

    def _randomness(self) -> Iterator[str]:
        for role, side in (("left", self._left), ("right", self._right)):
            if side.view is not None and side.view.random:
                yield (
                    f"the {role} side draws random numbers ({listed(side.view.random)}): what is made of them differs "
                    "unless both sides have the same seeds and have drawn equally often"
                )

    def _parting(self, tensor: Compared, tensors: Sequence[Compared], fed: _Fed, is_output: bool) -> Parting:
        known = {each.name: each for each in tensors}
        inputs = tuple(known[name] for name in dict.fromkeys(tensor.inputs) if name in known)
        names = (tensor.name, tensor.other)
        if is_output:
            values = (self._values[0][tensor.name], self._values[1][tensor.other])
            names = (_tensor(self._left, tensor.name), _tensor(self._right, tensor.other))
        else:
            values = (
                self._left.fetch([tensor.name], fed.left)[0],
                self._right.fetch([tensor.other], fed.right)[0],
            )
        evidence = gather((self._left, self._right), names, values, (fed.left, fed.right))
        return Parting(tensor, inputs, find_causes(evidence))


def _tensor(side: Side, output: str) -> str:
    """The tensor that an output is."""
    spec = (side.outputs or {}).get(output)
    return spec.tensor if spec is not None else output


def _side_notes(side: Side, role: str) -> list[str]:
    return [f"{role}: {note}" for note in side.notes]


def _reason(error: Any) -> str:
    """Return what TensorFlow says was wrong, without what it says around it."""
    around = ("[[", "Node:", "Detected at", "Graph execution error", "Original stack trace", "Function call stack")
    lines = [line.strip() for line in str(getattr(error, "message", None) or error).splitlines()]
    return next((line for line in lines if line and not line.startswith(around)), type(error).__name__)


def _spec_of(name: str, value: Any) -> TensorSpec:
    found = array(value)
    try:
        dtype = tf.string if found.dtype == object else tf.as_dtype(found.dtype)
    except TypeError as error:
        raise UsageError(
            f"{name!r} has the dtype {found.dtype}, which TensorFlow does not have",
            where="verify()",
            next_step="Give or return it as numbers, booleans or strings.",
        ) from error
    return TensorSpec(name, name, dtype, tf.TensorShape(found.shape))


def _input_named(
    name: str,
    left: Mapping[str, TensorSpec],
    right: Mapping[str, TensorSpec],
    pairs: Mapping[str, str],
    where: str,
) -> str:
    """The input on the left that a name means, which may be that on the right, or the name of a tensor."""
    if name in pairs:
        return name
    for mine, theirs in pairs.items():
        if name in (theirs, left[mine].tensor, node_of(left[mine].tensor), right[theirs].tensor):
            return mine
    raise UsageError(
        f"there is no input {name!r}", where=where, next_step=f"The inputs are {', '.join(map(repr, pairs)) or 'none'}."
    )


def _dtype(value: Any) -> str:
    return "string" if value.dtype == object else str(value.dtype.name)


def device() -> str:
    """The kind of device that computes here: ``"GPU"`` where there is one, else ``"CPU"``."""
    return "GPU" if tf.config.list_physical_devices("GPU") else "CPU"


def _uses(compared: Sequence[Compared]) -> tuple[ToleranceUse, ...]:
    groups: dict[Tolerance, list[Compared]] = {}
    for each in compared:
        groups.setdefault(each.tolerance, []).append(each)
    uses = []
    for tolerance, members in groups.items():
        within = [each for each in members if each.equal and each.difference is not None]
        largest = max(within, key=lambda each: each.difference.share if each.difference else 0.0, default=None)
        share = largest.difference.share if largest is not None and largest.difference is not None else 0.0
        beyond = sum(not each.equal for each in members)
        uses.append(ToleranceUse(tolerance, len(members), beyond, share, largest.name if largest is not None else ""))
    return tuple(sorted(uses, key=lambda use: (-use.beyond, -use.share)))
