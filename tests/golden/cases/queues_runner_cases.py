"""Queue runners and coordinators, alone and in chains: how they start, fail and end. See queues_record.py."""

import functools
import sys
import threading

import numpy as np
from queues_record import DEADLINE_SECS, adopted, case, described, kind_of, make_queue, names, outcome, plain


@case
def runner(tf, t):
    """What a queue runner is made of."""
    queue = make_queue(tf, "fifo", name="queue")
    enqueue = queue.enqueue(1)
    made = tf.train.QueueRunner(queue, [enqueue] * 3)
    t.note(
        name=made.name,
        queue=made.queue is queue,
        enqueue_ops=[operation.name for operation in made.enqueue_ops],
        close=[made.close_op.name, made.close_op.get_attr("cancel_pending_enqueues")],
        cancel=[made.cancel_op.name, made.cancel_op.get_attr("cancel_pending_enqueues")],
        types=[kind.__name__ for kind in made.queue_closed_exception_types],
        exceptions=made.exceptions_raised,
        proto=str(made.to_proto()),
        scoped=str(made.to_proto(export_scope="other")),
    )
    close, cancel = tf.no_op(name="my_close"), tf.no_op(name="my_cancel")
    made = tf.train.QueueRunner(
        queue,
        [enqueue],
        close,
        cancel,
        queue_closed_exception_types=(tf.errors.OutOfRangeError, tf.errors.AbortedError),
    )
    t.note(own=str(made.to_proto()), types_two=[kind.__name__ for kind in made.queue_closed_exception_types])
    t.note(again=str(tf.train.QueueRunner.from_proto(made.to_proto()).to_proto()))
    t.note(by_proto=str(tf.train.QueueRunner(queue_runner_def=made.to_proto()).to_proto()))


@case
def wrong_runners(tf, t):
    queue = make_queue(tf, "fifo", name="queue")
    enqueue = queue.enqueue(1)
    proto = tf.train.QueueRunner(queue, [enqueue]).to_proto()

    def make(types):
        return tf.train.QueueRunner(queue, [enqueue], queue_closed_exception_types=types)

    t.note(
        nothing=outcome(tf.train.QueueRunner),
        no_operations=outcome(lambda: tf.train.QueueRunner(queue)),
        no_queue=outcome(lambda: tf.train.QueueRunner(enqueue_ops=[enqueue])),
        both=outcome(lambda: tf.train.QueueRunner(queue, [enqueue], queue_runner_def=proto)),
        types=outcome(lambda: make(tf.errors.OutOfRangeError)),
        no_types=kind_of(lambda: make(())),
        wrong_types=outcome(lambda: make((ValueError,))),
        default_session=names(tf.train.start_queue_runners(start=False)),
        wrong_session=outcome(lambda: tf.train.start_queue_runners(7)),
    )


@case
def collections(tf, t):
    """Which runners start_queue_runners takes."""
    first, second = make_queue(tf, "fifo", name="first"), make_queue(tf, "fifo", name="second")
    tf.train.add_queue_runner(tf.train.QueueRunner(first, [first.enqueue(1)]))
    tf.train.add_queue_runner(tf.train.QueueRunner(second, [second.enqueue(2)] * 2), "mine")
    t.note(
        collections=[
            [made.name for made in tf.get_collection(key)] for key in (tf.GraphKeys.QUEUE_RUNNERS, "mine", "none")
        ]
    )
    coordinator = t.coordinator()
    none = tf.train.start_queue_runners(t.session, coordinator, collection="none")
    mine = tf.train.start_queue_runners(t.session, coordinator, collection="mine")
    default = tf.train.start_queue_runners(t.session, coordinator)
    coordinator.request_stop()
    coordinator.join(mine + default)
    t.note(none=names(none), mine=names(mine), default=names(default))
    t.note(alive=[thread.is_alive() for thread in mine + default])


@case
def not_started(tf, t):
    """start=False gives threads that have not begun; daemon=False makes them hold up the program's end."""
    queue = make_queue(tf, "fifo", name="queue")
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1)] * 2))
    coordinator = t.coordinator()
    threads = tf.train.start_queue_runners(t.session, coordinator, daemon=False, start=False)
    t.note(threads=names(threads), alive=[thread.is_alive() for thread in threads], size=t.session.run(queue.size()))
    for thread in threads:
        thread.start()
    t.until_size(queue, 10)
    coordinator.request_stop()
    coordinator.join(threads)
    t.note(after=[t.session.run(queue.is_closed()), t.session.run(queue.size())])


@case
def create_threads(tf, t):
    """Threads with and without a coordinator, and a second time in the same session and in another one."""
    queue = make_queue(tf, "fifo", name="queue")
    made = tf.train.QueueRunner(queue, [queue.enqueue(1), queue.enqueue(2)])
    coordinator = t.coordinator()
    threads = made.create_threads(t.session, coordinator, start=True)
    t.note(
        threads=names(threads),
        same_coordinator=outcome(lambda: made.create_threads(t.session, coordinator)),
        other_coordinator=outcome(lambda: made.create_threads(t.session, t.coordinator())),
        no_coordinator=outcome(lambda: made.create_threads(t.session)),
    )
    session = t.new_session()
    other = t.coordinator()
    more = made.create_threads(session, other, daemon=True, start=True)
    t.note(other_session=names(more))
    for one, started in ((coordinator, threads), (other, more)):
        one.request_stop()
        one.join(started)
    again = t.coordinator()
    t.note(after_the_end=names(made.create_threads(t.session, again)), exceptions=made.exceptions_raised)


@case
def without_coordinator(tf, t):
    """Without a coordinator nothing stops the threads but the end of their input; daemon is off by default."""
    source = make_queue(tf, "fifo", name="source")
    queue = make_queue(tf, "fifo", name="queue")
    t.session.run(source.enqueue_many([np.arange(5)]))
    t.session.run(source.close())
    made = tf.train.QueueRunner(queue, [queue.enqueue(source.dequeue())])
    threads = made.create_threads(t.session, start=True)
    for thread in threads:
        thread.join(DEADLINE_SECS)
    t.note(
        threads=names(threads),
        closed=t.session.run(queue.is_closed()),
        rows=t.rows(queue.dequeue()),
        exceptions=[described(error) for error in made.exceptions_raised],
    )


def counted(tf, count=3, then=None):
    """An operation that gives 0, 1, ... as floats, and ``then``, or raises an error, when it comes to ``count``."""
    found = iter(range(count))

    def numbers():
        for number in found:
            return np.float32(number)
        if then is None:
            raise ValueError("no more numbers")
        return np.float32(then)

    value = tf.py_func(numbers, [], tf.float32)
    value.set_shape([])
    return value


def float_queue(tf, name, **settings):
    return make_queue(tf, "fifo", name=name, dtypes=[tf.float32], **settings)


@case
def error_without_coordinator(tf, t):
    """An operation that fails is kept in exceptions_raised, and the queue stays open for the others."""
    queue = float_queue(tf, "queue")
    made = tf.train.QueueRunner(queue, [queue.enqueue(counted(tf))])
    hook, threading.excepthook = getattr(threading, "excepthook", None), lambda details: None
    try:
        threads = made.create_threads(t.session, start=True)
        for thread in threads:
            thread.join(DEADLINE_SECS)
    finally:
        if hook:
            threading.excepthook = hook
        else:
            del threading.excepthook
    t.note(
        exceptions=[type(error).__name__ for error in made.exceptions_raised],
        closed=t.session.run(queue.is_closed()),
        left=t.session.run(queue.size()),
        again=names(made.create_threads(t.session)),
        after=made.exceptions_raised,
    )


@case
def error_with_coordinator(tf, t):
    """An operation that fails stops all; join raises it, and its queue is closed with what waits cancelled."""
    queue, other = float_queue(tf, "queue"), make_queue(tf, "fifo", name="other")
    made = tf.train.QueueRunner(queue, [queue.enqueue(counted(tf))])
    more = tf.train.QueueRunner(other, [other.enqueue(1)])
    coordinator = t.coordinator()
    threads = made.create_threads(t.session, coordinator, start=True) + more.create_threads(
        t.session, coordinator, start=True
    )
    stopped = coordinator.wait_for_stop(DEADLINE_SECS)
    joined = outcome(lambda: coordinator.join(threads))
    t.note(
        stopped=stopped,
        joined=joined["error"][0],
        says="no more numbers" in joined["error"][1],
        state=[coordinator.should_stop(), coordinator.joined],
        closed=t.session.run([queue.is_closed(), other.is_closed()]),
        left=t.session.run(queue.size()),
        rows=t.rows(queue.dequeue()),
        exceptions=[made.exceptions_raised, more.exceptions_raised],
        again=kind_of(lambda: coordinator.join(threads)),
    )


@adopted
def error_while_running(tf, t):
    """The same, for all queue runners of the graph."""
    queue = float_queue(tf, "queue")
    bad = tf.check_numerics(counted(tf, 3, float("inf")), "a bad number")
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(bad)]))
    t.drain(queue.dequeue())
    t.noted.pop("rows")  # how many are taken before the error depends on the threads
    t.note(closed=t.session.run(queue.is_closed()))


@adopted
def error_of_a_feeder(tf, t):
    """One of two chained runners fails: its error is raised, and not the ends that follow from it."""
    first, second = float_queue(tf, "first"), float_queue(tf, "second")
    bad = tf.check_numerics(counted(tf, 3, float("nan")), "a bad number")
    tf.train.add_queue_runner(tf.train.QueueRunner(second, [second.enqueue(first.dequeue())]))
    tf.train.add_queue_runner(tf.train.QueueRunner(first, [first.enqueue(bad)]))
    t.drain(second.dequeue())
    t.noted.pop("rows")
    t.note(closed=t.session.run([first.is_closed(), second.is_closed()]))


@adopted
def error_of_a_consumer(tf, t):
    """The second of two chained runners fails, while the first waits for a full queue."""
    first, second = make_queue(tf, "fifo", name="first", capacity=2), float_queue(tf, "second")
    tf.train.add_queue_runner(tf.train.QueueRunner(first, [first.enqueue(1)]))
    bad = tf.check_numerics(tf.log(tf.to_float(first.dequeue() - 1)), "a bad number")
    tf.train.add_queue_runner(tf.train.QueueRunner(second, [second.enqueue(bad)]))
    t.drain(second.dequeue())
    t.note(closed=t.session.run([first.is_closed(), second.is_closed()]))


@adopted
def end_of_input(tf, t):
    """OutOfRange closes the queue that it fills; what is in it can still be taken, by one queue after another."""
    source, first, second = (make_queue(tf, "fifo", name=name, capacity=3) for name in ("source", "first", "second"))
    t.session.run(source.enqueue_many([[1, 2, 3]]))
    t.session.run(source.close())
    runners = [
        tf.train.QueueRunner(first, [first.enqueue(source.dequeue() * 10)]),
        tf.train.QueueRunner(second, [second.enqueue(first.dequeue() + 1)]),
    ]
    for made in runners:
        tf.train.add_queue_runner(made)
    t.drain(second.dequeue())
    t.note(
        closed=t.session.run([queue.is_closed() for queue in (source, first, second)]),
        exceptions=[made.exceptions_raised for made in runners],
    )


@adopted
def several_operations(tf, t):
    """Several enqueue operations in one runner: the queue is closed when the last of them has ended."""
    sources = [make_queue(tf, "fifo", name="source%d" % number, capacity=20) for number in range(3)]
    for number, source in enumerate(sources):
        t.session.run(source.enqueue_many([np.arange(4) + 10 * number]))
        if number < 2:
            t.session.run(source.close())
    queue = make_queue(tf, "fifo", name="queue", capacity=30)
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(source.dequeue()) for source in sources]))
    take, closed, last = queue.dequeue(), queue.is_closed(), sources[2].close()
    with t.running() as ended:
        t.until_size(queue, 12)
        t.note(rows=sorted(plain(t.session.run(take)) for _ in range(12)), closed=t.session.run(closed))
        t.session.run(last)
        t.note(end=outcome(lambda: t.session.run(take)))
    t.note(ended=ended())


@adopted
def stopped_while_full(tf, t):
    """A stop closes the queue and cancels what waits to go in."""
    queue = make_queue(tf, "fifo", name="queue", capacity=4)
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(7)] * 3))
    with t.running() as ended:
        t.until_size(queue, 4)
    t.note(ended=ended(), left=t.session.run(queue.size()), rows=t.rows(queue.dequeue()))


@adopted
def stopped_while_empty(tf, t):
    """A stop ends a runner that waits for a queue which another runner fills, too."""
    first, second = make_queue(tf, "fifo", name="first"), make_queue(tf, "fifo", name="second")
    gate = make_queue(tf, "fifo", name="gate")
    tf.train.add_queue_runner(tf.train.QueueRunner(gate, [tf.no_op()], close_op=gate.close(), cancel_op=gate.close()))
    tf.train.add_queue_runner(tf.train.QueueRunner(first, [first.enqueue(gate.dequeue())]))
    tf.train.add_queue_runner(tf.train.QueueRunner(second, [second.enqueue(first.dequeue())]))
    with t.running() as ended:
        pass
    t.note(ended=ended(), closed=t.session.run([first.is_closed(), second.is_closed(), gate.is_closed()]))


@adopted
def other_exception_types(tf, t):
    """What queue_closed_exception_types names ends a runner as the end of input does, and nothing is raised."""
    queue = float_queue(tf, "queue")
    bad = tf.check_numerics(counted(tf, 2, float("inf")), "a bad number")
    made = tf.train.QueueRunner(
        queue,
        [queue.enqueue(bad)],
        queue_closed_exception_types=(tf.errors.OutOfRangeError, tf.errors.InvalidArgumentError),
    )
    tf.train.add_queue_runner(made)
    t.drain(queue.dequeue())
    t.note(exceptions=made.exceptions_raised)


@adopted
def only_other_exception_types(tf, t):
    """OutOfRange of a runner whose queue_closed_exception_types does not name it is still no error to a coordinator."""
    source, queue = make_queue(tf, "fifo", name="source"), make_queue(tf, "fifo", name="queue")
    t.session.run(source.enqueue_many([[1, 2]]))
    t.session.run(source.close())
    made = tf.train.QueueRunner(
        queue, [queue.enqueue(source.dequeue())], queue_closed_exception_types=(tf.errors.CancelledError,)
    )
    tf.train.add_queue_runner(made)
    with t.running() as ended:
        t.until_size(source, 0)
    t.note(exceptions=made.exceptions_raised, ended=ended(), closed=t.session.run(queue.is_closed()))


@adopted
def own_close_and_cancel(tf, t):
    """Which of a runner's own two operations are run: at the end of input, and when a stop is requested."""
    sources = [make_queue(tf, "fifo", name="source%d" % number) for number in range(2)]
    queues = [make_queue(tf, "fifo", name="queue%d" % number) for number in range(2)]
    marks = [
        [tf.Variable(0, name="%s%d" % (name, i), use_resource=True) for name in ("close", "cancel")] for i in (0, 1)
    ]
    t.session.run(tf.global_variables_initializer())
    t.session.run(sources[0].enqueue_many([[1, 2, 3]]))
    t.session.run(sources[0].close())
    for number in range(2):
        with tf.control_dependencies([marks[number][0].assign_add(1)]):
            close = queues[number].close()
        with tf.control_dependencies([marks[number][1].assign_add(1)]):
            cancel = queues[number].close(cancel_pending_enqueues=True)
        value = sources[0].dequeue() if number == 0 else 5
        enqueues = [queues[number].enqueue(value)] * (1 + number)
        tf.train.add_queue_runner(tf.train.QueueRunner(queues[number], enqueues, close, cancel))
    take, closed = queues[0].dequeue(), queues[0].is_closed()
    with t.running() as ended:
        t.until_size(queues[1], 10)
        rows = t.rows(take)
        t.until(lambda: t.session.run(closed))
    t.note(rows=rows, ended=ended(), marks=t.session.run(marks), left=t.session.run(queues[1].size()))


@adopted
def operations_that_enqueue_nothing(tf, t):
    """The operations of a runner may do anything: here they count."""
    queue = make_queue(tf, "fifo", name="queue")
    count = tf.Variable(0, name="count", use_resource=True)
    limited = tf.group(tf.Assert(tf.less(count.assign_add(1), 6), ["it is enough"]))
    t.session.run(tf.global_variables_initializer())
    made = tf.train.QueueRunner(queue, [limited], queue_closed_exception_types=(tf.errors.InvalidArgumentError,))
    tf.train.add_queue_runner(made)
    with t.running() as ended:
        t.until(lambda: t.session.run(queue.is_closed()))
    t.note(ended=ended(), count=t.session.run(count))


@adopted
def input_that_is_slower(tf, t):
    """A dequeue_many that waits for a runner gets a whole batch, and the rest at the end is lost."""
    source, queue = make_queue(tf, "fifo", name="source"), make_queue(tf, "fifo", name="queue", capacity=4)
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(source.dequeue())]))
    feed, close, three, size = source.enqueue_many([np.arange(7)]), source.close(), queue.dequeue_many(3), queue.size()
    with t.running() as ended:
        waiting = t.background(three)
        t.session.run(feed)
        t.session.run(close)
        t.note(first=waiting(), rest=t.rows(three)[0], left=t.session.run(size))
    t.note(ended=ended())


@adopted
def feeder_threads(tf, t):
    """Threads that feed a queue until a stop is requested, and tell the coordinator how they have ended."""
    queue = make_queue(tf, "fifo", name="queue", capacity=4)
    value = tf.placeholder(tf.int32, [])
    enqueue, take = queue.enqueue(value), queue.dequeue()

    def feed(coordinator):
        number = 0
        try:
            while not coordinator.should_stop():
                t.session.run(enqueue, {value: number})
                number += 1
        except tf.errors.OpError as error:
            coordinator.request_stop(error)

    with t.running([feed], [queue]) as ended:
        rows = [plain(t.session.run(take)) for _ in range(10)]
        t.until_size(queue, 4)
    t.note(rows=rows, ended=ended(), left=t.rows(take)[0])


@adopted
def feeder_beside_runner(tf, t):
    """A thread feeds the queue that a queue runner reads; the thread closes it at the end of its data."""
    first, second = make_queue(tf, "fifo", name="first", capacity=2), make_queue(tf, "fifo", name="second", capacity=2)
    value = tf.placeholder(tf.int32, [])
    enqueue, close = first.enqueue(value), first.close()
    tf.train.add_queue_runner(tf.train.QueueRunner(second, [second.enqueue(first.dequeue() * 10)]))
    take = second.dequeue()

    def feed(coordinator):
        with coordinator.stop_on_exception():
            for number in range(7):
                t.session.run(enqueue, {value: number})
            t.session.run(close)

    with t.running([feed]) as ended:
        rows = t.rows(take)
    t.note(rows=rows, ended=ended())


@adopted
def worker_threads(tf, t):
    """Threads that work until one of them has seen enough."""
    count = tf.Variable(0, name="count", use_resource=True)
    step = count.assign_add(1)
    t.session.run(count.initializer)

    def work(coordinator):
        while not coordinator.should_stop():
            if t.session.run(step) >= 20:
                coordinator.request_stop()

    with t.running([work] * 3) as ended:
        t.until(lambda: t.session.run(count) >= 20)
    t.note(ended=ended())


@adopted
def imported(tf, t):
    """Queue runners that come with a MetaGraph, under a scope of their own."""
    with tf.Graph().as_default():
        source = tf.train.range_input_producer(3, num_epochs=2, shuffle=False, name="numbers")
        number = source.dequeue(name="number")
        queue = tf.PaddingFIFOQueue(10, [tf.int32], [[]], name="queue")
        tf.train.add_queue_runner(
            tf.train.QueueRunner(
                queue, [queue.enqueue(number)], queue_closed_exception_types=(tf.errors.OutOfRangeError,)
            )
        )
        queue.dequeue(name="taken")
        meta = tf.train.export_meta_graph()
    t.note(collection=[str(tf.train.QueueRunner.__name__), sorted(meta.collection_def)])
    tf.train.import_meta_graph(meta, import_scope="old")
    made = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
    t.note(
        runners=[
            [each.name, [op.name for op in each.enqueue_ops], each.close_op.name, each.cancel_op.name] for each in made
        ],
        queues=[each.queue.name for each in made],
        types=[[kind.__name__ for kind in each.queue_closed_exception_types] for each in made],
    )
    t.drain("old/taken:0")


# ------------------------------------------------------------------------------------------------ coordinators


def report(coordinator, error):
    """Requests a stop as code does that has caught the error."""
    try:
        raise error
    except BaseException as raised:
        coordinator.request_stop(raised)


@case
def coordinator_states(tf, t):
    coordinator = t.coordinator()
    states = [[coordinator.should_stop(), coordinator.joined, coordinator.wait_for_stop(0)]]
    coordinator.request_stop()
    states.append([coordinator.should_stop(), coordinator.joined, coordinator.wait_for_stop(0)])
    coordinator.request_stop()
    coordinator.join()
    states.append([coordinator.should_stop(), coordinator.joined, coordinator.wait_for_stop(0)])
    coordinator.clear_stop()
    states.append([coordinator.should_stop(), coordinator.joined, coordinator.wait_for_stop(0)])
    coordinator.raise_requested_exception()
    t.note(states=states)


@case
def coordinator_errors(tf, t):
    """What request_stop takes, and what join makes of it."""
    try:
        raise KeyError("with a traceback")
    except KeyError:
        details = sys.exc_info()
    operation = tf.no_op(name="some")
    given = {
        "exception": ValueError("wrong value"),
        "details": details,
        "end": tf.errors.OutOfRangeError(None, operation, "the end"),
        "cancelled": tf.errors.CancelledError(None, operation, "cancelled"),
        "aborted": tf.errors.AbortedError(None, operation, "aborted"),
        "exit": SystemExit(3),
        "interrupt": KeyboardInterrupt("stop"),
        "text": "no exception",
        "class": ValueError,
    }
    for name, error in sorted(given.items()):
        for way in ("reported", "outside"):  # outside of an except block
            coordinator = t.coordinator()
            try:
                if way == "reported" and isinstance(error, BaseException):
                    report(coordinator, error)
                else:
                    coordinator.request_stop(error)
                coordinator.join()
                found = None
            except BaseException as raised:
                found = described(raised)
            t.note(**{"%s %s" % (name, way): [found, coordinator.should_stop(), coordinator.joined]})


@case
def coordinator_first_error(tf, t):
    """Of two errors of the same standing the first one is raised, each time; after join, an error is raised at once."""
    coordinator = t.coordinator()
    report(coordinator, ValueError("the first"))
    report(coordinator, KeyError("the second"))
    t.note(
        joined=outcome(coordinator.join),
        again=outcome(coordinator.join),
        requested=outcome(coordinator.raise_requested_exception),
        later=outcome(lambda: report(coordinator, TypeError("after join"))),
    )
    coordinator.clear_stop()
    t.note(cleared=outcome(coordinator.join), new=outcome(lambda: report(coordinator, TypeError("a new one"))))
    t.note(new_joined=outcome(coordinator.join))


@case
def coordinator_clean_types(tf, t):
    """Types that stop without an error; a tuple replaces the default."""
    operation = tf.no_op(name="some")
    coordinator = t.coordinator(clean_stop_exception_types=(KeyError,))
    report(coordinator, KeyError("clean"))
    t.note(clean=outcome(coordinator.join), stopped=coordinator.should_stop())
    coordinator = t.coordinator(clean_stop_exception_types=(KeyError,))
    report(coordinator, tf.errors.OutOfRangeError(None, operation, "the end"))
    t.note(no_default=outcome(coordinator.join))
    coordinator = t.coordinator(clean_stop_exception_types=())
    with coordinator.stop_on_exception():
        raise tf.errors.OutOfRangeError(None, operation, "the end")
    t.note(none=outcome(coordinator.join))


@case
def coordinator_stop_on_exception(tf, t):
    coordinator = t.coordinator()
    with coordinator.stop_on_exception():
        raise ValueError("inside")
    t.note(stopped=coordinator.should_stop())
    with coordinator.stop_on_exception():
        pass
    t.note(joined=outcome(coordinator.join))


@case
def coordinator_threads(tf, t):
    """join waits for the threads it is given and for those that were registered."""
    coordinator = t.coordinator()
    ran = []

    def work(number):
        coordinator.wait_for_stop()
        ran.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    coordinator.register_thread(threads[0])
    for thread in threads:
        thread.start()
    timer = threading.Thread(target=coordinator.request_stop)
    timer.start()
    coordinator.join(threads[1:])
    timer.join()
    t.note(ran=sorted(ran), alive=[thread.is_alive() for thread in threads])


@case
def coordinator_thread_that_ends(tf, t):
    """join returns when all threads have ended, though nothing has requested a stop; join of nothing waits for none."""
    coordinator = t.coordinator()
    thread = threading.Thread(target=lambda: None)
    thread.start()
    coordinator.join([thread])
    t.note(ended=[coordinator.should_stop(), coordinator.joined])


@case
def coordinator_straggler(tf, t):
    """A thread that does not end in time; with ignore_live_threads it is left."""
    for ignore in (False, True):
        coordinator = t.coordinator()
        gate = threading.Event()
        threads = [threading.Thread(target=gate.wait, name=name) for name in ("left", "right")]
        for thread in threads:
            thread.daemon = True
            thread.start()
        coordinator.request_stop()
        joined = outcome(functools.partial(coordinator.join, threads, 0.01, ignore_live_threads=ignore))
        state = [coordinator.joined, [thread.is_alive() for thread in threads]]
        gate.set()
        for thread in threads:
            thread.join()
        if joined:  # the names are in no order; what follows them may say more
            said = joined["error"][1]
            joined["error"][1] = [said[: said.index(":")], sorted(said.split("\n")[0].split(": ")[1].split())]
        t.note(**{"ignore %s" % ignore: [joined, state]})
    coordinator = t.coordinator()
    gate = threading.Event()
    thread = threading.Thread(target=gate.wait)
    thread.start()
    report(coordinator, ValueError("first of all"))
    t.note(error=outcome(lambda: coordinator.join([thread], 0.01)))
    gate.set()
    thread.join()


@case
def loopers(tf, t):
    """LooperThread calls its function until a stop, and an error in it stops all."""
    coordinator = t.coordinator()
    calls = []

    def count(number):
        calls.append(number)
        if len(calls) == 4:
            coordinator.request_stop()

    thread = tf.train.LooperThread.loop(coordinator, None, count, args=(5,))
    coordinator.join([thread])
    t.note(calls=calls, daemon=thread.daemon)
    coordinator = t.coordinator()

    def fail():
        raise ValueError("in a loop")

    thread = tf.train.LooperThread.loop(coordinator, 0.001, fail)
    t.note(failed=outcome(lambda: coordinator.join([thread])))
    t.note(no_coordinator=outcome(lambda: tf.train.LooperThread(None, 1)))

    class Looper(tf.train.LooperThread):
        def start_loop(self):
            seen.append("start")

        def run_loop(self):
            seen.append("run")
            self._coord.request_stop()

        def stop_loop(self):
            seen.append("stop")

    seen = []
    coordinator = t.coordinator()
    thread = Looper(coordinator, 0.001)
    thread.start()
    coordinator.join([thread])
    t.note(seen=seen)


@case
def monitored_session(tf, t):
    """A monitored session starts the queue runners, and ends without an error at the end of input."""
    producer = tf.train.range_input_producer(3, num_epochs=1, shuffle=False)
    number = producer.dequeue()
    rows = []
    with tf.train.SingularMonitoredSession() as session:
        while not session.should_stop():
            rows.append(session.run(number))
    t.note(rows=rows)


@case
def supervisor(tf, t):
    """A supervisor starts the queue runners and stops them."""
    producer = tf.train.range_input_producer(3, num_epochs=1, shuffle=False)
    number = producer.dequeue()
    rows = []
    supervised = tf.train.Supervisor(logdir=None, saver=None, summary_op=None)
    with supervised.managed_session() as session:
        while not supervised.should_stop():
            rows.append(session.run(number))
    t.note(rows=rows, stopped=supervised.should_stop())
