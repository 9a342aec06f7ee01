"""Graphs that grow for ever, and those whose growth ends."""

from __future__ import annotations

import threading

import tensorflow as tf

from .verdicts import planted, right

GROWS = "graph growth in a loop"


@right
def layer_wise_training():
    """Each layer is built on the last one and trained for a while."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 4])
        layer = x
        for number in range(6):
            w = tf.get_variable(f"w{number}", [4, 4])
            layer = tf.matmul(layer, w)
            train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(layer), var_list=[w])
            sess.run(tf.variables_initializer([w]))
            for _ in range(10):
                sess.run(train, {x: [[1.0, 2.0, 3.0, 4.0]]})


@right
def layer_wise_by_a_function():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2])
        layers = [x]

        def add_layer():
            layers.append(tf.layers.dense(layers[-1], 2, name=f"dense{len(layers)}"))
            return layers[-1]

        for _ in range(8):
            out = add_layer()
            sess.run(tf.global_variables_initializer())
            for _ in range(5):
                sess.run(out, {x: [[1.0, 2.0]]})


@right
def a_bounded_cache():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [10])
        cache = {}

        def first(n):
            if n not in cache:
                cache[n] = tf.reduce_sum(x[:n])
            return sess.run(cache[n], {x: range(10)})

        for _ in range(3):
            for n in range(1, 8):
                first(n)


@right
def a_cache_that_fills_and_is_used():
    """Some keys came only once; then it is only used."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [10])
        cache = {}

        def first(n):
            if n not in cache:
                cache[n] = tf.reduce_sum(x[:n])
            return sess.run(cache[n], {x: range(10)})

        for n in [1, 2, 3, 4, 5, 6, *[1, 2] * 20]:
            first(n)


@right
def weights_loaded_one_by_one():
    """An assignment for each variable: bounded by the number of variables."""
    with tf.Graph().as_default(), tf.Session() as sess:
        variables = [tf.get_variable(f"w{number}", [2]) for number in range(8)]
        sess.run(tf.global_variables_initializer())
        for variable in variables:
            sess.run(variable.assign([1.0, 2.0]))


@right
def weights_loaded_by_load():
    with tf.Graph().as_default(), tf.Session() as sess:
        variables = [tf.get_variable(f"w{number}", [2]) for number in range(8)]
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            for variable in variables:
                variable.load([1.0, 2.0], sess)


@right
def a_graph_for_each_experiment():
    for size in range(1, 7):
        with tf.Graph().as_default(), tf.Session() as sess:
            sess.run(tf.reduce_sum(tf.ones([size])))


@right
def a_reset_graph_for_each_experiment():
    for size in range(1, 7):
        tf.reset_default_graph()
        with tf.Session() as sess:
            sess.run(tf.reduce_sum(tf.ones([size])))


@right
def towers_then_training():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2])
        total = tf.add_n([x * float(number) for number in range(8)])
        for _ in range(10):
            sess.run(total, {x: [1.0, 2.0]})


@right
def two_models_one_after_the_other():
    with tf.Graph().as_default(), tf.Session() as sess:
        for name in "ab":
            with tf.variable_scope(name):
                w = tf.get_variable("w", [2])
                step = tf.assign_add(w, [1.0, 1.0])
            sess.run(w.initializer)
            for _ in range(6):
                sess.run(step)


@right
def evaluation_with_a_feed():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None])
        mean = tf.reduce_mean(x)
        for number in range(10):
            sess.run(mean, {x: [float(number)]})


@right
def saver_made_once_saves_often(tmp="/tmp"):
    import tempfile

    with tf.Graph().as_default(), tf.Session() as sess, tempfile.TemporaryDirectory() as folder:
        w = tf.get_variable("w", [2])
        sess.run(w.initializer)
        saver = tf.train.Saver()
        for step in range(6):
            sess.run(tf.no_op() if step == 0 else w)
            saver.save(sess, folder + "/model", global_step=step)


@planted(GROWS)
def a_constant_for_each_request():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [])
        for number in range(8):
            sess.run(x + tf.constant(float(number)), {x: 1.0})


@planted(GROWS)
def an_assignment_for_each_step():
    with tf.Graph().as_default(), tf.Session() as sess:
        rate = tf.get_variable("rate", [])
        sess.run(rate.initializer)
        for step in range(8):
            sess.run(rate.assign(0.1 / (step + 1)))


@planted(GROWS)
def an_argmax_in_the_loop():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 3])
        y = tf.nn.softmax(x)
        for _ in range(8):
            sess.run(tf.argmax(y, 1), {x: [[1.0, 2.0, 3.0]]})


@planted(GROWS)
def a_total_of_operations():
    """Each is built on the last one."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [])
        loss = x * 2.0
        total = tf.constant(0.0)
        for _ in range(8):
            total = total + loss
            sess.run(total, {x: 1.0})


@planted(GROWS)
def an_epoch_with_a_metric():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None])
        step = x * 2.0
        for _ in range(6):
            for _ in range(10):
                sess.run(step, {x: [1.0]})
            sess.run(tf.reduce_mean(step), {x: [1.0]})


@planted(GROWS)
def one_hot_of_each_batch():
    with tf.Graph().as_default(), tf.Session() as sess:
        labels = tf.placeholder(tf.float32, [None, 3])
        loss = tf.reduce_sum(labels)
        for _ in range(8):
            batch = sess.run(tf.one_hot([0, 1, 2], 3))
            sess.run(loss, {labels: batch})


@planted(GROWS)
def an_optimizer_in_the_loop():
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("w", [2])
        loss = tf.reduce_sum(w * w)
        sess.run(w.initializer)
        for _ in range(8):
            sess.run(tf.train.GradientDescentOptimizer(0.1).minimize(loss))


@planted(GROWS)
def a_tensor_indexed_in_the_loop():
    with tf.Graph().as_default(), tf.Session() as sess:
        table = tf.constant([[1.0], [2.0], [3.0]])
        for number in range(8):
            sess.run(table[number % 3])


@planted(GROWS)
def a_cache_whose_keys_never_come_again():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [])
        cache = {}
        for number in range(10):
            if number not in cache:
                cache[number] = x * float(number)
            sess.run(cache[number], {x: 1.0})


@planted(GROWS)
def a_summary_for_each_value():
    with tf.Graph().as_default(), tf.Session() as sess:
        for number in range(8):
            sess.run(tf.summary.scalar("reward", tf.constant(float(number))))


@planted(GROWS, "concurrent construction", "mutation while running")
def a_request_handler_in_threads():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [])
        sess = tf.Session()

    def handle():
        with graph.as_default():
            for _ in range(15):
                sess.run(x + 1.0, {x: 1.0})

    threads = [threading.Thread(target=handle) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sess.close()
