"""What threads share besides graphs and variables: fed arrays, iterators, tables, TensorFlow's queues, Coordinators."""

from __future__ import annotations

import logging
import tempfile
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import tensorflow as tf

from .threads import together
from .verdicts import planted, right


def quietly(function):
    def run():
        try:
            function()
        except (tf.errors.OpError, RuntimeError):
            pass

    return run


# -- fed arrays -------------------------------------------------------------------------------------------------------


def slow_session(secs=30):
    """A session whose run takes until something was written, at most so long; and how to write while it runs."""
    begun, written = threading.Event(), threading.Event()

    def wait(x):
        begun.set()
        written.wait(secs)
        return x

    def while_it_runs(write):
        def fill():
            begun.wait(30)
            try:
                write()
            finally:
                written.set()

        return fill

    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None])
        y = tf.py_func(wait, [x], tf.float32)
    return tf.Session(graph=graph), x, y, while_it_runs


@planted("fed array written during its run")
def buffer_filled_again_too_early():
    sess, x, y, while_it_runs = slow_session()
    batch = np.zeros(1000, np.float32)

    def fill():
        batch[:] = 1.0

    together(lambda: sess.run(y, {x: batch}), while_it_runs(fill))
    assert batch.flags.writeable
    sess.close()


@planted("fed array written during its run")
def buffer_normalized_in_place():
    sess, x, y, while_it_runs = slow_session()
    batch = np.ones(1000, np.float32)

    def fill():
        np.divide(batch, 2.0, out=batch)

    together(lambda: sess.run(y, {x: batch}), while_it_runs(fill))
    sess.close()


@planted("fed array written during its run")
def buffer_filled_by_a_job_whose_result_nobody_reads():
    sess, x, y, while_it_runs = slow_session()
    batch = np.zeros(1000, np.float32)

    def fill():
        batch[:] = 1.0

    with ThreadPoolExecutor(1) as executor:
        executor.submit(while_it_runs(fill))
        sess.run(y, {x: batch})
    sess.close()


@planted("fed array written during its run")
def buffer_filled_by_a_thread_of_a_coordinator():
    sess, x, y, while_it_runs = slow_session()
    batch = np.zeros(1000, np.float32)
    coord = tf.train.Coordinator()

    def fill():
        with coord.stop_on_exception():
            batch[:] = 1.0

    thread = threading.Thread(target=while_it_runs(fill))
    thread.start()
    sess.run(y, {x: batch})
    try:
        coord.join([thread])
    except ValueError as error:
        assert "read-only" in str(error)
    sess.close()


@planted("fed array written during its run")
def error_of_the_writer_is_logged():
    sess, x, y, while_it_runs = slow_session()
    batch = np.zeros(1000, np.float32)

    def fill():
        try:
            batch[:] = 1.0
        except ValueError as error:
            logging.getLogger("feeder").error("no new batch: %s", error)

    together(lambda: sess.run(y, {x: batch}), while_it_runs(fill))
    sess.close()


class Feeder:
    """Buffers of a feeder that keeps the errors of filling one."""

    def __init__(self):
        self.buffers, self.errors = [np.zeros(1000, np.float32) for _ in range(2)], []

    def fill(self):
        try:
            np.copyto(self.buffers[1], 1.0)
        except Exception:
            self.errors.append(traceback.format_exc())


@planted("fed array written during its run")
def error_of_the_writer_is_kept():
    sess, x, y, while_it_runs = slow_session()
    feeder = Feeder()
    together(lambda: sess.run(y, {x: feeder.buffers[1]}), while_it_runs(feeder.fill))
    assert feeder.errors
    sess.close()


@right
def error_of_another_array_is_logged():
    sess, x, y, while_it_runs = slow_session()
    batch = np.zeros(1000, np.float32)

    def fill():
        other = np.broadcast_to(np.float32(1.0), 1000)
        try:
            other[:] = 1.0
        except ValueError as error:
            logging.getLogger("feeder").error("a constant: %s", error)

    together(lambda: sess.run(y, {x: batch}), while_it_runs(fill))
    sess.close()


def ring_of_two(written):
    """A run is fed the first half of an array while another thread writes to a part of it."""
    sess, x, y, while_it_runs = slow_session()
    ring = np.zeros(2000, np.float32)

    def fill():
        ring[written] = 1.0

    together(lambda: sess.run(y, {x: ring[:1000]}), while_it_runs(fill))
    sess.close()


@planted("fed array written during its run")
def part_of_a_buffer_filled_again_too_early():
    ring_of_two(slice(900, 1100))


@right
def other_half_of_a_buffer_filled():
    ring_of_two(slice(1000, 2000))


@right
def buffer_filled_between_runs():
    sess, x, y, _ = slow_session(0.05)
    batch = np.zeros(1000, np.float32)
    for number in range(3):
        batch[:] = number
        sess.run(y, {x: batch})
    sess.close()


@right
def two_buffers_in_turns():
    sess, x, y, while_it_runs = slow_session()
    batches = [np.zeros(1000, np.float32) for _ in range(2)]

    def fill():
        batches[1][:] = 1.0

    together(lambda: sess.run(y, {x: batches[0]}), while_it_runs(fill))
    sess.close()


@right
def one_array_fed_by_many_and_read():
    sess, x, y, _ = slow_session(0.05)
    batch = np.ones(1000, np.float32)
    together(*[lambda: sess.run(y, {x: batch})] * 2, batch.sum)
    batch[:] = 2.0
    sess.close()


# -- iterators and tables ---------------------------------------------------------------------------------------------


def iterator_session():
    with tf.Graph().as_default() as graph:
        iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(100))
        item = iterator.get_next()
        sess = tf.Session(graph=graph)
    return sess, iterator.initializer, item


@planted("initialized under its users")
def iterator_started_again_while_it_is_used():
    sess, init, item = iterator_session()
    sess.run(init)
    together(lambda: sess.run(item), lambda: sess.run(init))
    sess.close()


@right
def iterator_taken_from_by_many():
    sess, init, item = iterator_session()
    sess.run(init)
    together(*[lambda: sess.run(item)] * 3)
    sess.close()


@right
def iterator_started_again_for_each_epoch():
    sess, init, item = iterator_session()
    for _ in range(3):
        sess.run(init)
        together(*[lambda: sess.run(item)] * 2)
    sess.close()


def table_session():
    with tf.Graph().as_default() as graph:
        init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2], tf.string, tf.int64)
        table = tf.lookup.StaticHashTable(init, -1)
        found = table.lookup(tf.constant("a"))
        sess = tf.Session(graph=graph)
        return sess, tf.tables_initializer(), found


@planted("initialized under its users")
def table_initialized_while_it_is_asked():
    sess, init, found = table_session()
    together(quietly(lambda: sess.run(found)), lambda: sess.run(init))
    sess.close()


@right
def table_initialized_and_then_asked():
    sess, init, found = table_session()
    sess.run(init)
    together(*[lambda: sess.run(found)] * 3)
    sess.close()


# -- TensorFlow's queues ----------------------------------------------------------------------------------------------


def queue_session():
    with tf.Graph().as_default() as graph:
        line = tf.FIFOQueue(100, tf.int32, shapes=[[]])
        sess = tf.Session(graph=graph)
        return sess, line.enqueue(1), line.dequeue(), line.close(), line.close(cancel_pending_enqueues=True)


@planted("queue closed under its users")
def queue_closed_while_others_fill_it():
    sess, put, _, close, _ = queue_session()
    together(quietly(lambda: sess.run(put)), lambda: sess.run(close))
    sess.close()


@planted("queue closed under its users")
def first_producer_closes():
    sess, put, _, close, _ = queue_session()

    def produce(closes):
        sess.run(put)
        if closes:
            sess.run(close)

    together(quietly(lambda: produce(True)), quietly(lambda: produce(False)))
    sess.close()


@right
def producer_closes_its_queue():
    sess, put, get, close, _ = queue_session()

    def produce():
        for _ in range(3):
            sess.run(put)
        sess.run(close)

    def consume():
        try:
            while True:
                sess.run(get)
        except tf.errors.OutOfRangeError:
            pass

    together(produce, consume, consume)
    sess.close()


@right
def last_producer_closes():
    sess, put, _, close, _ = queue_session()
    lock, left = threading.Lock(), [2]

    def produce():
        sess.run(put)
        with lock:
            left[0] -= 1
            last = not left[0]
        if last:
            sess.run(close)

    together(produce, produce)
    sess.close()


@right
def feeder_is_cancelled_on_purpose():
    sess, put, _, _, cancel = queue_session()
    together(quietly(lambda: sess.run(put)), lambda: sess.run(cancel))
    sess.close()


@right
def queue_runners_and_a_coordinator():
    with tf.Graph().as_default() as graph:
        line = tf.FIFOQueue(10, tf.int32, shapes=[[]])
        tf.train.add_queue_runner(tf.train.QueueRunner(line, [line.enqueue(1)] * 2))
        get = line.dequeue()
        sess = tf.Session(graph=graph)
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        for _ in range(5):
            sess.run(get)
        coord.request_stop()
        coord.join(threads)
        sess.close()


@planted("coordinator that nobody joins", may=("run after close",))
def queue_runners_that_are_not_joined():
    with tf.Graph().as_default() as graph:
        line = tf.FIFOQueue(10, tf.int32, shapes=[[]])
        tf.train.add_queue_runner(tf.train.QueueRunner(line, [line.enqueue(1)]))
        get = line.dequeue()
        sess = tf.Session(graph=graph)
        coord = tf.train.Coordinator()
        tf.train.start_queue_runners(sess, coord)
        sess.run(get)
        coord.request_stop()
        sess.close()


# -- graphs that are written ------------------------------------------------------------------------------------------

WRITTEN = "graph written while it is built"


def variable_session():
    graph = tf.Graph()
    with graph.as_default():
        w = tf.get_variable("w", [2])
        sess = tf.Session()
        sess.run(w.initializer)
    return graph, sess


def build(graph):
    with graph.as_default():
        tf.constant(1.0)


@planted(WRITTEN)
def written_while_another_builds():
    graph = tf.Graph()
    with tempfile.TemporaryDirectory() as folder:
        together(lambda: build(graph), lambda: tf.train.write_graph(graph, folder, "graph.pb"))


@planted(WRITTEN)
def finalized_while_another_builds():
    graph = tf.Graph()
    together(quietly(lambda: build(graph)), graph.finalize)


@planted(WRITTEN, may=("mutation while running",))
def saved_while_another_builds():
    graph, sess = variable_session()
    with graph.as_default():
        saver = tf.train.Saver()
    with tempfile.TemporaryDirectory() as folder:
        together(lambda: build(graph), lambda: saver.save(sess, folder + "/model"))
    sess.close()


@planted(WRITTEN)
def summary_of_a_graph_that_grows():
    graph, sess = variable_session()
    with tempfile.TemporaryDirectory() as folder:

        def write():
            with tf.summary.FileWriter(folder) as writer:
                writer.add_graph(graph)

        together(lambda: build(graph), write)
    sess.close()


@right
def saved_by_a_thread_when_all_is_built():
    graph, sess = variable_session()
    with graph.as_default():
        saver = tf.train.Saver()
        value = tf.identity(graph.get_tensor_by_name("w:0"))
    with tempfile.TemporaryDirectory() as folder:
        together(lambda: saver.save(sess, folder + "/model"), lambda: sess.run(value))
    sess.close()


@right
def finalized_and_then_run():
    graph, sess = variable_session()
    graph.finalize()
    together(*[lambda: sess.run("w:0")] * 2)
    sess.close()


@right
def built_in_a_thread_and_written_after_its_end():
    graph = tf.Graph()
    together(lambda: build(graph))
    with tempfile.TemporaryDirectory() as folder:
        tf.train.write_graph(graph, folder, "graph.pb")


@right
def monitored_session_saves_while_it_trains():
    with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
        step = tf.train.get_or_create_global_step()
        train = tf.assign_add(step, 1)
        with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, save_checkpoint_steps=2) as sess:
            for _ in range(4):
                sess.run(train)
