"""Waits that nothing ends: conditions, events, queues, futures, barriers, TensorFlow's queues; and those that end."""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import multiprocessing.pool
import queue
import signal
import threading
import time

import tensorflow as tf

from tf1sessions.errors import DeadlockError

from .threads import join, start
from .verdicts import planted, right

DEADLOCK = "deadlock"


def gives_up():
    """Whoever gives up, the program ends."""
    return contextlib.suppress(DeadlockError)


# -- nothing is left ---------------------------------------------------------------------------------------------------


@planted(DEADLOCK)
def the_producer_failed():
    items = queue.Queue()

    def produce():
        with contextlib.suppress(ZeroDivisionError):
            items.put(1 / 0)

    def consume():
        with gives_up():
            items.get()

    join(start(produce, consume))


@planted(DEADLOCK)
def one_sentinel_for_two_consumers():
    items = queue.Queue()

    def consume():
        with gives_up():
            while items.get() is not None:
                pass

    threads = start(consume, consume)
    for item in (1, 2, None):
        items.put(item)
    join(threads)


@planted(DEADLOCK)
def consumer_ended_and_the_queue_is_full():
    items = queue.Queue(maxsize=1)

    def produce():
        with gives_up():
            for number in range(4):
                items.put(number)

    join(start(produce, items.get))


@planted(DEADLOCK)
def task_done_forgotten():
    items = queue.Queue()
    items.put(1)
    threads = start(items.get)
    with gives_up():
        items.join()
    join(threads)


@planted(DEADLOCK)
def task_done_not_reached_after_an_error():
    items = queue.Queue()
    items.put(0)

    def work():
        with contextlib.suppress(ZeroDivisionError):
            1 / items.get()
            items.task_done()

    threads = start(work)
    with gives_up():
        items.join()
    join(threads)


@planted(DEADLOCK)
def event_that_is_never_set():
    ready = threading.Event()

    def load():
        with contextlib.suppress(OSError):
            raise OSError("no model")
        # and so ready.set() was left out

    threads = start(load)
    with gives_up():
        ready.wait()
    join(threads)


@planted(DEADLOCK)
def two_events_that_wait_for_each_other():
    one, other = threading.Event(), threading.Event()

    def first():
        with gives_up():
            other.wait()
        one.set()

    def second():
        with gives_up():
            one.wait()
        other.set()

    join(start(first, second))


@planted(DEADLOCK)
def event_cleared_too_early():
    go = threading.Event()

    def step():
        with gives_up():
            go.wait()

    go.set()
    go.clear()
    join(start(step, step))


@planted(DEADLOCK)
def notified_before_anybody_waited():
    ready = threading.Condition()
    with ready:
        ready.notify_all()

    def work():
        with ready, gives_up():
            ready.wait()

    join(start(work))


@planted(DEADLOCK)
def notify_wakes_one_of_three():
    ready = threading.Condition()
    waits = []

    def work():
        with ready, gives_up():
            waits.append(1)
            ready.wait()

    threads = start(work, work, work)
    while len(waits) < 3:
        time.sleep(0.001)
    with ready:
        ready.notify()
    join(threads)


@planted(DEADLOCK)
def predicate_that_never_becomes_true():
    ready, items = threading.Condition(), []

    def work():
        with ready, gives_up():
            ready.wait_for(lambda: len(items) >= 2)

    def give():
        with ready:
            items.append(1)
            ready.notify_all()

    join(start(work, give))


@planted(DEADLOCK)
def barrier_for_one_too_many():
    barrier = threading.Barrier(3)

    def work():
        with gives_up(), contextlib.suppress(threading.BrokenBarrierError):
            barrier.wait()

    join(start(work, work))


@planted(DEADLOCK)
def permits_that_are_not_given_back():
    permits = threading.Semaphore(2)

    def work():
        with gives_up():
            permits.acquire()

    join(start(work, work, work))


@planted(DEADLOCK)
def job_that_waits_for_a_job_of_its_own_executor():
    with concurrent.futures.ThreadPoolExecutor(1) as executor:

        def outer():
            with gives_up():
                return executor.submit(int).result()

        executor.submit(outer).result()


@planted(DEADLOCK)
def all_workers_wait_for_jobs_behind_them():
    meet = threading.Barrier(2)
    with concurrent.futures.ThreadPoolExecutor(2) as executor:

        def outer():
            meet.wait(30)
            with gives_up():
                return executor.submit(int).result()

        for job in [executor.submit(outer) for _ in range(2)]:
            job.result()


@planted(DEADLOCK)
def executor_is_full_while_others_go_on():
    """The main thread only sleeps: it is no way out."""
    done = []

    def outer(executor):
        with gives_up():
            executor.submit(int).result()
        done.append(1)

    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        executor.submit(outer, executor)
        while not done:
            time.sleep(0.01)


@planted(DEADLOCK)
def two_jobs_that_wait_for_each_other():
    jobs, meet = [], threading.Event()

    def work(number):
        meet.wait(30)
        with gives_up():
            jobs[1 - number].result()

    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        jobs += [executor.submit(work, number) for number in range(2)]
        meet.set()


@planted(DEADLOCK)
def future_that_is_never_set():
    result = concurrent.futures.Future()

    def serve():
        with contextlib.suppress(KeyError):
            result.set_result({}["model"])

    threads = start(serve)
    with gives_up():
        result.result()
    join(threads)


@planted(DEADLOCK)
def lock_held_while_an_item_is_awaited():
    lock, items, has_lock = threading.Lock(), queue.Queue(), threading.Event()

    def take():
        with lock, gives_up():
            has_lock.set()
            items.get()

    def give():
        has_lock.wait(30)
        with lock:
            items.put(1)

    join(start(take, give))


@planted(DEADLOCK)
def lock_held_while_an_event_is_awaited():
    lock, ready, has_lock = threading.RLock(), threading.Event(), threading.Event()

    def wait():
        with lock, gives_up():
            has_lock.set()
            ready.wait()

    def prepare():
        has_lock.wait(30)
        with lock:
            ready.set()

    join(start(wait, prepare))


@planted(DEADLOCK)
def joined_by_the_thread_that_it_waits_for():
    items = queue.Queue()

    def consume():
        with gives_up():
            items.get()

    threads = start(consume)
    join(threads)  # and then items.put(None)
    items.put(None)


@planted(DEADLOCK)
def signal_lock_that_is_never_released():
    done = threading.Lock()
    done.acquire()
    with gives_up():
        done.acquire()


@planted(DEADLOCK)
def simple_queue_without_a_producer():
    items = queue.SimpleQueue()

    def consume():
        with gives_up():
            items.get()

    join(start(consume))


@planted(DEADLOCK)
def queues_in_a_ring():
    rings = [queue.Queue() for _ in range(3)]

    def pass_on(number):
        with gives_up():
            rings[(number + 1) % 3].put(rings[number].get())

    join(start(*[lambda number=number: pass_on(number) for number in range(3)]))


@planted(DEADLOCK)
def result_of_a_pool_asked_for_in_its_worker():
    """The daemon's queue is fed by the thread that waits for the daemon's answer."""
    asked, answered = queue.Queue(), queue.Queue()

    def serve():
        with gives_up():
            asked.get()
            answered.put(asked.get())  # takes two

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    asked.put("one")
    with gives_up():
        answered.get()
    asked.put("two")
    thread.join()


@planted(DEADLOCK)
def wait_for_jobs_that_wait():
    gate = threading.Event()

    def work():
        with gives_up():
            gate.wait()

    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        jobs = [executor.submit(work) for _ in range(2)]
        with gives_up():
            concurrent.futures.wait(jobs)
        gate.set()


# -- TensorFlow's queues ----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def fed_by_a_queue(capacity=2):
    with tf.Graph().as_default():
        food = tf.FIFOQueue(capacity, tf.float32, shapes=[[]])
        put, get, close = food.enqueue(1.0), food.dequeue(), food.close()
        sess = tf.Session()
        yield sess, put, get, close
        sess.close()


def run(sess, fetch, times=1):
    with contextlib.suppress(DeadlockError, tf.errors.CancelledError, tf.errors.OutOfRangeError):
        for _ in range(times):
            sess.run(fetch)


@planted(DEADLOCK)
def queue_runners_not_started():
    with tf.Graph().as_default():
        numbers = tf.train.range_input_producer(10, shuffle=False).dequeue()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            run(sess, numbers)


@planted(DEADLOCK)
def dequeued_more_than_was_put():
    with fed_by_a_queue() as (sess, put, get, _):
        join(start(lambda: run(sess, put, 2), lambda: run(sess, get, 3)))


@planted(DEADLOCK)
def enqueued_more_than_there_is_room():
    with fed_by_a_queue() as (sess, put, _, _):
        run(sess, put, 3)


@planted(DEADLOCK)
def fed_by_a_thread_that_failed():
    with fed_by_a_queue() as (sess, put, get, _):

        def feed():
            with contextlib.suppress(ZeroDivisionError):
                sess.run(put, {put: 1 / 0})

        join(start(feed, lambda: run(sess, get)))


@planted(DEADLOCK)
def last_batch_is_not_full():
    with tf.Graph().as_default():
        food = tf.FIFOQueue(10, tf.float32, shapes=[[]])
        put, get = food.enqueue_many([[1.0, 2.0, 3.0]]), food.dequeue_many(4)
        with tf.Session() as sess:
            sess.run(put)
            run(sess, get)


@planted(DEADLOCK)
def dequeue_under_the_lock_of_the_feeder():
    lock, has_lock = threading.Lock(), threading.Event()
    with fed_by_a_queue() as (sess, put, get, _):

        def train():
            with lock:
                has_lock.set()
                run(sess, get)

        def feed():
            has_lock.wait(30)
            with lock:
                run(sess, put)

        join(start(train, feed))


# -- these end --------------------------------------------------------------------------------------------------------


@right
def slow_producer():
    items = queue.Queue()

    def produce():
        time.sleep(0.1)
        items.put(1)

    join(start(produce, items.get))


@right
def one_sentinel_for_each_consumer():
    items = queue.Queue()

    def consume():
        while items.get() is not None:
            pass

    threads = start(consume, consume)
    for item in (1, 2, None, None):
        items.put(item)
    join(threads)


@right
def sentinel_handed_on():
    items = queue.Queue()

    def consume():
        while items.get() is not None:
            pass
        items.put(None)

    threads = start(consume, consume)
    items.put(None)
    join(threads)


@right
def daemon_waits_for_ever():
    items = queue.Queue()

    def consume():
        while True:
            items.get()
            items.task_done()

    threading.Thread(target=consume, daemon=True).start()
    items.put(1)
    items.join()
    time.sleep(0.1)


@right
def timer_sets_the_event():
    ready = threading.Event()
    timer = threading.Timer(0.1, ready.set)
    timer.start()
    ready.wait()
    timer.join()


@right
def waits_with_time_outs():
    ready = threading.Event()

    def poll():
        for _ in range(20):
            if ready.wait(0.01):
                return
        ready.set()

    join(start(poll, ready.wait))


@right
def get_with_a_time_out_gives_up():
    items = queue.Queue()

    def consume():
        with contextlib.suppress(queue.Empty):
            items.get(timeout=0.1)

    join(start(consume, consume))


@right
def executor_with_idle_workers():
    with concurrent.futures.ThreadPoolExecutor(3) as executor:
        assert executor.submit(int).result() == 0
        time.sleep(0.1)
        assert list(executor.map(abs, [-1, 2])) == [1, 2]


@right
def job_that_waits_while_a_worker_is_free():
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        assert executor.submit(lambda: executor.submit(time.sleep, 0.1).result()).result() is None


@right
def job_that_waits_for_another_executor():
    with concurrent.futures.ThreadPoolExecutor(1) as one, concurrent.futures.ThreadPoolExecutor(1) as other:
        assert one.submit(lambda: other.submit(time.sleep, 0.1).result()).result() is None


@right
def long_job_is_awaited():
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        executor.submit(time.sleep, 0.15).result()


@right
def results_as_they_come():
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        jobs = [executor.submit(time.sleep, 0.05 * number) for number in range(3)]
        assert len(list(concurrent.futures.as_completed(jobs))) == 3


@right
def thread_pool_maps_slowly():
    with multiprocessing.pool.ThreadPool(2) as pool:
        pool.map(time.sleep, [0.1, 0.1])


@right
def ping_and_pong():
    ping, pong = queue.Queue(), queue.Queue()

    def answer():
        for _ in range(20):
            pong.put(ping.get() + 1)

    threads = start(answer)
    for number in range(20):
        ping.put(number)
        assert pong.get() == number + 1
    join(threads)


@right
def bounded_buffer_of_a_condition():
    changed, items = threading.Condition(), collections.deque()

    def put():
        for number in range(10):
            with changed:
                changed.wait_for(lambda: len(items) < 2)
                items.append(number)
                changed.notify_all()

    def get():
        for _ in range(10):
            with changed:
                changed.wait_for(lambda: items)
                items.popleft()
                changed.notify_all()

    join(start(put, get))


@right
def semaphore_given_back_late():
    permits = threading.Semaphore(1)

    def work():
        with permits:
            time.sleep(0.05)

    join(start(work, work, work))


@right
def barrier_with_a_late_one():
    barrier = threading.Barrier(2)

    def late():
        time.sleep(0.1)
        barrier.wait()

    join(start(barrier.wait, late))


@right
def lock_held_for_long():
    lock = threading.Lock()

    def work():
        with lock:
            time.sleep(0.1)

    join(start(work, work))


@right
def stopped_by_a_signal():
    """The handler is the program's, and sets what the main thread waits for."""
    stop = threading.Event()
    before = signal.signal(signal.SIGUSR1, lambda number, frame: stop.set())
    main = threading.main_thread().ident
    timer = threading.Timer(0.15, signal.pthread_kill, (main, signal.SIGUSR1))
    timer.start()
    stop.wait()
    timer.join()
    signal.signal(signal.SIGUSR1, before)


@right
def simple_queue_with_a_late_item():
    items = queue.SimpleQueue()

    def late():
        time.sleep(0.1)
        items.put(1)

    join(start(items.get, late))


@right
def future_set_by_a_slow_thread():
    result = concurrent.futures.Future()

    def serve():
        time.sleep(0.1)
        result.set_result(1)

    threads = start(serve)
    assert result.result() == 1
    join(threads)


@right
def dequeue_before_the_feeder_begins():
    with fed_by_a_queue() as (sess, put, get, _):

        def feed():
            time.sleep(0.2)
            sess.run(put)

        join(start(feed, lambda: sess.run(get)))


@right
def dequeue_ended_by_a_close():
    with fed_by_a_queue() as (sess, _, get, close):

        def stop():
            time.sleep(0.1)
            sess.run(close)

        join(start(stop, lambda: run(sess, get)))


@right
def producer_and_consumer_in_step():
    with fed_by_a_queue(capacity=1) as (sess, put, get, _):
        join(start(lambda: run(sess, put, 20), lambda: run(sess, get, 20)))


@right
def step_that_computes_for_long_after_its_dequeue():
    with tf.Graph().as_default():
        food = tf.FIFOQueue(2, tf.float32, shapes=[[]])
        put, item = food.enqueue(1.0), food.dequeue()
        x = tf.fill([300, 300], item / 300.0)
        y = tf.while_loop(lambda i, m: i < 60, lambda i, m: (i + 1, tf.matmul(m, x)), [0, x])[1]
        with tf.Session() as sess:
            sess.run(put)
            sess.run(y)


@right
def queue_runners_feed_slowly():
    with tf.Graph().as_default():
        numbers = tf.train.batch([tf.train.range_input_producer(10, shuffle=False).dequeue()], 4)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            coord = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(sess, coord)
            for _ in range(3):
                sess.run(numbers)
                time.sleep(0.05)
            coord.request_stop()
            coord.join(threads)
