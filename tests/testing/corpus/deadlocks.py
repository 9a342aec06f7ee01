"""Threads that wait for each other, and those that only look so."""

from __future__ import annotations

import threading

from .threads import join, start
from .verdicts import planted, right

DEADLOCK = "deadlock"


def quietly(function):
    def run():
        try:
            function()
        except RuntimeError:
            pass

    return run


def crossed(make, count):
    """Each thread has one lock and wants that of the next one."""
    locks, meet = [make() for _ in range(count)], threading.Barrier(count)

    def work(number):
        with locks[number]:
            meet.wait(30)
            with locks[(number + 1) % count]:
                pass

    join(start(*[quietly(lambda number=number: work(number)) for number in range(count)]))


@planted(DEADLOCK)
def two_locks_crossed():
    crossed(threading.Lock, 2)


@planted(DEADLOCK)
def two_recursive_locks_crossed():
    crossed(threading.RLock, 2)


@planted(DEADLOCK)
def three_philosophers():
    crossed(threading.Lock, 3)


@planted(DEADLOCK)
def joined_with_the_lock_that_it_needs():
    lock, has_lock = threading.Lock(), threading.Event()

    def work():
        has_lock.wait(30)
        with lock:
            pass

    def stop():
        with lock:
            has_lock.set()
            quietly(threads[0].join)()

    threads = start(work)
    join(start(stop))
    join(threads)


@planted(DEADLOCK)
def a_lock_taken_twice():
    lock = threading.Lock()

    def work():
        with lock, lock:
            pass

    join(start(quietly(work)))


@right
def two_locks_in_one_order():
    locks = [threading.Lock(), threading.Lock()]

    def work():
        with locks[0], locks[1]:
            pass

    join(start(work, work, work))


@right
def a_lock_that_is_a_signal():
    """Acquired twice by one thread; another one releases it."""
    signal = threading.Lock()
    signal.acquire()
    threads = start(signal.release)
    signal.acquire()
    join(threads)


@right
def two_signals_crossed():
    ping, pong = threading.Lock(), threading.Lock()
    ping.acquire()
    pong.acquire()

    def one():
        for _ in range(5):
            ping.release()
            pong.acquire()

    def other():
        for _ in range(5):
            ping.acquire()
            pong.release()

    join(start(one, other))


@right
def crossed_with_a_way_out():
    """The second lock is only tried."""
    locks, meet = [threading.Lock(), threading.Lock()], threading.Barrier(2)

    def work(number):
        with locks[number]:
            meet.wait(30)
            if locks[1 - number].acquire(timeout=0.01):
                locks[1 - number].release()

    join(start(lambda: work(0), lambda: work(1)))


@right
def a_recursive_lock_taken_twice():
    lock = threading.RLock()

    def work():
        with lock, lock:
            pass

    join(start(work, work))


@right
def conditions_of_two_queues():
    one, other = threading.Condition(), threading.Condition()
    items = []

    def give():
        with one:
            items.append(1)
            one.notify()

    def take():
        with one:
            one.wait_for(lambda: items, timeout=30)
        with other:
            other.notify()

    join(start(take, give))
