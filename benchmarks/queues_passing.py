"""The sides of the pass-through benchmark: a Python producer, a FIFOQueue, and a consumer that gets every item.

A side is a function of the items, an array of shape [N, 100]: it hands them out one after the other, moves them through
a queue of :data:`CAPACITY`, and returns the sum of what each item begins with. Those with "hand" in their name are
TensorFlow's API alone, as tutorials and people's programs use it.
"""

from __future__ import annotations

import threading

import numpy as np

import tf1sessions as t1

tf = t1.tf1

WIDTH, CAPACITY, BLOCK = 100, 1000, 128


def producer(items):
    """What there is to be moved: a Python iterator that yields one array of shape [100] after the other."""
    yield from items


def fifo():
    return tf.FIFOQueue(CAPACITY, [tf.float32], [[WIDTH]])


def of_item(item):
    return float(item[0])


def of_batch(batch):
    return float(batch[:, 0].sum())


def consume(session, dequeue, coordinator, value=of_item):
    """The loop at the end of each tutorial on queues."""
    total = 0.0
    try:
        while not coordinator.should_stop():
            total += value(session.run(dequeue))
    except tf.errors.OutOfRangeError:
        coordinator.request_stop()
    return total


def hand_runner(items, threads=1, batch=None):
    """A QueueRunner whose enqueue operation asks Python for an item; one dequeued by each run."""
    source, lock = producer(items), threading.Lock()

    def next_item():
        with lock:
            return next(source)  # StopIteration is the end of input: py_func makes an OutOfRangeError of it

    with tf.Graph().as_default(), tf.Session() as session:
        queue = fifo()
        item = tf.py_func(next_item, [], tf.float32)
        item.set_shape([WIDTH])
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(item)] * threads))
        dequeue = queue.dequeue_up_to(batch) if batch else queue.dequeue()
        coordinator = tf.train.Coordinator()
        running = tf.train.start_queue_runners(session, coordinator)
        total = consume(session, dequeue, coordinator, of_batch if batch else of_item)
        coordinator.join(running)
    return total


def hand_runner_four(items):
    """The same with four threads, as tutorials advise."""
    return hand_runner(items, 4)


def hand_runner_batches(items):
    """The same with one thread, and a consumer that dequeues 128 items at a time."""
    return hand_runner(items, batch=BLOCK)


def hand_feeding(items, batch=None):
    """A thread of the program's own that feeds an item to each run of the enqueue operation."""
    with tf.Graph().as_default(), tf.Session() as session:
        queue = fifo()
        x = tf.placeholder(tf.float32, [WIDTH])
        enqueue, close = queue.enqueue(x), queue.close()
        dequeue = queue.dequeue_up_to(batch) if batch else queue.dequeue()
        coordinator = tf.train.Coordinator()

        def feed():
            with coordinator.stop_on_exception():
                for item in producer(items):
                    session.run(enqueue, {x: item})
                session.run(close)

        thread = threading.Thread(target=feed)
        thread.start()
        total = consume(session, dequeue, coordinator, of_batch if batch else of_item)
        coordinator.join([thread])
    return total


def hand_feeding_batches(items):
    """The same thread; the consumer dequeues 128 items at a time, by dequeue_up_to, so that the last ones come too."""
    return hand_feeding(items, BLOCK)


def hand_blocks(items):
    """What a user writes who knows what costs: blocks are fed, and blocks dequeued."""
    with tf.Graph().as_default(), tf.Session() as session:
        queue = fifo()
        x = tf.placeholder(tf.float32, [None, WIDTH])
        enqueue, close, dequeue = queue.enqueue_many(x), queue.close(), queue.dequeue_up_to(BLOCK)

        def feed():
            block = []
            for item in producer(items):
                block.append(item)
                if len(block) == BLOCK:
                    session.run(enqueue, {x: np.stack(block)})
                    block.clear()
            if block:
                session.run(enqueue, {x: np.stack(block)})
            session.run(close)

        thread = threading.Thread(target=feed)
        thread.start()
        total = 0.0
        try:
            while True:
                for item in session.run(dequeue):
                    total += of_item(item)
        except tf.errors.OutOfRangeError:
            thread.join()
    return total


def pipeline_items(items):
    """A source, and the items in the main thread."""
    total = 0.0
    with t1.GraphSession() as gs, t1.QueuePipeline(gs) as pipe:
        queue = pipe.queue("items", capacity=CAPACITY, dtypes=[tf.float32], shapes=[[WIDTH]])
        pipe.source(queue, producer(items))
        for item in pipe.items(queue):
            total += of_item(item)
    return total


def pipeline_sink(items):
    """A source, and a function that is called with each item."""
    total = 0.0

    def add(item):
        nonlocal total
        total += of_item(item)

    with t1.GraphSession() as gs, t1.QueuePipeline(gs) as pipe:
        queue = pipe.queue("items", capacity=CAPACITY, dtypes=[tf.float32], shapes=[[WIDTH]])
        pipe.source(queue, producer(items))
        pipe.sink("sum", queue, add)
    return total


def pipeline_batches(items):
    """A source, and work on 128 items at a time."""
    total = 0.0

    def add(batch):
        nonlocal total
        total += of_batch(batch)

    with t1.GraphSession() as gs, t1.QueuePipeline(gs) as pipe:
        queue = pipe.queue("items", capacity=CAPACITY, dtypes=[tf.float32], shapes=[[WIDTH]])
        pipe.source(queue, producer(items))
        pipe.work("sum", queue.dequeue_up_to(BLOCK), each=add)
    return total


SIDES = {
    "QueuePipeline, items()": pipeline_items,
    "QueuePipeline, sink()": pipeline_sink,
    "QueuePipeline, work() on batches of 128": pipeline_batches,
    "QueueRunner with py_func, one dequeued at a time": hand_runner,
    "the same with four threads": hand_runner_four,
    "QueueRunner with py_func, batches of 128 dequeued": hand_runner_batches,
    "thread with feed_dict, one dequeued at a time": hand_feeding,
    "thread with feed_dict, batches of 128 dequeued": hand_feeding_batches,
    "thread with feed_dict, blocks of 128 fed and dequeued": hand_blocks,
}

IN_BLOCKS = {pipeline_items, pipeline_sink, pipeline_batches, hand_blocks}
