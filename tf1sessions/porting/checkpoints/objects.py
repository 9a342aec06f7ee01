"""The variables of objects, each by a name of its own: Keras models, modules, ``tf.train.Checkpoint``, dictionaries.

What is asked of a variable is what TensorFlow's, ``tf_keras``'s and Keras 3's have in common: ``shape``, ``dtype``,
``assign`` and ``numpy``.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from tf1sessions.errors import UsageError
from tf1sessions.porting.checkpoints.reading import Spec
from tf1sessions.runtime import tf
from tf1sessions.texts import brief

__all__ = ["ValueHolder", "check_variable", "holders_of", "library_of", "spec_of"]

_ASKED = ("shape", "dtype", "numpy", "assign")


@dataclasses.dataclass(frozen=True)
class ValueHolder:
    """A place for a value: a variable, or one that will be there when it is needed.

    Attributes:
        spec: Its name, shape and dtype.
        get: Returns the variable.
    """

    spec: Spec
    get: Callable[[], Any]

    def value(self) -> Any:
        """The value as an array of its own."""
        return np.array(self.get().numpy())

    def assign(self, value: Any) -> None:
        """Sets the value."""
        self.get().assign(value)


def library_of(thing: Any) -> str:
    """Return the Keras that an object is of: ``"keras"``, ``"tf_keras"``, or neither: ``""``."""
    for each in type(thing).__mro__:
        top, _, rest = each.__module__.partition(".")
        if top in ("keras", "tf_keras") and not rest.startswith("src.backend.tensorflow.trackable"):
            return top
    return ""


def spec_of(variable: Any, name: str) -> Spec:
    """Return what is known of a variable, under a name."""
    shape = variable.shape
    if getattr(shape, "rank", 0) is None:
        shape = np.shape(variable.numpy())  # it may have any; this is the one that it has now
    elif hasattr(shape, "as_list"):
        shape = shape.as_list()
    dtype = variable.dtype
    return Spec(
        name,
        tuple(None if dim is None else int(dim) for dim in shape),
        dtype if isinstance(dtype, str) else tf.as_dtype(dtype).base_dtype.name,
        bool(getattr(variable, "trainable", True)),
    )


def holders_of(objects: Any, settable: bool = False) -> dict[str, ValueHolder]:
    """The variables of objects by name.

    Args:
        objects: A mapping of variables by name; something with such a mapping as ``by_name``, like the modules of
            :func:`tf1sessions.porting.function`; a model or layer of Keras 3 or tf_keras; an iterable of variables;
            or what ``tf.train.Checkpoint`` takes and itself, such as a ``tf.Module``.
        settable: Whether they are to be set, which tensors and arrays cannot be.

    Returns:
        Name -> variable, in the order of the objects. The names are those of the mapping; of Keras those of the
        variables, without the model's own; of other objects the paths to the variables.

    Raises:
        UsageError: There are no variables, they are those of a graph, or the objects are none of these.
    """
    named = list(_named(objects))
    for name, variable in named:
        check_variable(variable, f"{name!r} of the objects of a checkpoint", settable)
    of_graphs = [name for name, variable in named if getattr(variable, "_in_graph_mode", False)]
    if of_graphs or not tf.executing_eagerly():
        raise UsageError(
            f"{of_graphs[0]!r} is a variable of a graph" if of_graphs else "TensorFlow is not eager here",
            where="the objects of a checkpoint",
            next_step="A graph's variables have their values in sessions: use tf.train.Saver, or make a module of the "
            "graph by porting.function().",
        )
    counts = collections.Counter(name for name, _ in named)
    if any(count > 1 for count in counts.values()):
        paths = {id(variable): path for path, variable in _walk(objects)} if _is_trackable(objects) else {}
        named = [
            (name if counts[name] == 1 else paths.get(id(variable), f"{name}#{index}"), variable)
            for index, (name, variable) in enumerate(named)
        ]
    if not named:
        raise UsageError(
            f"{type(objects).__name__} has no variables",
            where="the objects of a checkpoint",
            next_step="A Keras model has them after build(), or after it was called once on a batch.",
        )
    found: dict[str, ValueHolder] = {}
    for name, variable in named:
        found[name] = ValueHolder(spec_of(variable, name), _returns(variable))
    return found


def _returns(variable: Any) -> Callable[[], Any]:
    return lambda: variable


def _named(objects: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(objects, Mapping):
        return [(str(name).removesuffix(":0"), variable) for name, variable in objects.items()]
    if isinstance(getattr(objects, "by_name", None), Mapping):
        return _named(dict(objects.by_name))
    if library_of(objects) and hasattr(objects, "weights"):
        return _of_keras(objects)
    if isinstance(objects, Iterable) and not isinstance(objects, str | bytes) and not _is_trackable(objects):
        return [(_own_name(variable), variable) for variable in objects]
    if _is_trackable(objects):
        return _walk(objects)
    raise UsageError(
        f"{objects!r} is nothing that has variables",
        where="the objects of a checkpoint",
        next_step="Give a Keras model, a tf.Module, a tf.train.Checkpoint, or a dict of variables.",
    )


def _own_name(variable: Any) -> str:
    if not _is_variable(variable):
        raise UsageError(
            f"{variable!r} is no variable", where="the objects of a checkpoint", next_step="Give variables only."
        )
    return str(getattr(variable, "path", None) or variable.name).removesuffix(":0")


def _of_keras(model: Any) -> list[tuple[str, Any]]:
    """The weights of a model; without the model's own name where each begins with it."""
    named = [(_own_name(variable), variable) for variable in model.weights]
    prefix = f"{getattr(model, 'name', '')}/"
    if len(prefix) > 1 and all(name.startswith(prefix) and name.count("/") > 1 for name, _ in named):
        named = [(name.removeprefix(prefix), variable) for name, variable in named]
    return named


def check_variable(thing: Any, where: str, settable: bool = True) -> None:
    """Raises unless something has what is asked of a variable.

    Raises:
        UsageError: It has not.
    """
    lacking = [name for name in _ASKED if not hasattr(thing, name) and (settable or name != "assign")]
    if lacking:
        raise UsageError(
            f"{brief(thing)} is no variable: it has no {lacking[0]}",
            where=where,
            next_step="Give a variable of TensorFlow, Keras 3 or tf_keras"
            + ("; of nested dictionaries, a flat one with names such as 'scope/name'." if _is_nested(thing) else "."),
        )


def _is_nested(thing: Any) -> bool:
    return isinstance(thing, Mapping | list | tuple)


def _is_variable(thing: Any) -> bool:
    return all(hasattr(thing, name) for name in (*_ASKED, "name"))


def _is_trackable(thing: Any) -> bool:
    return hasattr(thing, "_trackable_children")


def _walk(root: Any) -> list[tuple[str, Any]]:
    """The variables that ``tf.train.Checkpoint`` would save, by the shortest path to each."""
    view = tf.compat.v2.train.TrackableView(root)
    found, seen = [], {id(root)}
    queue: list[tuple[str, Any]] = [("", root)]
    for path, thing in queue:
        for name, child in view.children(thing).items():
            if id(child) in seen:
                continue
            seen.add(id(child))
            below = f"{path}/{name}" if path else str(name)
            if _is_variable(child):
                if not (path == "" and name == "save_counter"):
                    found.append((below, child))
            else:
                queue.append((below, child))
    return found
