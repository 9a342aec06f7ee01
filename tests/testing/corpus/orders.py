"""What orders threads: primitives of Python, one by one; and polls, whose order is not known."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import queue
import threading
import time
from multiprocessing.pool import ThreadPool

import tensorflow as tf

from .threads import join, start, together
from .verdicts import planted, right


def building(graph):
    def build():
        with graph.as_default():
            tf.constant(1.0)

    return build


def before_and_after(hand_over, take_over):
    """A program whose first thread builds and hands over, and whose second one takes over and builds."""

    def run():
        build = building(tf.Graph())
        together(lambda: (build(), hand_over()), lambda: (take_over(), build()))

    return run


@right
def event():
    done = threading.Event()
    before_and_after(done.set, done.wait)()


@right
def queue_item():
    line = queue.Queue()
    before_and_after(lambda: line.put(1), line.get)()


@right
def simple_queue_item():
    line = queue.SimpleQueue()
    before_and_after(lambda: line.put(1), line.get)()


@right
def lifo_queue_item():
    line = queue.LifoQueue()
    before_and_after(lambda: line.put(1), line.get)()


@right
def priority_queue_item():
    line = queue.PriorityQueue()
    before_and_after(lambda: line.put(1), line.get)()


@right
def semaphore_as_a_signal():
    signal = threading.Semaphore(0)
    before_and_after(signal.release, signal.acquire)()


@right
def barrier():
    meet = threading.Barrier(2)
    before_and_after(meet.wait, meet.wait)()


@right
def condition():
    ready, changed = [], threading.Condition()

    def hand_over():
        with changed:
            ready.append(1)
            changed.notify_all()

    def take_over():
        with changed:
            changed.wait_for(lambda: ready)

    before_and_after(hand_over, take_over)()


@right
def future():
    done = concurrent.futures.Future()
    before_and_after(lambda: done.set_result(1), done.result)()


@right
def timer_is_joined():
    build = building(tf.Graph())
    timer = threading.Timer(0.01, build)
    timer.start()
    timer.join()
    build()


@right
def executor_awaited():
    build = building(tf.Graph())
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        pool.submit(build).result()
        pool.submit(build).result()


@right
def thread_pool_applied():
    build = building(tf.Graph())
    with ThreadPool(2) as pool:
        for _ in range(3):
            pool.apply(build)


@right
def asyncio_to_thread():
    build = building(tf.Graph())

    async def main():
        for _ in range(3):
            await asyncio.to_thread(build)

    asyncio.run(main())


@right
def asyncio_lock():
    build = building(tf.Graph())

    async def work(lock):
        async with lock:
            await asyncio.to_thread(build)

    async def main():
        lock = asyncio.Lock()
        await asyncio.gather(*[work(lock) for _ in range(3)])

    asyncio.run(main())


@right
def lock_taken_by_an_exit_stack():
    build, lock = building(tf.Graph()), threading.Lock()

    def work():
        with contextlib.ExitStack() as stack:
            stack.enter_context(lock)
            build()

    together(work, work)


@right
def lock_in_a_decorator():
    build, lock = building(tf.Graph()), threading.RLock()

    def synchronized(function):
        def call():
            with lock:
                return function()

        return call

    together(*[synchronized(build)] * 3)


@right
def one_lock_for_each_graph():
    graphs, locks = [tf.Graph(), tf.Graph()], [threading.Lock(), threading.Lock()]

    def work(number):
        with locks[number]:
            building(graphs[number])()

    together(*[lambda number=number: work(number) for number in (0, 1, 0, 1)])


@right
def readers_and_a_writer():
    """A lock for readers and writers, as people write it on a condition."""

    class ReadWriteLock:
        def __init__(self):
            self.changed, self.readers = threading.Condition(threading.Lock()), 0

        @contextlib.contextmanager
        def reading(self):
            with self.changed:
                self.readers += 1
            yield
            with self.changed:
                self.readers -= 1
                self.changed.notify_all()

        @contextlib.contextmanager
        def writing(self):
            with self.changed:
                self.changed.wait_for(lambda: not self.readers)
                yield

    with tf.Graph().as_default() as graph:
        y = tf.ones([2])
        sess = tf.Session()
    lock = ReadWriteLock()

    def read():
        with lock.reading():
            sess.run(y)

    def write():
        with lock.writing():
            building(graph)()

    together(read, write, read)
    sess.close()


@right
def session_pool_in_a_queue():
    """Each thread has a session as long as it needs it."""
    with tf.Graph().as_default():
        y = tf.ones([2])
        pool = queue.LifoQueue()
        for _ in range(2):
            pool.put(tf.Session())

    def work():
        sess = pool.get()
        try:
            sess.run(y)
        finally:
            pool.put(sess)

    together(*[work] * 4)
    while not pool.empty():
        pool.get().close()


@right
def graph_for_each_of_a_pool():
    pool = queue.Queue()
    for _ in range(2):
        pool.put(tf.Graph())

    def work():
        graph = pool.get()
        building(graph)()
        pool.put(graph)

    together(*[work] * 4)


@planted("unknown order")
def polled_with_sleeps():
    ready, build = [], building(tf.Graph())

    def hand_over():
        build()
        ready.append(1)

    def take_over():
        while not ready:
            time.sleep(0.001)
        build()

    together(hand_over, take_over)


@planted("unknown order")
def polled_by_the_starter():
    ready, build = [], building(tf.Graph())

    def main():
        first = start(lambda: (build(), ready.append(1)))
        while not ready:
            time.sleep(0.001)
        join([*first, *start(build)])

    main()


@planted("unknown order")
def polled_by_the_submitter():
    ready, over, build = [], threading.Event(), building(tf.Graph())

    def main(pool):
        pool.submit(lambda: (build(), ready.append(1), over.wait()))
        while not ready:
            time.sleep(0.001)
        pool.submit(build).result()
        over.set()

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        main(pool)


@planted("unknown order")
def polled_by_what_hands_on():
    waits, ready, line, build = [], [], queue.Queue(), building(tf.Graph())

    def hand_over():
        build()
        while not waits:
            time.sleep(0.001)
        ready.append(1)

    def hand_on():
        while not ready:
            waits.append(1)
            time.sleep(0.001)
        line.put(1)

    together(hand_over, hand_on, lambda: (line.get(), build()))


@planted("unknown order")
def many_threads_poll_many_graphs():
    ready = []
    builds = [building(tf.Graph()) for _ in range(4)]

    def hand_over():
        for build in builds:
            build()
        ready.append(1)

    def take_over(build):
        while not ready:
            time.sleep(0.001)
        build()

    together(hand_over, *[lambda build=build: take_over(build) for build in builds])


@planted("concurrent construction")
def two_that_put():
    line = queue.Queue()
    before_and_after(lambda: line.put(1), lambda: line.put(2))()


@planted("concurrent construction")
def event_that_is_set_first():
    done = threading.Event()
    build = building(tf.Graph())
    together(lambda: (done.set(), build()), lambda: (done.wait(), build()))


@planted("concurrent construction")
def semaphore_of_two():
    build, permits = building(tf.Graph()), threading.Semaphore(2)

    def work():
        with permits:
            build()

    together(work, work)


@planted("concurrent construction")
def barrier_and_then_both():
    build, meet = building(tf.Graph()), threading.Barrier(2)
    together(*[lambda: (meet.wait(), build())] * 2)


@planted("concurrent construction")
def executor_not_awaited():
    build = building(tf.Graph())
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(build)
        build()


@planted("concurrent construction")
def timer_not_joined():
    build = building(tf.Graph())
    timer = threading.Timer(0.0, build)
    timer.start()
    build()
    timer.join()


@planted("concurrent construction")
def lock_of_each_thread():
    build, local = building(tf.Graph()), threading.local()

    def work():
        local.lock = threading.Lock()
        with local.lock:
            build()

    together(work, work)


@planted("mutation while running")
def locked_when_it_builds_alone():
    with tf.Graph().as_default() as graph:
        y = tf.ones([2])
        sess = tf.Session()
    lock = threading.Lock()

    def write():
        with lock:
            building(graph)()

    together(write, lambda: sess.run(y))
    sess.close()
