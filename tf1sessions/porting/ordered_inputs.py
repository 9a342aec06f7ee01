"""Leaves nothing to chance in this process, so that a program before and after a port can be compared.

Shuffled elements come in another order from a data set than from a queue, and several threads of a queue keep none: in
such a run nothing is shuffled, and a queue has one thread. Random operations give what their shape decides, or draw
in an order that loops keep.
"""

from __future__ import annotations

import contextlib
import functools
import random
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from tf1sessions.scripts.after_import import AfterImport

__all__ = ["draw_by_shape", "keep_order", "keras_draws_alone", "loop_in_order", "seed_python"]

#: The modules of Keras 3 and 2 that draw from Python's random, and their name for it.
_DRAWING_KERAS = (("keras.src.random.seed_generator", "python_random"), ("tf_keras.src.backend", "random"))

#: Random operations with a seed -> those whose numbers a key decides.
_STATELESS = {
    "random_uniform": "stateless_random_uniform_v2",
    "random_standard_normal": "stateless_random_normal_v2",
    "truncated_normal": "stateless_truncated_normal_v2",
    "random_uniform_int": "stateless_random_uniform_int_v2",
}
_PHILOX = 1  # the number of the algorithm: tf.random.Algorithm.PHILOX


def seed_python(seed: int) -> None:
    """Give Python and NumPy a seed, which they take as well where the program asks them for one by chance."""

    def with_seed(give: Callable[..., None]) -> Callable[..., None]:
        def seeded(*given: Any, **named: Any) -> None:
            if _is_seed(*given, **named):
                give(*given, **named)
            else:
                give(seed)

        return seeded

    for module in (random, np.random):
        module.seed = with_seed(module.seed)  # type: ignore[attr-defined]
        module.seed()


def _is_seed(*given: Any, **named: Any) -> bool:
    """Whether the arguments of ``random.seed`` and ``numpy.random.seed`` give a seed."""
    return any(each is not None for each in (*given[:1], named.get("a"), named.get("seed")))


def keras_draws_alone() -> None:
    """Have Keras draw its seeds from numbers of its own, until the program gives Python's ``random`` a seed.

    A program that shows one digit by chance, by ``random.randint(0, 9)``, shows the same one with layers of Keras then.
    Where it gives a seed it gets other numbers with Keras than without. Called before Keras is imported.
    """
    give, own = random.seed, random.Random(0)
    is_alone = True

    def put(module: str, name: str, generator: Any) -> None:
        if isinstance(getattr(sys.modules.get(module), name, None), types.ModuleType | random.Random):
            setattr(sys.modules[module], name, generator)

    def put_own(module: str, name: str) -> None:
        if is_alone:
            put(module, name, own)

    def seeded(*given: Any, **named: Any) -> None:
        nonlocal is_alone
        is_alone = is_alone and not _is_seed(*given, **named)
        for module, name in _DRAWING_KERAS:
            put(module, name, own if is_alone else random)
        give(*given, **named)

    random.seed = seeded
    for module, name in _DRAWING_KERAS:
        sys.meta_path.insert(0, AfterImport(module, functools.partial(put_own, module, name)))


def keep_order(stack: contextlib.ExitStack, in_runner: Callable[[], None] = lambda: None) -> None:
    """Shuffle nothing until the stack is closed; random operations give what their shape decides.

    Must be called before the program makes a queue or a data set, and after it has imported TensorFlow.

    Args:
        stack: By whose end all is as before.
        in_runner: Called in each thread of a queue runner when it begins.
    """
    from tf1sessions.runtime import private

    draw_by_shape(stack)
    inputs, queues = private.training_input, private.data_flow_ops
    enqueue = inputs._enqueue
    runners = private.queue_runner_impl.QueueRunner
    run_queue, close_queue = runners._run, runners._close_on_stop

    def fifo(capacity: int, min_after_dequeue: int, dtypes: Any, seed: Any = None, **named: Any) -> Any:
        return queues.FIFOQueue(capacity, dtypes, **named)

    def by_one_thread(queue: Any, tensors: Any, threads: int, *others: Any) -> None:
        enqueue(queue, tensors, 1, *others)

    def run(runner: Any, *given: Any, **named: Any) -> None:
        in_runner()
        run_queue(runner, *given, **named)

    def close(runner: Any, *given: Any, **named: Any) -> None:
        in_runner()
        close_queue(runner, *given, **named)

    def unshuffled(value: Any, *_: Any, **__: Any) -> Any:
        return value

    for holder, name, function in (
        (queues, "RandomShuffleQueue", fifo),
        (inputs, "_enqueue", by_one_thread),
        (runners, "_run", run),
        (runners, "_close_on_stop", close),
        (inputs.random_ops, "random_shuffle", unshuffled),
        (private.dataset_ops.DatasetV2, "shuffle", unshuffled),
        (private.dataset_ops.DatasetV1, "shuffle", unshuffled),
    ):
        stack.callback(setattr, holder, name, getattr(holder, name))
        setattr(holder, name, function)


def draw_by_shape(stack: contextlib.ExitStack) -> None:
    """Have each random operation give numbers that its shape decides, until the stack is closed."""
    from tf1sessions.runtime import private

    stateless, key, counter = private.gen_stateless_random_ops_v2, np.array([1], np.uint64), np.zeros(2, np.uint64)
    for name, keyed in _STATELESS.items():
        draw = getattr(stateless, keyed)

        def seeded(
            shape: Any, *others: Any, draw: Callable[..., Any] = draw, seed: int = 0, seed2: int = 0, **named: Any
        ) -> Any:
            return draw(shape, key, counter, _PHILOX, *others, **named)

        def by_key(shape: Any, *others: Any, draw: Callable[..., Any] = draw, **named: Any) -> Any:
            kept = {name: value for name, value in named.items() if name not in ("key", "counter", "alg")}
            return draw(shape, key, counter, _PHILOX, *others[3:], **kept)

        _exchange(stack, private.gen_random_ops, name, seeded)
        _exchange(stack, stateless, keyed, by_key)


def loop_in_order(stack: contextlib.ExitStack) -> None:
    """Have an iteration of a ``tf.while_loop`` begin when the one before has ended, until the stack is closed.

    Random operations in it, as dropout in a ``dynamic_rnn``, draw in the order of the iterations then. Else TensorFlow
    begins some of them at once, and which one draws first is chance.
    """
    from tf1sessions.runtime import private

    context, functional = private.control_flow_ops.WhileContext, private.while_v2
    for holder, name in ((context, "__init__"), (functional, "while_loop")):
        make = getattr(holder, name)

        def one_by_one(*args: Any, make: Callable[..., Any] = make, **named: Any) -> Any:
            return make(*args, **named | {"parallel_iterations": 1})

        _exchange(stack, holder, name, one_by_one)


def _exchange(stack: contextlib.ExitStack, holder: Any, name: str, function: Callable[..., Any]) -> None:
    stack.callback(setattr, holder, name, getattr(holder, name))
    setattr(holder, name, function)
