"""Random operations that several requests run, each of which becomes a function of its own.

In TensorFlow 1 these requests share one operation, and with it one stream of random numbers. Each function of
TensorFlow 2 has an operation of its own, and a stream that begins anew. Without a seed this changes no result that
could be repeated; with a seed all functions draw the same numbers, which the requests did not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from ..requests.request import NotPossible, names_in
from . import slices
from .kinds import DRAWING, Kind, creates
from .outputs import GRAPH_SEEDS
from .purity import called_functions
from .statements import Item
from .unit import Unit

__all__ = ["SHARED_DRAW", "check_shared_draws"]

#: What is said where several requests draw, and other numbers than in TensorFlow 1 anyway.
SHARED_DRAW = (
    "Several requests draw random numbers here, in TensorFlow 1 one after the other from one sequence; here each "
    "function begins the same sequence for itself."
)
#: Functions that draw -> by which position they are given a seed.
_SEED_PLACES = {
    "tf.random_uniform": 4, "tf.random_normal": 4, "tf.truncated_normal": 4, "tf.random_gamma": 4,
    "tf.random_poisson": 3, "tf.random_shuffle": 1, "tf.random_crop": 2, "tf.multinomial": 2, "tf.nn.dropout": 3,
    "tf.random.uniform": 4, "tf.random.normal": 4, "tf.random.truncated_normal": 4, "tf.random.gamma": 4,
    "tf.random.poisson": 3, "tf.random.shuffle": 1, "tf.image.random_crop": 2, "tf.random.multinomial": 2,
}  # fmt: skip
_NOT_DRAWING = (*GRAPH_SEEDS, "tf.random_uniform_initializer", "tf.random_normal_initializer")
#: What has variables whose first values are written where it is made.
_VARIABLES = {"tf.Variable": ("initial_value", 0), "tf.get_variable": ("initializer", 3)}


def check_shared_draws(unit: Unit, moved: Sequence[Item]) -> None:
    """Refuse a graph of which several requests draw from an operation with a seed; note it where weights are drawn.

    Such weights begin with other numbers in TensorFlow 2, so that all that is computed by them is other anyway.

    Raises:
        NotPossible: They do, and compute what would be the same otherwise.
    """
    has_seed = any(use.name in GRAPH_SEEDS for use in unit.file.uses)
    drawing = {item: call for item in moved if (call := _draw(unit, item, has_seed)) is not None}
    if not drawing:
        return
    needs = [slices.needed(unit.items, names_in(each.leaves), each.feeds) for each in unit.requests]
    for item, call in drawing.items():
        sharing = [each for each in needs if item in each]
        if len(sharing) < 2:
            continue
        if not any(_has_drawn_weights(unit, each) for items in sharing for each in items):
            raise NotPossible(call, "Several requests draw from a random operation with a seed, in turn")
        unit.shared_draws[item.statement] = None


def _draw(unit: Unit, item: Item, has_seed: bool) -> ast.Call | None:
    """The call that draws with a seed in a statement or a function of it; dropout only with a seed of its own."""
    for node in (item.statement, *called_functions(unit, item.statement)):
        for call in ast.walk(node):
            if not isinstance(call, ast.Call) or unit.kinds.symbol(call.func) in _NOT_DRAWING:
                continue
            symbol = unit.kinds.symbol(call.func) or ""
            is_sample = not symbol and isinstance(call.func, ast.Attribute) and call.func.attr == "sample"
            is_drawing = symbol.startswith(DRAWING) or is_sample
            if (is_drawing or symbol == "tf.nn.dropout") and (_has_own_seed(symbol, call) or (has_seed and is_drawing)):
                return call
    return None


def _has_own_seed(symbol: str, call: ast.Call) -> bool:
    place = _SEED_PLACES.get(symbol)
    given = call.args[place : place + 1] if place is not None else []
    given += [each.value for each in call.keywords if each.arg == "seed"]
    return any(not isinstance(each, ast.Constant) or each.value is not None for each in given)


def _has_drawn_weights(unit: Unit, item: Item) -> bool:
    """Whether a statement makes variables whose first values TensorFlow 2 draws as others."""
    nodes = [item.statement, *called_functions(unit, item.statement)]
    calls = [each for node in nodes for each in ast.walk(node) if isinstance(each, ast.Call)]
    return any(_is_drawn(unit, each) for each in calls)


def _is_drawn(unit: Unit, call: ast.Call) -> bool:
    symbol = unit.kinds.symbol(call.func) or ""
    if symbol not in _VARIABLES:
        is_layer = creates(symbol) in ("layer", "keras layer", "cell")
        return is_layer and not re.search("(?i)dropout|flatten|pool", symbol)
    name, place = _VARIABLES[symbol]
    given = [*call.args[place : place + 1], *(each.value for each in call.keywords if each.arg == name)]
    return not given or any(_draws_others(unit, each) for each in ast.walk(given[0]))


def _draws_others(unit: Unit, node: ast.AST) -> bool:
    """Whether a part of an initial value is drawn without a seed of its own, or by an initializer."""
    if isinstance(node, ast.Name):
        return unit.scope.get(node.id) is Kind.RANDOM
    symbol = unit.kinds.symbol(node.func) if isinstance(node, ast.Call) else None
    if symbol is None or not isinstance(node, ast.Call):
        return False
    if symbol.endswith("initializer"):
        return not re.search("zeros|ones|constant", symbol)
    return symbol.startswith(DRAWING) and not _has_own_seed(symbol, node)
