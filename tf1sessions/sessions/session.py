"""GraphSession: one graph, one session; one thread builds, any thread runs.

::

    GraphSession ──owns──▶ OwnedGraph   (graphs.py: which thread may change it)
                 └─owns──▶ Session      (calls.py: compiled calls)
    with gs:            graph and session are this thread's default; leaving closes
    gs.building()       hands building over        gs.seal()   ends building for everybody
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from tf1sessions import forks
from tf1sessions.errors import ClosedError, ConcurrentGraphError, ConfigError
from tf1sessions.runtime import private, tf
from tf1sessions.sessions.calls import CompiledCall, Session
from tf1sessions.sessions.checkpoint_index import check_index
from tf1sessions.sessions.checkpoint_paths import plain_path
from tf1sessions.sessions.config import SessionConfig
from tf1sessions.sessions.graphs import OwnedGraph
from tf1sessions.sessions.late import LateSession

__all__ = ["GraphSession"]

logger = logging.getLogger("tf1sessions")
_numbers = itertools.count(1)
_gpu_note = threading.Event()


class GraphSession:
    """Owns one ``tf.Graph`` and one session on it.

    The thread that makes it builds the graph, inside ``with gs:`` or any ``gs.as_default()``; every thread may run it.
    In a program that has not called :func:`~tf1sessions.enable_v1_behavior` the graph has TF2's resource variables and
    control flow; nothing of that program is switched.

    Args:
        config: A :class:`SessionConfig` or a ``tf.compat.v1.ConfigProto``.
        target: The address of a ``tf.train.Server``, such as ``"grpc://host:2222"``; in process by default.
        name: For messages.
        late: TensorFlow makes the session when it is used first; errors of its making come then. A graph that is built,
            and not run here, needs none, and what a process's first session settles stays open.

    Attributes:
        graph: The graph.
        session: The session, a :class:`~tf1sessions.Session`.
        config: The :class:`SessionConfig`.
        built: What a pool's initializer returned; None otherwise.

    Raises:
        ConfigError: From a wrong ``config`` or ``target``.
        MemoryPlanConflict: ``config`` asks for another share of the GPUs than this process has been given.
        ConcurrentGraphError: From any change of the graph by a thread that may not change it.
        ClosedError: From building or seal() after close(). ``run`` raises TensorFlow's own RuntimeError.

    Thread-safety: run, compile'd calls, initialize, save, restore and close are safe from any thread; building is for
    one thread at a time, which is enforced.

    Example:
        >>> import tf1sessions as t1
        >>> tf = t1.tf1
        >>> with t1.GraphSession() as gs:
        ...     x = tf.placeholder(tf.float32, [None, 2])
        ...     total = tf.reduce_sum(x)
        ...     add = gs.compile(feeds=[x], fetches=total)
        ...     print(add([[1., 2.]]))
        3.0
    """

    def __init__(self, config: Any = None, *, target: str = "", name: str | None = None, late: bool = False) -> None:
        if config is None:
            config = SessionConfig()
        elif not isinstance(config, SessionConfig):
            config = SessionConfig.from_proto(config)
        _check_target(target)
        self.name = name or f"GraphSession-{next(_numbers)}"
        self.config: SessionConfig = config
        self.built: Any = None
        self.graph = OwnedGraph(self.name, config.lane)
        self.session = (LateSession if late else Session)(target, self.graph, config)
        self._stacks = threading.local()
        self._build_lock = threading.Lock()
        self._closed = False
        self._initializers: tuple[int, Any] | None = None
        self._saver: tuple[int, Any] | None = None
        if config.seed is not None:
            with self.graph.as_default():
                tf.set_random_seed(config.seed)
        if config.uses_gpu_options and not late and not _gpu_note.is_set():
            if not any(device.device_type == "GPU" for device in self.session.list_devices()):
                _gpu_note.set()
                logger.info("%s: its GPU options have no effect, TensorFlow sees no GPU here", self.name)

    # -- building --------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def building(self) -> Iterator[GraphSession]:
        """Hands building over to this thread for the block, with graph and session as its defaults.

        Waits while another thread is in such a block. Afterwards building is back where it was.

        Raises:
            ConcurrentGraphError: Another thread's block does not end within a minute.
            ClosedError: After close().
        """
        self._check_open("building()")
        with self.graph.ownership.building(), self.as_default():
            yield self

    @contextlib.contextmanager
    def as_default(self) -> Iterator[GraphSession]:
        """Makes graph and session this thread's default for the block. Neither closes nor hands over building."""
        with self.graph.as_default(), self.session.as_default():
            yield self

    def seal(self) -> None:
        """Ends building, for every thread and for good. Makes what initialize(), save() and restore() need first.

        Raises:
            ConcurrentGraphError: This thread is not the one that builds.
            ClosedError: After close().
        """
        self._check_open("seal()")
        if self.sealed:
            return
        self.graph.ownership.check("seal it")
        with self.graph.as_default():
            self._get_initializers()
            if self._saveable_count():
                self._get_saver()
        self.graph.ownership.seal()

    @property
    def sealed(self) -> bool:
        """Whether building has ended."""
        return self.graph.ownership.sealed

    # -- running ---------------------------------------------------------------------------------------------------

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """As ``tf.compat.v1.Session.run``: what it accepts, its results, checks and errors; by a compiled call."""
        return self.session.run(fetches, feed_dict, options, run_metadata)

    def compile(self, feeds: Any = None, fetches: Any = None, targets: Any = None) -> CompiledCall:
        """Compiles a request, and returns a callable that any thread may call.

        Args:
            feeds: The tensors to feed (or their names), each once, in the order in which values will be given; one, or
                a list.
            fetches: As for ``run``.
            targets: Operations to run besides; one, or a list.

        Returns:
            A :class:`CompiledCall`. Values and results are as for ``run``.

        Raises:
            TypeError, ValueError, KeyError: As ``run`` for what is not in this graph.
            ExecutionModeError: ``execution="caller"`` and the graph is not safe in the calling thread.
        """
        return CompiledCall(self.session, feeds, fetches, targets)

    def make_callable(self, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Any:
        """As ``tf.compat.v1.Session.make_callable``, for legacy code such as ``QueueRunner.create_threads``."""
        return self.session.make_callable(fetches, feed_list, accept_options)

    def initialize(self) -> None:
        """Initialises all global and local variables and all tables.

        Raises:
            ConcurrentGraphError: Called for the first time, or after more variables were made, by a thread that may
                not build. seal() makes it callable from any thread.
        """
        with self.graph.as_default():
            self.session.run(self._get_initializers())

    def save(self, path: str | os.PathLike[str], global_step: Any = None) -> str:
        """Writes a checkpoint of all variables, in TF1's format, and returns its prefix.

        Args:
            path: The prefix; the folder is made when it is missing.
            global_step: As for ``tf.train.Saver.save``.

        Raises:
            ConfigError: The graph has no variables.
        """
        folder = os.path.dirname(os.path.abspath(os.fspath(path)))
        os.makedirs(folder, exist_ok=True)
        with self.graph.as_default():
            saver = self._get_saver()
            return str(saver.save(self.session, os.fspath(path), global_step=global_step))

    def restore(self, path: str | os.PathLike[str]) -> None:
        """Restores all variables from a checkpoint prefix, or from the newest checkpoint of a folder.

        Raises:
            ConfigError: There is no checkpoint at ``path``.
            ModelFileError: It is damaged so that TensorFlow would stop the process.
            tf.errors.NotFoundError: The checkpoint lacks a variable of the graph.
        """
        prefix = os.fspath(path)
        if os.path.isdir(prefix):
            state = tf.train.get_checkpoint_state(prefix)
            prefix = state.model_checkpoint_path if state else ""
        if not prefix or not any(tf.gfile.Exists(name) for name in (prefix + ".index", prefix)):
            raise ConfigError(
                f"there is no checkpoint at {os.fspath(path)!r}",
                where="GraphSession.restore",
                next_step="Give the prefix that save() returned, or a folder with a 'checkpoint' file.",
            )
        check_index(prefix)
        with self.graph.as_default(), plain_path(prefix) as path:
            self._get_saver().restore(self.session, path)

    # -- closing ---------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Closes the session. Calls that run or wait end with ``CancelledError``. Closing again does nothing."""
        self._closed = True
        self.session.close()

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._closed

    def __enter__(self) -> GraphSession:
        self._check_open("with")
        stack = contextlib.ExitStack()
        stack.enter_context(self.as_default())
        self._stack().append(stack)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        crossed = None
        try:
            crossed = self._leave(kind, error, trace)
        finally:
            if not self._stack():
                self.close()
        if crossed is not None:
            if kind is None:
                raise crossed
            logger.warning("%s", crossed)  # the error that ends the block is the program's own

    def __repr__(self) -> str:
        state = "closed" if self._closed else "sealed" if self.sealed else "open"
        return f"<GraphSession {self.name!r} {state}, {len(self.graph.get_operations())} operations>"

    # -- inside ----------------------------------------------------------------------------------------------------

    def _leave(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> ConcurrentGraphError | None:
        """Ends this thread's innermost block, and returns what is wrong with its being the one that ends."""
        if not self._stack():
            return ConcurrentGraphError(
                f"a `with` block of {self.name} ends in {threading.current_thread().name}, which began none",
                where="with",
                next_step="The session is closed; in the thread that began the block, it stays the default. A "
                "generator with such a block ends in any thread if it is left to the garbage collector: close() it.",
            )
        defaults: list[tuple[list[Any], Any]] = [
            (private.ops._default_graph_stack.stack, self.graph),
            (private.stack._default_session_stack.stack, self.session),
        ]
        before = [sum(each is own for each in stack) for stack, own in defaults]
        try:
            self._stack().pop().__exit__(kind, error, trace)
        except AssertionError:  # TensorFlow's: it then leaves its default where it is
            for (stack, own), count in zip(defaults, before, strict=True):
                found = [index for index, each in enumerate(stack) if each is own]
                if len(found) == count:
                    del stack[found[-1]]
            return ConcurrentGraphError(
                f"a `with` block of {self.name} ends before another that was begun in it, in the same thread",
                where="with",
                next_step="Coroutines that take turns do that: have no `await` in the block. Use "
                "`with gs.as_default():` where they build, and close().",
            )
        return None

    def _stack(self) -> list[contextlib.ExitStack]:
        found: list[contextlib.ExitStack] | None = getattr(self._stacks, "entered", None)
        if found is None:
            found = self._stacks.entered = []
        return found

    def _check_open(self, what: str) -> None:
        if self._closed:
            raise ClosedError(
                f"{self.name} is closed",
                where=what,
                next_step="Make a new GraphSession; a closed one cannot be reopened.",
            )

    def _locked(self) -> threading.Lock:
        if forks.refusing:  # it may be held for ever, and the graph's own may
            raise forks.error()
        return self._build_lock

    def _saveable_count(self) -> int:
        keys = (tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.SAVEABLE_OBJECTS)
        return sum(len(self.graph.get_collection(key)) for key in keys)

    def _get_initializers(self) -> Any:
        """The operation that initialises everything; made again when there is more to initialise."""
        keys = (tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.TABLE_INITIALIZERS)
        with self._locked():
            count = sum(len(self.graph.get_collection(key)) for key in keys)
            if self._initializers is None or self._initializers[0] != count:
                with tf.control_dependencies(None):
                    parts = [
                        tf.global_variables_initializer(),
                        tf.local_variables_initializer(),
                        tf.tables_initializer(),
                    ]
                self._initializers = (count, parts)
            return self._initializers[1]

    def _get_saver(self) -> Any:
        """The saver of all variables; made again when there are more."""
        with self._locked():
            count = self._saveable_count()
            if not count:
                raise ConfigError(
                    f"the graph of {self.name} has no variables to save or restore",
                    where="GraphSession",
                    next_step="Build the model first.",
                )
            if self._saver is None or self._saver[0] != count:
                with tf.control_dependencies(None):
                    self._saver = (count, tf.train.Saver(max_to_keep=None))
            return self._saver[1]


def _check_target(target: Any) -> None:
    """Refuses what no session of TensorFlow can be reached by.

    Raises:
        ConfigError: ``target`` is neither empty nor an address of gRPC.
    """
    if not isinstance(target, str) or (target and not target.startswith("grpc://")):
        raise ConfigError(
            f"target is {target!r:.100}, which is no address of a server",
            where="GraphSession(target=)",
            next_step="Leave it out for a session in this process, or give the target of a tf.train.Server: "
            '"grpc://host:2222".',
        )
