"""Compiled calls: the Session whose ``run`` costs a tenth, with the same results, checks and errors.

The data flow of one ``run``::

    run(fetches, feed_dict)
      │ key: the shape of the request (ids of tensors, structure of containers)
      ├─ known ──▶ RequestPlan.run: checks and converts the fed values; any doubt: the slow way, which raises TF's error
      │                └─▶ TF_SessionRunCallable ──▶ results copied ──▶ put into the structure of the fetches
      │
      └─ new ────▶ TensorFlow's own Session._run: its checks, its conversions, its error texts
                      └─ do_run (ours) ──▶ CompiledRequest.run (compiled once for its feeds, fetches and targets)
                             └─▶ TF_SessionRunCallable ──▶ results copied

So a request is compiled once, whichever way it takes, and the slow way decides whatever the fast one is not sure of;
nothing is ever run twice to get an error text. What TensorFlow's ``run`` alone can do (RunOptions that ask for
something, ``partial_run``) is left to it.

Locks: ``SessionCalls._lock`` guards compilation and insertion into the two caches; look-ups take no lock (a dict read).
It is re-entrant, because a TensorHandle that the garbage collector finds during a compilation runs the session.
A plan or request that is evicted while another thread uses it stays alive through that thread's reference.

The measured differences between the callable API and ``run`` that this module makes good: results that alias
TensorFlow's buffers, no conversion of fed values (a big-endian array is misread in silence), no static shape check,
errors without ``op`` and without "Detected at node", tensors both fed and fetched.
"""

from __future__ import annotations

import types
from typing import Any

from tf1sessions import forks
from tf1sessions.errors import ConfigError
from tf1sessions.runtime import private, tf
from tf1sessions.sessions import gpu_settings
from tf1sessions.sessions.plans import ASK
from tf1sessions.sessions.request_keys import leaves
from tf1sessions.sessions.session_calls import EXECUTIONS, SessionCalls, calls_of, milliseconds
from tf1sessions.sessions.session_methods import (
    close,
    do_run,
    install_fast_path,
    make_callable,
    note_session,
    original,
    run,
)
from tf1sessions.sessions.watchdog import watchdog

__all__ = [
    "EXECUTIONS",
    "CompiledCall",
    "Session",
    "SessionCalls",
    "calls_of",
    "install_fast_path",
    "run",
    "watch",
    "watched_session",
]

_Tensor: Any = tf.Tensor
_Operation: Any = tf.Operation


class Session(tf.Session):  # type: ignore[misc]
    """``tf.compat.v1.Session`` with compiled calls under ``run``: the same results, checks and errors, faster.

    Args:
        target, graph, config: As for ``tf.compat.v1.Session``. ``config`` may also be a
            :class:`~tf1sessions.SessionConfig`.
        execution: ``"auto"`` runs a request in the calling thread when its graph is small and made of operations that
            wait for nothing, and in TensorFlow's thread pool otherwise; ``"pool"`` always uses the pool; ``"caller"``
            refuses a request that is not safe in the calling thread.

    Raises:
        ConfigError: For an unknown ``execution``, and a lane in ``config`` on which ``graph`` is not: a GraphSession
            makes its graph there.
        MemoryPlanConflict: ``config`` asks for another share of the GPUs than this process has been given.
        ExecutionModeError: From ``run``, with ``execution="caller"``.

    A request that reads a variable and changes it, without a control dependency between the two, has no defined order:
    TensorFlow 1.15 gives now the one, now the other. In the calling thread it is the same one each time.

    Thread-safety: ``run`` and ``close`` may be called from any thread. Adding operations to the graph may not; see
    :class:`~tf1sessions.GraphSession`.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with tf.Graph().as_default(), t1.Session() as session:
        ...     x = tf.placeholder(tf.float32, [None])
        ...     print(session.run(2. * x, {x: [1., 2.]}))
        [2. 4.]
    """

    _session: Any = None  # what TensorFlow's __del__ reads when __init__ has raised
    _tf1sessions_calls: Any = None

    def __init__(
        self, target: str = "", graph: Any = None, config: Any = None, *, execution: str | None = None
    ) -> None:
        if forks.refusing:
            raise forks.error()
        to_proto = getattr(config, "to_proto", None)
        if to_proto is not None:
            _check_lane(graph, config.lane)
            execution = execution or config.execution
            config = to_proto()
        calls = SessionCalls(self, execution or "auto")
        if gpu_settings.nothing_to_agree_on():
            super().__init__(target, graph, config)
        else:
            with gpu_settings.joining(config, target) as (agreed, made):
                super().__init__(target, graph, agreed)
                made(self)
        note_session()
        self._tf1sessions_calls = calls

    if private.callable_api:
        run = run  # the function above, as a method: one frame less in each call
        make_callable = make_callable
        _do_run = do_run

    def __reduce_ex__(self, protocol: Any) -> Any:
        # Of a copy, the end would close and free what TensorFlow has for this one.
        raise TypeError(f"a {type(self).__name__} can neither be copied nor pickled: make another one of the graph")

    def close(self) -> None:
        """Closes the session; closing again does nothing.

        Calls that run in TensorFlow's pool end with ``CancelledError``; those in their caller's thread, which wait for
        nothing, end first. A Python function that runs in it cannot be ended, nor can an endless loop whose
        condition is constant, unless the graph is not optimized (``graph_optimization="off"``): after 10 s it is given
        up, and the log ``tf1sessions`` names it. Such a loop keeps a thread of TensorFlow's pool, which others need.
        """
        if self._session is None or self._closed:
            return
        if private.callable_api:
            close(self)
        else:
            super().close()
        calls = self.__dict__.get("_tf1sessions_calls")
        if calls is not None and not forks.forked():  # there its lock may be held for ever
            calls.clear()
        watchdog.forget(self)


def _check_lane(graph: Any, lane: str | None) -> None:
    if lane is not None and getattr(graph, "lane", None) != lane:
        raise ConfigError(
            f"lane is {lane!r}, and the session's graph is not on it",
            where="the session's config",
            next_step="Use GraphSession(config), which builds its graph on the lane, or load(path, config=...).",
        )


class CompiledCall:
    """A request that was compiled once; made by :meth:`GraphSession.compile`.

    Calling it with one value for each feed, in their order, returns what ``run(fetches, ...)`` would return: owned by
    the caller, with the same checks and errors.

    Attributes:
        in_caller: Whether it runs in the calling thread rather than in TensorFlow's pool; None when it is not compiled
            because only ``run`` can do it.

    Thread-safety: safe to call from any number of threads at once.
    """

    __slots__ = ("_feeds", "_fetches", "_only_targets", "_options", "_picks", "_run", "_session", "in_caller")

    def __init__(
        self, session: Any, feeds: Any, fetches: Any, targets: Any, *, run_limit_secs: float | None = None
    ) -> None:
        if forks.refusing:  # a lock may be held for ever
            raise forks.error()
        self._session = session
        self._options = None if run_limit_secs is None else tf.RunOptions(timeout_in_ms=milliseconds(run_limit_secs))
        self._feeds = tuple(feeds) if isinstance(feeds, (list, tuple)) else (() if feeds is None else (feeds,))
        listed = list(targets) if isinstance(targets, (list, tuple)) else ([] if targets is None else [targets])
        # With targets, what runs is (fetches, targets), and the first of the two is returned.
        self._picks = bool(listed)
        self._only_targets = fetches is None
        self._fetches: Any = fetches
        if listed:
            self._fetches = (listed[:1] if fetches is None else fetches, listed)
        if session._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        plan = None
        if private.callable_api:
            single = [feed for feed in self._feeds if isinstance(feed, (_Tensor, tf.Variable, _Operation, str))]
            try:
                for feed in single:
                    session.graph.as_graph_element(feed, allow_tensor=True, allow_operation=False)
            except (KeyError, TypeError, ValueError) as error:
                raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error.args[0]}") from error
            for index, feed in enumerate(single):
                if any(feed is other for other in single[:index]):  # no feed_dict has a key twice
                    raise ValueError(f"feeds has {feed!r} twice, and one value can be fed for it")
            if len(single) == len(self._feeds):  # composites and tuples of tensors are left to run()
                refs = (leaves(self._fetches), self._feeds)
                plan = calls_of(session).plan(session, None, self._fetches, self._feeds, refs, run_limit_secs)
        self._run = None if plan is None else plan.run
        self.in_caller = None if plan is None else plan.request.in_caller

    def __call__(self, *values: Any) -> Any:
        if len(values) != len(self._feeds):
            raise TypeError(
                f"the compiled call takes {len(self._feeds)} value(s), for "
                f"{[getattr(feed, 'name', feed) for feed in self._feeds]}, and got {len(values)}"
            )
        session = self._session
        if self._run is not None:
            if forks.refusing:
                raise forks.error()
            result = self._run(session, values)
            if result is not ASK:
                return self._pick(result) if self._picks else result
        with session.graph.as_default():  # in a TF2 program a tensor of it can be a dict's key here only
            result = session.run(self._fetches, dict(zip(self._feeds, values, strict=True)), self._options)
        return self._pick(result) if self._picks else result

    def _pick(self, result: Any) -> Any:
        return None if self._only_targets else result[0]

    def __repr__(self) -> str:
        where = {True: "caller", False: "pool", None: "run"}[self.in_caller]
        return f"<CompiledCall of {len(self._feeds)} feed(s), runs in {where}>"


def watch(session: Any) -> None:
    """Makes a session's calls those that the watchdog sees, if it is not one of ours. Does nothing the second time.

    ``run`` of this one session is by compiled calls from then on, in TensorFlow's pool: TensorFlow's own ``close()``,
    which it keeps, must not meet a call that runs in its caller's thread. A subclass keeps a ``run`` of its own.
    """
    if isinstance(session, Session) or getattr(session, "_tf1sessions_calls", None) is not None:
        return
    session._tf1sessions_calls = SessionCalls(session, "pool")
    if private.callable_api:
        if type(session).run is original.run:
            session.run = types.MethodType(run, session)
        if type(session)._do_run is original.do_run:
            session._do_run = types.MethodType(do_run, session)


def watched_session(given: Any, where: str) -> Any:
    """Returns the session of a GraphSession, or the session that was given itself, watched: see :func:`watch`.

    Raises:
        ConfigError: It is neither; ``where`` names the argument.
    """
    session = getattr(given, "session", given)
    if not isinstance(session, (tf.Session, tf.InteractiveSession)):
        raise ConfigError(
            f"session is {given!r:.200}",
            where=where,
            next_step="Give a GraphSession, a Session or an InteractiveSession.",
        )
    watch(session)
    return session
