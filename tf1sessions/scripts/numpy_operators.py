"""Operators of NumPy's arrays and scalars, in the program's own lines, by the rules of NumPy 1.

From NumPy 2.2 on there is no switch for them (NEP 50): ``0.0 + np.float32(0.1)`` is float32 where it was float64, so
that every printed average of a loss changes; a float32 array times ``np.sqrt(2.0)`` is float64, which TensorFlow
refuses. :func:`apply` gives operators that look at their caller. Libraries were written for NumPy 2, and get
NumPy 2's result from the same function as before; a line of the program's own files gets the result of NumPy 1.

Where an operator leads::

    scalar + anything ──▶ the scalar's type, ``np.float32.__add__``: replaced for the types that NumPy 1 widened
    array + anything  ──▶ NumPy's C code ──▶ its table of ufuncs, one for an operator: there an :class:`_Operator`

That table is no public name. It is looked for in the data of NumPy's extension module, by the addresses of the ufuncs
that it holds, in their order; where it is not found exactly once (another system than Linux, another NumPy), operators
of arrays are left as they are. A ufunc that is called by its name, ``np.add(x, 300)``, follows NumPy 2's rules.

Warnings ("overflow encountered in add") name the line that computes, as without us: a filter passes them on to it.
Beside all this, for everybody, ``float(np.array([1.5]))`` is a number again, where NumPy 2.4 raises TypeError.

Thread-safety: :func:`apply` is called once, while NumPy is imported; operators keep no state but a cache of file names.
"""

from __future__ import annotations

import atexit
import ctypes
import operator
import struct
import sys
import sysconfig
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .callers import by_program

__all__ = ["apply", "by_program", "notice", "old_operands", "put"]

_OURS = frozenset(__file__.replace("operators", part) for part in ("operators", "functions", "compat"))

#: Whether NumPy 1's rules hold, or numpy_compat.py turns the switch for them.
_SWITCHED = np.lib.NumpyVersion(np.__version__) < "2.2.0"

_noticed: Callable[[str, str], None] | None = None


def notice(call: Callable[[str, str], None] | None) -> None:
    """Call ``call``, in the thread that computes, with the operands and the result's type wherever the rules differ."""
    global _noticed
    _noticed = call


# -- scalars ----------------------------------------------------------------------------------------------------------

_SCALARS = (np.float16, np.float32, np.complex64,
            np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)  # fmt: skip
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "divmod": divmod, "pow": operator.pow,
    "lshift": operator.lshift, "rshift": operator.rshift, "and": operator.and_, "xor": operator.xor, "or": operator.or_,
}  # fmt: skip
_COMPARING = ("lt", "le", "eq", "ne", "gt", "ge")


def _typed(number: int) -> Any:
    """An int of Python's as NumPy 1 took it beside scalars."""
    if -(1 << 63) <= number < 1 << 63:
        return np.int64(number)
    return np.uint64(number) if 0 <= number < 1 << 64 else np.array(number, object)


_TYPED: dict[type, Callable[[Any], Any]] = {int: _typed, float: np.float64, complex: np.complex128}


def _of_scalars(original: Callable[..., Any], compute: Callable[[Any, Any], Any], swapped: bool) -> Callable[..., Any]:
    def method(self: Any, other: Any, *modulo: Any) -> Any:
        typed = _TYPED.get(type(other))
        if typed is None or modulo or not by_program():
            return original(self, other, *modulo)
        result = compute(typed(other), self) if swapped else compute(self, typed(other))
        if _noticed is not None and getattr(result, "dtype", self.dtype) not in (self.dtype, np.bool_):
            _noticed(f"a {self.dtype} scalar with a Python {type(other).__name__}", str(result.dtype))
        return result

    return method


# -- arrays -----------------------------------------------------------------------------------------------------------

#: The first of NumPy's table, in its order.
_FIRST = ("add", "subtract", "multiply", "true_divide", "remainder", "divmod", "power")
#: Those of its table that take two operands and look at what type they have.
_OPERATORS = frozenset(
    [*_FIRST, "left_shift", "right_shift", "bitwise_and", "bitwise_xor", "bitwise_or", "floor_divide",
     "less", "less_equal", "equal", "not_equal", "greater", "greater_equal"]
)  # fmt: skip
#: Those that took the first of their types, b B h H i I ..., where the others took the operands' common one.
_TAKES_FIRST = frozenset(
    ["remainder", "divmod", "power", "left_shift", "right_shift", "bitwise_and", "bitwise_xor", "bitwise_or"]
)
_LONGEST = 64  # of the table: NumPy 2.4 has 38
_DATA_BYTES = 1 << 22  # of NumPy's data: 2.4 has 300 KB
_CATEGORY = {kind: place for place, kinds in enumerate(("b", "iu", "fc")) for kind in kinds}
_NUMBERS = (int, float, complex)
_COMPARED = (np.ndarray, np.generic, str, bytes, list, tuple, *_NUMBERS)


class _Operator:
    """A ufunc in NumPy's table of operators. Everything but a call of two operands is the ufunc's own."""

    def __init__(self, ufunc: Any) -> None:
        self._ufunc = ufunc
        self._unequal = {np.equal: False, np.not_equal: True}.get(ufunc)
        self._takes_first = ufunc.__name__ in _TAKES_FIRST

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ufunc, name)

    def __call__(self, *operands: Any, **named: Any) -> Any:
        if len(operands) == 1 or not by_program():
            return self._ufunc(*operands, **named)
        left, right, *out = operands
        if type(left) is type(right) is np.ndarray and left.dtype == right.dtype and left.shape == right.shape:
            return self._ufunc(*operands, **named)
        if self._unequal is not None and _never_equal(left, right):
            return self._unequal
        if not _SWITCHED:
            pair = old_operands(left, right, self._takes_first)
            if _noticed is not None:
                _notice_operands((left, right), pair)
            left, right = pair
        return self._ufunc(left, right, *out, **named)


def old_operands(left: Any, right: Any, takes_first: bool = False) -> tuple[Any, Any]:
    """Two operands for which NumPy 2 computes what NumPy 1 computed for ``left`` and ``right``.

    Args:
        left: An array, a scalar or a number.
        right: The same.
        takes_first: Whether the ufunc is one that took the first of its types that both fit in.
    """
    many_left, many_right = getattr(left, "ndim", 0) > 0, getattr(right, "ndim", 0) > 0
    if many_left and many_right:
        return left, right
    if many_left:
        return left, _beside(left, right, takes_first)
    if many_right:
        return _beside(right, left, takes_first), right
    return tuple(_TYPED.get(type(one), _same)(one) for one in (left, right))


def _notice_operands(given: tuple[Any, Any], taken: tuple[Any, Any]) -> None:
    """Reports a scalar that was taken as another type than its own."""
    for one, other, partner in zip(given, taken, reversed(taken), strict=True):
        if one is not other and isinstance(partner, np.ndarray) and other.dtype != getattr(one, "dtype", None):
            kind = f"a {one.dtype} scalar" if isinstance(one, np.ndarray | np.generic) else f"the number {one!r}"
            _noticed(f"{kind} with an array of {partner.dtype}", str(np.result_type(partner, other)))  # type: ignore[misc]


def _same(value: Any) -> Any:
    return value


def _beside(array: Any, scalar: Any, takes_first: bool) -> Any:
    """``scalar`` in the type in which NumPy 1 reckoned with it beside ``array``: by its value, within a kind."""
    if isinstance(scalar, (np.ndarray, np.generic)):
        scalar_type = scalar.dtype
    elif isinstance(scalar, _NUMBERS):
        scalar_type = None
    else:
        return scalar
    kind = scalar_type.kind if scalar_type is not None else _kind(scalar)
    own = _CATEGORY.get(array.dtype.kind, -1)
    if scalar_type == array.dtype or not 0 <= _CATEGORY.get(kind, 3) <= own:
        return scalar
    if (kind in "iu" and 0 <= scalar < 128) or (kind == "f" and type(scalar) is not complex and -6e4 < scalar < 6e4):
        return scalar if scalar_type is None else array.dtype.type(scalar)  # which every type of the kind holds
    if kind in "iu":
        return _integer_beside(array.dtype, int(scalar), takes_first)
    common = np.promote_types(array.dtype, np.min_scalar_type(scalar))
    return scalar if common == (scalar_type or array.dtype) else common.type(scalar)


def _kind(number: Any) -> str:
    return "b" if isinstance(number, bool) else "i" if isinstance(number, int) else "f"  # a complex one ranks as "f"


def _integer_beside(array_type: Any, value: int, takes_first: bool) -> Any:
    smallest = np.min_scalar_type(value)
    if smallest.kind == "O":
        return np.array(value, object)
    fits = array_type.kind == "u" and value <= np.iinfo(array_type).max
    if smallest.kind == "u" and value <= np.iinfo(smallest).max // 2:
        if array_type.kind != "u" or (takes_first and not fits):  # signed types come first
            smallest = np.dtype(f"i{smallest.itemsize}")
    return np.promote_types(array_type, smallest).type(value)


def _never_equal(left: Any, right: Any) -> bool:
    """Whether NumPy 1 answered == with one False: shapes that do not fit, or text beside numbers."""
    if not isinstance(left, _COMPARED) or not isinstance(right, _COMPARED):
        return False
    left, right = np.asarray(left), np.asarray(right)
    kinds = {left.dtype.kind, right.dtype.kind}
    if len(kinds) == 2 and kinds & {"U", "S"} and kinds <= set("biufcUS"):
        return True
    if left.shape == right.shape or not (left.ndim and right.ndim):
        return False
    return any(
        one != other and one != 1 and other != 1
        for one, other in zip(left.shape[::-1], right.shape[::-1], strict=False)
    )


def _tables() -> Iterator[int]:
    """Addresses in the data of NumPy's extension module at which its table of operators seems to begin."""
    core = "numpy._core" if "numpy._core" in sys.modules else "numpy.core"  # the latter in NumPy 1
    path = str(sys.modules[f"{core}._multiarray_umath"].__file__)
    first = struct.pack(f"{len(_FIRST)}P", *(id(getattr(np, name)) for name in _FIRST))
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        lines = [line.rstrip("\n").split(maxsplit=5) for line in file]
    last = 0
    for addresses, access, _, _, _, *name in lines:
        begin, end = (int(address, 16) for address in addresses.split("-"))
        if name == [path] or (not name and begin == last):  # its data, and what begins as zeros right behind that
            last = end
            if access.startswith("rw"):
                data = ctypes.string_at(begin, min(end - begin, _DATA_BYTES))
                place = data.find(first)
                while place >= 0:
                    yield begin + place
                    place = data.find(first, place + 1)


def _replace_in_table() -> None:
    """Puts our operators into NumPy's table, where that is found, until the process ends."""
    if not sys.platform.startswith("linux") or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return
    found = list(_tables())
    if len(found) != 1:
        return
    ufuncs = {id(getattr(np, name)): getattr(np, name) for name in _OPERATORS}
    for number in range(_LONGEST):
        entry = ctypes.c_size_t.from_address(found[0] + number * ctypes.sizeof(ctypes.c_size_t))
        if not entry.value:
            break
        if entry.value in ufuncs:
            ours = _Operator(ufuncs[entry.value])
            # For good: the table counts none, a thread may be in it at the end, a forked child forgets what is below.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(ours))
            atexit.register(_restore, entry, entry.value)  # what is computed later finds our module taken apart
            entry.value = id(ours)


def _restore(entry: ctypes.c_size_t, ufunc: int) -> None:
    entry.value = ufunc


# -- conversions ------------------------------------------------------------------------------------------------------


def _to_number(original: Callable[..., Any]) -> Callable[..., Any]:
    def convert(self: Any) -> Any:
        return original(np.asarray(self).reshape(()) if self.ndim and self.size == 1 else self)

    return convert


def _truth(original: Callable[..., Any]) -> Callable[..., Any]:
    def truth(self: Any) -> Any:
        return False if not self.size and by_program() else original(self)

    return truth


def _rounded(original: Callable[..., Any]) -> Callable[..., Any]:
    def rounded(self: Any, ndigits: Any = None) -> Any:
        return np.float64(original(self, ndigits)) if by_program() else original(self, ndigits)

    return rounded


# -- warnings ---------------------------------------------------------------------------------------------------------

_warned = threading.local()  # the text of the warning that this thread is about to give


class _Message:
    """The part of a filter of warnings that looks at the text: keeps it."""

    pattern = "(?!)"  # scikit-learn makes filters for its workers of it: one that matches nothing

    def match(self, text: str) -> bool:
        _warned.text = text
        return " encountered in " in text


class _WarningModule:
    """The part that looks at the module: gives a warning of ours in the name of the line that called us."""

    pattern = "(?!)"

    def match(self, module: str) -> bool:
        if module != __name__:
            return False
        frame: Any = sys._getframe(1)
        while frame.f_code.co_filename in _OURS and frame.f_back is not None:
            frame = frame.f_back
        names = frame.f_globals
        warnings.warn_explicit(
            _warned.text,
            RuntimeWarning,
            frame.f_code.co_filename,
            frame.f_lineno,
            names.get("__name__", "<string>"),
            names.setdefault("__warningregistry__", {}),
        )
        return True


# -- types ------------------------------------------------------------------------------------------------------------

_IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
#: From a type's address to its flags: an object's head, its size, and 18 fields of a pointer each.
_FLAGS = object.__basicsize__ + 19 * ctypes.sizeof(ctypes.c_size_t)


def put(owner: type, name: str, method: Callable[..., Any]) -> None:
    """Give a type that is written in C a method, special ones included, which setattr refuses."""
    flags = ctypes.c_ulong.from_address(id(owner) + _FLAGS)
    if flags.value != owner.__flags__:
        raise SystemError(f"the flags of {owner.__name__} are not where CPython 3.10 to 3.13 has them")
    immutable = flags.value & _IMMUTABLE
    flags.value &= ~_IMMUTABLE
    try:
        setattr(owner, name, method)
    finally:
        flags.value |= immutable


def apply() -> None:
    """Give NumPy's types NumPy 1's operators for the program's own lines. Not idempotent."""
    for name in ("__float__", "__int__", "__complex__"):
        put(np.ndarray, name, _to_number(getattr(np.ndarray, name)))
    put(np.ndarray, "__bool__", _truth(np.ndarray.__bool__))
    put(np.float64, "__round__", _rounded(np.float64.__round__))
    warnings.filters.insert(0, ("ignore", _Message(), RuntimeWarning, _WarningModule(), 0))  # type: ignore[attr-defined]
    _replace_in_table()
    if _SWITCHED:
        return
    methods = [(f"__{side}{name}__", compute, bool(side)) for name, compute in _BINARY.items() for side in ("", "r")]
    methods += [(f"__{name}__", getattr(operator, name), False) for name in _COMPARING]
    for scalar in _SCALARS:
        for name, compute, swapped in methods:
            if name in vars(scalar):
                put(scalar, name, _of_scalars(vars(scalar)[name], compute, swapped))
