"""Jobs as bytes, several in one message.

A message is a pickle of its jobs, each as a pickle of its function and one of its arguments. The worker reads a job
when it begins it, so that an error there is this job's. The pickle of a function that several jobs have is made once,
and each job gets the function as it was sent.

A job whose arguments are not plain has function and arguments in one pickle, because they may share what can change. If
it is long, or has arrays whose memory stays out of the pickle (see ``packing``), it is the only one of its message, and
its pickle follows the message's without being copied.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tf1sessions.pools.function_pickles import FunctionPickles, FunctionReader
from tf1sessions.pools.packing import Packed, pack, unpack
from tf1sessions.pools.shared_status import MOST_JOBS

__all__ = ["PackedMessage", "ReceivedJob", "is_plain", "pack_message", "read_message"]


class _PackableJob(Protocol):
    @property
    def function(self) -> Callable[..., Any]: ...
    @property
    def args(self) -> tuple[Any, ...]: ...
    @property
    def kwargs(self) -> Mapping[str, Any]: ...
    @property
    def name(self) -> str: ...


_J = TypeVar("_J", bound=_PackableJob)
_Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str]

_ATOMS = frozenset((int, float, bool, str, bytes, complex, range, type(None)))
_HEAD = struct.Struct("=I")  # the bytes of the pickle of the jobs
_MESSAGE_BYTES = 32 << 10  # of the pickles of jobs that go together; arbitrary
_MOST_ITEMS = 1000  # of a list of lists that is looked into; arbitrary


@dataclass
class PackedMessage(Generic[_J]):
    """A message, and what became of the jobs for it."""

    content: Packed = field(default_factory=Packed)  # their pickles
    jobs: list[_J] = field(default_factory=list)  # those that it has
    rest: list[_J] = field(default_factory=list)  # those for which it has no room
    failed: list[tuple[_J, BaseException]] = field(default_factory=list)  # those that cannot be pickled, and why


@dataclass(frozen=True)
class ReceivedJob:
    """A job that has arrived; nothing of it is read before :meth:`call`."""

    function: bytes  # its pickle; empty when it is one with the arguments
    arguments: Any
    name: str

    def call(self, buffers: Sequence[Any], functions: FunctionReader) -> _Call:
        """The function of the job, its arguments and its name.

        Raises:
            Exception: What unpickling raises.
        """
        if self.function:
            return functions.read(self.function), pickle.loads(self.arguments), {}, self.name
        whole: _Call = unpack(self.arguments, buffers)
        return whole


def pack_message(jobs: Sequence[_J], in_band: float, functions: FunctionPickles) -> PackedMessage[_J]:
    """Pickle the first jobs, as many as a message holds.

    Args:
        in_band: As for :func:`~tf1sessions.pools.packing.pack`.
    """
    message: PackedMessage[_J] = PackedMessage()
    packed: list[tuple[bytes, bytes, str]] = []
    length = 0
    function, pickled = None, b""
    for index, job in enumerate(jobs):
        if length >= _MESSAGE_BYTES or len(packed) == MOST_JOBS:
            message.rest = list(jobs[index:])
            break
        try:
            if job.function is not function:
                function, pickled = job.function, functions.pickled(job.function, in_band)
            if pickled and not job.kwargs and is_plain(job.args, in_band):
                packed.append((pickled, pickle.dumps(job.args, 5), job.name))
            else:
                alone = pack((job.function, job.args, job.kwargs, job.name), in_band)
                if alone.buffers or alone.length > _MESSAGE_BYTES - length:
                    return _with_long_job(message, jobs, index, packed, alone)
                packed.append((b"", _joined(alone), ""))
        except BaseException as error:  # noqa: BLE001 - whatever a foreign __reduce__ raises
            message.failed.append((job, error))
            continue
        message.jobs.append(job)
        length += len(packed[-1][1])
    message.content = _content(packed)
    return message


def _with_long_job(
    message: PackedMessage[_J], jobs: Sequence[_J], index: int, packed: list[tuple[bytes, bytes, str]], alone: Packed
) -> PackedMessage[_J]:
    """A message with the job at ``index`` alone, or, if there are jobs before it, with these."""
    if packed:
        message.rest, message.content = list(jobs[index:]), _content(packed)
    else:
        message.jobs, message.rest = [jobs[index]], list(jobs[index + 1 :])
        message.content = Packed([*_content([]).stream, *alone.stream], alone.buffers)
    return message


def _content(packed: list[tuple[bytes, bytes, str]]) -> Packed:
    pickled = pickle.dumps(packed, 5)  # a function's pickle that several have is in it once
    return Packed([_HEAD.pack(len(pickled)), pickled])


def _joined(packed: Packed) -> bytes:
    return b"".join(packed.stream)


def read_message(stream: memoryview) -> list[ReceivedJob]:
    """The jobs of a message."""
    (length,) = _HEAD.unpack_from(stream)
    end = _HEAD.size + length
    jobs = [ReceivedJob(*parts) for parts in pickle.loads(stream[_HEAD.size : end])]
    return jobs or [ReceivedJob(b"", stream[end:], "")]


def is_plain(value: Any, in_band: float, depth: int = 2) -> bool:
    """Whether the standard pickle of a value, which takes a tenth of the time, is as good as one by ``packing``.

    Args:
        in_band: Arrays with fewer bytes than this stay in the pickle.
    """
    kind = type(value)
    if kind in _ATOMS:
        return True
    if kind is np.ndarray:
        return value.nbytes < in_band and _is_plain_array(value)
    if kind is not tuple and kind is not list:
        return False
    if _ATOMS.issuperset(map(type, value)):
        return True
    return depth > 0 and len(value) <= _MOST_ITEMS and all([is_plain(item, in_band, depth - 1) for item in value])


def _is_plain_array(array: NDArray[Any]) -> bool:
    """Whether an array arrives as it is, and writable."""
    flags, dtype = array.flags, array.dtype
    if not (array.size and flags.forc and flags.writeable and dtype.isbuiltin == 1):
        return False
    return not dtype.hasobject and dtype.metadata is None
