"""Names and orders of arguments that left with TensorFlow 1.0: ``tf.mul``, ``tf.concat(1, values)``."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from ....source.edits import Edit
from ....source.uses import FileUses, Use
from ..rule import Change, Rule
from ..scopes import is_tried
from . import clean_arguments
from .clean_arguments import ArgumentChange

__all__ = ["RULE", "find"]

#: Names whose arguments, or modules whose names, are those of what took their place.
_SAME = {
    "mul": "multiply", "sub": "subtract", "neg": "negative", "pack": "stack", "unpack": "unstack", "inv": "reciprocal",
    "complex_abs": "abs", "concat_v2": "concat", "merge_summary": "summary.merge",
    "merge_all_summaries": "summary.merge_all", "train.SummaryWriter": "summary.FileWriter",
    "initialize_variables": "variables_initializer", "image.random_crop": "random_crop", "nn.rnn": "nn.static_rnn",
    "nn.bidirectional_rnn": "nn.static_bidirectional_rnn", "nn.state_saving_rnn": "nn.static_state_saving_rnn",
    "nn.seq2seq": "contrib.legacy_seq2seq", "nn.deconv2d": "nn.conv2d_transpose",
    **{f"batch_{name}": name
       for name in ("cholesky", "cholesky_solve", "fft", "fft2d", "fft3d", "ifft", "ifft2d", "ifft3d",
                    "matrix_band_part", "matrix_determinant", "matrix_diag", "matrix_diag_part", "matrix_inverse",
                    "matrix_set_diag", "matrix_solve", "matrix_solve_ls", "matrix_triangular_solve",
                    "self_adjoint_eig", "self_adjoint_eigvals", "svd")},
}  # fmt: skip
_CALLS = {
    "select": ArgumentChange("where", 4, {"condition": "condition", "t": "x", "e": "y", "name": "name"}),
    "listdiff": ArgumentChange("setdiff1d", 2, {"x": "x", "y": "y", "name": "name"}),
    "batch_matmul": ArgumentChange(
        "matmul", 2, {"x": "a", "y": "b", "adj_x": "adjoint_a", "adj_y": "adjoint_b", "name": "name"}
    ),
    "batch_matrix_transpose": ArgumentChange("matrix_transpose", 2, {"matrix": "a", "name": "name"}),
    "scalar_summary": ArgumentChange(
        "summary.scalar", 3, {"tags": "name", "values": "tensor", "collections": "collections"}
    ),
    "histogram_summary": ArgumentChange(
        "summary.histogram", 3, {"tag": "name", "values": "values", "collections": "collections"}
    ),
    "image_summary": ArgumentChange(
        "summary.image", 4,
        {"tag": "name", "tensor": "tensor", "max_images": "max_outputs", "collections": "collections"},
    ),
    "audio_summary": ArgumentChange(
        "summary.audio", 5,
        {"tag": "name", "tensor": "tensor", "sample_rate": "sample_rate", "max_outputs": "max_outputs",
         "collections": "collections"},
    ),
}  # fmt: skip
#: Losses that took (logits, labels) by position, and take arguments by name only.
_LOSSES = frozenset(
    f"nn.{name}_cross_entropy_with_logits" for name in ("sigmoid", "softmax", "sparse_softmax", "softmax_v2")
)
_NAMES = {
    "concat": {"concat_dim": "axis"},
    "split": {"split_dim": "axis", "num_split": "num_or_size_splits"},
    "nn.sigmoid_cross_entropy_with_logits": {"targets": "labels"},
}
_REORDERED = _LOSSES | _NAMES.keys()


def find(file: FileUses) -> Iterator[Change]:
    """Find the names, arguments and orders of arguments that a file has from before TensorFlow 1.0."""
    for use in file.uses:
        if not use.name.startswith("tf.") or not use.direct or not isinstance(use.node, ast.Attribute):
            continue
        name = use.name.removeprefix("tf.")
        edits = _renamed(file, use, name) if _old_name(name) else _reordered(file, use.call, name)
        if edits and not is_tried(file, use.node, use.name):
            yield Change(use.node, f"{use.name} as before TensorFlow 1.0", tuple(edits))


@functools.lru_cache(maxsize=4096)
def _old_name(name: str) -> str | None:
    """The entry that a name is, or is below: ``nn.seq2seq`` of ``nn.seq2seq.rnn_decoder``."""
    while name and name not in _SAME and name not in _CALLS:
        name = name.rpartition(".")[0]
    return name or None


def _renamed(file: FileUses, use: Use, name: str) -> list[Edit] | None:
    old = _old_name(name)
    assert old is not None
    part = file.part_of(use.node, use.symbol.removesuffix(name[len(old) :]))
    text = file.positions.source(part) if part is not None else ""
    if part is None or not text.endswith(f".{old}"):
        return None
    edits: list[Edit] | None = []
    if old in _CALLS:
        if name != old or _has_list_of_tags(use.call):
            return None
        edits = clean_arguments.edits(file, use.call, _CALLS[old])
    new = _SAME.get(old) or _CALLS[old].target
    return None if edits is None else [file.positions.replace(part, text.removesuffix(old) + new), *edits]


def _has_list_of_tags(call: ast.Call | None) -> bool:
    """Whether a summary is of several values with a tag each, which no summary is now."""
    return call is not None and bool(call.args) and isinstance(call.args[0], ast.List | ast.Tuple)


def _reordered(file: FileUses, call: ast.Call | None, name: str) -> list[Edit] | None:
    if name not in _REORDERED or call is None or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    if name in _LOSSES and len(call.args) == 2:
        texts = [file.positions.source(each) for each in call.args]
        named = zip(call.args, ("logits", "labels"), texts, strict=True)
        return [file.positions.replace(node, f"{argument}={text}") for node, argument, text in named]
    if call.args and _is_number(call.args[0]) and not _is_number(call.args[-1]):
        if name == "concat" and len(call.args) >= 2:
            return _permuted(file, call, (1, 0))
        if name == "split" and len(call.args) >= 3:
            return _permuted(file, call, (2, 1, 0))
    elif name in _NAMES and not call.args:
        names = _NAMES[name]
        if any(each.arg in names for each in call.keywords):
            return clean_arguments.keywords(file, call, names)
    return None


def _is_number(node: ast.expr) -> bool:
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant) and type(node.value) is int


def _permuted(file: FileUses, call: ast.Call, order: tuple[int, ...]) -> list[Edit]:
    """Put the arguments number ``order`` in the places of the first ones."""
    nodes = [call.args[number] for number in order]
    texts = [file.positions.source(node) for node in nodes]
    return [
        file.positions.replace(place, text)
        for place, node, text in zip(call.args, nodes, texts, strict=False)
        if place is not node
    ]


RULE = Rule(
    "v1-first-names",
    "Gives names, arguments and orders of arguments that left with TensorFlow 1.0 those that took their place.",
    find,
)
