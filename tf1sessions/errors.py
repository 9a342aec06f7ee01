"""Every exception that tf1sessions raises, split by who must act.

::

    Tf1SessionsError
    ├── UsageError (ValueError)             the caller's arguments are wrong
    │   ├── ConfigError                     a SessionConfig field, or a ConfigProto that cannot be one
    │   ├── ExecutionModeError              execution="caller" asked for a graph that is not safe in it
    │   ├── JobFileError                    a TOML job file that cannot be read as one
    │   ├── MemoryPlanError                 a MemoryPlan that the machine cannot hold
    │   ├── MemoryPlanConflict              a session asks for another share of the GPU than its process has
    │   └── ScriptUsageError                a script path, module or option that cannot be run
    ├── ModelError (ValueError)             a model that cannot be loaded, or not without more
    │   ├── ModelFileError                  its files are malformed, cut off, or no model at all
    │   ├── ConversionError                 it cannot become what was asked, and which part of it cannot
    │   ├── UnknownOperationError           it needs operations that this TensorFlow does not have
    │   ├── UnsafeModelError                it would touch files, the network or Python
    │   └── CheckpointMismatchError         the checkpoint is not one of this graph
    ├── UnsupportedEnvironmentError (RuntimeError)
    │                                       this machine, TensorFlow or Keras cannot do what was asked
    ├── ConcurrentGraphError (RuntimeError) two threads change one graph, or a sealed graph is changed
    ├── ClosedError (RuntimeError)          a session or pool is used after close()
    ├── ForkedAfterSessionError (RuntimeError)
    │                                       TensorFlow is used in a fork of a process that had started it
    ├── MissingSymbolError (AttributeError) TF1's name is not there; hasattr() is False
    ├── MissingModuleError (ImportError)    TF1's module is not there; `try: import` works
    ├── PythonTwoError (SyntaxError)        a script is written in Python 2
    ├── BuildError (RuntimeError)           sources of an operation do not become a library
    └── WorkError (RuntimeError)            work that was handed out did not end well
        ├── JobError                        a job raised; __cause__ is its own exception
        ├── JobTimeoutError (TimeoutError)  a job ran past its time limit
        ├── WorkerStartError                a worker process did not start, twice
        ├── WorkerDiedError                 a worker process was killed, by the signal named, or ended itself
        ├── RemoteTracebackError            never raised: the traceback of another process, as a __cause__
        ├── PeerGoneError (EOFError)        the process at the other end of a channel has gone
        ├── MessageTooLargeError (MemoryError)
        │                                   a message to another process does not fit into the memory
        ├── BatchError                      a batch failed, for a reason that is not one request's
        ├── DeadlineError (TimeoutError)    a request waited too long for its run
        ├── MemoryWaitError (TimeoutError)  GPU memory did not become free in time
        ├── Overloaded                      too many requests wait already
        ├── StageError                      a stage of a pipeline raised; __cause__ is its own exception
        ├── StallError (TimeoutError)       nothing moves in a pipeline any more
        ├── StragglerError (TimeoutError)   a thread did not end when it had to; where it is stuck
        ├── DeadlockError                   threads wait for each other; raised in the one that came last
        ├── HammerError (AssertionError)    a function gives threads at once another result than one alone
        └── ScheduleError                   threads cannot come in an order, or what they do in it is wrong

Each message says what was wrong with which value, where that value came from, and what to do next. All of them
survive pickling with their attributes and their cause.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "BatchError",
    "BuildError",
    "CheckpointMismatchError",
    "ClosedError",
    "ConcurrentGraphError",
    "ConfigError",
    "ConversionError",
    "DeadlineError",
    "DeadlockError",
    "ExecutionModeError",
    "ForkedAfterSessionError",
    "HammerError",
    "JobError",
    "JobFileError",
    "JobTimeoutError",
    "MemoryPlanConflict",
    "MemoryPlanError",
    "MemoryWaitError",
    "MessageTooLargeError",
    "MissingModuleError",
    "MissingSymbolError",
    "ModelError",
    "ModelFileError",
    "Overloaded",
    "PeerGoneError",
    "PythonTwoError",
    "RemoteTracebackError",
    "ScheduleError",
    "ScriptUsageError",
    "StageError",
    "StallError",
    "StragglerError",
    "Tf1SessionsError",
    "UnknownOperationError",
    "UnsafeModelError",
    "UnsupportedEnvironmentError",
    "UsageError",
    "WorkError",
    "WorkerDiedError",
    "WorkerStartError",
]


class Tf1SessionsError(Exception):
    """Base of all errors of this package.

    Args:
        message: What is wrong, with the value that is.
        where: Where the value came from, such as ``"train.py:12"`` or ``"option --memory-fraction"``.
        next_step: What the reader should do; a full sentence.
        **details: Kept as attributes, for programs that handle the error.

    Pickling keeps the attributes and ``__cause__``; a cause that cannot be pickled arrives as a ``RuntimeError`` with
    its traceback as text.

    Example:
        >>> error = ConfigError("seed is -1", where="SessionConfig(seed=-1)", next_step="Give a seed of 0 or more.")
        >>> print(error)
        seed is -1 (from SessionConfig(seed=-1)). Give a seed of 0 or more.
    """

    where: str | None
    next_step: str | None

    def __init__(
        self, message: str = "", *, where: str | None = None, next_step: str | None = None, **details: Any
    ) -> None:
        text = message
        if where:
            text += f" (from {where})"
        if next_step:
            text = f"{text.rstrip('.')}. {next_step}"
        super().__init__(_plain(text))
        self._fields = ("where", "next_step", *details)
        # setattr, because AttributeError.name, OSError.filename and their like do not live in __dict__
        for name, value in {"where": where, "next_step": next_step, **details}.items():
            setattr(self, name, value)

    def __str__(self) -> str:
        return str(self.args[0])  # OSError and SyntaxError would add their file name to it

    def __reduce__(self) -> tuple[Any, ...]:
        state = self.__dict__ | {name: getattr(self, name) for name in self._fields}
        if "others" in state:
            state["others"] = tuple(map(_portable, state["others"]))
        if self.__cause__ is not None:
            state["__cause__"] = _portable(self.__cause__)
        return type(self), self.args, state


def _plain(text: str) -> str:
    """The text with what a terminal acts on escaped: messages name files, nodes and threads, which have any names.

    As ``texts.printable`` does it for the command line; this module is above that one.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each in "\n\t" else ascii(each)[1:-1] for each in text)


def _portable(cause: BaseException) -> BaseException:
    """Returns ``cause`` if it survives pickling, else an exception that holds its traceback as text."""
    import pickle  # here, because this module is part of every start
    import traceback

    try:
        pickle.loads(pickle.dumps(cause))
    except Exception:  # whatever a foreign __reduce__ or __init__ raises
        return RuntimeError("".join(traceback.format_exception(cause)).rstrip())
    return cause


class UsageError(Tf1SessionsError, ValueError):
    """The caller's arguments are wrong."""


class ConfigError(UsageError):
    """A field of :class:`~tf1sessions.SessionConfig` is out of its range, or a proto cannot be represented."""


class ExecutionModeError(UsageError):
    """``execution="caller"`` was asked for a graph with an operation that may block or needs another device."""


class JobFileError(UsageError):
    """A TOML job file has a wrong key, type or value; the message names the file and the key."""


class MemoryPlanError(UsageError):
    """A :class:`~tf1sessions.MemoryPlan` that contradicts itself, or that does not fit what is free."""


class MemoryPlanConflict(UsageError):
    """A session asks for another share of the GPUs than its process has already been given.

    ``first`` names the session that was given the share, ``first_where`` the line.
    """


class ScriptUsageError(UsageError):
    """A script, module or option given to ``tf1sessions run`` cannot be run."""


class ModelError(Tf1SessionsError, ValueError):
    """A model cannot be loaded, or not without more from the caller."""


class ModelFileError(ModelError):
    """A model's files are malformed, cut off, or none that TensorFlow 1 wrote. ``path`` is the file."""


class ConversionError(ModelError):
    """A part of a graph cannot become what was asked. ``nodes`` names the nodes of that part."""


class UnknownOperationError(ModelError):
    """A model needs operations that TensorFlow no longer has. ``nodes`` names the nodes of each, by operation."""


class UnsafeModelError(ModelError):
    """A model would touch files, the network or Python. ``nodes`` names the nodes of each operation that does."""


class CheckpointMismatchError(ModelError):
    """A checkpoint does not fit a graph: ``missing`` in it, ``extra`` in it, of other ``shapes``."""


class UnsupportedEnvironmentError(Tf1SessionsError, RuntimeError):
    """The machine, Python, TensorFlow or Keras cannot do what was asked."""


class ConcurrentGraphError(Tf1SessionsError, RuntimeError):
    """A graph is changed by a thread that does not own it, or after it was sealed. The graph is as it was."""


class ClosedError(Tf1SessionsError, RuntimeError):
    """A session or a pool is used after it was closed."""


class ForkedAfterSessionError(Tf1SessionsError, RuntimeError):
    """A forked child uses TensorFlow, which its parent had started before: by a session, or by an eager operation.

    ``where`` is the line that made the first session, where that is known.
    """


class MissingSymbolError(Tf1SessionsError, AttributeError):
    """A name of TensorFlow 1 that is not available. An ``AttributeError``, so that ``hasattr`` answers False."""


class MissingModuleError(Tf1SessionsError, ImportError):
    """A module of TensorFlow 1 that is not available. An ``ImportError``, so that ``try: import`` works."""


class PythonTwoError(Tf1SessionsError, SyntaxError):
    """A script is Python 2 source. ``filename`` and ``lineno`` say where that shows first."""

    def __init__(
        self, message: str = "", *, filename: str | None = None, lineno: int | None = None, **rest: Any
    ) -> None:
        super().__init__(message, filename=filename, lineno=lineno, **rest)
        self.msg = str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        create, args, state = super().__reduce__()
        return create, args, state | {"msg": self.msg}


class BuildError(Tf1SessionsError, RuntimeError):
    """Sources of an operation do not compile, or the library would not load. ``output`` is all that the tool said."""

    output: str = ""


class WorkError(Tf1SessionsError, RuntimeError):
    """Work that was handed to a thread or a process did not end well."""


class JobError(WorkError):
    """A job raised. ``job`` is its name; ``__cause__`` its exception, with the traceback of the worker."""


class JobTimeoutError(WorkError, TimeoutError):
    """A job ran past its time limit."""


class WorkerStartError(WorkError):
    """A worker process did not start, twice in a row."""


class WorkerDiedError(WorkError):
    """A worker process was killed, or ended in the midst of its work. ``signal_name`` says by which signal, or is None.

    From a pool, ``job`` is the name of the job that it cost, ``returncode`` as :mod:`subprocess` has it, and ``stderr``
    the end of what the worker wrote there.
    """


class RemoteTracebackError(WorkError):
    """Never raised: the traceback of an exception in another process, as its ``__cause__`` in this one."""


class PeerGoneError(WorkError, EOFError):
    """The process at the other end of a channel has ended, or closed it."""


class MessageTooLargeError(WorkError, MemoryError):
    """A message to another process does not fit into the memory that is free. ``size`` is its size in bytes."""

    size: int = 0


class BatchError(WorkError):
    """A batch of requests failed, and could not be run again without the one to blame; ``__cause__`` is its error."""


class DeadlineError(WorkError, TimeoutError):
    """A request took longer than it was allowed to: it waited, and was not run, or its run was ended."""


class MemoryWaitError(WorkError, TimeoutError):
    """The memory that a plan gives a worker did not become free in time. ``free_mb`` and ``needed_mb`` are in MiB."""


class Overloaded(WorkError):
    """A queue is full: the request was refused, and not run. Trying again later may help."""


class StageError(WorkError):
    """A stage of a pipeline raised. ``stage`` is its name, ``item`` what it was at, ``__cause__`` its exception.

    ``others`` are errors of other stages, in the order in which they came.
    """

    others: tuple[BaseException, ...] = ()


class StallError(WorkError, TimeoutError):
    """Nothing has moved in a pipeline for too long. ``statistics`` is the state of its queues and stages."""

    others: tuple[BaseException, ...] = ()


class StragglerError(WorkError, TimeoutError):
    """Threads did not end in time. ``threads`` says by name where each is: an operation, or a line of Python."""


class ScheduleError(WorkError):
    """Threads cannot come in an order, or what they did in it is wrong. ``schedule`` is the order, to run it again."""


class DeadlockError(WorkError):
    """Threads wait for each other, and would for ever. Raised by the lock, or the join, that closes the circle."""


class HammerError(WorkError, AssertionError):
    """A call gave another result beside others than alone. ``number`` is that of its feed, ``saved`` its file."""
