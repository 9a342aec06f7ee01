"""The side of the ranks other than 0: one connection to rank 0, on which requests go out and answers come back.

A thread reads the answers and hands each to the thread that waits for it. Requests carry numbers, so that several can
be under way at once.
"""

from __future__ import annotations

import itertools
import socket
import threading
import time
from time import sleep
from typing import Any

from numpy.typing import NDArray

from ..errors import PeerGoneError, StallError
from ..serving.local_handshake import greet
from . import frames
from .hub import GONE_SECS, INIT, RankAnswer, answer_of, prepare
from .launched import Launched
from .reductions import Contribution

__all__ = ["Member"]

_AGAIN_SECS = 0.05  # between two tries to connect; arbitrary
_MARGIN_SECS = 60.0  # after which rank 0, which ought to have answered with an error, is given up; arbitrary
_GONE = "rank 0 has gone: its process has ended, or called hvd.shutdown()"


class _Waiting:
    """A request whose answer has not come."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.answer = RankAnswer(kind="gone", text=_GONE)


class Member:
    """The connection of a rank to rank 0. Safe to use from several threads.

    Args:
        launched: What the launch gave this rank.

    Raises:
        PeerGoneError: Rank 0 did not listen in time, or does not want this rank.
    """

    def __init__(self, launched: Launched) -> None:
        self._launched = launched
        self._numbers = itertools.count()
        self._connection = self._connect()
        self._sending = threading.Lock()  # one message at a time
        self._lock = threading.Lock()  # protects what follows
        self._waiting: dict[int, _Waiting] = {}
        self._is_gone = False
        self._is_closed = False
        threading.Thread(target=self._read, name="tf1sessions horovod", daemon=True).start()

    def exchange(self, name: str, contribution: Contribution) -> list[NDArray[Any]]:
        """Give this rank's part of an exchange and return the arrays that all ranks get.

        Raises:
            UsageError: The ranks' parts do not fit together.
            PeerGoneError: Another rank has ended.
            StallError: Another rank did not give its part in time.
        """
        number, waiting = next(self._numbers), _Waiting()
        with self._lock:
            if self._is_gone:
                raise PeerGoneError(f"{name}: {_GONE}")
            self._waiting[number] = waiting
        parts = contribution.parts
        others = [at for at, part in enumerate(parts) if part.kind == "broadcast" and part.root != self._launched.rank]
        request = {"id": number, "name": name, "parts": [[part.kind, part.root] for part in parts]}
        try:
            with self._sending:
                frames.send(self._connection, request, contribution.arrays, others)
        except OSError:
            raise PeerGoneError(f"{name}: {_GONE}") from None
        limit = self._launched.start_limit_secs if name == INIT else self._launched.stall_limit_secs
        if not waiting.done.wait(limit + _MARGIN_SECS):
            raise StallError(f"{name}: rank 0 has not answered for {limit + _MARGIN_SECS:g} s; is it stopped?")
        if waiting.answer.text == _GONE:
            raise PeerGoneError(f"{name}: {_GONE}")
        return answer_of(waiting.answer)

    def close(self) -> None:
        """Report to rank 0 that this rank has ended. Idempotent."""
        self._is_closed = True
        try:
            with self._sending:
                frames.send(self._connection, {})
            self._connection.shutdown(socket.SHUT_RDWR)  # which ends the thread that reads
        except OSError:
            pass
        self._connection.close()

    def _connect(self) -> socket.socket:
        deadline = time.monotonic() + self._launched.start_limit_secs
        while True:
            connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            try:
                connection.connect(("127.0.0.1", self._launched.port))
                greet(connection, bytes.fromhex(self._launched.key))
                prepare(connection)
                frames.send(connection, {"rank": self._launched.rank})
                refused = frames.receive(connection)[0]["refused"]
            except (OSError, EOFError) as error:  # not there yet, or just going
                connection.close()
                if time.monotonic() > deadline:
                    raise PeerGoneError(
                        f"{INIT}: rank 0 did not call it within {self._launched.start_limit_secs:g} s (--start-limit)"
                    ) from error
                sleep(_AGAIN_SECS)
                continue
            if refused:
                connection.close()
                raise PeerGoneError(
                    f"{INIT}: another process is rank {self._launched.rank} already",
                    next_step="Call it in one process of each rank, and not in those that it starts.",
                )
            return connection

    def _read(self) -> None:
        try:
            while True:
                header, arrays = frames.receive(self._connection)
                with self._lock:
                    waiting = self._waiting.pop(header["id"])
                waiting.answer = RankAnswer(arrays, header["kind"], header["text"])
                waiting.done.set()
        except (OSError, EOFError, ValueError, KeyError):
            pass
        if not self._is_closed:
            sleep(GONE_SECS)
        with self._lock:
            self._is_gone = True
            left = list(self._waiting.values())
        for waiting in left:
            waiting.done.set()
