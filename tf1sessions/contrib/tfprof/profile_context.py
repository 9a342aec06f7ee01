"""ProfileContext: some runs of the sessions of a program are traced, and profiled or written to files.

Data flow: within the context, the ``run`` of ``tf.Session`` is one of ours. It numbers the runs as steps; a step that
is to be traced is run with RunOptions for that, and its RunMetadata goes to the Profiler.
"""

from __future__ import annotations

import functools
import os
import threading
import weakref
from collections.abc import Iterable
from typing import Any, ClassVar

from ...runtime import tf1 as tf

__all__ = ["ProfileContext"]

_STEPS = frozenset({10, 50, *range(100, 1000, 100)})
"""Which steps are traced and dumped by default; a choice of ours, as 1.15.5 draws them."""


class ProfileContext:
    """Traces steps of a program, a step being a run of a ``tf.Session``, and profiles and dumps what they took.

    Only one context can be open at a time in a process. Runs of other threads are steps, too.

    Args:
        profile_dir: The folder for files "profile_<step>".
        trace_steps: Which steps are traced; None for a choice of steps.
        dump_steps: After which steps a file is written; None for those that are traced by default.
        enabled: False, to do nothing.
        debug: Write a file "run_meta_<step>" for each traced step, too.

    Example:
        >>> import tempfile, tf1sessions as t1
        >>> tf = t1.tf1
        >>> options = {**tf.profiler.ProfileOptionBuilder.time_and_memory(), "output": "none"}
        >>> folder = tempfile.mkdtemp()
        >>> with tf.Graph().as_default(), t1.contrib.tfprof.ProfileContext(folder, [1], []) as context:
        ...     context.add_auto_profiling("op", options, [1])
        ...     with tf.Session() as session:
        ...         _ = [session.run(tf.constant(step)) for step in range(3)]
        >>> list(context.get_profiles("op"))
        [1]
    """

    _lock = threading.Lock()
    """Held while a step gets its number, and while its trace is given to the profiler."""

    _last: ClassVar[weakref.ref[ProfileContext] | None] = None
    """The context whose Profiler is the one that TensorFlow has in this process."""

    def __init__(
        self,
        profile_dir: str,
        trace_steps: Iterable[int] | None = None,
        dump_steps: Iterable[int] | None = None,
        enabled: bool = True,
        debug: bool = False,
    ) -> None:
        if enabled and not tf.gfile.Exists(profile_dir):
            tf.gfile.MakeDirs(profile_dir)
        self._profiler_dir = profile_dir
        self._trace_steps = set(_STEPS if trace_steps is None else trace_steps)
        self._dump_steps = set(_STEPS if dump_steps is None else dump_steps)
        self._enabled, self._debug = enabled, debug
        self._trace_next_step = self._dump_next_step = False
        self._step = 0
        self._traced_steps = 0
        self._auto_profiles: list[tuple[str, Any, set[int], dict[int, Any]]] = []
        self._profiler: Any = None
        self._patched: list[tuple[type, Any]] = []
        self._inside = threading.local()

    def add_auto_profiling(self, cmd: str, options: Any, profile_steps: Iterable[int]) -> None:
        """Trace some steps, and make a report after each of them.

        Args:
            cmd: "scope", "graph", "op" or "code".
            options: What ``tf.profiler.ProfileOptionBuilder`` builds.
            profile_steps: The steps.
        """
        if self._enabled:
            self._auto_profiles.append((cmd, options, set(profile_steps), {}))

    @property
    def profiler(self) -> Any:
        """The ``tf.profiler.Profiler`` of the graph; None if the context is not enabled."""
        if self._enabled and self._profiler is None:
            last = ProfileContext._last() if ProfileContext._last else None
            if last is not None:  # a Profiler that is deleted takes the one of the process with it
                last._profiler = None
            self._profiler = tf.profiler.Profiler(tf.get_default_graph())
            ProfileContext._last = weakref.ref(self)
        return self._profiler

    def trace_next_step(self) -> None:
        """Trace the next step."""
        self._trace_next_step = self._enabled

    def dump_next_step(self) -> None:
        """Write a file with all that was traced after the next step."""
        self._dump_next_step = self._enabled

    def get_profiles(self, cmd: str) -> dict[int, Any]:
        """The reports that were made for ``cmd``, by steps; a ValueError if none were asked for."""
        if not self._enabled:
            return {}
        for name, _, _, reports in self._auto_profiles:
            if name == cmd:
                return reports
        raise ValueError(f"No auto profiler for command: {cmd}.")

    def __enter__(self) -> ProfileContext:
        if self._enabled:
            _ = self.profiler
            for session in (tf.Session, tf.InteractiveSession):
                owner = next(each for each in session.__mro__ if "run" in vars(each))
                if all(owner is not patched for patched, _ in self._patched):
                    original = vars(owner)["run"]
                    self._patched.append((owner, original))
                    owner.run = self._traced(original)
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        for owner, original in reversed(self._patched):
            owner.run = original
        self._patched.clear()

    def _traced(self, original: Any) -> Any:
        """``original``, the ``run`` of a session, which counts as a step."""

        @functools.wraps(original)
        def run(
            session: Any, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
        ) -> Any:
            if getattr(self._inside, "run", False):  # one run() calls another one
                return original(session, fetches, feed_dict, options, run_metadata)
            with self._lock:
                step, self._step = self._step, self._step + 1
                is_dumped = self._dump_next_step or step in self._dump_steps
                is_reported = any(step in steps for _, _, steps, _ in self._auto_profiles)
                is_traced = self._trace_next_step or is_reported or step in self._trace_steps
                self._trace_next_step = self._dump_next_step = False
            if is_traced:
                options = options or tf.RunOptions()
                options.trace_level = tf.RunOptions.FULL_TRACE
                run_metadata = run_metadata or tf.RunMetadata()
            self._inside.run = True
            try:
                result = original(session, fetches, feed_dict, options, run_metadata)
            finally:
                self._inside.run = False
            with self._lock:
                if is_traced:
                    self._note(step, run_metadata)
                if is_dumped:
                    with tf.gfile.Open(os.path.join(self._profiler_dir, f"profile_{step}"), "wb") as file:
                        file.write(self.profiler.serialize_to_string())
            return result

        return run

    def _note(self, step: int, run_metadata: Any) -> None:
        """Give a step that was traced to the profiler, and make the reports that belong to it."""
        self._traced_steps += 1
        self.profiler.add_step(step, run_metadata)
        if self._debug:
            with tf.gfile.Open(os.path.join(self._profiler_dir, f"run_meta_{step}"), "w") as file:
                file.write(str(run_metadata))
        commands = {
            "scope": self.profiler.profile_name_scope,
            "graph": self.profiler.profile_graph,
            "op": self.profiler.profile_operations,
            "code": self.profiler.profile_python,
        }
        for cmd, options, steps, reports in self._auto_profiles:
            if step in steps:
                reports[step] = commands[cmd](options)
