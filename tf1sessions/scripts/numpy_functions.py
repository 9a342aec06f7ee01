"""Functions of NumPy that took other arguments, or gave another result, in NumPy 1.

What NumPy 2 refuses works again for everybody: ``np.histogram(x, normed=True)``, ``np.fromstring(data, np.uint8)``.
What it answers otherwise than NumPy 1 did, as ``np.linspace(-1, 0, 4, dtype=int)``, is NumPy 1's answer for a line of
the program's own files, and stays NumPy 2's for libraries.

Thread-safety: :func:`apply` is called once, while NumPy is imported; the functions keep no state.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import importlib.util
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .numpy_operators import by_program, old_operands

__all__ = ["apply"]


class _NumpyFunction:
    """A function in place of one of NumPy's.

    It equals that one, so that a library's table of NumPy's functions, which NumPy asks for its own, has it.
    """

    def __init__(self, original: Callable[..., Any], ours: Callable[..., Any]) -> None:
        functools.update_wrapper(self, original)
        self._original, self._ours = original, ours

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._ours(self._original, *args, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    def __eq__(self, other: object) -> bool:
        return other is self or other is self._original

    def __hash__(self) -> int:
        return hash(self._original)

    def __repr__(self) -> str:
        return repr(self._original)

    def __reduce__(self) -> str:
        return self.__name__  # type: ignore[no-any-return]  # by its name in its module, as a function


# -- arguments that went ----------------------------------------------------------------------------------------------


def _renamed(old: str, new: str) -> Callable[..., Any]:
    def call(original: Any, *args: Any, **named: Any) -> Any:
        try:
            return original(*args, **named)
        except TypeError:
            if old not in named:
                raise
        named[new] = named.pop(old)
        return original(*args, **named)

    return call


def _normed(original: Any, *args: Any, **named: Any) -> Any:
    normed = named.pop("normed", None)
    if normed is not None and named.get("density") is None:
        named["density"] = normed
    return original(*args, **named)


def _of_a_sequence(original: Any, *args: Any, **named: Any) -> Any:
    if args and not hasattr(args[0], "__getitem__") and hasattr(args[0], "__iter__"):
        args = (builtins.tuple(args[0]), *args[1:])
    return original(*args, **named)


def _sum(original: Any, a: Any, *args: Any, **named: Any) -> Any:
    if type(a).__name__ == "generator" and not args and not named:
        return builtins.sum(a)
    return original(a, *args, **named)


def _fromstring(original: Any, string: Any, dtype: Any = float, count: int = -1, sep: str = "", **named: Any) -> Any:
    if sep or named:
        return original(string, dtype, count, sep=sep, **named)
    data = string.encode() if isinstance(string, str) else string
    if count < 0 and len(data) % np.dtype(dtype).itemsize:
        raise ValueError("string size must be a multiple of element size")
    return np.frombuffer(data, dtype, count).copy()


# -- results that changed ---------------------------------------------------------------------------------------------


def _linspace(original: Any, start: Any, stop: Any, *args: Any, **named: Any) -> Any:
    if not by_program():
        return original(start, stop, *args, **named)
    start, stop = (float(one) if isinstance(one, np.float16 | np.float32) else one for one in (start, stop))
    dtype = args[3] if len(args) > 3 else named.pop("dtype", None)
    result = original(start, stop, *args[:3], *(None for _ in args[3:4]), *args[4:], **named)
    if dtype is None:
        return result
    if isinstance(result, tuple):
        return result[0].astype(dtype, copy=False), result[1]
    return result.astype(dtype, copy=False)  # towards 0


def _delete(original: Any, arr: Any, obj: Any, *args: Any, **named: Any) -> Any:
    if by_program() and isinstance(obj, list | np.ndarray) and np.asarray(obj).dtype == bool:
        obj = np.asarray(obj).astype(int)  # not a mask yet
    return original(arr, obj, *args, **named)


def _unique(original: Any, ar: Any, *args: Any, **named: Any) -> Any:
    if not by_program():
        return original(ar, *args, **named)
    if np.lib.NumpyVersion(np.__version__) >= "1.24.0":
        named.setdefault("equal_nan", False)
    result = original(ar, *args, **named)
    if isinstance(result, tuple) and (args[1] if len(args) > 1 else named.get("return_inverse")):
        place = 2 if (args[0] if args else named.get("return_index")) else 1
        result = (*result[:place], result[place].reshape(-1), *result[place + 1 :])
    return result


def _issubdtype(original: Any, arg1: Any, arg2: Any) -> Any:
    kind = isinstance(arg2, type) and issubclass(arg2, np.generic)
    if kind or isinstance(arg2, np.dtype) or not by_program():
        return original(arg1, arg2)
    return original(arg1, np.dtype(arg2).type.mro()[1])  # float meant np.floating, and np.float64 is one


def _solve(original: Any, a: Any, b: Any) -> Any:
    if by_program() and np.ndim(a) > 2 and np.ndim(b) == np.ndim(a) - 1:
        return original(a, np.asarray(b)[..., None])[..., 0]
    return original(a, b)


def _lstsq(original: Any, a: Any, b: Any, *args: Any, **named: Any) -> Any:
    if not args and "rcond" not in named and by_program():
        named["rcond"] = -1
    return original(a, b, *args, **named)


def _where(original: Any, condition: Any, *args: Any) -> Any:
    return original(condition, *(old_operands(*args) if len(args) == 2 and by_program() else args))


def _clip(original: Any, a: Any, *args: Any, **named: Any) -> Any:
    if by_program():
        args = tuple(one if one is None else old_operands(a, one)[1] for one in args[:2]) + args[2:]
        named.update((name, old_operands(a, named[name])[1]) for name in ("a_min", "a_max") if name in named)
    return original(a, *args, **named)


def _as_list(original: Any, *args: Any, **named: Any) -> Any:
    result = original(*args, **named)
    return list(result) if type(result) is tuple and by_program() else result


def _in_double(original: Any, a: Any, *args: Any, **named: Any) -> Any:
    double = {"e": np.float64, "f": np.float64, "F": np.complex128}.get(np.asarray(a).dtype.char)
    return original(a if double is None or not by_program() else np.asarray(a, double), *args, **named)


def _of_bytes(original: Any, *args: Any, **named: Any) -> Any:
    if by_program():
        named.setdefault("encoding", "bytes")
    return original(*args, **named)


_INTERPOLATION = _renamed("interpolation", "method")
_TABLE: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(["percentile", "quantile", "nanpercentile", "nanquantile"], _INTERPOLATION),
    **dict.fromkeys(["histogram", "histogram2d", "histogramdd"], _normed),
    **dict.fromkeys(["stack", "hstack", "vstack", "dstack", "column_stack"], _of_a_sequence),
    **dict.fromkeys(
        ["meshgrid", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "gradient"],
        _as_list,
    ),
    **dict.fromkeys(["loadtxt", "genfromtxt"], _of_bytes),
    **{f"fft.{kind}{side}": _in_double for side in ("", "2", "n") for kind in ("fft", "ifft", "rfft", "irfft")},
    **dict.fromkeys(["fft.hfft", "fft.ihfft"], _in_double),
    "reshape": _renamed("newshape", "shape"),
    "sum": _sum,
    "fromstring": _fromstring,
    "linspace": _linspace,
    "delete": _delete,
    "unique": _unique,
    "issubdtype": _issubdtype,
    "linalg.solve": _solve,
    "linalg.lstsq": _lstsq,
    "where": _where,
    "clip": _clip,
}

# -- modules that moved -----------------------------------------------------------------------------------------------

_MODULES = {
    "numpy.core.umath_tests": "numpy._core._umath_tests",
    **{f"numpy.lib.{name}": f"numpy.lib._{name}_impl" for name in
       ("arraypad", "arraysetops", "function_base", "histograms", "index_tricks", "nanfunctions", "polynomial",
        "shape_base", "twodim_base", "type_check", "ufunclike", "utils")},
}  # fmt: skip


def _alias_modules() -> None:
    for old, new in _MODULES.items():
        package, _, name = old.rpartition(".")
        with contextlib.suppress(ImportError):  # of another NumPy
            if importlib.util.find_spec(old) is None:
                sys.modules[old] = module = importlib.import_module(new)
                setattr(importlib.import_module(package), name, module)


def apply() -> None:
    """Put the functions, and modules of private names, into NumPy. Not idempotent."""
    for path, ours in _TABLE.items():
        owner: Any = np
        *names, name = path.split(".")
        for part in names:
            owner = getattr(owner, part)
        setattr(owner, name, _NumpyFunction(getattr(owner, name), ours))
    _alias_modules()
