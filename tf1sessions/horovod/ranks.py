"""The rank of this process, from ``init()`` to ``shutdown()``, and what this Horovod can do."""

from __future__ import annotations

import atexit
import os
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from .hub import INIT, Hub
from .launched import Launched, at_init, read
from .member import Member
from .reductions import Contribution, ExchangePart

__all__ = [
    "ccl_built",
    "cross_rank",
    "cross_size",
    "cuda_built",
    "ddl_built",
    "exchange",
    "gloo_built",
    "gloo_enabled",
    "init",
    "is_homogeneous",
    "is_initialized",
    "local_rank",
    "local_size",
    "mlsl_built",
    "mpi_built",
    "mpi_enabled",
    "mpi_threads_supported",
    "nccl_built",
    "rank",
    "rocm_built",
    "shutdown",
    "size",
]

_lock = threading.Lock()  # protects the next two, and is held while ranks meet
_launched: Launched | None = None  # None: not initialised
_link: Hub | Member | None = None  # None with one rank
_pid = 0


def init(comm: Any = None) -> None:
    """Join the other ranks, and wait until all of them have called this. A second call does nothing.

    Args:
        comm: Not there: all ranks are together.

    Raises:
        UsageError: ``comm`` is given.
        ConfigError: Another launcher than ``tf1sessions launch`` has started this process.
        PeerGoneError: Another rank has ended.
        StallError: Another rank did not come within ``--start-limit``.
    """
    global _launched, _link, _pid
    if comm is not None and comm != []:
        raise UsageError(
            f"a communicator of some of the ranks is not there: {comm!r}",
            where="hvd.init()",
            next_step="Leave it out: all ranks are together.",
        )
    with _lock:
        if _launched is not None:
            return
        launched = read()
        for call in at_init:
            call()
        if launched.size > 1:
            _link = Member(launched) if launched.rank else Hub(launched)
            try:
                _link.exchange(INIT, Contribution((ExchangePart("sum"),), [np.ones(1, np.int64)]))
            except BaseException:
                _link.close()
                _link = None
                raise
        _launched, _pid = launched, os.getpid()
    atexit.register(shutdown)


def shutdown() -> None:
    """Leave the other ranks: what they wait for from this one fails. Idempotent; done at the end of the process."""
    global _launched, _link
    if _pid != os.getpid():  # a forked child, whose parent is still there
        return
    with _lock:
        link, _launched, _link = _link, None, None
    if link is not None:
        link.close()


def is_initialized() -> bool:
    """Whether ``init()`` was called, and not ``shutdown()`` since."""
    return _launched is not None


def _here() -> Launched:
    if _launched is None:
        raise UsageError("Horovod has not been initialized", next_step="Call hvd.init() first.")
    return _launched


def exchange(name: str, contribution: Contribution) -> list[NDArray[Any]]:
    """Give this rank's part of an exchange and return the arrays that all ranks get; with more than one rank only."""
    if _pid != os.getpid():
        raise UsageError(
            f"{name}: this process was forked from rank {_here().rank}, which alone can talk to the others",
            next_step="Call Horovod in the process that called hvd.init().",
        )
    _here()
    link = _link
    assert link is not None, "one rank exchanges nothing"
    return link.exchange(name, contribution)


def rank() -> int:
    """The number of this rank, from 0."""
    return _here().rank


def size() -> int:
    """Return the number of ranks."""
    return _here().size


def local_rank() -> int:
    """The number of this rank on its machine: all ranks are on one."""
    return _here().rank


def local_size() -> int:
    """Return the number of ranks of this machine: all."""
    return _here().size


def cross_rank() -> int:
    """The number of this machine: 0."""
    return 0 * _here().rank


def cross_size() -> int:
    """Return the number of machines that have ranks: 1."""
    return 1 + cross_rank()


def is_homogeneous() -> bool:
    """Whether all machines have as many ranks as each other."""
    return _here().size > 0


def mpi_threads_supported() -> bool:
    """Whether MPI may be used from several threads: there is no MPI."""
    _here()
    return False


def _is_not_there() -> bool:
    """False: this Horovod has no MPI, Gloo, NCCL or the like, but connections of its own."""
    return False


mpi_enabled = mpi_built = gloo_enabled = gloo_built = _is_not_there
nccl_built = ddl_built = ccl_built = mlsl_built = cuda_built = rocm_built = _is_not_there
