"""NumPy as TF1 programs know it: the names that NumPy 1.16 to 1.18 had, and their printing of scalars.

:func:`apply` adds to the imported ``numpy``, for the whole process, each name of the table that it lacks. What the
installed NumPy has under a name is left alone: ``np.bool`` is a scalar type in NumPy 2 and a library may rely on it.
NumPy 1.x's rules of promotion (``np.uint8(200) + 300`` is 500) are switched on where there is a switch, which is up to
NumPy 2.1; from then on numpy_operators.py gives them to the program's own lines. numpy_functions.py has the functions
that took other arguments, or gave other results.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import math
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tf1sessions.errors import UsageError
from tf1sessions.source import old_names

from . import numpy_functions, numpy_operators

__all__ = ["RULES", "apply", "array_of_objects"]

#: The environment variable by which operators follow the installed NumPy's rules: 2; by default 1.
RULES = "TF1SESSIONS_NUMPY"


def _sometrue(a: Any, axis: Any = None, out: Any = None, **rest: Any) -> Any:
    return np.any(a, axis, out, **rest)


def _alltrue(a: Any, axis: Any = None, out: Any = None, **rest: Any) -> Any:
    return np.all(a, axis, out, **rest)


def _asfarray(a: Any, dtype: Any = np.float64) -> Any:
    return np.asarray(a, dtype if np.issubdtype(dtype, np.inexact) else np.float64)


def _rank(a: Any) -> int:
    return int(np.ndim(a))


def _alen(a: Any) -> int:
    return len(np.array(a, ndmin=1))


def _asscalar(a: Any) -> Any:
    return a.item()


def _msort(a: Any) -> Any:
    return np.sort(a, axis=0)


def _trapz(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    return np.trapezoid(y, x, dx, axis)


def _in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    return np.isin(np.asarray(ar1).ravel(), ar2, assume_unique=assume_unique, invert=invert)


def _row_stack(tup: Any) -> Any:
    return np.vstack(tup)


def _disp(mesg: Any, device: Any = None, linefeed: bool = True) -> None:
    (device or sys.stdout).write(f"{mesg}\n" if linefeed else f"{mesg}")


def _find_common_type(array_types: Iterable[Any], scalar_types: Iterable[Any]) -> Any:
    arrays, scalars = [np.dtype(t) for t in array_types], [np.dtype(t) for t in scalar_types]
    if not arrays or not scalars:
        return np.result_type(*(arrays or scalars))
    array, scalar = np.result_type(*arrays), np.result_type(*scalars)
    return scalar if "biufcO".find(scalar.kind) > "biufcO".find(array.kind) else array


def _issctype(rep: Any) -> bool:
    return isinstance(rep, (type, np.dtype)) and np.dtype(rep).type is not np.object_


def _issubsctype(arg1: Any, arg2: Any) -> bool:
    return issubclass(np.dtype(arg1).type, np.dtype(arg2).type)


def _obj2sctype(rep: Any, default: Any = None) -> Any:
    try:
        return np.dtype(rep if isinstance(rep, (type, str, np.dtype)) else np.asarray(rep).dtype).type
    except TypeError:
        return default


def _maximum_sctype(t: Any) -> Any:
    largest = {"i": np.int64, "u": np.uint64, "f": np.longdouble, "c": np.clongdouble}
    return largest.get(np.dtype(t).kind, np.dtype(t).type)


def _issubclass(arg1: Any, arg2: Any) -> bool:
    return isinstance(arg1, type) and issubclass(arg1, arg2)


def _recfromcsv(fname: Any, **keywords: Any) -> Any:
    keywords.setdefault("case_sensitive", "lower")
    keywords.setdefault("names", True)
    keywords.setdefault("delimiter", ",")
    return _recfromtxt(fname, **keywords)


def _recfromtxt(fname: Any, **keywords: Any) -> Any:
    keywords.setdefault("dtype", None)
    keywords.setdefault("encoding", "bytes")
    output = np.genfromtxt(fname, **keywords)
    return output.view(np.recarray)


def _ignore_decorator(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    return args[0] if len(args) == 1 and callable(args[0]) else lambda function: function


class _Cast(dict[Any, Callable[[Any], Any]]):
    """``np.cast[dtype](array)``."""

    def __missing__(self, key: Any) -> Callable[[Any], Any]:
        return functools.partial(np.asarray, dtype=key)


class _BytesPerType(dict[Any, int]):
    """``np.nbytes[dtype]``."""

    def __missing__(self, key: Any) -> int:
        return int(np.dtype(key).itemsize)


def _from(path: str) -> Any:
    """Return the object at ``path`` ("exceptions.AxisError", "builtins.int"), below NumPy or not; None without one."""
    if path.startswith("builtins."):
        return getattr(builtins, path.removeprefix("builtins."))
    value: Any = np
    for part in path.split("."):
        value = getattr(value, part, None)
    return value


def _table() -> dict[str, Any]:
    scalars = {
        "NINF": -np.inf, "PZERO": 0.0, "NZERO": -0.0,
        "ALLOW_THREADS": 1, "BUFSIZE": 8192, "CLIP": 0, "WRAP": 1, "RAISE": 2, "MAXDIMS": 32,
        "MAY_SHARE_BOUNDS": 0, "MAY_SHARE_EXACT": -1, "FLOATING_POINT_SUPPORT": 1,
        "ERR_IGNORE": 0, "ERR_WARN": 1, "ERR_RAISE": 2, "ERR_CALL": 3, "ERR_PRINT": 4, "ERR_LOG": 5, "ERR_DEFAULT": 521,
        "FPE_DIVIDEBYZERO": 1, "FPE_OVERFLOW": 2, "FPE_UNDERFLOW": 4, "FPE_INVALID": 8,
        "SHIFT_DIVIDEBYZERO": 0, "SHIFT_OVERFLOW": 3, "SHIFT_UNDERFLOW": 6, "SHIFT_INVALID": 9,
        "UFUNC_BUFSIZE_DEFAULT": 8192, "UFUNC_PYVALS_NAME": "UFUNC_PYVALS",
    }  # fmt: skip
    functions = {
        "alltrue": _alltrue, "sometrue": _sometrue,
        "asfarray": _asfarray, "asscalar": _asscalar, "alen": _alen, "rank": _rank, "msort": _msort, "trapz": _trapz,
        "in1d": _in1d, "row_stack": _row_stack, "disp": _disp, "loads": pickle.loads,
        "find_common_type": _find_common_type, "issctype": _issctype, "issubsctype": _issubsctype,
        "issubclass_": _issubclass, "obj2sctype": _obj2sctype, "maximum_sctype": _maximum_sctype,
        "sctype2char": lambda sctype: np.dtype(sctype).char, "fastCopyAndTranspose": lambda a: np.array(a).T.copy(),
        "recfromtxt": _recfromtxt, "recfromcsv": _recfromcsv,
        "deprecate": _ignore_decorator, "deprecate_with_doc": _ignore_decorator,
    }  # fmt: skip
    kinds = {
        "int": [np.int8, np.int16, np.int32, np.int64], "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
        "float": [np.float16, np.float32, np.float64, np.longdouble],
        "complex": [np.complex64, np.complex128, np.clongdouble],
        "others": [bool, object, bytes, str, np.void],
    }  # fmt: skip
    table: dict[str, Any] = {
        **scalars, **functions, **{name: _from(path) for name, (path, _) in old_names.NUMPY.items()},
        "cast": _Cast(), "nbytes": _BytesPerType(), "sctypes": kinds,
        "math": math, "sys": sys, "warnings": warnings,
    }  # fmt: skip
    return {name: value for name, value in table.items() if value is not None}


def _has(name: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return hasattr(np, name)


def apply() -> None:
    """Give NumPy its old names, array methods, ragged arrays and printing of scalars back. Idempotent."""
    for name, value in _table().items():
        if not _has(name):
            setattr(np, name, value)
    for owner in (np.ndarray, np.generic):
        for name, method in _METHODS.items():
            if not callable(getattr(owner, name, None)):  # some are an error there, when an array is asked for them
                numpy_operators.put(owner, name, method)
    if not hasattr(np.array, "converts_as_before"):
        for name in ("array", "asarray", "asanyarray"):
            _convert_as_before(name)
        numpy_functions.apply()
        if _rules() == "1":
            numpy_operators.apply()
    if hasattr(np, "_set_promotion_state") and _rules() == "1":
        np._set_promotion_state("legacy")
    if int(np.__version__.partition(".")[0]) >= 2:
        np.set_printoptions(legacy="1.25")  # this thread
        with contextlib.suppress(ModuleNotFoundError):  # NumPy 2.0 and 2.1 have one setting for all threads
            options = importlib.import_module("numpy._core.printoptions")
            options.default_format_options_dict["legacy"] = options.format_options.get()["legacy"]


def _rules() -> str:
    rules = os.environ.get(RULES, "1")
    if rules not in ("1", "2"):
        raise UsageError(
            f"its value is {rules!r}",
            where=f"the environment variable {RULES}",
            next_step="Give 1, for operators by the rules of NumPy 1 in the program's own files, or 2.",
        )
    return rules


def _itemset(self: Any, *args: Any) -> None:
    *index, value = args
    if len(index) == 1 and not isinstance(index[0], tuple):
        self.flat[index[0]] = value
    else:
        self[index[0] if len(index) == 1 else tuple(index)] = value


def _tostring(self: Any, order: Any = "C") -> bytes:
    data: bytes = self.tobytes(order)
    return data


def _newbyteorder(self: Any, new_order: str = "S") -> Any:
    return self.view(self.dtype.newbyteorder(new_order))


def _ptp(self: Any, axis: Any = None, out: Any = None, **rest: Any) -> Any:
    return np.ptp(self, axis, out, **rest)


_METHODS: dict[str, Callable[..., Any]] = {
    "itemset": _itemset,
    "tostring": _tostring,
    "newbyteorder": _newbyteorder,
    "ptp": _ptp,
}


def _convert_as_before(name: str) -> None:
    """Let np.array([[1], [2, 3]]) be an array of lists, as it was before NumPy 1.24, and more of that kind."""
    original = getattr(np, name)

    @functools.wraps(original)
    def convert(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        except (ValueError, OverflowError, NotImplementedError) as error:
            convert_so = _other_conversion(error, args, kwargs)
            if convert_so is None:
                raise
        return convert_so(convert)

    convert.converts_as_before = True  # type: ignore[attr-defined]
    setattr(np, name, convert)


class _Leaf:
    """Something that is no array to NumPy, whatever it says itself."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _with_leaves(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_with_leaves(each) for each in value]
    try:
        value.__array__()
    except NotImplementedError:
        return _Leaf(value)
    except Exception:  # no array, or one that NumPy makes in another way: its own matter
        return value
    return value


def array_of_objects(nested: Any) -> Any:
    """The array of lists of objects that refuse to be arrays, as NumPy 1.18 made it of the tensors of a graph."""
    array = np.array(_with_leaves(nested), dtype=object)
    flat = array.reshape(-1)
    for place, value in enumerate(flat):
        if isinstance(value, _Leaf):
            flat[place] = value.value
        elif isinstance(value, list):  # of lists of several lengths
            flat[place] = _without_leaves(value)
    return array


def _without_leaves(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_leaves(each) for each in value]
    return value.value if isinstance(value, _Leaf) else value


def _other_conversion(
    error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Callable[[Callable[..., Any]], Any] | None:
    """Make an array as NumPy 1 did of values that NumPy 2 refused; None where it refused them, too."""
    dtype = args[1] if len(args) > 1 else kwargs.get("dtype")
    if "inhomogeneous" in builtins.str(error):
        return None if dtype is not None else lambda convert: convert(*args, **{**kwargs, "dtype": object})
    if not numpy_operators.by_program():
        return None
    if isinstance(error, NotImplementedError):
        nested = isinstance(args[0], (list, tuple)) and dtype in (None, object)
        return (lambda _: array_of_objects(args[0])) if nested else None
    if kwargs.get("copy") is False and "avoid copy" in builtins.str(error):
        kept = {name: value for name, value in kwargs.items() if name != "copy"}
        return lambda convert: convert(*args, **kept)
    if isinstance(error, OverflowError) and args and dtype is not None and np.dtype(dtype).kind in "iu":
        return lambda convert: convert(args[0]).astype(dtype)  # -1 as np.uint8 is 255
    return None
