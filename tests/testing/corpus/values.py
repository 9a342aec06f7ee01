"""Variables that several threads use: lost updates, atomic ones, readers."""

from __future__ import annotations

import threading

import tensorflow as tf

from .threads import together
from .verdicts import planted, right

VALUES = "variable read while assigned"


def repeat(function, times=4):
    def repeated():
        for _ in range(times):
            function()

    return repeated


def session_with(**named):
    """A session with a variable "v" of its own graph, default meanwhile."""
    graph = tf.Graph()
    with graph.as_default():
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), **named)
        sess = tf.Session(graph=graph)
        sess.run(v.initializer)
    return graph, sess, v


@right
def counter_with_locking():
    graph, sess, v = session_with()
    with graph.as_default():
        step = tf.assign_add(v, 1.0, use_locking=True)
    together(*[repeat(lambda: sess.run(step))] * 3)
    assert sess.run(v) == 12.0
    sess.close()


@right
def counter_that_is_a_resource():
    graph, sess, v = session_with(use_resource=True)
    with graph.as_default():
        step = v.assign_add(1.0)
    together(*[repeat(lambda: sess.run(step))] * 3)
    assert sess.run(v) == 12.0
    sess.close()


@right
def counter_that_is_a_resource_is_watched():
    graph, sess, v = session_with(use_resource=True)
    with graph.as_default():
        step, value = v.assign_add(1.0), v.read_value()
    together(repeat(lambda: sess.run(step)), repeat(lambda: sess.run(value)))
    sess.close()


@right
def decrement_that_is_a_resource():
    graph, sess, v = session_with(use_resource=True)
    with graph.as_default():
        up, down = v.assign_add(1.0), v.assign_sub(1.0)
    together(repeat(lambda: sess.run(up)), repeat(lambda: sess.run(down)))
    sess.close()


@right
def optimizers_with_locking():
    graph, sess, v = session_with(use_resource=True)
    with graph.as_default():
        g = tf.placeholder(tf.float32, [])
        apply = tf.train.GradientDescentOptimizer(0.1, use_locking=True).apply_gradients([(g, v)])
    together(*[repeat(lambda: sess.run(apply, {g: 1.0}))] * 2)
    sess.close()


@right
def count_up_to():
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", [], tf.int32, initializer=tf.zeros_initializer())
        count = v.count_up_to(100)
        sess = tf.Session(graph=graph)
        sess.run(v.initializer)
    together(*[repeat(lambda: sess.run(count))] * 2)
    sess.close()


@right
def assigned_under_a_lock():
    graph, sess, v = session_with()
    lock = threading.Lock()
    with graph.as_default():
        step = tf.assign_add(v, 1.0)

    def work():
        with lock:
            sess.run(step)

    together(repeat(work), repeat(work))
    sess.close()


@right
def a_variable_for_each_thread():
    graph = tf.Graph()
    with graph.as_default():
        variables = [tf.get_variable(f"v{number}", []) for number in range(3)]
        steps = [tf.assign_add(v, 1.0) for v in variables]
        sess = tf.Session()
        sess.run(tf.global_variables_initializer())
    together(*[repeat(lambda step=step: sess.run(step)) for step in steps])
    sess.close()


@right
def only_read():
    graph, sess, v = session_with()
    with graph.as_default():
        value = v * 2.0
    together(repeat(lambda: sess.run(value)), repeat(lambda: sess.run(v)))
    sess.close()


@right
def assigned_then_read_in_order():
    graph, sess, v = session_with()
    with graph.as_default():
        step = v.assign(3.0)
    together(lambda: sess.run(step))
    together(lambda: sess.run(v), lambda: v.eval(sess))
    sess.close()


@right
def two_sessions_of_one_graph():
    graph, one, v = session_with()
    with graph.as_default():
        step = tf.assign_add(v, 1.0)
        other = tf.Session()
        other.run(v.initializer)
    together(repeat(lambda: one.run(step)), repeat(lambda: other.run(v)))
    one.close()
    other.close()


@planted(VALUES)
def counter_without_locking():
    graph, sess, v = session_with()
    with graph.as_default():
        step = tf.assign_add(v, 1.0)
    together(*[repeat(lambda: sess.run(step))] * 2)
    sess.close()


@planted(VALUES)
def read_and_then_assigned():
    graph, sess, v = session_with()
    with graph.as_default():
        new = tf.placeholder(tf.float32, [])
        step = v.assign(new)
    together(*[repeat(lambda: sess.run(step, {new: sess.run(v) + 1.0}))] * 2)
    sess.close()


@planted(VALUES)
def read_and_then_assigned_a_resource():
    graph, sess, v = session_with(use_resource=True)
    with graph.as_default():
        step = v.assign(v + 1.0)
    together(*[repeat(lambda: sess.run(step))] * 2)
    sess.close()


@planted(VALUES)
def the_variable_itself_is_fetched():
    graph, sess, v = session_with()
    with graph.as_default():
        step = v.assign(v + 1.0)
    together(repeat(lambda: sess.run(step)), repeat(lambda: sess.run(v)))
    sess.close()


@planted(VALUES)
def the_variable_is_evaluated():
    graph, sess, v = session_with()
    with graph.as_default():
        step = v.assign(v + 1.0)
    together(repeat(lambda: sess.run(step)), repeat(lambda: v.eval(sess)))
    sess.close()


@planted(VALUES)
def fetched_in_a_list_with_others():
    graph, sess, v = session_with()
    with graph.as_default():
        step, other = v.assign(v + 1.0), tf.constant(1.0)
    together(repeat(lambda: sess.run(step)), repeat(lambda: sess.run({"a": [other, v]})))
    sess.close()


@planted(VALUES)
def an_atomic_update_and_an_assignment():
    graph, sess, v = session_with(use_resource=True)
    with graph.as_default():
        step, reset = v.assign_add(1.0), v.assign(0.0)
    together(repeat(lambda: sess.run(step)), repeat(lambda: sess.run(reset)))
    sess.close()


@planted(VALUES)
def evaluation_beside_training():
    with tf.Graph().as_default() as graph:
        w = tf.get_variable("w", [2])
        loss = tf.reduce_sum(w * w)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        sess = tf.Session(graph=graph)
        sess.run(w.initializer)
    together(repeat(lambda: sess.run(train)), repeat(lambda: sess.run(loss)))
    sess.close()


@planted(VALUES)
def assigned_under_two_locks():
    graph, sess, v = session_with()
    with graph.as_default():
        step = tf.assign_add(v, 1.0)

    def work(lock):
        with lock:
            sess.run(step)

    together(lambda: work(threading.Lock()), lambda: work(threading.Lock()))
    sess.close()


@planted(VALUES)
def weights_set_while_they_are_used():
    with tf.Graph().as_default() as graph:
        w = tf.get_variable("w", [2])
        y = w * 2.0
        sess = tf.Session(graph=graph)
        sess.run(w.initializer)
    together(lambda: w.load([1.0, 2.0], sess), lambda: sess.run(y))
    sess.close()


@right
def training_steps_that_lock_their_updates():
    with tf.Graph().as_default() as graph:
        w, b = (tf.get_variable(name, [2], use_resource=True) for name in "wb")
        optimizer = tf.train.GradientDescentOptimizer(0.1, use_locking=True)
        train = optimizer.minimize(tf.reduce_sum(w * w + b))
        sess = tf.Session(graph=graph)
        sess.run(tf.global_variables_initializer())
    together(*[repeat(lambda: sess.run(train))] * 2)
    sess.close()


@planted(VALUES)
def two_variables_read_while_both_are_updated():
    with tf.Graph().as_default() as graph:
        w, b = (tf.get_variable(name, [2], use_resource=True) for name in "wb")
        optimizer = tf.train.GradientDescentOptimizer(0.1, use_locking=True)
        train = optimizer.minimize(tf.reduce_sum(w * w + b))
        y = w + b
        sess = tf.Session(graph=graph)
        sess.run(tf.global_variables_initializer())
    together(repeat(lambda: sess.run(train)), repeat(lambda: sess.run(y)))
    sess.close()


@planted(VALUES)
def initialized_beside_its_first_use():
    """It went well this time: the other would have failed, had it come first."""
    with tf.Graph().as_default() as graph:
        w = tf.get_variable("w", [2])
        init, y = w.initializer, w * 2.0
        sess = tf.Session(graph=graph)

    def use():
        try:
            sess.run(y)
        except tf.errors.FailedPreconditionError:
            pass

    together(lambda: sess.run(init), use)
    sess.close()


# -- flags under a lock: the thread that has set one goes on, and clears it ------------------------------------------


class Trainer:
    """A training step that reads and assigns a variable, and flags of who is at it."""

    def __init__(self):
        self.graph, self.session, v = session_with()
        with self.graph.as_default():
            self.step, self.value = tf.assign(v, v + 1.0), tf.identity(v)
        self.lock, self.busy, self.free, self.owner, self.count = threading.Lock(), False, True, None, 0
        self.closed = False

    def train(self):
        self.session.run(self.step)

    def together(self, *works):
        together(*map(repeat, works))
        self.session.close()


@right
def step_that_one_thread_at_a_time_claims():
    trainer = Trainer()

    def work():
        with trainer.lock:
            if trainer.busy:
                return
            trainer.busy = True
        try:
            trainer.train()
        finally:
            with trainer.lock:
                trainer.busy = False

    trainer.together(work, work, work)


@right
def step_of_the_owner():
    class Owned(Trainer):
        def work(self):
            with self.lock:
                if self.owner is not None:
                    return None
                self.owner = threading.get_ident()
            for _ in range(2):
                self.train()
            with self.lock:
                self.owner = None

    trainer = Owned()
    trainer.together(trainer.work, trainer.work)


@right
def step_that_waits_until_it_is_free():
    trainer, changed, state = Trainer(), threading.Condition(), {"busy": False}

    def work():
        with changed:
            while state["busy"]:
                changed.wait()
            state["busy"] = True
        trainer.train()
        with changed:
            state["busy"] = False
            changed.notify()

    trainer.together(work, work, work)


@right
def step_and_evaluation_of_which_one_is_free_to_go():
    trainer = Trainer()

    def train():
        with trainer.lock:
            if trainer.closed or not trainer.free:
                return
            trainer.free = False
        trainer.train()
        with trainer.lock:
            trainer.free = True

    def evaluate():
        with trainer.lock:
            if not trainer.free:
                return
            trainer.free = False
        trainer.session.run(trainer.value)
        with trainer.lock:
            trainer.free = True

    trainer.together(train, train, evaluate)


@planted(VALUES)
def step_that_several_threads_may_claim():
    trainer = Trainer()

    def work():
        with trainer.lock:
            if trainer.count > 5:
                return
            trainer.count += 1
        trainer.train()
        with trainer.lock:
            trainer.count -= 1

    trainer.together(work, work)


@planted(VALUES)
def step_that_is_claimed_and_begun_anyway():
    trainer, late = Trainer(), []

    def work():
        with trainer.lock:
            if trainer.busy:
                late.append(1)
            trainer.busy = True
        trainer.train()
        with trainer.lock:
            trainer.busy = False

    trainer.together(work, work)


@planted(VALUES)
def step_that_only_careful_threads_claim():
    trainer = Trainer()

    def work(careful=False):
        if careful:
            with trainer.lock:
                if trainer.busy:
                    return
                trainer.busy = True
        trainer.train()
        with trainer.lock:
            trainer.busy = False

    trainer.together(work, work)


@planted(VALUES)
def step_whose_claim_is_of_another_flag():
    trainer = Trainer()

    def work():
        with trainer.lock:
            if trainer.closed:
                return
            trainer.busy = True
        trainer.train()
        with trainer.lock:
            trainer.busy = False

    trainer.together(work, work)
