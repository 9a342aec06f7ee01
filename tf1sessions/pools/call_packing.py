"""Jobs as bytes: functions and their arguments, several of them in one message.

A message is made of blocks. A block is a run of jobs of one function whose arguments are plain, or a single job of any
kind. The message begins with the number of blocks, and for each the number of jobs in the run (0: a single one) and two
lengths: of the function's pickle, 0 when it is not apart, and of the rest. Memory that stays out of a pickle, see
``packing``, is a single job's, and then that is the only one.

What takes longest is to pickle the same function again and again, and to read it. Its pickle is kept while nothing
that it depends on can have changed: always for one that the other process imports; for one that goes by value while its
code, defaults, closure and the globals that it names are the very same objects, and none of them can change in place.
By the same rule the other process uses a function again that went by value, so that each job finds it as it was sent.
"""

from __future__ import annotations

import functools
import math
import pickle
import struct
import sys
import types
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import cloudpickle
import numpy as np

from tf1sessions.pools.mapping import Chunk
from tf1sessions.pools.packing import Packed, array_of, is_plain_array, pack, parts_of, unpack

__all__ = [
    "Block",
    "CallPacker",
    "FunctionReader",
    "Sent",
    "is_plain",
    "joined",
    "pickled_plain",
    "read_plain",
    "split",
]


class _Job(Protocol):
    @property
    def function(self) -> Callable[..., Any]: ...
    @property
    def args(self) -> tuple[Any, ...]: ...
    @property
    def kwargs(self) -> Mapping[str, Any]: ...
    @property
    def name(self) -> str: ...


_Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str]

_ATOMS = frozenset((int, float, bool, str, bytes, complex, range, type(None)))
_ATOMS_AND_ARRAYS = _ATOMS | {np.ndarray}
_COUNT, _BLOCK = struct.Struct("=I"), struct.Struct("=III")  # of blocks; of each: its jobs and two lengths
_OTHER, _ARRAY, _ITEMS = range(3)  # forms of a plain value: as it is, an array, a tuple of which some are arrays
_ITEM_BYTES = 4096  # of arrays in a list that is packed in no time; arbitrary
_MOST_ITEMS = 1000  # of a list of lists that is looked into; arbitrary
_MOST_FUNCTIONS = 32  # whose pickles are kept; arbitrary
_KEPT_BYTES = 16 << 10  # of a pickle that is kept; arbitrary
_MOST_DEPTH = 4  # of functions that name functions; arbitrary


@dataclass(frozen=True)
class Block:
    """Jobs that were pickled together.

    Attributes:
        count: How many; 0 is a single one that may be of any kind.
        function: The pickle of their function; empty when it is not apart.
        rest: Their arguments and names.
    """

    count: int
    function: bytes
    rest: Packed

    @property
    def length(self) -> int:
        """The bytes of the pickles."""
        return len(self.function) + self.rest.length


class CallPacker:
    """Pickles jobs. It is safe to call it simultaneously from multiple threads.

    Args:
        with_names: The other process wants the names of jobs.
    """

    def __init__(self, with_names: bool = True) -> None:
        self._with_names = with_names
        # By identity, and how a chunk calls it: a reference that tells whether it is the same function, what its pickle
        # depends on, the pickle of it or of the chunk. Single operations on it are atomic, and an entry that is lost
        # costs one pickling.
        self._kept: OrderedDict[tuple[int, bool | None], tuple[Any, tuple[Any, ...], bytes]] = OrderedDict()

    def run(self, jobs: Sequence[_Job], in_band: float, most_bytes: int) -> Block | None:
        """As many of the first jobs as make a block: those of one function with plain arguments.

        Args:
            jobs: What has ``function``, ``args``, ``kwargs`` and ``name``.
            in_band: As for :func:`~tf1sessions.pools.packing.pack`.
            most_bytes: That the block may have, unless it is of one job.

        Returns:
            None when the first is of another kind; pack it by :meth:`single`.
        """
        function = jobs[0].function
        found: list[Any] = []
        for job in jobs:
            args = job.args
            if job.function is not function or job.kwargs:
                break
            if _ATOMS.issuperset(map(type, args)):
                found.append(args)
            elif is_plain(args, in_band):  # a list that two jobs have shall be two: each has a pickle of its own
                found.append(pickled_plain(args))
            else:
                break
        if not found or not (pickled := self._function(function)):
            return None
        while True:
            names = [job.name for job in jobs[: len(found)]] if self._with_names else None
            rest = pickle.dumps((found, names), 5)
            if len(found) == 1 or len(pickled) + len(rest) <= most_bytes:
                return Block(len(found), pickled, Packed([rest]))
            del found[len(found) // 2 :]

    def is_simple(self, job: _Job, most_bytes: int) -> bool:
        """Whether a job can be packed in no time, and nothing but ours runs for it: its function was packed before, its
        arguments are plain, and arrays among them have fewer bytes than that."""
        if job.kwargs:
            return False
        function: Any = job.function
        inner = _inner(function)
        if (id(inner), None if inner is function else function.takes_one) not in self._kept:
            return False
        return all([is_plain(value, most_bytes if type(value) is np.ndarray else _ITEM_BYTES) for value in job.args])

    def single(self, job: _Job, in_band: float) -> Block:
        """A job of any kind.

        Raises:
            Exception: What pickling raises.
        """
        values = (*job.args, *job.kwargs.values())  # others may share globals with the function
        if all(type(value) is np.ndarray or is_plain(value, math.inf) for value in values) and (
            pickled := self._function(job.function)
        ):
            return Block(0, pickled, pack((job.args, job.kwargs, job.name), in_band))
        return Block(0, b"", pack((job.function, job.args, job.kwargs, job.name), in_band))

    def _function(self, function: Any) -> bytes:
        """The pickle of a function, if another one would be the same later on as long as its state is."""
        inner = _inner(function)
        key = id(inner), None if inner is function else function.takes_one
        kept = self._kept.get(key)
        if kept is not None and kept[0]() is inner and _is_unchanged(inner, kept[1]):
            return kept[2]
        if type(inner) not in (types.FunctionType, types.BuiltinFunctionType):
            return b""
        try:
            pickled = b"".join(pack(function, float("inf")).stream)
        except Exception:  # noqa: BLE001 - whatever a foreign __reduce__ raises: again where its job is told
            return b""
        alone = pickled if inner is function else b"".join(pack(inner, float("inf")).stream)
        state = _state(inner, is_by_name=_is_by_name(inner, alone))
        if state is None or len(pickled) > _KEPT_BYTES:
            return b""
        self._kept[key] = weakref.ref(inner), state, pickled
        while len(self._kept) > _MOST_FUNCTIONS:
            self._kept.popitem(last=False)
        return pickled


class FunctionReader:
    """Unpickles functions that were apart. Attention: this is **not** thread-safe!"""

    def __init__(self) -> None:
        # By their pickles: a function, what it calls in chunks, or itself, and what that was when it came, nothing for
        # one that is imported; None for one to be read anew.
        self._kept: dict[bytes, tuple[Callable[..., Any], Any, tuple[Any, ...]] | None] = {}

    def __call__(self, pickled: bytes) -> Callable[..., Any]:
        """The function as it was sent, whatever earlier jobs have done to theirs.

        Raises:
            Exception: What unpickling raises.
        """
        is_known = pickled in self._kept
        kept = self._kept[pickled] if is_known else None
        if kept is not None:
            known, inner, state = kept
            if _is_unchanged(inner, state) if state else _is_imported(inner):
                return known
        function: Callable[..., Any] = pickle.loads(pickled)
        if is_known and kept is None:
            return function
        if len(self._kept) >= _MOST_FUNCTIONS:
            self._kept.clear()
        inner = _inner(function)
        new_state = _state(inner, is_by_name=_is_imported(inner))
        self._kept[pickled] = None if new_state is None else (function, inner, new_state)
        return function


def _inner(function: Any) -> Any:
    return function.function if type(function) is Chunk else function


def _is_imported(function: Any) -> bool:
    """Whether a function that was unpickled is its module's."""
    found: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for name in getattr(function, "__qualname__", "").split("."):
        found = getattr(found, name, None)
    return found is function


def _is_unchanged(function: Any, state: tuple[Any, ...]) -> bool:
    if not state:  # it goes by name
        return not _goes_by_value(function.__module__ or "")
    now = _state(function, is_by_name=False)
    return now is not None and len(now) == len(state) and all(map(_is_same, now, state))


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
    space = function.__globals__
    found += [function.__code__, function.__doc__, function.__name__, function.__qualname__, len(space)]
    values = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items()]
    try:
        values += [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # one is empty
        return False
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
    return bool(registered) and any(module == name or module.startswith(f"{name}.") for name in registered)


@functools.lru_cache(maxsize=1024)
def _names(code: types.CodeType) -> tuple[str, ...]:
    """The names that code looks up, its nested functions' too: those of its globals, and others."""
    inner = [name for constant in code.co_consts if isinstance(constant, types.CodeType) for name in _names(constant)]
    return (*code.co_names, *inner)


def is_plain(value: Any, in_band: float, depth: int = 2) -> bool:
    """Whether :func:`pickled_plain` pickles a value as well as we would otherwise, at a tenth of the time.

    Args:
        in_band: Arrays with fewer bytes than this stay in the pickle.
    """
    kind = type(value)
    if kind in _ATOMS:
        return True
    if kind is np.ndarray:
        return value.nbytes < in_band and is_plain_array(value)
    if kind is not tuple and kind is not list:
        return False
    if _ATOMS.issuperset(map(type, value)):
        return True
    return depth > 0 and len(value) <= _MOST_ITEMS and all([is_plain(item, in_band, depth - 1) for item in value])


def pickled_plain(value: Any) -> bytes:
    """The pickle of a plain value; see :func:`is_plain`."""
    if type(value) is np.ndarray:
        return pickle.dumps((_ARRAY, parts_of(value)), 5)
    if type(value) is tuple and _ATOMS_AND_ARRAYS.issuperset(map(type, value)):
        places = [place for place, item in enumerate(value) if type(item) is np.ndarray]
        if len({id(value[place]) for place in places}) < len(places):  # one that is there twice shall arrive once
            return pickle.dumps((_OTHER, value), 5)
        items = [parts_of(item) if type(item) is np.ndarray else item for item in value]
        return pickle.dumps((_ITEMS, items, places), 5)
    return pickle.dumps((_OTHER, value), 5)


def read_plain(pickled: bytes) -> Any:
    """The value again."""
    kind, value, *rest = pickle.loads(pickled)
    if kind == _ARRAY:
        return array_of(*value)
    if kind == _ITEMS:
        for place in rest[0]:
            value[place] = array_of(*value[place])
        return tuple(value)
    return value


def joined(blocks: Sequence[Block]) -> Packed:
    """Several blocks as one message; one with buffers must be the only one."""
    heads, stream, buffers = [_COUNT.pack(len(blocks))], [], []
    for block in blocks:
        heads.append(_BLOCK.pack(block.count, len(block.function), block.rest.length))
        stream += [block.function, *block.rest.stream]
        buffers += block.rest.buffers
    return Packed([*heads, *stream], buffers)


def split(stream: memoryview) -> Iterator[tuple[Sent, int]]:
    """The jobs of a message: the block of each, and its number there."""
    (blocks,) = _COUNT.unpack_from(stream)
    start = _COUNT.size + _BLOCK.size * blocks
    for count, function, rest in _BLOCK.iter_unpack(stream[_COUNT.size : start]):
        middle, end = start + function, start + function + rest
        block = Sent(count == 0, bytes(stream[start:middle]), stream[middle:end])
        start = end
        for number in range(count or 1):
            yield block, number


class Sent:
    """A block that has arrived; nothing of it is read before :meth:`call`. Attention: this is **not** thread-safe!"""

    def __init__(self, is_single: bool, function: bytes, rest: memoryview) -> None:
        self._is_single, self._function, self._rest = is_single, function, rest
        self._read: tuple[list[Any], list[str] | None] | None = None

    def call(self, number: int, buffers: Sequence[Any], functions: FunctionReader) -> _Call:
        """The function of a job, its arguments and its name, which may be empty.

        Raises:
            Exception: What unpickling raises.
        """
        if self._is_single:
            if not self._function:
                whole: _Call = unpack(self._rest, buffers)
                return whole
            args, kwargs, name = unpack(self._rest, buffers)
            return functions(self._function), args, kwargs, name
        if self._read is None:
            self._read = pickle.loads(self._rest)
        found, names = self._read
        args = found[number]
        if type(args) is bytes:
            args = read_plain(args)
        return functions(self._function), args, {}, names[number] if names else ""
