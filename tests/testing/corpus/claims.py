"""Flags under a lock that the thread sets which gives the work away, and the one clears that has done it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

from .threads import join, together
from .values import VALUES, Trainer
from .verdicts import planted, right


class Given(Trainer):
    """A trainer whose steps the workers of an executor make; each has more to do then: another makes the next."""

    def __init__(self):
        super().__init__()
        self.pool, self.over = ThreadPoolExecutor(8), threading.Event()

    def train_and_clear(self):
        try:
            self.train()
        finally:
            with self.lock:
                self.busy = False
        self.over.wait()

    def until_given(self, ask, times=4, end=None):
        """Ask until so many steps were given, and wait for all of them."""
        given = 0
        while given < times:
            given += bool(ask())
        self.over.set()
        if end is not None:
            end()
        self.pool.shutdown()
        self.session.close()


@right
def step_given_to_workers_one_at_a_time():
    trainer = Given()

    def ask():
        with trainer.lock:
            if trainer.busy:
                return False
            trainer.busy = True
        trainer.pool.submit(trainer.train_and_clear)
        return True

    trainer.until_given(ask)


@right
def step_given_under_the_lock():
    trainer = Given()

    def ask():
        with trainer.lock:
            if trainer.busy:
                return False
            trainer.busy = True
            trainer.pool.submit(trainer.train_and_clear)
            return True

    trainer.until_given(ask)


@right
def step_given_where_it_is_free():
    trainer = Given()

    def ask():
        with trainer.lock:
            if not trainer.closed and not trainer.busy:
                trainer.busy = True
                trainer.pool.submit(trainer.train_and_clear)
                return True
        return False

    trainer.until_given(ask)


@right
def step_given_by_several_threads():
    trainer = Given()

    def ask():
        with trainer.lock:
            if trainer.busy:
                return False
            trainer.busy = True
        trainer.pool.submit(trainer.train_and_clear)
        return True

    def asks():
        given = 0
        while given < 2:
            given += ask()

    together(asks, asks)
    trainer.until_given(ask, 0)


@right
def step_given_to_a_thread_of_its_own():
    trainer, threads = Given(), []

    def ask():
        with trainer.lock:
            if trainer.busy:
                return False
            trainer.busy = True
        threads.append(threading.Thread(target=trainer.train_and_clear))
        threads[-1].start()
        return True

    trainer.until_given(ask, end=lambda: join(threads))


@right
def step_given_to_a_pool_of_threads():
    trainer = Given()

    def ask(pool):
        with trainer.lock:
            if trainer.busy:
                return False
            trainer.busy = True
        pool.apply_async(trainer.train_and_clear)
        return True

    with ThreadPool(8) as pool:
        trainer.until_given(lambda: ask(pool), end=lambda: (pool.close(), pool.join()))


@planted(VALUES)
def step_given_without_a_look():
    trainer = Given()
    both = threading.Barrier(2)

    def work():
        both.wait()
        trainer.train_and_clear()

    def ask():
        with trainer.lock:
            trainer.busy = True
        trainer.pool.submit(work)
        return True

    trainer.until_given(ask, 2)


@planted(VALUES)
def step_given_after_a_look_at_another_flag():
    trainer, both = Given(), threading.Barrier(2)

    def work():
        both.wait()
        trainer.train_and_clear()

    def ask():
        with trainer.lock:
            if trainer.closed:
                return False
            trainer.closed = False
        trainer.pool.submit(work)
        return True

    trainer.until_given(ask, 2)


@planted(VALUES)
def step_that_clears_the_flag_first():
    trainer, both = Given(), threading.Barrier(2)

    def work():
        with trainer.lock:
            trainer.busy = False
        both.wait()
        trainer.train()

    def ask():
        with trainer.lock:
            if trainer.busy:
                return False
            trainer.busy = True
        trainer.pool.submit(work)
        return True

    trainer.until_given(ask, 2)


@planted(VALUES)
def step_that_is_given_by_two_of_which_one_looks():
    trainer, both = Given(), threading.Barrier(2)

    def work():
        both.wait()
        trainer.train_and_clear()

    def ask():
        with trainer.lock:
            if trainer.busy:
                return False
            trainer.busy = True
        trainer.pool.submit(work)
        return True

    ask()
    trainer.pool.submit(work)
    trainer.until_given(ask, 0)


@planted(VALUES)
def step_that_the_asking_thread_makes_as_well():
    trainer = Given()

    def ask():
        with trainer.lock:
            if trainer.busy:
                return False
            trainer.busy = True
        trainer.pool.submit(trainer.train_and_clear)
        return True

    ask()
    trainer.train()
    trainer.until_given(ask, 0)
