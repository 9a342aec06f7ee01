"""NumPy: names, arguments and methods that 1.18 to 2.4 removed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.edits import Edit
from ....source.old_names import NUMPY
from ....source.uses import FileUses, Use, canonical
from ..renames import (
    Row,
    Spelled,
    find_arguments,
    find_names,
    imports_library,
    method_call,
    spell,
    with_attribute,
    written,
)
from ..rule import Change, Remark, Rule
from ..scopes import is_free, names_of

__all__ = ["RULE", "find"]

_SINCE = "NumPy 2.0"
_KINDS = {"float": "floating", "int": "signedinteger", "complex": "complexfloating", "str": "character"}
_ARRAYS = frozenset(["np", "PIL", "array"])
_FINANCE = "fv ipmt irr mirr nper npv pmt ppmt pv rate"


def _fromstring(file: FileUses, use: Use) -> Spelled | None:
    """Bytes as numbers; ``sep=`` reads a text, and stays."""
    call = use.call
    if call is None or not call.args or any(each.arg not in ("dtype", "count") for each in call.keywords):
        return None
    found = spell(file, use, "numpy.frombuffer")
    start, end = file.positions.span(call.args[0])[0], file.positions.span(call)[1]
    return Spelled(f"{found.text}({file.source.text[start:end]}.copy()", found.imports)


def _is_text(file: FileUses, use: Use) -> bool:
    return use.call is not None and any(each.arg == "sep" for each in use.call.keywords)


_TABLE: dict[str, Row] = {
    **{f"numpy.{old}": Row(new if new.startswith("builtins.") else f"numpy.{new}", f"NumPy {since}")
       for old, (new, since) in NUMPY.items()},
    "numpy.alltrue": Row("numpy.all", _SINCE),
    "numpy.sometrue": Row("numpy.any", _SINCE),
    "numpy.row_stack": Row("numpy.vstack", "NumPy 2.4"),
    "numpy.trapz": Row("numpy.trapezoid", "NumPy 2.4"),
    "numpy.rank": Row("numpy.ndim", "NumPy 1.18"),
    "numpy.loads": Row("pickle.loads", "NumPy 1.23"),
    "numpy.math": Row("math", _SINCE),
    "numpy.sys": Row("sys", _SINCE),
    "numpy.warnings": Row("warnings", _SINCE),
    "numpy.asscalar": Row(None, "NumPy 1.23", written("{t0}.item()", 1), "np.asscalar(x) is x.item()."),
    "numpy.alen": Row(None, "NumPy 1.23", written("len({0})", 1), "np.alen(x) is len(x)."),
    "numpy.msort": Row(None, _SINCE, written("{f}({0}, axis=0)", 1, f="numpy.sort"),
                       "np.msort(x) is np.sort(x, axis=0)."),
    "numpy.asfarray": Row(None, _SINCE, written("{f}({0}, dtype=float)", 1, f="numpy.asarray"),
                          "np.asfarray(x, dtype) is np.asarray(x, dtype), of floats."),
    "numpy.in1d": Row(None, "NumPy 2.4", written("{f}({g}({0}), {1})", 2, f="numpy.isin", g="numpy.ravel"),
                      "np.in1d(a, b) is np.isin(np.ravel(a), b)."),
    "numpy.sctype2char": Row(None, _SINCE, written("{f}({0}).char", 1, f="numpy.dtype"), "Write np.dtype(x).char."),
    "numpy.issubsctype": Row("numpy.issubdtype", _SINCE),
    "numpy.issubclass_": Row("builtins.issubclass", _SINCE),
    "numpy.find_common_type": Row(None, _SINCE, remark="np.find_common_type() is gone: np.result_type() comes near."),
    "numpy.cast": Row(None, _SINCE, remark="np.cast[dtype](x) is np.asarray(x, dtype)."),
    "numpy.sctypes": Row(None, _SINCE, remark="np.sctypes is gone: list the types that are meant."),
    "numpy.nbytes": Row(None, _SINCE, remark="np.nbytes[dtype] is np.dtype(dtype).itemsize."),
    "numpy.NZERO": Row(None, _SINCE, remark="np.NZERO is -0.0."),
    "numpy.PZERO": Row(None, _SINCE, remark="np.PZERO is 0.0."),
    **{f"numpy.{name}": Row(None, "NumPy 1.20", remark=f"np.{name}() is in the package numpy_financial.")
       for name in _FINANCE.split()},
}  # fmt: skip
_ARGUMENTS: dict[str, dict[str, str | None]] = {
    **{f"numpy.{name}": {"interpolation": "method"}
       for name in ("percentile", "quantile", "nanpercentile", "nanquantile")},
    **{f"numpy.{name}": {"normed": "density"} for name in ("histogram", "histogram2d", "histogramdd")},
}  # fmt: skip
_ARGUMENTS_SINCE = {name: "NumPy 1.24" if "hist" in name else "NumPy 2.4" for name in _ARGUMENTS}


def find(file: FileUses) -> Iterator[Change | Remark]:
    """Find the names of NumPy that are gone."""
    if not imports_library(file, "numpy", "array", "PIL", "matplotlib"):
        return
    yield from find_names(file, _TABLE)
    yield from find_arguments(file, _ARGUMENTS, _ARGUMENTS_SINCE)
    for use in file.uses:
        if use.symbol == "numpy.fromstring" and use.call is not None and not _is_text(file, use):
            found = _fromstring(file, use)
            if found is not None:
                what = "np.fromstring() of bytes: np.frombuffer().copy() (NumPy 2.3)"
                yield Change(use.node, what, (file.positions.replace(use.call, found.text),), found.imports)
        elif use.symbol == "numpy.NINF" and isinstance(use.node, ast.Attribute) and use.direct:
            yield _minus(file, use)
        elif use.symbol == "numpy.issubdtype" and use.call is not None:
            yield from _kind(file, use, use.call)
        elif use.symbol == "numpy.reshape" and use.call is not None and len(use.call.args) == 1:
            yield from _shape(file, use.call)
    yield from _tostring(file)


def _kind(file: FileUses, use: Use, call: ast.Call) -> Iterator[Change]:
    """``np.issubdtype(x.dtype, float)`` asked for any float, and asks for that of 64 bits now."""
    kind = call.args[1] if len(call.args) == 2 else None
    if isinstance(kind, ast.Name) and kind.id in _KINDS and is_free(file, kind):
        found = spell(file, use, f"numpy.{_KINDS[kind.id]}")
        what = f"np.issubdtype(x, {kind.id}): np.{_KINDS[kind.id]} (NumPy 1.19)"
        yield Change(call, what, (file.positions.replace(kind, found.text),), found.imports)


def _minus(file: FileUses, use: Use) -> Change:
    text = f"-{spell(file, use, 'numpy.inf').text}"
    if isinstance(file.parents.get(use.node), ast.BinOp | ast.UnaryOp | ast.Attribute):
        text = f"({text})"
    return Change(use.node, "np.NINF: -np.inf (NumPy 2.0)", (file.positions.replace(use.node, text),))


def _shape(file: FileUses, call: ast.Call) -> Iterator[Change]:
    if call.keywords and call.keywords[0].arg == "newshape":
        start = file.positions.span(call.keywords[0])[0]
        edit = Edit(start, file.positions.span(call.keywords[0].value)[0], "")
        yield Change(call, "np.reshape(x, newshape=): by its place (NumPy 2.4)", (edit,))


def _tostring(file: FileUses) -> Iterator[Change | Remark]:
    """``x.tostring()`` of an array, which an array of the standard library and a picture had, too."""
    for function, call in file.calls.items():
        method = method_call(file, function, "tostring", "itemset")
        if method is None or _is_of_another(file, method.value):
            continue
        if method.attr == "tostring" and not call.keywords and not call.args:
            yield with_attribute(file, method, "tobytes", "NumPy 2.3")
        elif method.attr == "itemset":
            yield Remark(call, "x.itemset(i, value) is x[i] = value.")


def _is_of_another(file: FileUses, node: ast.expr) -> bool:
    """Whether an object is of another library: ``svgwrite.Drawing().tostring()`` is none of ours."""
    top = (names_of(file).path(node) or "").partition(".")[0]
    return top not in _ARRAYS and any(canonical(each.meaning).partition(".")[0] == top for each in file.imports)


RULE = Rule("numpy-names", "Gives names and arguments of NumPy that are gone their new ones.", find)
