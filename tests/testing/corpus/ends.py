"""Sessions that are closed: by the last of their users, too early, at the end of the program."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import ThreadPoolExecutor

import tensorflow as tf

from .threads import join, start
from .verdicts import planted, right

CLOSED = "run after close"


def session_of_ones():
    with tf.Graph().as_default() as graph:
        y = tf.ones([2]) * 2.0
    return tf.Session(graph=graph), y


@right
def last_of_several_closes():
    sess, y = session_of_ones()
    lock, users = threading.Lock(), [3]

    def work():
        sess.run(y)
        with lock:
            users[0] -= 1
            if users[0] == 0:
                sess.close()

    join(start(work, work, work))


@right
def last_of_several_closes_outside_of_the_lock():
    sess, y = session_of_ones()
    lock, users = threading.Lock(), [3]

    def work():
        sess.run(y)
        with lock:
            users[0] -= 1
            last = users[0] == 0
        if last:
            sess.close()

    join(start(work, work, work))


@right
def reference_counted_model():
    class Model:
        def __init__(self):
            self.sess, self.y = session_of_ones()
            self.count, self.lock = 0, threading.RLock()

        def __enter__(self):
            with self.lock:
                self.count += 1
            return self

        def __exit__(self, *error):
            with self.lock:
                self.count -= 1
                if not self.count:
                    self.sess.close()

    model = Model()
    with model:
        ready = threading.Barrier(3)

        def work():
            with model:
                ready.wait()
                model.sess.run(model.y)

        threads = start(work, work)
        ready.wait()
    join(threads)


@right
def closed_after_the_queue_is_joined():
    sess, y = session_of_ones()
    jobs = queue.Queue()

    def work():
        for _ in iter(jobs.get, None):
            sess.run(y)
            jobs.task_done()
        jobs.task_done()

    threads = start(work, work)
    for _ in range(4):
        jobs.put(1)
    for _ in threads:
        jobs.put(None)
    jobs.join()
    sess.close()
    join(threads)


@right
def closed_after_the_executor():
    sess, y = session_of_ones()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: sess.run(y), range(4)))
    sess.close()


@right
def coordinator_joins():
    sess, y = session_of_ones()
    coord = tf.train.Coordinator()

    def work():
        while not coord.should_stop():
            sess.run(y)
            coord.request_stop()

    threads = start(work, work)
    coord.join(threads)
    sess.close()


@right
def closed_by_the_event_of_its_user():
    sess, y = session_of_ones()
    done = threading.Event()

    def work():
        sess.run(y)
        done.set()

    threads = start(work)
    done.wait()
    sess.close()
    join(threads)


@right
def each_closes_its_own():
    def work():
        sess, y = session_of_ones()
        with sess:
            sess.run(y)

    join(start(work, work))


@planted(CLOSED)
def closed_while_it_may_run():
    sess, y = session_of_ones()

    def work():
        try:
            sess.run(y)
        except RuntimeError:
            pass

    threads = start(work)
    sess.close()
    join(threads)


@planted(CLOSED)
def with_block_left_before_the_join():
    sess, y = session_of_ones()

    def work():
        try:
            sess.run(y)
        except RuntimeError:
            pass

    with sess:
        threads = start(work)
    join(threads)


@planted(CLOSED)
def one_of_two_users_closes():
    sess, y = session_of_ones()

    def work(closes):
        try:
            sess.run(y)
        except RuntimeError:
            pass
        if closes:
            sess.close()

    join(start(lambda: work(True), lambda: work(False)))


@planted(CLOSED)
def stop_flag_without_a_join():
    sess, y = session_of_ones()
    stop = threading.Event()

    def work():
        try:
            while not stop.is_set():
                sess.run(y)
            sess.run(y)
        except RuntimeError:
            pass

    threads = start(work)
    stop.set()
    sess.close()
    join(threads)


@planted(CLOSED)
def future_not_awaited():
    sess, y = session_of_ones()

    def work():
        try:
            sess.run(y)
        except RuntimeError:
            pass

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work)
        sess.close()
