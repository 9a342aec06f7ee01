"""Python functions in graphs, which TensorFlow calls in threads of its own: what they keep from call to call."""

from __future__ import annotations

import collections
import functools
import itertools
import queue
import threading

import numpy as np
import tensorflow as tf

from .threads import together
from .verdicts import planted, right

STATE = "state of a Python function in two runs"


def runs_of(function, make=tf.py_func, runs=2, lock=None):
    """Several threads run a graph that calls the function."""
    with tf.Graph().as_default():
        y = make(function, [tf.constant(1.0)], tf.float32)
        sess = tf.Session()

    def run():
        for _ in range(3):
            if lock is None:
                sess.run(y)
            else:
                with lock:
                    sess.run(y)

    together(*[run] * runs)
    sess.close()


class Augmenter:
    def __init__(self):
        self.count = 0
        self.position = 0
        self.mean = np.zeros(2, np.float32)
        self.seen = {"images": 0}
        self.rows = [0, 0]
        self.lock = threading.Lock()
        self.local = threading.local()
        self.items = collections.deque()
        self.numbers = itertools.count()
        self.turns = queue.Queue()
        self.turns.put("the turn")
        self.last = None

    def counts(self, x):
        self.count += 1
        return x

    def counts_with_a_default(self, x):
        self.seen["images"] = self.seen.get("images", 0) + 1
        return x

    def waits_for_its_turn(self, x):
        token = self.turns.get(True, 5)
        self.count += 1
        self.turns.put(token)
        return x

    def counts_in_words(self, x):
        self.count = self.count + 1
        return x

    def goes_round(self, x):
        self.position = (self.position + 1) % 10
        return x

    def averages(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x
        return x

    def counts_in_a_dict(self, x):
        self.seen["images"] += 1
        return x

    def counts_in_a_list(self, x):
        self.rows[0] -= 1
        return x

    def counts_under_a_lock(self, x):
        with self.lock:
            self.count += 1
        return x

    def counts_with_acquire(self, x):
        self.lock.acquire()
        self.count += 1
        self.lock.release()
        return x

    def counts_for_each_thread(self, x):
        self.local.count = 0
        self.local.count += 1
        return x

    def appends(self, x):
        self.items.append(x)
        return x

    def draws_a_number(self, x):
        next(self.numbers)
        return x

    def remembers_the_last(self, x):
        self.last = x
        return x

    def works_on_its_own(self, x):
        total = np.float32(0)
        for _ in range(3):
            total += x
        rows = [total]
        rows[0] += total
        return rows[0]


@planted(STATE)
def attribute_counted_up():
    runs_of(Augmenter().counts)


@planted(STATE)
def attribute_assigned_from_itself():
    runs_of(Augmenter().counts_in_words)


@planted(STATE)
def ring_position_of_a_replay_buffer():
    runs_of(Augmenter().goes_round)


@planted(STATE)
def moving_average_of_batches():
    runs_of(Augmenter().averages)


@planted(STATE)
def counter_in_a_dict():
    runs_of(Augmenter().counts_in_a_dict)


@planted(STATE)
def counter_in_a_dict_with_a_default():
    runs_of(Augmenter().counts_with_a_default)


@planted(STATE)
def counter_in_a_list_of_an_object():
    runs_of(Augmenter().counts_in_a_list)


@planted(STATE)
def counter_in_a_list_of_the_enclosing_function():
    steps = [0]

    def count(x):
        steps[0] += 1
        return x

    runs_of(count)


@planted(STATE)
def variable_of_the_enclosing_function():
    steps = 0

    def count(x):
        nonlocal steps
        steps += 1
        return x

    runs_of(count)


CALLS = 0


@planted(STATE)
def global_name():
    def count(x):
        global CALLS
        CALLS = CALLS + 1
        return x

    runs_of(count)


@planted(STATE)
def numpy_function():
    runs_of(Augmenter().counts, make=tf.numpy_function)


@planted(STATE)
def three_threads():
    runs_of(Augmenter().counts, runs=3)


@planted(STATE)
def one_function_in_two_graphs():
    augmenter = Augmenter()
    runs = []
    for _ in range(2):
        with tf.Graph().as_default():
            y = tf.py_func(augmenter.counts, [tf.constant(1.0)], tf.float32)
            runs.append(functools.partial(tf.Session().run, y))
    together(*runs)


@planted(STATE)
def a_lock_around_half_of_the_runs():
    augmenter, lock = Augmenter(), threading.Lock()
    with tf.Graph().as_default():
        y = tf.py_func(augmenter.counts, [tf.constant(1.0)], tf.float32)
        sess = tf.Session()

    def locked():
        with lock:
            sess.run(y)

    together(locked, lambda: sess.run(y))
    sess.close()


@right
def lock_in_the_function():
    runs_of(Augmenter().counts_under_a_lock)


@right
def lock_acquired_in_the_function():
    runs_of(Augmenter().counts_with_acquire)


@right
def turn_taken_from_a_queue():
    runs_of(Augmenter().waits_for_its_turn)


@right
def lock_around_all_runs():
    runs_of(Augmenter().counts, lock=threading.Lock())


@right
def state_of_each_thread():
    runs_of(Augmenter().counts_for_each_thread)


@right
def append_is_atomic():
    runs_of(Augmenter().appends)


@right
def counter_of_itertools():
    runs_of(Augmenter().draws_a_number)


@right
def last_value_wins():
    runs_of(Augmenter().remembers_the_last)


@right
def values_of_its_own():
    runs_of(Augmenter().works_on_its_own)


@right
def one_thread_runs_it():
    runs_of(Augmenter().counts, runs=1)


@right
def one_thread_after_the_other():
    augmenter = Augmenter()
    with tf.Graph().as_default():
        y = tf.py_func(augmenter.counts, [tf.constant(1.0)], tf.float32)
        sess = tf.Session()
    together(lambda: sess.run(y))
    together(lambda: sess.run(y))
    sess.close()


@right
def a_function_for_each_thread():
    with tf.Graph().as_default():
        runs = [tf.py_func(Augmenter().counts, [tf.constant(1.0)], tf.float32) for _ in range(2)]
        sess = tf.Session()
    together(*[functools.partial(sess.run, each) for each in runs])
    sess.close()


@right
def results_in_a_queue():
    results = queue.Queue()

    def keep(x):
        results.put(x)
        return x

    runs_of(keep)
    assert results.qsize() == 6


@right
def no_state():
    runs_of(lambda x: x + np.float32(1))
