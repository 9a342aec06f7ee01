"""The fork guard: in a forked child where TensorFlow would hang, its first use is an error instead.

TensorFlow runs operations on threads of its own, and a fork copies memory but no threads. So a child of a process
that had started TensorFlow waits for ever, in some operations at once, in others never::

    os.fork(), multiprocessing ──▶ _in_child: had the parent made a session, or run something eagerly?
                                     ├─ no ──▶ nothing is done: the child may use TensorFlow
                                     └─ yes ─▶ forked() is True from now on and, unless the guard is off,
                                                 the eager context refuses to run, but still takes part in graphs
                                                 making and running a session raises, whoever made it
                                                 what would end things of the parent (close, __del__) does nothing

Nothing is changed in a process that forks, nothing costs time in its calls. The child gets a
:class:`~tf1sessions.errors.ForkedAfterSessionError`. Setting the environment variable ``TF1SESSIONS_FORK_GUARD`` to 0,
at any time before the fork, leaves TensorFlow in the child as it is.

TensorFlow's count of sessions and its eager context show what the parent has started. Not seen are
``device_lib.list_local_devices()`` and ``tf.train.Server`` without a session, which leave no trace there.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tf1sessions.errors import ForkedAfterSessionError

__all__ = ["OFF", "VARIABLE", "arm", "error", "forked", "note_session", "refusing", "session_noted"]

#: The environment variable that turns the guard off, and the values that do.
VARIABLE = "TF1SESSIONS_FORK_GUARD"
OFF = ("0", "false", "no", "off")

WAYS_OUT = (
    'Use tf1sessions.ProcessSessionPool or multiprocessing.get_context("spawn"), or fork before the first session and '
    f"the first eager operation; {VARIABLE}=0 turns this check off."
)

#: Whether this process refuses to use TensorFlow. Read in each call of a session, hence no function.
refusing = False

#: Whether the place where the first session of ours was made has been noted.
session_noted = False

_private: Any = None  # runtime.private, once armed
_sessions_made: Any = None  # TensorFlow's own count of the sessions of this process
_place: str | None = None  # where the first session of ours was made
_cause: str | None = None  # in a forked child: what its parent had done before
_parent = 0  # ... and the parent's pid


def arm(private: Any) -> None:
    """Watches the forks of this process from now on. ``private`` has TensorFlow's modules (runtime.py)."""
    global _private, _sessions_made
    first = _private is None
    _private = private
    counter = getattr(private.session, "_python_session_create_counter", None)
    # The cell is looked up here: that takes a lock of TensorFlow, and a child may find a lock held for ever.
    _sessions_made = None if counter is None else counter.get_cell()
    if first and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_in_child)


def note_session(place: str) -> None:
    """Remembers that this process has made a session of ours, the first time: at ``place``, ``file:line``."""
    global _place, session_noted
    if not session_noted:
        _place = place
        session_noted = True


def forked() -> bool:
    """True in a child whose parent had started TensorFlow before the fork: TensorFlow's threads are not in it.

    Whether the guard is on or off. What is ours and has threads of its own cannot be used there either way.
    """
    return _cause is not None


def error(what: str | None = None) -> ForkedAfterSessionError:
    """The error that a forked child gets when it uses TensorFlow; or ``what``, which is ours and has threads.

    What is ours raises it whether the guard is on or off, and where the parent itself had made no session, too.
    """
    process = sys.modules.get("multiprocessing.process")
    name = "" if process is None else process.current_process().name
    name = f" ({name})" if name not in ("", "MainProcess") else ""
    return ForkedAfterSessionError(
        f"{what or 'TensorFlow'} cannot be used in process {os.getpid()}{name}: a fork has none of the threads of "
        f"process {_parent or os.getppid()}, which {'had started it' if what else _cause}",
        where=None if what else _place,
        next_step="Make it, and its session, in the process that uses it." if what else WAYS_OUT,
    )


# -- in the child ------------------------------------------------------------------------------------------------------


def _in_child() -> None:
    global _cause, _parent, refusing
    if _cause is None:  # else this is a child of such a child, and has its parent's cause
        _cause = _started()
        _parent = os.getppid()
    if _cause is not None and not refusing and os.environ.get(VARIABLE, "").lower() not in OFF:
        refusing = True
        _guard_sessions()
        _guard_objects()
        _guard_context()


def _started() -> str | None:
    """Return what this process, or the one that it is a copy of, had done that a fork does not survive."""
    if session_noted if _sessions_made is None else _sessions_made.value():
        return "had made a TensorFlow session"
    context = getattr(_private.context, "_context", None)
    if getattr(context, "_initialized", False):
        return "had run TensorFlow eagerly"
    devices = getattr(context, "_physical_devices", None) or ()
    if any(device.device_type != "CPU" for device in devices):
        return "had asked TensorFlow for its GPUs"
    return None


def _raise(*_: Any, **__: Any) -> Any:
    raise error()


def _do_nothing(*_: Any, **__: Any) -> None:
    """Replace a function that would end something of the parent."""


# What session.py and server_lib.py call in TensorFlow's C++ part. What only reads, such as the list of devices, stays.
_RAISING = (
    "ExtendSession TF_NewServer TF_NewSessionRef TF_Reset TF_ServerStart TF_SessionMakeCallable "
    "TF_SessionPRunSetup_wrapper TF_SessionPRun_wrapper TF_SessionRunCallable TF_SessionRun_wrapper"
).split()
_SILENT = "TF_CloseSession TF_DeleteSession TF_ServerStop TF_SessionReleaseCallable".split()


def _guard_sessions() -> None:
    module = _private.pywrap_session
    for names, function in ((_RAISING, _raise), (_SILENT, _do_nothing)):
        for name in names:
            if hasattr(module, name):
                setattr(module, name, function)


def _guard_objects() -> None:
    """Eager tensors that are not in this process's memory, and objects that call TensorFlow when they are deleted."""
    tensor: Any = getattr(_private.ops, "_EagerTensorBase", None)
    if hasattr(tensor, "_numpy"):
        original = tensor._numpy

        def _numpy(self: Any) -> Any:
            if "CPU:" not in self.backing_device:
                raise error()
            return original(self)

        tensor._numpy = _numpy
    deleter: Any = getattr(_private.resource_variable_ops, "EagerResourceDeleter", None)
    if deleter is not None:
        deleter.__del__ = _do_nothing
    made_callable: Any = getattr(_private.session.BaseSession, "_Callable", None)
    if made_callable is not None:
        made_callable.__del__ = _do_nothing
    iterator: Any = getattr(_private.iterator_ops, "OwnedIterator", None)
    if iterator is not None:
        iterator.__del__ = _keep_iterator


def _keep_iterator(
    iterator: Any, keep: Callable[[Any], None] = ctypes.pythonapi.Py_IncRef, boxed: Any = ctypes.py_object
) -> None:
    """Its C++ part waits for its threads when it is deleted: it stays, until the process is gone.

    At the end of Python this module may have been taken apart, so that it must not look for names there.
    """
    resource = iterator.__dict__.get("_iterator_resource")
    if resource is not None:
        keep(boxed(resource))


# -- the eager context -------------------------------------------------------------------------------------------------

# What building a graph needs of the context: it keeps the functions that operations of graphs call.
_FOR_GRAPHS = (
    "add_c_function add_function add_function_def get_c_function get_function_def get_graph_debug_info has_function "
    "list_function_names"
).split()


def _guard_context() -> None:
    module = _private.context
    if module is None:
        return
    module._context_lock = threading.Lock()  # another thread may have held it, and these
    context = module.context()
    context._initialize_lock, context._device_lock = threading.Lock(), threading.Lock()
    context.__class__ = _refusing_class(type(context))


def _refusing_class(base: Any) -> Any:
    """A class for the process's eager context that runs nothing. It takes part in the building of graphs."""
    permitted = threading.local()

    @contextlib.contextmanager
    def for_graphs() -> Iterator[None]:
        before, permitted.now = getattr(permitted, "now", False), True
        try:
            yield
        finally:
            permitted.now = before

    class RefusingContext(base):  # type: ignore[misc]
        def ensure_initialized(self) -> None:
            if not getattr(permitted, "now", False) or (not self._initialized and _has_gpu()):
                raise error()
            super().ensure_initialized()

        def ensure_uninitialized(self) -> None:
            raise error()

        def _initialize_physical_devices(self, *args: Any, **kwargs: Any) -> None:
            if self._physical_devices is None and _has_gpu():
                raise error()
            super()._initialize_physical_devices(*args, **kwargs)

        @property
        def _context_handle(self) -> Any:  # what fast calls ask for: without it they ask ensure_initialized()
            return self.__dict__["_context_handle"] if getattr(permitted, "now", False) else None

        @_context_handle.setter
        def _context_handle(self, handle: Any) -> None:
            self.__dict__["_context_handle"] = handle

        @property
        def _handle(self) -> Any:
            if not getattr(permitted, "now", False):
                raise error()
            return super()._handle

        @property
        def function_scope_id(self) -> int:
            with for_graphs():
                return super().function_scope_id  # type: ignore[no-any-return]

        def remove_function(self, name: Any) -> None:
            """Does nothing: it is called when functions are deleted, and takes a lock that may be held for ever."""

    def around(original: Callable[..., Any]) -> Callable[..., Any]:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            with for_graphs():
                return original(self, *args, **kwargs)

        return method

    for name in _FOR_GRAPHS:
        if hasattr(base, name):
            setattr(RefusingContext, name, around(getattr(base, name)))
    return RefusingContext


def _has_gpu() -> bool:
    """Whether TensorFlow may find a GPU, asked without asking it."""
    return any(map(os.path.exists, ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")))
