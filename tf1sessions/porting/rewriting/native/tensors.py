"""Whether an expression is one tensor, or may be a list of them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from . import summaries
from .kinds import Kinds, bound_names, creates
from .queues import queue_element
from .separation import METRIC_VALUE

__all__ = ["is_tensor"]

#: Functions of TensorFlow that give several tensors, or may do so.
_SEVERAL = frozenset(
    (
        "all_candidate_sampler batch bidirectional_dynamic_rnn case clip_by_global_norm compute_gradients cond "
        "ctc_beam_search_decoder ctc_beam_search_decoder_v2 ctc_greedy_decoder decode_csv decode_wav "
        "dynamic_partition dynamic_rnn eig eigh fixed_unigram_candidate_sampler foldl foldr fractional_avg_pool "
        "fractional_max_pool fused_batch_norm get_next gradients hessians identity_n image_gradients "
        "learned_unigram_candidate_sampler log_uniform_candidate_sampler lu map_fn max_pool_with_argmax meshgrid "
        "moments normalize_moments numpy_function parse_example parse_sequence_example parse_single_example "
        "parse_single_sequence_example py_func py_function qr raw_rnn sample_distorted_bounding_box scan "
        "self_adjoint_eig setdiff1d shape_n shuffle_batch slogdet split static_bidirectional_rnn static_rnn "
        "static_state_saving_rnn sufficient_statistics svd top_k tuple uniform_candidate_sampler unique "
        "unique_with_counts unpack unstack vectorized_map weighted_moments while_loop"
    ).split()
)
#: Functions of Python that give lists.
_LISTING = frozenset(["list", "sorted", "tuple"])
#: Libraries whose functions give tensors; that of another one may be ``OrderedDict(...)``.
_LIBRARIES = ("tf.", "tf1sessions.", "tf_keras.", "keras.", "tensorflow_probability.", "tensorflow_hub.")
#: In the names of layers that may give several tensors.
_RECURRENT = ("RNN", "LSTM", "GRU", "Bidirectional", "Attention", "Sequential")


def is_tensor(
    kinds: Kinds,
    node: ast.expr | None,
    statements: Sequence[ast.stmt],
    *,
    in_order: bool = False,
    given: frozenset[str] = frozenset(),
) -> bool:
    """Whether an expression is surely one tensor.

    Args:
        kinds: Of the file.
        node: The expression.
        statements: Those that bind its names.
        in_order: Whether these are executed in this order, and all before the expression.
        given: Names of functions that give one tensor.
    """
    if isinstance(node, ast.Name):
        binders = [each for each in statements if node.id in kinds.bound(each)]
        if in_order and binders and isinstance(last := binders[-1], ast.Assign) and node.id in map(_name, last.targets):
            before = statements[: list(statements).index(last)]
            return not summaries.is_merge(kinds, last.value) and is_tensor(kinds, last.value, before, in_order=True)
        if in_order and binders and isinstance(binders[-1], ast.Assign):
            return _is_one_of_several(kinds, binders[-1], node.id)
        if not binders:
            return node.id in kinds.placeholders
        plain = [each for each in binders if not isinstance(each, ast.AugAssign)]  # a tensor and more is one
        others = [each for each in statements if each not in binders]
        return bool(plain) and all(
            isinstance(each, ast.Assign)
            and all(isinstance(target, ast.Name) for target in each.targets)
            and not summaries.is_merge(kinds, each.value)
            and is_tensor(kinds, each.value, others, given=given)
            for each in plain
        )
    if isinstance(node, ast.Call):
        symbol = kinds.symbol(node.func)
        if queue_element(kinds, node):
            return True
        if isinstance(node.func, ast.Name) and (function := kinds.functions.get(node.func.id)) is not None:
            return _gives_a_tensor(kinds, function)
        if symbol == "tf.cond":
            branches = [*node.args[1:3], *(each.value for each in node.keywords if each.arg in ("true_fn", "false_fn"))]
            return all(isinstance(each, ast.Lambda) and is_tensor(kinds, each.body, statements) for each in branches)
        if symbol is None:
            return _name(node.func) in given or _is_layer(kinds, node.func, statements)
        is_nest = ".nest." in symbol
        return symbol.startswith(_LIBRARIES) and not is_nest and symbol.rpartition(".")[2] not in _SEVERAL
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):  # a metric's update
        symbol = kinds.symbol(node.value.func) or ""
        is_network = symbol.startswith("tf.nn.") and is_tensor(kinds, node.value, statements, given=given)
        return is_network or creates(symbol) == "metric"
    if isinstance(node, ast.Subscript):  # a part of a tensor
        return isinstance(node.value, ast.Name | ast.BinOp) and is_tensor(kinds, node.value, statements, given=given)
    if isinstance(node, ast.Attribute):
        return node.attr == METRIC_VALUE
    if isinstance(node, ast.BinOp) and any(_may_be_list(kinds, each, statements) for each in (node.left, node.right)):
        return any(is_tensor(kinds, each, statements, given=given) for each in (node.left, node.right))
    return isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare)


def _may_be_list(
    kinds: Kinds, node: ast.expr | None, statements: Sequence[ast.stmt], entered: frozenset[str] = frozenset()
) -> bool:
    """Whether an expression may be a list or a tuple: to add such to another one gives a list.

    Args:
        kinds: Of the file.
        node: The expression.
        statements: Those that bind its names.
        entered: The names of functions whose results are asked for already.
    """
    if isinstance(node, ast.Name):
        binders = [each for each in statements if isinstance(each, ast.Assign) and node.id in map(_name, each.targets)]
        others = [each for each in statements if each not in binders]
        return any(_may_be_list(kinds, each.value, others, entered) for each in binders)
    if isinstance(node, ast.Call):
        function = kinds.functions.get(_name(node.func) or "")
        if function is not None and function.name not in entered:
            inner = [each for each in ast.walk(function) if isinstance(each, ast.stmt)]
            returned = [each.value for each in inner if isinstance(each, ast.Return)]
            return any(_may_be_list(kinds, each, inner, entered | {function.name}) for each in returned)
        return _name(node.func) in _LISTING or (kinds.symbol(node.func) or "").rpartition(".")[2] in _SEVERAL
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice) and _may_be_list(kinds, node.value, statements, entered)
    if isinstance(node, ast.BinOp | ast.IfExp):
        parts = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.body, node.orelse)
        return any(_may_be_list(kinds, each, statements, entered) for each in parts)
    return isinstance(node, ast.List | ast.Tuple | ast.ListComp)


def _name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


def _gives_a_tensor(kinds: Kinds, function: ast.FunctionDef | ast.AsyncFunctionDef, place: int | None = None) -> bool:
    """Whether a function of the program surely returns one tensor, or at a place of the tuple that it returns."""
    inner = [each for each in ast.walk(function) if isinstance(each, ast.stmt)]
    returns = [each for each in inner if isinstance(each, ast.Return)]
    plain = [each for each in inner if not isinstance(each, ast.With | ast.FunctionDef | ast.Return)]
    plain = [each for each in plain if not isinstance(each, ast.If)]  # what they bind is in their bodies
    given = frozenset(_given_functions(kinds, function))
    values = [each.value if place is None else each.value.elts[place] for each in returns]  # type: ignore[union-attr]
    return bool(values) and all(is_tensor(kinds, each, plain, given=given) for each in values)


def _is_one_of_several(kinds: Kinds, statement: ast.Assign, name: str) -> bool:
    """Whether a name is bound to a result, surely one tensor, of a function of the program that returns a tuple."""
    target, call = statement.targets[0], statement.value
    function = kinds.functions.get(_name(call.func) or "") if isinstance(call, ast.Call) else None
    if function is None or len(statement.targets) > 1 or not isinstance(target, ast.Tuple | ast.List):
        return False
    if any(isinstance(each, ast.Starred) for each in target.elts):
        return False
    place = [_name(each) for each in target.elts].index(name)
    returned = [each.value for each in ast.walk(function) if isinstance(each, ast.Return)]
    if not all(isinstance(each, ast.Tuple) and len(each.elts) == len(target.elts) for each in returned):
        return False
    return _gives_a_tensor(kinds, function, place)


def _given_functions(kinds: Kinds, function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The parameters of a function that are None or functions of TensorFlow in all calls, each of which gives a tensor.

    Such as an activation.
    """
    parameters = [each.arg for each in function.args.args]
    defaults = dict(zip(reversed(parameters), reversed(function.args.defaults), strict=False))
    bound = {name for each in ast.walk(function) if isinstance(each, ast.stmt) for name in bound_names(each)}
    found = set(parameters) - bound
    for call in ast.walk(kinds.file.tree):
        if not isinstance(call, ast.Call) or _name(call.func) != function.name:
            continue
        if any(isinstance(each, ast.Starred) for each in call.args) or any(not each.arg for each in call.keywords):
            return set()
        given = defaults | dict(zip(parameters, call.args, strict=False))
        given |= {each.arg: each.value for each in call.keywords if each.arg}
        found = {name for name in found if name in given and _is_one_result(kinds, given[name])}
    return found


def _is_one_result(kinds: Kinds, node: ast.expr) -> bool:
    """Whether an expression is None, or a function of TensorFlow that gives one tensor."""
    symbol = kinds.symbol(node) or ""
    is_function = symbol.startswith("tf.") and symbol.rpartition(".")[2] not in _SEVERAL
    return is_function or (isinstance(node, ast.Constant) and node.value is None)


def _is_layer(kinds: Kinds, node: ast.expr, statements: Sequence[ast.stmt]) -> bool:
    """Whether an expression is a layer of Keras that gives one tensor: recurrent ones may give their states, too."""
    if isinstance(node, ast.Name):
        binders = [each for each in statements if node.id in kinds.bound(each)]
        return bool(binders) and all(
            isinstance(each, ast.Assign) and _is_layer(kinds, each.value, statements) for each in binders
        )
    symbol = kinds.symbol(node.func) if isinstance(node, ast.Call) else None
    return creates(symbol) == "keras layer" and not any(each in (symbol or "") for each in _RECURRENT)
