"""Programs as people have them: predictors behind web servers, agents, input pipelines, tools beside training."""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing.pool
import queue
import tempfile
import threading

import numpy as np
import tensorflow as tf

from .threads import start
from .verdicts import planted, right

BUILDS, RUNS, GROWTH = "concurrent construction", "mutation while running", "graph growth in a loop"
CLOSED, VALUES, LOST = "run after close", "variable read while assigned", "default graph leak"
EXPORT, UNKNOWN = "graph written while it is built", "unknown order"


def together(*functions):
    for thread in start(*functions):
        thread.join()


class Predictor:
    """A model as web servers had them: built in __init__, run in the handlers."""

    def __init__(self, **named):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, [None], name="x")
            self.w = tf.get_variable("w", [], initializer=tf.ones_initializer(), **named)
            self.y = tf.multiply(self.x, self.w, name="y")
            self.step = self.w.assign(self.w * 0.5)
            self.sess = tf.Session(graph=self.graph)
            self.sess.run(self.w.initializer)
        self.lock = threading.Lock()

    def predict(self, value=1.0):
        return self.sess.run(self.y, {self.x: [value]})


def requests(handler, count=3):
    """A thread for each request, as a threaded server has them."""
    together(*[handler] * count)


# -- handlers ---------------------------------------------------------------------------------------------------------


@planted(BUILDS, RUNS, may=(GROWTH,))
def handler_makes_a_constant():
    model = Predictor()

    def handler():
        with model.graph.as_default():
            model.sess.run(model.y + tf.constant(1.0), {model.x: [1.0]})

    requests(handler)


@planted(BUILDS, RUNS, may=(GROWTH,))
def handler_decodes_by_operations():
    model = Predictor()

    def handler():
        with model.graph.as_default():
            image = tf.cast(tf.reshape([1, 2], [-1]), tf.float32)
            model.predict(model.sess.run(image)[0])

    requests(handler)


@planted(BUILDS, RUNS, may=(GROWTH,))
def handler_takes_the_softmax():
    model = Predictor()

    def handler():
        with model.graph.as_default():
            model.sess.run(tf.nn.softmax(model.y), {model.x: [1.0, 2.0]})

    requests(handler)


@planted(BUILDS, RUNS, may=(GROWTH,))
def handler_slices_a_tensor():
    model = Predictor()

    def handler():
        with model.graph.as_default():
            model.sess.run(model.y[0], {model.x: [1.0]})

    requests(handler)


@planted(BUILDS, may=(RUNS, GROWTH, VALUES))
def handler_loads_the_checkpoint_each_time():
    """Where the two get in each other's way, one fails before it runs, or runs what the other has made."""
    model = Predictor()
    with tempfile.TemporaryDirectory() as folder:
        with model.graph.as_default():
            path = tf.train.Saver().save(model.sess, f"{folder}/model")

        def handler():
            with model.graph.as_default():
                tf.train.Saver().restore(model.sess, path)

        requests(handler, 2)


@planted(RUNS, may=(GROWTH, VALUES))
def handler_builds_under_a_lock_and_loads_beside_it():
    model, lock = Predictor(), threading.Lock()
    with tempfile.TemporaryDirectory() as folder:
        with model.graph.as_default():
            path = tf.train.Saver().save(model.sess, f"{folder}/model")

        def handler():
            with lock, model.graph.as_default():
                saver = tf.train.Saver()
            saver.restore(model.sess, path)

        requests(handler, 2)


@planted(BUILDS, RUNS, may=(GROWTH, VALUES))
def handler_initializes_again():
    model = Predictor()

    def handler():
        with model.graph.as_default():
            model.sess.run(tf.global_variables_initializer())
            model.predict()

    requests(handler)


@planted(BUILDS, may=(RUNS, GROWTH))
def handler_opens_a_session_and_builds():
    graph = tf.Graph()

    def handler():
        with graph.as_default(), tf.Session() as sess:
            sess.run(tf.constant(1.0) + 1.0)

    requests(handler)


@planted(BUILDS, may=(RUNS, GROWTH))
def handler_imports_the_frozen_graph_into_one_graph():
    with tf.Graph().as_default() as source:
        tf.constant(1.0, name="c")
    definition, graph = source.as_graph_def(), tf.Graph()

    def handler():
        with graph.as_default():
            tf.import_graph_def(definition, name="")

    requests(handler, 2)


@planted(VALUES)
def model_is_trained_online():
    model = Predictor()
    together(model.predict, lambda: model.sess.run(model.step))


@planted(VALUES)
def weights_are_reloaded_while_it_serves():
    model = Predictor()
    with tempfile.TemporaryDirectory() as folder:
        with model.graph.as_default():
            saver = tf.train.Saver()
            path = saver.save(model.sess, f"{folder}/model")
        together(model.predict, lambda: saver.restore(model.sess, path))


@planted(CLOSED)
def session_is_replaced_and_the_old_one_closed():
    model = Predictor()

    def reload():
        old, model.sess = model.sess, tf.Session(graph=model.graph)
        model.sess.run(model.w.initializer)
        old.close()

    handler = model.sess

    def serve():
        with contextlib.suppress(RuntimeError, tf.errors.CancelledError):
            handler.run(model.y, {model.x: [1.0]})

    together(serve, reload)


@planted(CLOSED)
def closed_by_one_of_the_handlers():
    model = Predictor()

    def handler():
        with contextlib.suppress(RuntimeError, tf.errors.CancelledError):
            model.predict()
            model.sess.close()

    requests(handler, 2)


@planted(CLOSED)
def with_block_of_the_server_is_left():
    model = Predictor()

    def serve():
        with contextlib.suppress(RuntimeError, tf.errors.CancelledError):
            model.predict()

    with model.sess:
        threads = start(serve)
    for thread in threads:
        thread.join()


@planted(BUILDS, may=(RUNS, GROWTH))
def gradients_are_made_for_each_request():
    model = Predictor()

    def handler():
        with model.graph.as_default():
            model.sess.run(tf.gradients(model.y, model.x), {model.x: [1.0]})

    requests(handler, 2)


@planted(BUILDS, may=(RUNS, GROWTH))
def lock_around_the_run_alone():
    model = Predictor()

    def handler():
        with model.graph.as_default():
            doubled = model.y * 2.0
        with model.lock:
            model.sess.run(doubled, {model.x: [1.0]})

    requests(handler, 2)


@planted(BUILDS, may=(RUNS, GROWTH))
def lock_made_for_each_request():
    model = Predictor()

    def handler():
        with threading.Lock(), model.graph.as_default():
            model.sess.run(model.y * 2.0, {model.x: [1.0]})

    requests(handler, 2)


@planted(RUNS, may=(GROWTH,))
def a_tool_adds_summaries_meanwhile():
    model = Predictor()

    def tool():
        with model.graph.as_default():
            tf.summary.scalar("w", model.w)

    together(model.predict, tool)


@planted(RUNS, may=(GROWTH,))
def a_metric_is_made_when_it_is_first_asked_for():
    model = Predictor()

    def metric():
        with model.graph.as_default():
            tf.reduce_mean(model.y)

    together(lambda: [model.predict() for _ in range(3)], metric)


@planted(EXPORT, may=(RUNS,))
def exported_while_another_builds():
    model = Predictor()

    def build():
        with model.graph.as_default():
            tf.identity(model.y, name="served")

    together(build, model.graph.as_graph_def)


@planted(LOST)
def handler_without_the_graph():
    with tf.Graph().as_default():
        tf.placeholder(tf.float32, [None], name="x")
        together(lambda: tf.constant(1.0))


@planted(LOST)
def worker_of_an_executor_without_the_graph():
    with tf.Graph().as_default(), concurrent.futures.ThreadPoolExecutor(1) as executor:
        tf.placeholder(tf.float32, [])
        executor.submit(tf.zeros, [2]).result()


@planted(LOST)
def timer_without_the_graph():
    with tf.Graph().as_default():
        tf.placeholder(tf.float32, [])
        timer = threading.Timer(0.0, lambda: tf.summary.scalar("loss", tf.constant(1.0)))
        timer.start()
        timer.join()


@planted(BUILDS, may=(RUNS, GROWTH))
def health_check_makes_its_own_operation():
    model = Predictor()

    def check():
        with model.graph.as_default():
            tf.no_op(name="health")

    def handler():
        with model.graph.as_default():
            tf.identity(model.y)

    together(check, handler)


@planted(RUNS, may=(GROWTH,))
def warm_up_in_a_thread_builds_on():
    model = Predictor()

    def warm_up():
        with model.graph.as_default():
            tf.get_variable("cache", [2], trainable=False)

    together(warm_up, model.predict)


@planted(VALUES)
def temperature_is_set_by_an_administrator():
    model = Predictor(use_resource=True)

    def administrate():
        model.w.load(0.5, model.sess)

    together(administrate, lambda: [model.predict() for _ in range(2)])


@planted(CLOSED)
def executor_is_not_waited_for():
    model = Predictor()

    def predict():
        with contextlib.suppress(RuntimeError, tf.errors.CancelledError):
            model.predict()

    executor = concurrent.futures.ThreadPoolExecutor(2)
    executor.submit(predict)
    executor.shutdown(wait=False)
    model.sess.close()
    executor.shutdown()


@planted(LOST)
def pool_of_multiprocessing_without_the_graph():
    with tf.Graph().as_default(), multiprocessing.pool.ThreadPool(1) as pool:
        tf.placeholder(tf.float32, [])
        pool.apply(tf.ones, ([2],))


# -- handlers that are right ------------------------------------------------------------------------------------------


@right
def handler_feeds_only():
    requests(Predictor().predict)


@right
def handler_builds_under_the_lock_that_runs_take():
    model = Predictor()
    made = {}

    def handler():
        with model.lock, model.graph.as_default():
            if "doubled" not in made:
                made["doubled"] = model.y * 2.0
            model.sess.run(made["doubled"], {model.x: [1.0]})

    requests(handler)


@right
def a_model_for_each_thread():
    requests(lambda: Predictor().predict())


@right
def models_by_thread_local():
    models = threading.local()

    def handler():
        if not hasattr(models, "model"):
            models.model = Predictor()
        models.model.predict()

    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        for job in [executor.submit(handler) for _ in range(4)]:
            job.result()


@right
def models_given_to_workers():
    """Jobs of one worker use one model after the other: that they share the worker is no luck."""
    free, models = queue.Queue(), {}
    for _ in range(2):
        free.put(Predictor())

    def begin():
        models[threading.get_ident()] = free.get()

    def handler():
        model = models[threading.get_ident()]
        with model.graph.as_default():
            model.sess.run(model.y * 2.0, {model.x: [1.0]})

    with concurrent.futures.ThreadPoolExecutor(2, initializer=begin) as executor:
        for job in [executor.submit(handler) for _ in range(2)]:  # of three, one worker would grow its graph
            job.result()


@right
def pool_of_predictors():
    free = queue.Queue()
    for _ in range(2):
        free.put(Predictor())

    def handler():
        model = free.get()
        try:
            model.predict()
            with model.graph.as_default():
                model.sess.run(model.step)
        finally:
            free.put(model)

    requests(handler, 4)


@right
def one_thread_owns_the_model():
    asked = queue.Queue()

    def serve():
        model = Predictor()
        while (request := asked.get()) is not None:
            value, answer = request
            answer.put(model.predict(value))
        model.sess.close()

    def handler():
        answer = queue.Queue()
        asked.put((1.0, answer))
        answer.get()

    threads = start(serve)
    requests(handler)
    asked.put(None)
    threads[0].join()


@right
def weights_are_swapped_under_the_lock():
    model = Predictor()

    def handler():
        with model.lock:
            model.predict()

    def reload():
        with model.lock:
            model.sess.run(model.step)

    together(handler, reload, handler)


@right
def closed_when_all_handlers_have_ended():
    model = Predictor()
    with concurrent.futures.ThreadPoolExecutor(3) as executor:
        for _ in range(5):
            executor.submit(model.predict)
    model.sess.close()


@right
def map_of_a_thread_pool():
    model = Predictor()
    with multiprocessing.pool.ThreadPool(2) as pool:
        pool.map(model.predict, [1.0, 2.0, 3.0])
    model.sess.close()


@right
def sealed_graph_is_served():
    model = Predictor()
    model.graph.finalize()
    requests(model.predict)


# -- agents -----------------------------------------------------------------------------------------------------------


class Agents:
    """A global network, and workers with networks of their own, as A3C has them."""

    def __init__(self, use_locking=True, workers=2):
        self.graph = tf.Graph()
        with self.graph.as_default():
            with tf.variable_scope("global"):
                self.shared = tf.get_variable("w", [2], use_resource=True)
            optimizer = tf.train.GradientDescentOptimizer(0.1, use_locking=use_locking)
            self.pull, self.push, self.act = [], [], []
            for number in range(workers):
                with tf.variable_scope(f"worker_{number}"):
                    own = tf.get_variable("w", [2], use_resource=True)
                    (gradient,) = tf.gradients(tf.reduce_sum(own * own), [own])
                    self.push.append(optimizer.apply_gradients([(gradient, self.shared)]))
                    self.pull.append(own.assign(self.shared))
                    self.act.append(own * 2.0)
            self.sess = tf.Session(graph=self.graph)
            self.sess.run(tf.global_variables_initializer())
        self.lock = threading.Lock()

    def work(self, number, steps=3):
        for _ in range(steps):
            self.sess.run(self.act[number])
            self.sess.run(self.push[number])


@planted(VALUES)
def workers_pull_while_others_push():
    agents = Agents(use_locking=False)

    def work(number):
        agents.sess.run(agents.pull[number])
        agents.work(number)

    together(lambda: work(0), lambda: work(1))


@planted(VALUES)
def evaluation_reads_what_workers_push():
    agents = Agents(use_locking=False)
    together(lambda: agents.work(0), lambda: agents.sess.run(agents.shared))


@planted(VALUES)
def pull_under_a_lock_and_push_without():
    agents = Agents(use_locking=False)

    def pull():
        with agents.lock:
            agents.sess.run(agents.pull[0])

    together(pull, lambda: agents.work(1))


@planted(BUILDS, may=(RUNS, GROWTH, VALUES))
def workers_build_their_networks_in_threads():
    graph = tf.Graph()

    def work(number):
        with graph.as_default(), tf.variable_scope(f"worker_{number}"):
            tf.get_variable("w", [2])

    together(lambda: work(0), lambda: work(1))


@planted(BUILDS, RUNS, may=(GROWTH, VALUES))
def workers_make_the_copies_in_their_loop():
    agents = Agents()

    def work(number):
        with agents.graph.as_default():
            for _ in range(3):
                agents.sess.run(tf.identity(agents.act[number]))

    together(lambda: work(0), lambda: work(1))


@planted(BUILDS, may=(RUNS, GROWTH))
def each_worker_makes_its_optimizer():
    agents = Agents()

    def work(number):
        with agents.graph.as_default():
            tf.train.AdamOptimizer(0.1, name=f"adam_{number}")._create_slots([agents.shared])

    together(lambda: work(0), lambda: work(1))


@planted(VALUES)
def counter_of_all_workers_read_and_written():
    with tf.Graph().as_default():
        count = tf.get_variable("episodes", [], tf.int32, tf.zeros_initializer(), use_resource=True)
        more = count.assign(count + 1)
        sess = tf.Session()
        sess.run(count.initializer)
    together(*[lambda: [sess.run(more) for _ in range(3)]] * 2)
    sess.close()


@planted(VALUES)
def target_network_is_copied_while_it_is_asked():
    with tf.Graph().as_default():
        online, target = (tf.get_variable(name, [2], use_resource=True) for name in ("online", "target"))
        copy, ask = target.assign(online), target * 2.0
        sess = tf.Session()
        sess.run(tf.global_variables_initializer())
    together(lambda: sess.run(copy), lambda: [sess.run(ask) for _ in range(3)])
    sess.close()


@planted(CLOSED)
def session_closed_while_agents_play():
    agents = Agents()

    def play():
        with contextlib.suppress(RuntimeError, tf.errors.CancelledError):
            agents.work(0)

    threads = start(play)
    agents.sess.close()
    threads[0].join()


@right
def workers_push_with_locking_alone():
    agents = Agents()
    together(lambda: agents.work(0), lambda: agents.work(1))
    agents.sess.close()


@right
def workers_pull_and_push_under_a_lock():
    agents = Agents()

    def work(number):
        for _ in range(3):
            with agents.lock:
                agents.sess.run(agents.pull[number])
                agents.sess.run(agents.push[number])
            agents.sess.run(agents.act[number])

    together(lambda: work(0), lambda: work(1))
    agents.sess.close()


@right
def synchronous_rounds():
    agents = Agents()
    barrier = threading.Barrier(2)

    def work(number):
        for _ in range(2):
            agents.sess.run(agents.push[number])
            barrier.wait()
            agents.sess.run(agents.pull[number])
            barrier.wait()

    together(lambda: work(0), lambda: work(1))
    agents.sess.close()


@right
def learner_gets_what_actors_put():
    agents, experience = Agents(), queue.Queue()

    def act():
        for _ in range(3):
            experience.put(agents.sess.run(agents.act[0]))

    def learn():
        for _ in range(3):
            experience.get()
            agents.sess.run(agents.push[1])

    together(act, learn)
    agents.sess.close()


@right
def evaluated_when_the_workers_have_ended():
    agents = Agents()
    together(lambda: agents.work(0), lambda: agents.work(1))
    agents.sess.run(agents.shared)
    agents.sess.close()


@right
def episodes_counted_atomically():
    with tf.Graph().as_default():
        count = tf.get_variable("episodes", [], tf.int32, tf.zeros_initializer(), use_resource=True)
        more = count.assign_add(1)
        sess = tf.Session()
        sess.run(count.initializer)
    together(*[lambda: [sess.run(more) for _ in range(3)]] * 3)
    assert sess.run(count) == 9
    sess.close()


# -- input pipelines, and tools beside training -----------------------------------------------------------------------


def pipeline(capacity=4):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2])
        line = tf.FIFOQueue(capacity, tf.float32, shapes=[[2]])
        w = tf.get_variable("w", [2], use_resource=True)
        ops = {"x": x, "put": line.enqueue(x), "get": line.dequeue(), "close": line.close()}
        ops["train"] = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(w * ops["get"]))
        sess = tf.Session()
        sess.run(w.initializer)
    return graph, sess, ops


@planted(BUILDS, may=(RUNS, GROWTH))
def feeders_enqueue_constants():
    graph, sess, ops = pipeline()

    def feed():
        with graph.as_default():
            sess.run(ops["put"], {ops["x"]: sess.run(tf.zeros([2]))})

    together(feed, feed)
    sess.close()


@planted(RUNS, may=(GROWTH,))
def model_built_while_the_feeder_runs():
    graph, sess, ops = pipeline()

    def build():
        with graph.as_default():
            tf.layers.dense(tf.zeros([1, 2]), 2)

    together(lambda: sess.run(ops["put"], {ops["x"]: np.zeros(2)}), build)
    sess.close()


@planted("queue closed under its users")
def pipeline_closed_by_the_consumer():
    _, sess, ops = pipeline()

    def feed():
        with contextlib.suppress(tf.errors.CancelledError):
            sess.run(ops["put"], {ops["x"]: np.zeros(2)})

    together(feed, lambda: sess.run(ops["close"]))
    sess.close()


@planted(VALUES)
def two_trainers_of_one_pipeline():
    _, sess, ops = pipeline()
    for _ in range(4):
        sess.run(ops["put"], {ops["x"]: np.zeros(2)})
    together(*[lambda: [sess.run(ops["train"]) for _ in range(2)]] * 2)
    sess.close()


@planted("fed array written during its run")
def batch_filled_while_it_is_fed():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None])
        started = threading.Event()
        y = tf.py_func(lambda value: started.set() or (done.wait(30) and value), [x], tf.float32)
        sess = tf.Session()
    batch, done = np.zeros(1000, np.float32), threading.Event()

    def fill():
        started.wait(30)
        try:
            batch[:] = 1.0
        finally:
            done.set()

    together(lambda: sess.run(y, {x: batch}), fill)
    sess.close()


@planted("coordinator that nobody joins")
def runners_are_left_alone():
    with tf.Graph().as_default():
        line = tf.FIFOQueue(100, tf.float32)
        tf.train.add_queue_runner(tf.train.QueueRunner(line, [line.enqueue(1.0)]))
        get, close = line.dequeue(), line.close(cancel_pending_enqueues=True)
        sess = tf.Session()
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        sess.run(get)
        coord.request_stop()
        sess.run(close)
    for thread in threads:
        thread.join()


@right
def feeder_and_trainer():
    _, sess, ops = pipeline()

    def feed():
        for _ in range(4):
            sess.run(ops["put"], {ops["x"]: np.zeros(2)})
        sess.run(ops["close"])

    def train():
        with contextlib.suppress(tf.errors.OutOfRangeError):
            while True:
                sess.run(ops["train"])

    together(feed, train)
    sess.close()


@right
def two_feeders_and_their_end():
    _, sess, ops = pipeline(capacity=10)

    def feed():
        for _ in range(3):
            sess.run(ops["put"], {ops["x"]: np.zeros(2)})

    together(feed, feed)
    sess.run(ops["close"])
    sess.close()


@right
def model_built_before_the_feeder():
    graph, sess, ops = pipeline()
    with graph.as_default():
        tf.layers.dense(tf.zeros([1, 2]), 2)
    together(lambda: sess.run(ops["put"], {ops["x"]: np.zeros(2)}), lambda: sess.run(ops["get"]))
    sess.close()


@right
def batches_prepared_in_numpy():
    _, sess, ops = pipeline()
    batches = queue.Queue(maxsize=2)

    def prepare():
        for _ in range(4):
            batches.put(np.random.rand(2))
        batches.put(None)

    threads = start(prepare)
    while (batch := batches.get()) is not None:
        sess.run(ops["put"], {ops["x"]: batch})
        sess.run(ops["train"])
    threads[0].join()
    sess.close()


@right
def next_batch_by_a_future():
    _, sess, ops = pipeline()
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        job = executor.submit(np.random.rand, 2)
        for _ in range(3):
            batch, job = job.result(), executor.submit(np.random.rand, 2)
            sess.run(ops["put"], {ops["x"]: batch})
            sess.run(ops["train"])
    sess.close()


@right
def dataset_in_a_loop():
    with tf.Graph().as_default():
        item = tf.data.make_one_shot_iterator(tf.data.Dataset.range(6)).get_next()
        sess = tf.Session()
    together(*[lambda: [sess.run(item) for _ in range(2)]] * 3)
    sess.close()


@right
def checkpoint_in_a_thread_after_each_epoch():
    _, sess, ops = pipeline()
    with sess.graph.as_default(), tempfile.TemporaryDirectory() as folder:
        saver = tf.train.Saver()
        for epoch in range(2):
            sess.run(ops["put"], {ops["x"]: np.zeros(2)})
            sess.run(ops["train"])
            together(lambda epoch=epoch: saver.save(sess, f"{folder}/model", epoch, write_meta_graph=False))
    sess.close()


@right
def summaries_written_by_another_thread():
    _, sess, ops = pipeline()
    values = queue.Queue()

    def write():
        while (value := values.get()) is not None:
            tf.Summary(value=[tf.Summary.Value(tag="x", simple_value=value)])

    threads = start(write)
    for number in range(3):
        sess.run(ops["put"], {ops["x"]: np.zeros(2)})
        sess.run(ops["train"])
        values.put(float(number))
    values.put(None)
    threads[0].join()
    sess.close()
