"""Changes of a part of a variable, for what changed a variable of its own: one of those that a partitioner made.

An operation that changes some rows of a part, as the sparse updates of embeddings do, changes these rows of the whole.
Where it changes all of the part, there is no operation for it: what the part becomes is computed by the optimizer's
formula, and assigned to its slice of the whole. Slots are in parts as their variables are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tf1sessions.errors import ConversionError
from tf1sessions.porting.graphs.references import Reference, reads
from tf1sessions.runtime import private, tf

__all__ = ["change_parts"]

_raw: Any = tf.raw_ops
#: What an operation takes, by name; gives what it changes, by name.
_Formula = Callable[[Any], Mapping[str, Any]]


def change_parts(node: Any, values: Sequence[Any], where: str) -> tuple[Any, list[Any]]:
    """Makes what takes the place of an operation that changes parts of variables.

    Args:
        node: The NodeDef.
        values: Its inputs; References to parts where it takes variables.
        where: Where the graph comes from, for errors.

    Returns:
        The operation, and what it gives: a Reference where it passes one on.

    Raises:
        ConversionError: It is an operation for which this is not known, or changes columns by their indices.
    """
    definition = private.op_def_registry.get(node.op)
    names = [argument.name for argument in definition.input_arg]
    given = dict(zip(names, values, strict=True))
    kind = node.op.removeprefix("Resource").removesuffix("VariableOp")
    if kind in _FORMULAS:
        switches = {name: node.attr[name].b for name in ("use_nesterov", "update_slots") if name in node.attr}
        made = _slices(_FORMULAS[kind], given, switches)
    elif "indices" in given and not kind.startswith("ScatterNd") and all(map(_is_whole_rows, values)):
        made = _rows(f"Resource{kind}", given, node)
    else:
        raise ConversionError(
            f"node {node.name!r}, a {node.op}, changes one part of a variable that was joined",
            where=where,
            next_step="Keep partitioned variables in parts: porting.function(..., partitions='kept').",
            nodes=(node.name,),
        )
    gives = any(argument.is_ref for argument in definition.output_arg)
    return made, [values[0].handed_on([made])] if gives else []


def _is_whole_rows(value: Any) -> bool:
    if not isinstance(value, Reference):
        return True
    return value.part is not None and value.part.size[1:] == tuple(value.part.variable.shape[1:])


def _rows(name: str, given: Mapping[str, Any], node: Any) -> Any:
    """The operation on some rows of the whole."""
    first = next(each.part.begin[0] for each in given.values() if isinstance(each, Reference) and each.part is not None)
    taken = {key: value.handle if isinstance(value, Reference) else value for key, value in given.items()}
    if "ref" in taken:  # as operations on references call it
        taken["resource"] = taken.pop("ref")
    taken["indices"] += tf.constant(first, taken["indices"].dtype)
    switches = {each.name for each in private.op_def_registry.get(name).attr if each.type == "bool"}
    return getattr(_raw, name)(**taken, **{key: node.attr[key].b for key in switches if key in node.attr})


def _slices(formula: _Formula, given: Mapping[str, Any], switches: Mapping[str, bool]) -> Any:
    """Assigns what a formula makes of the values of parts to their slices."""
    now = {name: reads(value) if isinstance(value, Reference) else value for name, value in given.items()}
    changes = []
    for name, value in formula(_InputAttributes({**now, **switches})).items():
        part = given[name].part
        changes.append(
            _raw.ResourceStridedSliceAssign(
                ref=given[name].handle,
                begin=list(part.begin),
                end=[begin + size for begin, size in zip(part.begin, part.size, strict=True)],
                strides=[1] * len(part.size),
                value=value,
            )
        )
    return tf.group(*changes)


# ------------------------------------------------------------------------------------------------------------- formulas


class _InputAttributes(dict[str, Any]):
    """The inputs of an operation, as attributes."""

    __getattr__ = dict.__getitem__


def _target(o: Any) -> str:
    return "ref" if "ref" in o else "resource"


def _momentum(o: Any) -> Mapping[str, Any]:
    accum = o.accum * o.momentum + o.grad
    step = o.grad + o.momentum * accum if o.get("use_nesterov") else accum
    return {"accum": accum, "var": o.var - o.lr * step}


def _adam(o: Any) -> Mapping[str, Any]:
    m = o.m + (o.grad - o.m) * (1.0 - o.beta1)
    v = o.v + (tf.square(o.grad) - o.v) * (1.0 - o.beta2)
    rate = o.lr * tf.sqrt(1.0 - o.beta2_power) / (1.0 - o.beta1_power)
    ahead = o.beta1 * m + (1.0 - o.beta1) * o.grad if o.get("use_nesterov") else m
    return {"m": m, "v": v, "var": o.var - rate * ahead / (tf.sqrt(v) + o.epsilon)}


def _rms_prop(o: Any) -> Mapping[str, Any]:
    ms = o.ms + (tf.square(o.grad) - o.ms) * (1.0 - o.rho)
    means = {"mg": o.mg + (o.grad - o.mg) * (1.0 - o.rho)} if "mg" in o else {}
    variance = ms - tf.square(means["mg"]) if means else ms
    mom = o.momentum * o.mom + o.lr * o.grad * tf.math.rsqrt(variance + o.epsilon)
    return {"ms": ms, "mom": mom, "var": o.var - mom, **means}


def _adagrad(o: Any) -> Mapping[str, Any]:
    accum = o.accum + tf.square(o.grad) if o.get("update_slots", True) else o.accum
    return {"accum": accum, "var": o.var - o.lr * o.grad * tf.math.rsqrt(accum)}


def _adadelta(o: Any) -> Mapping[str, Any]:
    accum = o.rho * o.accum + (1.0 - o.rho) * tf.square(o.grad)
    step = tf.sqrt(o.accum_update + o.epsilon) * tf.math.rsqrt(accum + o.epsilon) * o.grad
    accum_update = o.rho * o.accum_update + (1.0 - o.rho) * tf.square(step)
    return {"accum": accum, "accum_update": accum_update, "var": o.var - o.lr * step}


def _ftrl(o: Any) -> Mapping[str, Any]:
    accum = o.accum + tf.square(o.grad)
    before, after = (tf.pow(each, -o.lr_power) / o.lr for each in (o.accum, accum))
    shrinkage = 2.0 * o.l2_shrinkage * o.var if "l2_shrinkage" in o else 0.0
    linear = o.linear + o.grad + shrinkage - (after - before) * o.var
    var = (tf.sign(linear) * o.l1 - linear) / (after + 2.0 * o.l2)
    return {"accum": accum, "linear": linear, "var": tf.where(tf.abs(linear) > o.l1, var, tf.zeros_like(var))}


_FORMULAS: Mapping[str, _Formula] = {
    "Assign": lambda o: {_target(o): o.value},
    "AssignAdd": lambda o: {_target(o): o[_target(o)] + o.value},
    "AssignSub": lambda o: {_target(o): o[_target(o)] - o.value},
    "ApplyGradientDescent": lambda o: {"var": o.var - o.alpha * o.delta},
    "ApplyMomentum": _momentum,
    "ApplyAdam": _adam,
    "ApplyRMSProp": _rms_prop,
    "ApplyCenteredRMSProp": _rms_prop,
    "ApplyAdagrad": _adagrad,
    "ApplyAdadelta": _adadelta,
    "ApplyFtrl": _ftrl,
    "ApplyFtrlV2": _ftrl,
}
