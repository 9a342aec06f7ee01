"""Jobs as bytes: a function and its arguments, several of them in one message.

A message begins with the number of jobs and two lengths for each: of the function's pickle, 0 when it is not apart, and
of the rest. Memory that stays out of a pickle, see ``packing``, is the only job's.

What takes longest is to pickle the same function again and again. Its pickle is kept while nothing that it depends on
can have changed: always for one that the other process imports; for one that goes by value while its code, defaults,
closure and the globals that it names are the very same objects, and none of them can change in place.
"""

from __future__ import annotations

import functools
import pickle
import sys
import types
import weakref
from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import cloudpickle

from tf1sessions.pools.mapping import Chunk
from tf1sessions.pools.packing import Packed, pack, unpack

__all__ = ["CallPacker", "is_plain", "joined", "split", "unpack_call"]

_Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str]

_ATOMS = frozenset((int, float, bool, str, bytes, complex, type(None)))
_MOST_ITEMS = 1000  # of a list of lists that is looked into; arbitrary
_MOST_FUNCTIONS = 32  # whose pickles are kept; arbitrary
_KEPT_BYTES = 16 << 10  # of a pickle that is kept; arbitrary
_MOST_DEPTH = 4  # of functions that name functions; arbitrary


class CallPacker:
    """Pickles jobs. It is safe to call it simultaneously from multiple threads."""

    def __init__(self) -> None:
        # By identity: a reference that tells whether it is the same function, what its pickle depends on, its pickle.
        # Single operations on it are atomic, and an entry that is lost costs one pickling.
        self._kept: OrderedDict[int, tuple[Any, tuple[Any, ...], bytes]] = OrderedDict()

    def __call__(self, call: _Call, in_band: float) -> tuple[bytes, Packed]:
        """The pickle of the function, empty when it is not apart, and the rest.

        Raises:
            Exception: What pickling raises.
        """
        function, args, kwargs, name = call
        if not kwargs and is_plain(args) and (pickled := self._function(function)):
            return pickled, Packed([pickle.dumps((args, name), 5)])
        return b"", pack(call, in_band)

    def _function(self, function: Any) -> bytes:
        """The pickle of a function, if another one would be the same later on as long as its state is."""
        inner = function.function if type(function) is Chunk else function
        kept = self._kept.get(id(function))
        if kept is not None and kept[0]() is function:
            state = _state(inner, is_by_name=not kept[1])
            if state is not None and len(state) == len(kept[1]) and all(map(_is_same, state, kept[1])):
                return kept[2]
        if type(inner) not in (types.FunctionType, types.BuiltinFunctionType):
            return b""
        pickled = b"".join(pack(function, float("inf")).stream)
        alone = pickled if inner is function else b"".join(pack(inner, float("inf")).stream)
        state = _state(inner, is_by_name=_is_by_name(inner, alone))
        if state is None or len(pickled) > _KEPT_BYTES:
            return b""
        self._kept[id(function)] = weakref.ref(function), state, pickled
        while len(self._kept) > _MOST_FUNCTIONS:
            self._kept.popitem(last=False)
        return pickled


def _is_same(left: Any, right: Any) -> bool:
    return left is right or (type(left) is int and type(right) is int and left == right)


def _is_by_name(function: Any, pickled: bytes) -> bool:
    """Whether a pickle has a function's name only, as the standard library's has."""
    try:
        return pickle.dumps(function, 5) == pickled
    except Exception:  # noqa: BLE001 - a function that it cannot pickle
        return False


def _state(function: Any, is_by_name: bool) -> tuple[Any, ...] | None:
    """The objects that a function's pickle depends on; None if one of them could change in place."""
    if is_by_name:
        return None if _goes_by_value(function.__module__ or "") else ()
    found: list[Any] = []
    if type(function) is types.FunctionType and _add_function(function, found, {}, _MOST_DEPTH):
        return (len(sys.modules), *found)  # submodules of packages that code names go with it
    return None


def _add_function(function: types.FunctionType, found: list[Any], seen: dict[int, Any], depth: int) -> bool:
    if id(function) in seen:
        return True
    if not depth or function.__dict__ or function.__annotations__:
        return False
    seen[id(function)] = function
    found += [function.__code__, function.__doc__, function.__name__, function.__qualname__]
    values = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items()]
    try:
        values += [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # one is empty
        return False
    space = function.__globals__
    values += [space[name] for name in _names(function.__code__) if name in space]
    return all(_add(value, found, seen, depth - 1) for value in values)


def _add(value: Any, found: list[Any], seen: dict[int, Any], depth: int) -> bool:
    found.append(value)
    if type(value) in _ATOMS:
        return True
    if type(value) is types.FunctionType:
        return _add_function(value, found, seen, depth)
    if type(value) is tuple:
        return depth > 0 and all(_add(item, found, seen, depth - 1) for item in value)
    if not isinstance(value, types.ModuleType):
        return False
    return sys.modules.get(value.__name__) is value and not _goes_by_value(value.__name__)


def _goes_by_value(module: str) -> bool:
    """Whether the program has told so of a module, or of a package that it is in."""
    registered = cloudpickle.list_registry_pickle_by_value()
    return any(module == name or module.startswith(f"{name}.") for name in registered)


@functools.lru_cache(maxsize=1024)
def _names(code: types.CodeType) -> tuple[str, ...]:
    """The names that code looks up, its nested functions' too: those of its globals, and others."""
    inner = [name for constant in code.co_consts if isinstance(constant, types.CodeType) for name in _names(constant)]
    return (*code.co_names, *inner)


def is_plain(value: Any, depth: int = 2) -> bool:
    """Whether the standard library's pickle of a value is what ours would be, at a tenth of the time."""
    kind = type(value)
    if kind in _ATOMS:
        return True
    if kind is not tuple and kind is not list:
        return False
    if _ATOMS.issuperset(map(type, value)):
        return True
    return depth > 0 and len(value) <= _MOST_ITEMS and all([is_plain(item, depth - 1) for item in value])


def joined(calls: Sequence[tuple[bytes, Packed]]) -> Packed:
    """Several jobs as one message; a job with buffers must be the only one."""
    lengths = array("I", [len(calls)])
    stream: list[Any] = []
    for function, rest in calls:
        lengths.extend((len(function), rest.length))
        stream += [function, *rest.stream]
    return Packed([lengths.tobytes(), *stream], [buffer for _, rest in calls for buffer in rest.buffers])


def split(stream: memoryview) -> list[tuple[memoryview, memoryview]]:
    """The jobs of a message."""
    (count,) = stream[:4].cast("I")
    start = 4 + 8 * count
    lengths = stream[4:start].cast("I").tolist()
    calls = []
    for function, rest in zip(lengths[::2], lengths[1::2], strict=True):
        middle, end = start + function, start + function + rest
        calls.append((stream[start:middle], stream[middle:end]))
        start = end
    return calls


def unpack_call(call: tuple[memoryview, memoryview], buffers: Sequence[Any]) -> _Call:
    """The function, its arguments and the job's name."""
    function, rest = call
    if not len(function):
        whole: _Call = unpack(rest, buffers)
        return whole
    args, name = pickle.loads(rest)
    return pickle.loads(function), args, {}, name
