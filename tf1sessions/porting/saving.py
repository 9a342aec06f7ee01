"""A graph's calls as a SavedModel has them: for plain TensorFlow 2, which knows nothing of this package."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from typing import Any

from tf1sessions.porting.calls import GraphFunction, argument_names
from tf1sessions.runtime import tf

__all__ = ["by_keyword", "flat"]

tf2: Any = tf.compat.v2


def by_keyword(call: GraphFunction) -> Any:
    """A ``tf.function`` of the inputs by name; by one dict, where a name is none that Python or TensorFlow takes."""
    plain = all(
        name.isidentifier() and not keyword.iskeyword(name) and name != "self" and not name.startswith("_")
        for name in call.inputs
    )

    def run(*structure: Any, **named: Any) -> Any:
        given = {**(structure[0] if structure else {}), **named}
        return call(given)

    made = tf2.function(run, autograph=False)
    required = [name for name, spec in call.inputs.items() if not spec.optional]
    for names in dict.fromkeys((tuple(required), tuple(call.inputs))):
        specs = dict(zip(names, _specs(call, names), strict=True))
        made.get_concrete_function(**specs) if plain else made.get_concrete_function(specs)
    return made


def flat(call: GraphFunction) -> Any:
    """A concrete function that takes the inputs without a default, and gives a dict."""
    names = [name for name, spec in call.inputs.items() if not spec.optional]
    specs = _specs(call, names)

    def run(*values: Any) -> dict[str, Any]:
        results = tf.nest.flatten(call(dict(zip(names, values, strict=True))))
        return dict(zip(call.output_names, results, strict=True))

    return tf2.function(run, autograph=False).get_concrete_function(*specs)


def _specs(call: GraphFunction, names: Sequence[str]) -> list[Any]:
    """The arguments for these inputs."""
    arguments = argument_names(names)
    return [tf.TensorSpec(call.inputs[name].shape, call.inputs[name].dtype, arguments[name]) for name in names]
