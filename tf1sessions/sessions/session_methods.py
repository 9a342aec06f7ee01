"""Functions in the place of ``Session.run``, ``close`` and ``make_callable``, and their installation in a process."""

from __future__ import annotations

import atexit
import ctypes
import functools
import itertools
import logging
import time
import types
from threading import Thread, current_thread, get_ident
from time import sleep
from typing import Any

from tf1sessions import forks
from tf1sessions.runtime import private, tf
from tf1sessions.sessions import gpu_settings
from tf1sessions.sessions.feed_values import without_fed_arrays
from tf1sessions.sessions.graphs import caller_place
from tf1sessions.sessions.plans import ASK, RESOURCE, RUNNING
from tf1sessions.sessions.request_keys import NotPlannable, leaf_types, leaves, request_shape
from tf1sessions.sessions.session_calls import calls_of, name_of
from tf1sessions.sessions.stacks import current_frames, without_collection
from tf1sessions.sessions.watchdog import list_operations, watchdog

__all__ = [
    "close",
    "do_run",
    "install_fast_path",
    "make_callable",
    "note_session",
    "original",
    "run",
    "skip_destructors",
]

logger = logging.getLogger("tf1sessions")

#: How long ``close()`` waits for what runs in the session. Arbitrary: what can be cancelled ends in milliseconds.
CLOSE_SECS = 10.0

#: How long the end of the process waits for sessions whose closing goes on. Arbitrary, too.
EXIT_SECS = 2.0

#: Threads that close a session in which something runs.
_closing: list[Thread] = []
_close_numbers = itertools.count(1)

_Tensor: Any = tf.Tensor


#: TensorFlow's own methods; ``init`` is None until :func:`install_fast_path` has replaced them in all sessions.
original = types.SimpleNamespace(
    run=tf.Session.run,
    do_run=getattr(tf.Session, "_do_run", None),
    make_callable=tf.Session.make_callable,
    init=None,
)


#: The code of what runs a session by another way than a compiled request.
_runs = {method.__code__ for method in (original.run, original.do_run) if hasattr(method, "__code__")}


def run(session: Any, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
    """Runs ``fetches`` in any session, as ``tf.compat.v1.Session.run`` does, by a compiled call where there is one.

    Args:
        session: A ``tf.compat.v1.Session``, one of ours or not.
        fetches, feed_dict, options, run_metadata: As for ``Session.run``.

    Returns:
        What ``Session.run`` returns; no array of it shares memory with a variable, constant, feed or other result.

    Raises:
        Whatever ``Session.run`` raises, in the same words.
        ForkedAfterSessionError: In a child process that was forked after its parent made a session; ``Session.run``
            would hang there.

    Thread-safety: safe to call from any number of threads at once.
    """
    if forks.refusing:
        raise forks.error()
    if options or run_metadata:
        if (options and (type(options) is not tf.RunOptions or options.ByteSize())) or (
            run_metadata and type(run_metadata) is not tf.RunMetadata
        ):
            return without_fed_arrays(original.run(session, fetches, feed_dict, options, run_metadata), feed_dict)
        result = run(session, fetches, feed_dict)
        if run_metadata:
            run_metadata.Clear()  # what run() leaves in it when no option asks for anything
        return result
    calls = getattr(session, "_tf1sessions_calls", None) or calls_of(session)
    try:
        # A feed is known by its id (a plan holds its tensors, so no other object has it), a name by its value.
        key: Any = id(fetches) if leaf_types.get(type(fetches)) else request_shape(fetches)
        if feed_dict:
            if len(feed_dict) == 1:
                [item] = feed_dict
                key = (key, item if type(item) is str else id(item))
            else:
                key = (key, *[item if type(item) is str else id(item) for item in feed_dict])
        plan = calls.plans.get(key)
    except NotPlannable:
        return without_fed_arrays(session._run(None, fetches, feed_dict, None, None), feed_dict)
    if plan is not None:
        plan.recent = True
        result = plan.run(session, feed_dict.values() if feed_dict else ())
        if result is not ASK:
            return result
        return without_fed_arrays(session._run(None, fetches, feed_dict, None, None), feed_dict)
    result = without_fed_arrays(session._run(None, fetches, feed_dict, None, None), feed_dict)
    feeds = list(feed_dict or ())
    if all(isinstance(feed, (_Tensor, tf.Variable, str)) for feed in feeds):
        calls.plan(session, key, fetches, feeds, (leaves(fetches), feeds))
    return result


def do_run(
    session: Any, handle: Any, target_list: Any, fetch_list: Any, feed_dict: Any, options: Any, run_metadata: Any
) -> Any:
    """Takes the place of ``BaseSession._do_run``: the end of the slow way, which has checked everything."""
    if forks.refusing:
        raise forks.error()
    if (
        handle is not None
        or options is not None
        or run_metadata is not None
        # Resource handles (a TensorHandle that is fed, for one) crash the callable API.
        or any(value.dtype.fields is not None and value.dtype == RESOURCE for value in feed_dict.values())
    ):
        return original.do_run(session, handle, target_list, fetch_list, feed_dict, options, run_metadata)
    feeds = sorted(((ref.deref(), value) for ref, value in feed_dict.items()), key=lambda pair: str(pair[0].name))
    fetches = sorted(fetch_list, key=name_of)
    request = calls_of(session).request(
        session, [tensor for tensor, _ in feeds], fetches, sorted(target_list, key=name_of)
    )
    if request is None:
        return original.do_run(session, handle, target_list, fetch_list, feed_dict, options, run_metadata)
    results = session._do_call(request.run, session, [value for _, value in feeds])
    if fetches == fetch_list:
        return results
    by_id = {id(tensor): result for tensor, result in zip(fetches, results, strict=True)}
    return [by_id[id(tensor)] for tensor in fetch_list]


def close(session: Any) -> None:
    """As ``BaseSession.close``, and safe while other threads run requests in their own threads.

    TensorFlow crashes when a session is closed during a call in the caller's thread (2.21; calls in the pool it ends
    well). Such calls wait for nothing, so those that have begun are let end; none begins any more. Nothing reports a
    call that runs, because to say so would cost time in each: this looks at the stacks of the other threads instead.
    """
    if session._session is None or session._closed:
        return
    session._closed = True
    calls = _calls_of_others(session)
    while "caller" in calls:
        sleep(0.0002)
        calls = _calls_of_others(session)
    # TensorFlow waits for Python functions that run in the session, and for a loop whose condition it has found to be
    # constant, which cannot be cancelled (2.21): without an end, and deaf to Ctrl-C. No thread is started without need:
    # the garbage collector may close a session inside any statement, one that holds a lock of threads too.
    closing = _start_closing(session) if calls or _in_flight(session) else None
    if closing is None:
        private.pywrap_session.TF_CloseSession(session._session)
        return
    closing.join(CLOSE_SECS)
    if closing.is_alive():
        waiting = ", ".join(list_operations(call.operations) for call in _in_flight(session))
        logger.warning(
            "closing a session has waited %g s for what runs in it: %s. It goes on in the background, in the thread "
            "%r; TensorFlow 1 would wait until that returns.",
            CLOSE_SECS,
            waiting or "an operation or a loop that TensorFlow cannot cancel, such as one with a constant condition",
            closing.name,
        )


def _start_closing(session: Any) -> Thread | None:
    """A thread that closes the session; None where no thread can be started any more."""
    closing = Thread(target=_close_now, args=(session,), name=f"tf1sessions-close-{next(_close_numbers)}", daemon=True)
    _closing.append(closing)
    try:
        closing.start()
    except RuntimeError:  # the interpreter ends, or the system has no more threads
        _closing.remove(closing)
        return None
    return closing


def _close_now(session: Any) -> None:
    try:  # with the session, which must not be deleted meanwhile
        private.pywrap_session.TF_CloseSession(session._session)
    finally:
        _closing.remove(current_thread())


@atexit.register
def _let_closing_end() -> None:
    """Wait for threads that are about to come back from TensorFlow: if Python has ended by then, the process aborts.

    What TensorFlow cannot cancel never comes back: then the process ends without C++'s destructors, see
    :func:`skip_destructors`.
    """
    deadline = time.monotonic() + EXIT_SECS
    for thread in list(_closing):
        thread.join(max(0.0, deadline - time.monotonic()))
    if _closing:
        skip_destructors()


def skip_destructors() -> None:
    """Makes the process end without the destructors of C++'s globals, once Python has ended in full.

    TensorFlow's would be run beneath a thread that computes, and crash. glibc calls what was registered last first.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "on_exit"):
        libc.on_exit(libc._exit, None)


def _in_flight(session: Any) -> list[Any]:
    return watchdog.calls(session)


@without_collection
def _calls_of_others(session: Any) -> set[str]:
    """Find out how other threads run the session: in their own ("caller"), in TensorFlow's pool ("pool"), or both.

    This thread's own calls are left out: none of them that is in its own thread can be in TensorFlow.
    """
    calls = set()
    frames = current_frames()
    del frames[get_ident()]  # its own frame in a local variable would be a cycle
    for frame in frames.values():
        inner: Any = frame
        while inner is not None:
            if inner.f_code in RUNNING:
                found = inner.f_locals
                request = found.get("request")  # not there yet: it has not looked whether the session is closed
                if request is not None and found.get("session") is session:
                    calls.add("caller" if request.in_caller else "pool")
            elif inner.f_code in _runs and inner.f_locals.get("self") is session:
                calls.add("pool")
            inner = inner.f_back
    return calls


def note_session() -> None:
    """A session was made."""
    if not forks.session_noted:
        forks.note_session(caller_place())


def make_callable(session: Any, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Any:
    """As ``Session.make_callable``, by compiled calls. Queue runners enqueue with what this returns."""
    made = original.make_callable(session, fetches, feed_list, accept_options)  # its checks, and its graph update
    if feed_list is not None or accept_options:
        return made  # it calls run() itself, or needs its own way for RunOptions
    return functools.partial(run, session, fetches)


# -- a whole process --------------------------------------------------------------------------------------------------


def install_fast_path() -> bool:
    """Puts compiled calls under every session of this process, those that TensorFlow's own classes make included.

    For processes that belong to one script: MonitoredTrainingSession, Supervisor and Estimator make
    ``python.client.session.Session`` themselves, and all of them meet in ``BaseSession.run``. Calling it again does
    nothing.

    Returns:
        False when this TensorFlow lacks the private API; ``run`` is then left as it is.
    """
    if not private.callable_api:
        return False
    base = private.session.BaseSession
    if original.init is not None:
        return True
    original.init = base.__init__
    original.run = base.run

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if forks.refusing:
            raise forks.error()
        asked = dict(zip(("target", "graph", "config"), args, strict=False)) | kwargs
        # The options of a script that TensorFlow ignores are named once, and ignored.
        with gpu_settings.joining(asked.get("config"), asked.get("target"), refuse=False) as (_, made):
            original.init(self, *args, **kwargs)
            made(self)
        note_session()

    __init__.__wrapped__ = original.init  # type: ignore[attr-defined]
    __init__.__doc__ = original.init.__doc__

    base._session = None  # what its __del__ reads when __init__ has raised
    base._tf1sessions_calls = None
    base.__init__ = __init__
    base.run = run
    base.make_callable = make_callable
    base.close = close
    base._do_run = do_run
    return True
