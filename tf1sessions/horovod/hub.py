"""Rank 0's side: matches the tensors of all ranks by name, combines them and answers each rank.

Threads of a :class:`Hub`::

    accepting   takes connections; each gets a thread of its own
    reading     one for each other rank: its key, its number, then its requests, each handed to _submit()
    watching    fails exchanges that wait for too long, or for ever

An exchange is complete when all ranks have given their part. The thread that brings the last part combines them and
sends the answers, that of rank 0 last: rank 0 may write into its array as soon as it has it. Each request gets one
answer, arrays or an error, so a rank that ends after its last answer changes no other rank's.
"""

from __future__ import annotations

import logging
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from ..errors import PeerGoneError, StallError, Tf1SessionsError, UnsupportedEnvironmentError, UsageError
from ..serving.local_handshake import let_in
from . import frames
from .launched import Launched
from .reductions import Contribution, ExchangePart, combine, mismatch

__all__ = ["ERRORS", "GONE_SECS", "INIT", "Hub", "RankAnswer", "answer_of"]

_log = logging.getLogger("tf1sessions")

#: The name of the exchange in which all ranks meet first.
INIT = "hvd.init()"
#: How an answer names the kind of its error -> the error.
ERRORS: dict[str, type[Tf1SessionsError]] = {"mismatch": UsageError, "gone": PeerGoneError, "stalled": StallError}

_LOOK_SECS = 0.5  # between two looks at what waits; arbitrary
_NAMED_SECS = 60.0  # after which a tensor that waits is named, as Horovod names it
_ALL_WAIT_SECS = 30.0  # for which all ranks wait for one another before that counts as for ever; arbitrary
#: Between the end of a rank and the errors of those that wait for it, so that the launch sees first which failed first.
GONE_SECS = 1.0
_SEND_SECS = 60  # for which a rank may take nothing of its answer; arbitrary


@dataclass(frozen=True)
class RankAnswer:
    """An answer to a rank: arrays, or the kind of an error and its text."""

    arrays: Sequence[NDArray[Any]] = ()
    kind: str = ""
    text: str = ""


def answer_of(answer: RankAnswer) -> list[NDArray[Any]]:
    """Return the arrays, or raise the error."""
    if answer.kind:
        raise ERRORS[answer.kind](answer.text)
    return list(answer.arrays)


@dataclass
class _Exchange:
    """An exchange of one name: the arrays of the ranks so far. The hub's lock guards it until it has its end."""

    name: str
    limit_secs: float
    began: float = field(default_factory=time.monotonic)
    given: dict[int, Contribution] = field(default_factory=dict)
    replies: dict[int, Callable[[RankAnswer], None]] = field(default_factory=dict)
    is_named: bool = False

    def answer(self, answer: RankAnswer) -> None:
        for rank in sorted(self.replies, reverse=True):  # rank 0 last
            self.replies[rank](answer)


class _Connection:
    """A connection to a rank, on which any thread sends."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._lock = threading.Lock()  # one message at a time

    def send(self, header: dict[str, Any], arrays: Sequence[NDArray[Any]] = ()) -> None:
        with self._lock:
            frames.send(self.socket, header, arrays)


class Hub:
    """Listens for the other ranks. Safe to use from several threads.

    Args:
        launched: What the launch gave rank 0.

    Raises:
        UnsupportedEnvironmentError: The port cannot be had.
    """

    def __init__(self, launched: Launched) -> None:
        self._launched = launched
        self._key = bytes.fromhex(launched.key)
        self._lock = threading.Lock()  # protects what follows, up to the sockets
        self._exchanges: list[_Exchange] = []  # those that are not complete, in the order of their begin
        self._members: dict[int, _Connection] = {}
        self._lost = ""  # why nothing can be complete any more
        self._last_given = time.monotonic()
        self._closed = threading.Event()
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # the launch holds the port (ports.py)
        try:
            self._listener.bind(("127.0.0.1", launched.port))
            self._listener.listen(launched.size)
        except OSError as error:
            self._listener.close()
            raise UnsupportedEnvironmentError(
                f"rank 0 cannot listen on port {launched.port}: {error.strerror}"
            ) from error
        for work in (self._accept, self._watch):
            threading.Thread(target=work, name="tf1sessions horovod", daemon=True).start()

    def exchange(self, name: str, contribution: Contribution) -> list[NDArray[Any]]:
        """Give rank 0's part of an exchange and return the arrays that all ranks get.

        Raises:
            UsageError: The ranks' parts do not fit together.
            PeerGoneError: Another rank has ended.
            StallError: Another rank did not give its part in time.
        """
        answers: list[RankAnswer] = []
        done = threading.Event()

        def reply(answer: RankAnswer) -> None:
            answers.append(answer)
            done.set()

        self._submit(0, name, contribution, reply)
        done.wait()  # which ends: _watch() sees to it, and close() answers as well
        return answer_of(answers[0])

    def close(self) -> None:
        """End: exchanges fail, here and at the other ranks. Idempotent."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._lose("rank 0 has ended")
        self._listener.close()
        with self._lock:
            members = list(self._members.values())
        for member in members:
            _shut(member.socket)

    def _submit(self, rank: int, name: str, contribution: Contribution, reply: Callable[[RankAnswer], None]) -> None:
        complete = None
        with self._lock:
            lost = self._lost
            if not lost:
                self._last_given = time.monotonic()
                found = next((one for one in self._exchanges if one.name == name and rank not in one.given), None)
                if found is None:
                    limits = self._launched.start_limit_secs, self._launched.stall_limit_secs
                    found = _Exchange(name, limits[name != INIT])
                    self._exchanges.append(found)
                found.given[rank] = contribution
                found.replies[rank] = reply
                if len(found.given) == self._launched.size:
                    self._exchanges.remove(found)
                    complete = found
        if lost:
            reply(RankAnswer(kind="gone", text=f"{name}: {lost}"))
        if complete is not None:
            complete.answer(_combined(complete))

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._serve, args=(connection,), name="tf1sessions horovod", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            rank = self._let_in(connection)
            if rank is None:
                return
            member = self._members[rank]
            why = f"rank {rank} has gone: its process has ended"
            try:
                while True:
                    header, arrays = frames.receive(connection)
                    if "id" not in header:
                        why = f"rank {rank} has ended"
                        break
                    parts = tuple(ExchangePart(*part) for part in header["parts"])
                    reply = self._reply(rank, member, header["id"])
                    self._submit(rank, header["name"], Contribution(parts, arrays), reply)
            except (OSError, EOFError, ValueError):
                pass
            with self._lock:
                del self._members[rank]
            self._closed.wait(GONE_SECS)
            self._lose(why)

    def _let_in(self, connection: socket.socket) -> int | None:
        """The number of the rank at the other end, which is one of the members now; None if it may not be."""
        try:
            if not let_in(connection, self._key):
                return None
            prepare(connection)
            rank = int(frames.receive(connection)[0]["rank"])
            with self._lock:
                refused = rank in self._members or not 0 < rank < self._launched.size
                if not refused:
                    self._members[rank] = _Connection(connection)
            frames.send(connection, {"refused": refused})
        except (OSError, EOFError, ValueError, KeyError):
            return None
        return None if refused else rank

    def _reply(self, rank: int, member: _Connection, number: int) -> Callable[[RankAnswer], None]:
        def reply(answer: RankAnswer) -> None:
            try:
                member.send({"id": number, "kind": answer.kind, "text": answer.text}, answer.arrays)
            except OSError:
                _shut(member.socket)  # its reading thread sees that

        return reply

    def _lose(self, why: str) -> None:
        """A rank has gone: what waits for it fails, and all that comes later."""
        with self._lock:
            self._lost = self._lost or why
            failed, self._exchanges = self._exchanges, []
        for one in failed:
            one.answer(RankAnswer(kind="gone", text=f"{one.name}: {why}"))

    def _watch(self) -> None:
        while not self._closed.wait(_LOOK_SECS):
            now = time.monotonic()
            with self._lock:
                failed = [(one, self._late(one)) for one in self._exchanges if now - one.began > one.limit_secs]
                if self._all_wait() and now - self._last_given > _ALL_WAIT_SECS:
                    waits = self._waits()
                    failed = [(one, f"all ranks wait, for different things: {waits}") for one in self._exchanges]
                self._exchanges = [one for one in self._exchanges if all(one is not gone for gone, _ in failed)]
                slow = [one for one in self._exchanges if not one.is_named and now - one.began > _NAMED_SECS]
                for one in slow:
                    one.is_named = True
                texts = [self._late(one) for one in slow]
            for text in texts:
                _log.warning(text)
            for one, text in failed:
                one.answer(RankAnswer(kind="stalled", text=text))

    def _all_wait(self) -> bool:
        waiting = {rank for one in self._exchanges for rank in one.given}
        return len(waiting) == self._launched.size

    def _waits(self) -> str:
        by_rank = {
            rank: [one.name for one in self._exchanges if rank in one.given] for rank in range(self._launched.size)
        }
        return "; ".join(f"rank {rank} for {', '.join(names)}" for rank, names in by_rank.items())

    def _late(self, one: _Exchange) -> str:
        missing = set(range(self._launched.size)) - one.given.keys()
        option = "--start-limit" if one.name == INIT else "--stall-limit"
        waited = time.monotonic() - one.began
        return (
            f"{one.name}: {_ranks(missing)} did not come for {waited:.0f} s, and {_ranks(one.given)} waits. All ranks "
            f"must run the same operations; the limit is {one.limit_secs:g} s ({option})"
        )


def _combined(exchange: _Exchange) -> RankAnswer:
    why = mismatch(exchange.given)
    if why is not None:
        return RankAnswer(kind="mismatch", text=f"{exchange.name}: {why}")
    try:
        return RankAnswer(combine(exchange.given))
    except (TypeError, ValueError, MemoryError) as error:  # such as a sum of a dtype that has none
        return RankAnswer(kind="mismatch", text=f"{exchange.name}: {error}")


def prepare(connection: socket.socket) -> None:
    """Let a connection send at once and wait for ever for what comes, but not for what it sends."""
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", _SEND_SECS, 0))


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # closed by the other side
        pass


def _ranks(ranks: Any) -> str:
    numbers = sorted(ranks)
    return f"rank {numbers[0]}" if len(numbers) == 1 else f"ranks {', '.join(map(str, numbers))}"
