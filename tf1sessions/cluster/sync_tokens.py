"""Lets the last worker of a SyncReplicasOptimizer go on, which would wait for ever for the others.

A worker's step with this optimizer ends when it has taken a token from the queue ``sync_token_q``. The chief puts some
there each time enough gradients have come. If all other workers have ended, too few come, and on TensorFlow 1 the last
one waits for ever. Here a thread of its process puts a token into the queue when it stays empty: the step ends, and
the program looks whether it has trained enough, as after any step. Where the worker was only busy, it takes the
token later; a gradient that is late for its step is left out by the optimizer, as always.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from .marks import Marks

__all__ = ["TokenGiver"]

_LOOK_SECS = 1.0  # between two looks; arbitrary
_END_SECS = 5.0  # for the thread to end, which may wait for servers that are gone; arbitrary
_EMPTY_LOOKS = 3  # after so many looks at an empty queue a token is put there; arbitrary


class TokenGiver:
    """Watches the optimizers of this process.

    Args:
        face: The module that ``import tensorflow`` gives.
        marks: Those of the launch, which say when this task is the last one at work.
        task: This task's name.
        target: Gives the address of this task's server.
    """

    def __init__(self, face: Any, marks: Marks, task: str, target: Callable[[], str]) -> None:
        self._face = face
        self._marks = marks
        self._task = task
        self._target = target
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self) -> None:
        """Begin when the program uses the optimizer."""
        optimizer = self._face.train.SyncReplicasOptimizer
        original = optimizer.apply_gradients

        @functools.wraps(original)
        def apply_gradients(this: Any, grads_and_vars: Any, global_step: Any = None, name: Any = None) -> Any:
            applied = original(this, grads_and_vars, global_step, name)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._give_tokens, args=(global_step,), name="tf1sessions tokens", daemon=True
                )
                self._thread.start()
            return applied

        optimizer.apply_gradients = apply_gradients

    def end(self) -> None:
        """End the thread: the program is through."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(_END_SECS)

    def _give_tokens(self, step: Any) -> None:
        while not self._marks.is_last(self._task):
            if self._over.wait(_LOOK_SECS):
                return
        tf = self._face
        with tf.Graph().as_default() as graph, tf.device(step.device):
            queue = tf.FIFOQueue(-1, step.dtype.base_dtype, shapes=(), shared_name="sync_token_q")
            token = tf.placeholder(step.dtype.base_dtype, [])
            give, size = queue.enqueue(token), queue.size()
        empty = 0
        # The program's graph stays as it is: the number of its operations decides about seeds.
        with tf.Session(self._target(), graph) as session, tf.Session(self._target(), step.graph) as programs:
            while not self._over.wait(_LOOK_SECS):
                empty = 0 if session.run(size) else empty + 1
                if empty == _EMPTY_LOOKS:
                    try:
                        session.run(give, {token: programs.run(step)})
                    except tf.errors.CancelledError:  # the queue is closed: the chief has trained enough
                        return
                    empty = 0
