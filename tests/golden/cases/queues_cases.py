"""Queues: what they are made of, take, give and refuse, to their end. See queues_record.py."""

import numpy as np
from queues_record import case, dimensions, each, kind_of, make_queue, outcome, static

KINDS = ("fifo", "padding", "shuffle", "priority")


def with_priority(kind, *values):
    """The components for these integers: a priority queue gives the smallest priority, here the last, at first."""
    values = np.array(values, np.int32) if len(values) != 1 else values[0]
    return [np.int64(-1) * values, values] if kind == "priority" else [values]


@each(KINDS)
def attributes(tf, t, kind):
    queue = make_queue(tf, kind)
    operations = [
        queue.enqueue(with_priority(kind, 1)),
        queue.enqueue_many(with_priority(kind, 1, 2)),
        queue.dequeue(),
        queue.dequeue_many(2),
        queue.dequeue_up_to(2),
        queue.size(),
        queue.is_closed(),
        queue.close(),
        queue.close(cancel_pending_enqueues=True),
    ]
    t.note(
        kind=type(queue).__name__,
        name=queue.name,
        dtypes=[dtype.name for dtype in queue.dtypes],
        shapes=[dimensions(shape) for shape in queue.shapes],
        names=queue.names,
        reference=[queue.queue_ref.op.name, queue.queue_ref.dtype.name, queue.queue_ref.op.type],
        operations=[[made.name, made.type] if isinstance(made, tf.Operation) else static(made) for made in operations],
    )


@each(KINDS)
def order(tf, t, kind):
    queue = make_queue(tf, kind)
    many, up_to, one = queue.dequeue_many(3), queue.dequeue_up_to(4), queue.dequeue()
    size = queue.size()
    t.session.run(queue.enqueue_many(with_priority(kind, *range(9))))
    t.session.run(queue.enqueue(with_priority(kind, 9)))
    t.note(size=t.session.run(size))
    t.note(taken=[t.session.run(made) for made in (one, many, up_to, one)], left=t.session.run(size))


@each(KINDS)
def at_the_end(tf, t, kind):
    """What a closed queue gives: what it has, then OutOfRange."""
    for number, way in enumerate(["dequeue", "dequeue_many", "dequeue_up_to"]):
        queue = make_queue(tf, kind, name="%s%d" % (kind, number))
        take = getattr(queue, way)(*[2] * (way != "dequeue"))
        closed, size = queue.is_closed(), queue.size()
        t.session.run(queue.enqueue_many(with_priority(kind, *range(5))))
        before = t.session.run(closed)
        t.session.run(queue.close())
        t.note(**{way: [before, t.session.run(closed), t.rows(take), t.session.run(size)]})


@each(KINDS)
def closed(tf, t, kind):
    """What can still be done with a closed queue."""
    queue = make_queue(tf, kind)
    values = with_priority(kind, 1, 2)
    enqueue_many, enqueue, none = (
        queue.enqueue_many(values),
        queue.enqueue(with_priority(kind, 1)),
        queue.enqueue_many([value[:0] for value in values]),
    )
    close, cancel = queue.close(), queue.close(cancel_pending_enqueues=True)
    t.session.run(enqueue_many)
    t.session.run(close)
    t.note(
        enqueue=outcome(lambda: t.session.run(enqueue)),
        enqueue_many=outcome(lambda: t.session.run(enqueue_many)),
        enqueue_none=outcome(lambda: t.session.run(none)),
        close=outcome(lambda: t.session.run(close)),
        cancel=outcome(lambda: t.session.run(cancel)),
        size=t.session.run(queue.size()),
        none=outcome(lambda: t.session.run(queue.dequeue_many(0))),
    )


@each(KINDS)
def dequeue_waits(tf, t, kind):
    """A dequeue_many that waits when the queue is closed gives back what it has taken."""
    queue = make_queue(tf, kind)
    size, three = queue.size(), queue.dequeue_many(3)
    t.session.run(queue.enqueue_many(with_priority(kind, 1, 2)))
    waiting = t.background(three)
    if kind != "priority":  # that takes when there is enough
        t.until_size(queue, 0)
    t.session.run(queue.close())
    t.note(waiting=waiting(), left=t.session.run(size))


@each(KINDS)
def enqueue_waits(tf, t, kind):
    """A close waits for an enqueue_many that waits before it; a close with cancel ends it."""
    for cancel in (False, True):
        queue = make_queue(tf, kind, capacity=2, name="%s_%s" % (kind, cancel))
        waiting = t.background(queue.enqueue_many(with_priority(kind, 1, 2, 3)))
        t.until_size(queue, 2)
        take = queue.dequeue()
        closing = t.background(queue.close(cancel_pending_enqueues=cancel))
        rows = [] if cancel else [t.session.run(take)]
        t.note(**{"cancel %s" % cancel: [waiting(), closing(), rows, t.rows(take)]})


@each(KINDS)
def session_closes(tf, t, kind):
    """Closing a session ends what waits in it."""
    queue = make_queue(tf, kind, capacity=2)
    other = make_queue(tf, kind, name="empty")
    t.session.run(other.enqueue(with_priority(kind, 1)))
    waiting = [
        t.background(queue.enqueue_many(with_priority(kind, 1, 2, 3))),
        t.background(other.dequeue_many(2)),
    ]
    t.until_size(queue, 2)
    if kind != "priority":
        t.until_size(other, 0)
    t.session.close()
    # which of the two ways a call ends depends on how far it has come
    t.note(kinds=[wait()["error"][0] in ("CancelledError", "RuntimeError") for wait in waiting])


@each(KINDS)
def wrong_values(tf, t, kind):
    """Errors when a graph is built, and when it runs."""
    queue = make_queue(tf, kind, dtypes=[tf.int32, tf.float32], shapes=[[], [2]])
    first = [np.int64(1)] if kind == "priority" else []
    t.note(
        few=outcome(lambda: queue.enqueue(first + [1]).name),
        many=outcome(lambda: queue.enqueue(first + [1, [1.0, 2.0], 3]).name),
        shape=outcome(lambda: queue.enqueue(first + [1, [1.0, 2.0, 3.0]]).name),
        dtype=kind_of(lambda: queue.enqueue(first + ["a", [1.0, 2.0]]).name),
        rank=outcome(lambda: queue.enqueue(first + [[1, 2], [1.0, 2.0]]).name),
        named=outcome(lambda: queue.enqueue({"a": 1, "b": [1.0, 2.0]}).name),
    )
    unknown = tf.placeholder(tf.float32)
    enqueue = queue.enqueue(first + [1, unknown])
    t.note(at_run=outcome(lambda: t.session.run(enqueue, {unknown: [1.0, 2.0, 3.0]})))
    lengths = outcome(lambda: queue.enqueue_many([[np.int64(1)]] * len(first) + [[1], [[1.0, 2.0]] * 2]).name)
    t.note(lengths=lengths, negative=outcome(lambda: t.session.run(queue.dequeue_many(-1))))


@case
def wrong_queues(tf, t):
    def make(kind, *args, **settings):
        return outcome(lambda: getattr(tf, kind)(*args, **settings).name)

    t.note(
        shapes=make("FIFOQueue", 3, [tf.int32, tf.int32], [[]]),
        unknown_shape=make("FIFOQueue", 3, [tf.int32], [[None]]),
        unknown_padding=make("PaddingFIFOQueue", 3, [tf.int32], [None]),
        no_padding=make("PaddingFIFOQueue", 3, [tf.int32], None),
        names=make("FIFOQueue", 3, [tf.int32, tf.int32], [[], []], names=["a"]),
        one_name=make("FIFOQueue", 3, [tf.int32], [[]], names="a"),
        no_capacity=outcome(lambda: t.session.run(tf.FIFOQueue(0, tf.int32).size())),
        unbounded=outcome(lambda: t.session.run(tf.FIFOQueue(-1, tf.int32).size())),
        minimum=outcome(lambda: t.session.run(tf.RandomShuffleQueue(2, 3, tf.int32, [[]]).size())),
        no_shapes=outcome(lambda: tf.FIFOQueue(3, tf.int32).dequeue_many(2).name),
        no_shapes_up_to=outcome(lambda: tf.FIFOQueue(3, tf.int32).dequeue_up_to(2).name),
        no_shapes_enqueue_many=outcome(lambda: tf.FIFOQueue(3, tf.int32, name="a").enqueue_many([[1, 2]]).name),
        priority_dtype=kind_of(lambda: tf.PriorityQueue(3, tf.int32, [[]]).enqueue([np.float32(1), 2]).name),
    )


@each(("fifo", "padding", "shuffle"))
def named(tf, t, kind):
    """Queues whose components have names take and give dicts."""
    queue = make_queue(tf, kind, dtypes=[tf.int32, tf.string], shapes=[[], []], names=["number", "word"])
    t.note(
        names=queue.names,
        list=outcome(lambda: queue.enqueue([1, "a"]).name),
        missing=outcome(lambda: queue.enqueue({"number": 1}).name),
        other=outcome(lambda: queue.enqueue({"number": 1, "words": "a"}).name),
    )
    t.session.run(queue.enqueue({"number": 1, "word": "a"}))
    t.session.run(queue.enqueue_many({"word": ["b", "c"], "number": [2, 3]}))
    one, many = queue.dequeue(), queue.dequeue_many(2)
    t.note(one=t.session.run(one), many=t.session.run(many), tensors=sorted(tensor.name for tensor in one.values()))


@case
def padded(tf, t):
    """A padding queue pads to the longest of a batch."""
    queue = tf.PaddingFIFOQueue(10, [tf.int32, tf.string], [[None], [None, 2]])
    numbers, words = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.string, [None, 2])
    enqueue = queue.enqueue([numbers, words])
    for length in range(4):
        feeds = {numbers: np.arange(length), words: [["%d" % i, "x"] for i in range(length)]}
        if length:
            t.session.run(enqueue, feeds)
    t.session.run(enqueue, {numbers: [], words: np.zeros([0, 2], str)})
    two, rest, one = queue.dequeue_many(2), queue.dequeue_up_to(5), queue.dequeue()
    t.note(
        static=static(two) + static(one),
        two=t.session.run(two),
    )
    t.session.run(queue.close())
    t.note(rest=t.session.run(rest), end=t.rows(rest))


@case
def priorities(tf, t):
    """The smallest priority is given first; the same priority, by the rest of the elements or as they came."""
    queue = tf.PriorityQueue(20, [tf.string], [[]])
    t.session.run(queue.enqueue_many([[5, 1, 3, 1, 2**40, -7], ["five", "one", "three", "uno", "big", "least"]]))
    one, many = queue.dequeue(), queue.dequeue_many(2)
    taken = [t.session.run(one), sorted(t.session.run(many)[1].tolist()), t.session.run(many), t.session.run(one)]
    t.note(taken=taken)


@each((2, 3, 5))
def lost_at_the_end(tf, t, count):
    """dequeue_up_to of a closed priority queue that has fewer."""
    queue = tf.PriorityQueue(20, [tf.int32], [[]])
    t.session.run(queue.enqueue_many([[1, 2, 3], [10, 20, 30]]))
    t.session.run(queue.close())
    up_to, size = queue.dequeue_up_to(count), queue.size()
    t.note(first=outcome(lambda: t.session.run(up_to)), left=t.session.run(size))
    t.note(second=outcome(lambda: t.session.run(up_to)), end=t.session.run(size))


@case
def shuffled(tf, t):
    """Seeds decide the order; min_after_dequeue holds elements back until the queue is closed."""
    queue = tf.RandomShuffleQueue(30, 5, [tf.int32], [[]], seed=11)
    t.session.run(queue.enqueue_many([np.arange(20)]))
    one, many, size = queue.dequeue(), queue.dequeue_many(14), queue.size()
    t.note(first=[t.session.run(one), t.session.run(many)])
    waiting = t.background(one)
    t.session.run(queue.enqueue(20))
    t.note(waited=waiting(), left=t.session.run(size))
    t.session.run(queue.close())
    t.note(rest=t.rows(one))


@case
def seeds(tf, t):
    """The graph's seed and a queue's own."""
    for name, seed in (("default", None), ("own", 3), ("same", 3), ("other", 4)):
        queue = tf.RandomShuffleQueue(30, 0, [tf.int32], [[]], seed=seed, name=name)
        t.session.run(queue.enqueue_many([np.arange(10)]))
        many = queue.dequeue_many(10)
        if seed is not None:
            t.note(**{name: t.session.run(many)})
        t.note(**{name + " seeds": [queue.queue_ref.op.get_attr("seed"), queue.queue_ref.op.get_attr("seed2") > 0]})


@case
def select(tf, t):
    """QueueBase.from_list: one of several queues, chosen when it runs."""
    queues = [make_queue(tf, "fifo", name="q%d" % number, dtypes=[tf.int32]) for number in range(3)]
    index = tf.placeholder(tf.int32, [])
    chosen = tf.QueueBase.from_list(index, queues)
    take = chosen.dequeue()
    for number, queue in enumerate(queues):
        t.session.run(queue.enqueue(number))
    t.note(
        kind=type(chosen).__name__,
        shapes=[dimensions(shape) for shape in chosen.shapes],
        taken=[t.session.run(take, {index: number}) for number in (2, 0, 1)],
        outside=kind_of(lambda: t.session.run(take, {index: 7})),
    )
    other = tf.FIFOQueue(3, tf.float32, [[]])
    wide = tf.FIFOQueue(3, tf.int32, [[2]], name="wide")
    t.note(
        dtypes=outcome(lambda: tf.QueueBase.from_list(0, [queues[0], other])),
        shapes_differ=outcome(
            lambda: [dimensions(shape) for shape in tf.QueueBase.from_list(0, [queues[0], wide]).shapes]
        ),
        none=kind_of(lambda: tf.QueueBase.from_list(0, []).name),
        no_queue=outcome(lambda: tf.QueueBase.from_list(0, [1])),
    )


@case
def shared(tf, t):
    """A shared name makes two queues of a session one; sessions have their own."""
    left = tf.FIFOQueue(5, [tf.int32], [[]], shared_name="same", name="left")
    right = tf.FIFOQueue(5, [tf.int32], [[]], shared_name="same", name="right")
    other = tf.FIFOQueue(6, [tf.int32], [[]], shared_name="same", name="other")
    t.session.run(left.enqueue_many([[1, 2]]))
    t.note(taken=t.session.run(right.dequeue()), left=t.session.run(left.size()))
    t.note(capacity=outcome(lambda: t.session.run(other.size())))
    session = t.new_session()
    t.note(second=session.run(left.size()))
