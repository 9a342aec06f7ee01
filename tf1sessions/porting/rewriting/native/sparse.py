"""Requests that fetch sparse tensors, or gradients that are tf.IndexedSlices: those have no ``numpy()``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ....source.uses import bodies
from ..requests.request import NotPossible
from .kinds import CHANGING, Kind, Kinds, Scope, base_names
from .unit import Unit

__all__ = ["check_fetches"]

_SPARSE, _SLICES = "a sparse tensor", "the gradient of an embedding, which has some rows alone"
#: Functions of ``tf.sparse``, and of older names, that give sparse tensors, or lists or tuples of them.
_MAKERS = frozenset(
    "concat cross cross_hashed expand_dims eye fill_empty_rows from_dense mask maximum merge minimum placeholder "
    "reduce_max_sparse reduce_sum_sparse reorder reset_shape reshape retain slice softmax split transpose".split()
)
_OTHERS = frozenset(
    "tf.SparseTensor tf.sparse.SparseTensor tf.string_split tf.strings.split tf.strings.bytes_split "
    "tf.strings.ngrams tf.strings.unicode_decode tf.strings.unicode_split tf.deserialize_many_sparse "
    "tf.io.deserialize_many_sparse tf1sessions.contrib.layers.dense_to_sparse".split()
)
_STARTS = ("tf.ragged.", "tf.RaggedTensor.", "tf.sets.", "tf.nn.ctc_greedy_decoder", "tf.nn.ctc_beam_search_decoder")
_DENSE_SETS = ("tf.sets.size", "tf.sets.set_size")
_PARSERS = frozenset("parse_example parse_single_example parse_sequence_example parse_single_sequence_example".split())
_SPARSE_FEATURES = frozenset(["SparseFeature", "VarLenFeature"])
#: What gives the same kind that it is given.
_KEEPING = {
    _SPARSE: frozenset(
        "abs cast cond convert_to_tensor_or_sparse_tensor erf identity negative sign sqrt square tanh to_double "
        "to_float to_int32 to_int64 tuple".split()
    ),
    _SLICES: frozenset(
        "clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value cond identity tuple".split()
    ),
}
_EMBEDDINGS = frozenset(["embedding_lookup", "embedding_lookup_sparse", "gather", "Embedding", "embed_sequence"])
_LISTS = frozenset("dict enumerate list map reversed sorted tuple zip".split())
_FIRST = ("ctc_greedy_decoder", "ctc_beam_search_decoder", "ctc_beam_search_decoder_v2", "clip_by_global_norm")
_DEPTH = 8  # of functions that call functions


def check_fetches(unit: Unit) -> None:
    """Refuse a request that may fetch what has no array.

    Raises:
        NotPossible: One does.
    """
    uses = [use.name for use in unit.file.uses]
    has_gradients = any(each.rpartition(".")[2] in _EMBEDDINGS for each in uses)
    if not has_gradients and not any(_is_maker(each) or each.rpartition(".")[2] in _PARSERS for each in uses):
        return
    for request in unit.requests:
        if request.statement is not None:
            _check(unit, request.statement, request.leaves)
    for node in ast.walk(unit.node):
        function = node.func if isinstance(node, ast.Call) else None
        if isinstance(function, ast.Attribute) and function.attr == "run" and isinstance(function.value, ast.Name):
            if function.value.id == unit.legacy:
                _check(unit, node, node.args)  # type: ignore[attr-defined]


def _check(unit: Unit, place: ast.AST, fetches: Iterable[ast.expr]) -> None:
    line: int = place.lineno  # type: ignore[attr-defined]
    found = _Kept(unit.kinds, unit.scope)
    found.run(unit.node.body, before=line)
    for each in fetches:
        if (what := found.of(each)) is not None:
            raise NotPossible(place, f"A request may fetch {what}")


def _is_maker(symbol: str) -> bool:
    """Whether a name of a library is a function that gives sparse tensors."""
    is_of_sparse = symbol.startswith(("tf.sparse.", "tf.sparse_"))
    if is_of_sparse and symbol.removeprefix("tf.sparse.").removeprefix("tf.sparse_") in _MAKERS:
        return True
    return symbol in _OTHERS or (symbol.startswith(_STARTS) and symbol not in _DENSE_SETS)


class _Kept:
    """Goes through statements that build a graph, and notes which names may be bound to what has no array.

    Args:
        kinds: Of the file.
        scope: The kinds of the names.
        depth: Of the functions around the statements.
    """

    def __init__(self, kinds: Kinds, scope: Scope, depth: int = 0) -> None:
        self._kinds, self._scope, self._depth = kinds, scope, depth
        self.names: dict[str, str | None] = {}
        self.given: str | None = None  # what is returned
        calls = [each for each in ast.walk(kinds.file.tree) if isinstance(each, ast.Call)]
        embedding = [each for each in calls if self._last(each) in _EMBEDDINGS]
        #: The texts of the variables of which embeddings are looked up.
        self._embedded = {ast.unparse(each.args[0]) for each in embedding if each.args}
        self._has_embeddings = bool(embedding)
        self._has_features = any(self._last(each) in _SPARSE_FEATURES for each in calls)

    def _last(self, call: ast.Call) -> str:
        attribute = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        return (self._kinds.symbol(call.func) or attribute).rpartition(".")[2]

    # -- statements ------------------------------------------------------------------------------------------------

    def run(self, statements: Sequence[ast.stmt], *, before: int | None = None, surely: bool = True) -> None:
        for each in statements:
            if before is not None and each.lineno >= before:
                break
            if isinstance(each, ast.Assign):
                for target in each.targets:
                    self._bind(target, self.of(each.value), self._is_first(each.value), surely)
            elif isinstance(each, ast.AnnAssign) and each.value is not None:
                self._bind(each.target, self.of(each.value), False, surely)
            elif isinstance(each, ast.AugAssign):
                self._bind(each.target, self._joined([each.target, each.value], {_SPARSE}), False, False)
            elif isinstance(each, ast.Return):
                self.given = self.given or self.of(each.value)
            elif isinstance(each, ast.For):
                self._bind(each.target, self.of(each.iter), False, surely)
            elif isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
                function = each.value.func
                if isinstance(function, ast.Attribute) and function.attr in CHANGING:
                    for name in base_names(function):
                        self.names[name] = self.names.get(name) or self._joined(each.value.args)
            if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                for body in bodies(each):
                    self.run(body, before=before, surely=surely and isinstance(each, ast.With))

    def _is_first(self, node: ast.expr) -> bool:
        """Whether a call gives two values, of which the first may have no array."""
        return isinstance(node, ast.Call) and self._last(node) in _FIRST

    def _bind(self, target: ast.expr, what: str | None, is_first: bool, surely: bool) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            for number, each in enumerate(target.elts):
                self._bind(each, None if is_first and number else what, False, surely)
        elif isinstance(target, ast.Starred):
            self._bind(target.value, what, False, surely)
        elif isinstance(target, ast.Name):
            self.names[target.id] = what if surely else self.names.get(target.id) or what
        else:
            for name in base_names(target):
                self.names[name] = self.names.get(name) or what

    # -- expressions -----------------------------------------------------------------------------------------------

    def of(self, node: ast.expr | None) -> str | None:
        """Return what the value of an expression, or a part of it, may be that has no array."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Subscript):
            is_second = (
                self._is_first(node.value) and isinstance(node.slice, ast.Constant) and node.slice.value in (1, -1)
            )
            return None if is_second else self.of(node.value)
        if isinstance(node, ast.Starred):
            return self.of(node.value)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return self._joined(node.elts)
        if isinstance(node, ast.Dict):
            return self._joined(node.values)
        if isinstance(node, ast.IfExp):
            return self._joined([node.body, node.orelse])
        if isinstance(node, ast.BinOp):  # slices become dense in it, but a list of them is added to another one
            is_sum = isinstance(node.op, ast.Add)
            return self._joined([node.left, node.right], {_SPARSE, _SLICES} if is_sum else {_SPARSE})
        if isinstance(node, ast.UnaryOp):
            return self._joined([node.operand], {_SPARSE})
        if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
            for each in node.generators:
                self._bind(each.target, self.of(each.iter), False, True)
            return self.of(node.value if isinstance(node, ast.DictComp) else node.elt)
        return self.of(node.body) if isinstance(node, ast.Lambda) else None

    def _joined(self, nodes: Iterable[ast.expr], kept: Iterable[str] = (_SPARSE, _SLICES)) -> str | None:
        found = (self.of(each) for each in nodes)
        return next((each for each in found if each is not None and each in kept), None)

    def _call(self, node: ast.Call) -> str | None:
        symbol, name = self._kinds.symbol(node.func) or "", self._last(node)
        given = [*node.args, *(each.value for each in node.keywords)]
        if symbol == "tf.IndexedSlices":
            return _SLICES
        if symbol in ("tf.sparse_add", "tf.sparse.add"):  # with what is dense it is dense
            return _SPARSE if [self.of(each) for each in node.args[:2]] == [_SPARSE, _SPARSE] else None
        if _is_maker(symbol) or (symbol and name in _PARSERS and self._has_features):
            return _SPARSE
        if symbol == "tf.gradients" or (not symbol and name == "compute_gradients"):
            return _SLICES if self._of_embedding(node) else None
        if symbol:
            return next(
                (kind for kind, names in _KEEPING.items() if name in names and self._joined(given, [kind])), None
            )
        if isinstance(node.func, ast.Name) and (function := self._kinds.functions.get(node.func.id)) is not None:
            return self._called(function, node)
        if isinstance(node.func, ast.Name) and node.func.id in _LISTS:
            return self._joined(given)
        is_part = isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "items", "pop", "values")
        return self.of(node.func.value) if is_part else None  # type: ignore[attr-defined]

    def _of_embedding(self, call: ast.Call) -> bool:
        """Whether gradients may be taken of a variable of which embeddings are looked up."""
        if not self._has_embeddings:
            return False
        place = {"gradients": ("xs",), "compute_gradients": ("var_list",)}[self._last(call)]
        named = [each.value for each in call.keywords if each.arg in place]
        variables = next(iter([*named, *call.args[1:2]]), None)
        parts = variables.elts if isinstance(variables, ast.List | ast.Tuple) else [variables]
        texts = [ast.unparse(each) for each in parts if isinstance(each, ast.Name | ast.Attribute | ast.Subscript)]
        if len(texts) < len(parts):  # all variables, or a list that is made elsewhere
            return True
        lists = [each for each in texts if self._scope.get(each) is Kind.VARIABLES]
        return bool(self._embedded & {*texts} or lists)

    def _called(self, function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call) -> str | None:
        """Return what the result of a function of the program may be that has no array."""
        if self._depth > _DEPTH:
            return None
        inside = _Kept(self._kinds, self._scope, self._depth + 1)
        inside.names = dict(self.names)
        names = [each.arg for each in [*function.args.posonlyargs, *function.args.args]]
        given = dict(zip(names, map(self.of, call.args), strict=False))
        inside.names |= {**dict.fromkeys(names), **given}
        inside.names |= {each.arg: self.of(each.value) for each in call.keywords if each.arg}
        inside.run(function.body)
        return inside.given
