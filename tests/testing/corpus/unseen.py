"""What is easily overlooked: Keras, callables, lost default graphs, results that nothing looks at."""

from __future__ import annotations

import threading

import numpy as np
import tensorflow as tf
from tensorflow import keras

from .threads import together
from .verdicts import planted, right

LOST = "default graph leak"
RUNS = "mutation while running"


def keras_model():
    """A compiled model on a graph of its own, prepared for threads as its users were asked to."""
    graph = tf.Graph()
    sess = tf.Session(graph=graph)
    with graph.as_default(), sess.as_default():
        keras.backend.set_session(sess)
        model = keras.Sequential([keras.layers.Dense(2, input_shape=(3,))])
        model.compile("sgd", "mse")
        model.predict(np.ones([1, 3]))
        model.train_on_batch(np.ones([1, 3]), np.ones([1, 2]))
    return graph, sess, model


@right
def keras_predicts_in_threads():
    graph, sess, model = keras_model()

    def predict():
        with graph.as_default(), sess.as_default():
            model.predict_on_batch(np.ones([1, 3]))

    with graph.as_default(), sess.as_default():
        model.predict_on_batch(np.ones([1, 3]))
    together(predict, predict)
    sess.close()


@planted("variable read while assigned", may=("mutation while running", "concurrent construction"))
def keras_trains_while_it_predicts():
    graph, sess, model = keras_model()

    def predict():
        with graph.as_default(), sess.as_default():
            model.predict_on_batch(np.ones([1, 3]))

    def train():
        with graph.as_default(), sess.as_default():
            model.train_on_batch(np.ones([1, 3]), np.ones([1, 2]))

    together(predict, train)
    sess.close()


@planted("variable read while assigned", may=("mutation while running", "concurrent construction"))
def keras_weights_set_while_it_predicts():
    graph, sess, model = keras_model()

    def predict():
        with graph.as_default(), sess.as_default():
            model.predict_on_batch(np.ones([1, 3]))

    def load():
        with graph.as_default(), sess.as_default():
            model.set_weights([np.ones([3, 2]), np.ones([2])])

    together(predict, load)
    sess.close()


@planted(RUNS)
def built_while_keras_predicts():
    graph, sess, model = keras_model()

    def predict():
        with graph.as_default(), sess.as_default():
            model.predict_on_batch(np.ones([1, 3]))

    def build():
        with graph.as_default():
            tf.constant(1.0)

    predict()
    together(predict, build)
    sess.close()


@planted(RUNS)
def built_while_a_callable_runs():
    with tf.Graph().as_default() as graph:
        y = tf.ones([2])
        sess = tf.Session()
        call = sess.make_callable(y)

    def build():
        with graph.as_default():
            tf.constant(1.0)

    together(call, build)
    sess.close()


def in_a_lost_thread(function):
    """What a thread makes that was started inside a graph's block."""

    def guarded():
        try:
            function()
        except Exception:  # what it makes may not be what it wants
            pass

    with tf.Graph().as_default():
        tf.constant(1.0)
        together(guarded)


@planted(LOST)
def lost_thread_makes_a_constant():
    in_a_lost_thread(lambda: tf.constant(1.0))


@planted(LOST)
def lost_thread_makes_a_placeholder():
    in_a_lost_thread(lambda: tf.placeholder(tf.float32, [None]))


@planted(LOST)
def lost_thread_gets_a_variable():
    in_a_lost_thread(lambda: tf.get_variable("v", [2]))


@planted(LOST)
def lost_thread_makes_a_variable():
    in_a_lost_thread(lambda: tf.Variable(1.0))


@planted(LOST)
def lost_thread_gets_a_resource_variable():
    in_a_lost_thread(lambda: tf.get_variable("v", [2], use_resource=True))


@planted(LOST)
def lost_thread_makes_a_layer_under_scopes():
    def build():
        with tf.variable_scope("model"), tf.name_scope("part"):
            tf.layers.dense(tf.placeholder(tf.float32, [None, 2]), 3)

    in_a_lost_thread(build)


@planted(LOST)
def lost_thread_gets_variables_under_a_scope():
    def build():
        with tf.variable_scope("model"):
            tf.get_variable("v", [2])

    in_a_lost_thread(build)


@planted(LOST)
def lost_thread_on_a_device():
    def build():
        with tf.device("/cpu:0"):
            tf.zeros([2])

    in_a_lost_thread(build)


@right
def thread_enters_the_graph():
    with tf.Graph().as_default() as graph:

        def build():
            with graph.as_default(), tf.variable_scope("model"):
                tf.get_variable("v", [2])

        together(build)


@right
def thread_builds_and_runs_its_own():
    def build():
        with tf.Graph().as_default(), tf.Session() as sess:
            v = tf.get_variable("v", [2])
            sess.run(v.initializer)

    with tf.Graph().as_default():
        tf.constant(1.0)
        together(build, build)


@planted("concurrent construction")
def lock_that_may_not_be_there():
    """Nothing looks whether it was acquired."""
    graph, lock = tf.Graph(), threading.Lock()

    def build():
        lock.acquire(False)
        with graph.as_default():
            tf.constant(1.0)
        if lock.locked():
            lock.release()

    together(build)
    together_first = threading.Thread(target=build)
    other = threading.Thread(target=build)
    together_first.start()
    other.start()
    together_first.join()
    other.join()


@right
def lock_that_is_asked_for():
    graph, lock = tf.Graph(), threading.Lock()

    def build():
        if lock.acquire(timeout=30):
            try:
                with graph.as_default():
                    tf.constant(1.0)
            finally:
                lock.release()

    together(build, build)


@planted("unknown order")
def wait_that_may_time_out():
    """Nothing looks whether the event came."""
    graph, ready = tf.Graph(), threading.Event()

    def build():
        with graph.as_default():
            tf.constant(1.0)
        ready.set()

    def build_more():
        ready.wait(5.0)
        with graph.as_default():
            tf.constant(2.0)

    together(build, build_more)


@right
def wait_that_is_looked_at():
    graph, ready = tf.Graph(), threading.Event()

    def build():
        with graph.as_default():
            tf.constant(1.0)
        ready.set()

    def build_more():
        if not ready.wait(30.0):
            raise TimeoutError
        with graph.as_default():
            tf.constant(2.0)

    together(build, build_more)


@right
def wait_that_is_looked_at_afterwards():
    graph, ready = tf.Graph(), threading.Event()

    def build():
        with graph.as_default():
            tf.constant(1.0)
        ready.set()

    def build_more():
        ready.wait(30.0)
        assert ready.is_set()
        with graph.as_default():
            tf.constant(2.0)

    together(build, build_more)


@right
def wait_for_ever():
    graph, ready = tf.Graph(), threading.Event()

    def build():
        with graph.as_default():
            tf.constant(1.0)
        ready.set()

    def build_more():
        ready.wait()
        with graph.as_default():
            tf.constant(2.0)

    together(build, build_more)
