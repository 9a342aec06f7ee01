"""Graphs that one thread builds and another runs: published by a global name, a lock, a queue, or too early."""

from __future__ import annotations

import _thread
import functools
import importlib
import queue
import sys
import tempfile
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tensorflow as tf

from .threads import join, start
from .verdicts import noted, planted, right


def together(*functions):
    join(start(*functions))


class Model:
    """A model with its session made last."""

    def __init__(self):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, [None, 2])
            w = tf.get_variable("w", [2, 3])
            self.y = tf.nn.softmax(tf.matmul(self.x, w))
            init = tf.global_variables_initializer()
        self.sess = tf.Session(graph=self.graph)
        self.sess.run(init)

    def predict(self):
        return self.sess.run(self.y, {self.x: [[1.0, 2.0]]})


class SessionFirst:
    """A model whose session is made before it is built."""

    def __init__(self):
        self.graph = tf.Graph()
        self.sess = tf.Session(graph=self.graph)
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, [None, 2])
            w = tf.get_variable("w", [2, 3])
            self.y = tf.matmul(self.x, w)
            self.saver = tf.train.Saver()
            self.sess.run(tf.global_variables_initializer())

    predict = Model.predict


class Holder:
    model = None
    lock = None


def spin(holder):
    """Wait without anything that could be seen."""
    late = time.monotonic() + 30
    while holder.model is None and time.monotonic() < late:
        pass


@right
def double_checked_locking():
    holder, lock = Holder(), threading.Lock()

    def get():
        if holder.model is None:
            with lock:
                if holder.model is None:
                    holder.model = Model()
        return holder.model

    together(*[lambda: get().predict()] * 4)
    holder.model.sess.close()


@right
def double_checked_locking_session_first():
    holder, lock = Holder(), threading.Lock()

    def get():
        if holder.model is None:
            with lock:
                if holder.model is None:
                    holder.model = SessionFirst()
        return holder.model

    together(*[lambda: get().predict()] * 4)
    holder.model.sess.close()


@right
def seen_without_any_lock():
    holder = Holder()

    def load():
        holder.model = Model()

    def serve():
        spin(holder)
        holder.model.predict()

    together(load, serve, serve)
    holder.model.sess.close()


@right
def dict_setdefault():
    models = {}

    def get(name):
        if name not in models:
            models.setdefault(name, Model())
        return models[name]

    together(*[lambda: get("a").predict()] * 3)
    for model in models.values():
        model.sess.close()


@right
def cached_property():
    class Service:
        @functools.cached_property
        def model(self):
            return Model()

    service = Service()
    together(*[lambda: service.model.predict()] * 3)
    service.model.sess.close()


@right
def lru_cached_factory():
    @functools.cache
    def model(name):
        return Model()

    together(*[lambda: model("a").predict()] * 3)


@right
def published_under_a_lock():
    """Built outside of the lock; the registry is read and written under it."""
    registry, lock = {}, threading.Lock()

    def load():
        model = Model()
        with model.graph.as_default():
            tf.identity(model.y, name="output")
        with lock:
            registry["model"] = model

    def serve():
        late = time.monotonic() + 30
        while time.monotonic() < late:
            with lock:
                model = registry.get("model")
            if model:
                model.predict()
                return

    together(load, serve)
    registry["model"].sess.close()


@right
def published_under_a_thread_lock():
    registry, lock = {}, _thread.allocate_lock()

    def get():
        with lock:
            if "model" not in registry:
                registry["model"] = Model()
            return registry["model"]

    together(*[lambda: get().predict()] * 3)
    registry["model"].sess.close()


@right
def thread_lock_around_building():
    graph, lock = tf.Graph(), _thread.allocate_lock()

    def build():
        with lock, graph.as_default():
            tf.constant(1.0)

    together(build, build)


@right
def thread_lock_acquire_release():
    graph, lock = tf.Graph(), _thread.allocate_lock()

    def build():
        lock.acquire()
        try:
            with graph.as_default():
                tf.constant(1.0)
        finally:
            lock.release()

    together(build, build)


@right
def finalized_graph():
    holder = Holder()

    def load():
        model = Model()
        with model.graph.as_default():
            tf.identity(model.y, name="output")
        model.graph.finalize()
        holder.model = model

    def serve():
        spin(holder)
        holder.model.predict()

    together(load, serve)
    holder.model.sess.close()


@right
def tensorflow_queue_orders():
    """What comes out of TensorFlow's queue was put there when the model was complete."""
    holder = Holder()
    with tf.Graph().as_default():
        line = tf.FIFOQueue(3, tf.int32, shapes=[[]])
        put, get = line.enqueue(1), line.dequeue()
        sess = tf.Session()

    def load():
        holder.model = Model()
        with holder.model.graph.as_default():
            tf.identity(holder.model.y, name="output")
        sess.run(put)

    def serve():
        sess.run(get)
        holder.model.predict()

    together(load, serve)
    holder.model.sess.close()
    sess.close()


@right
def module_import_lock():
    text = (
        "import tensorflow as tf\n"
        "graph = tf.Graph()\n"
        "with graph.as_default():\n"
        "    x = tf.placeholder(tf.float32, [])\n"
        "    y = x * 2.0\n"
        "sess = tf.Session(graph=graph)\n"
        "with graph.as_default():\n"
        "    tf.identity(y, name='out')\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "tf1corpus_model.py").write_text(text)
        sys.path.insert(0, folder)
        try:

            def serve():
                module = importlib.import_module("tf1corpus_model")
                module.sess.run(module.y, {module.x: 1.0})

            together(serve, serve, serve)
        finally:
            sys.path.remove(folder)
            sys.modules.pop("tf1corpus_model").sess.close()


@right
def built_then_thread_started():
    model = Model()
    together(model.predict, model.predict)
    model.sess.close()


@right
def built_by_a_job_and_awaited():
    with ThreadPoolExecutor(2) as pool:
        model = pool.submit(Model).result()
        list(pool.map(lambda _: model.predict(), range(4)))
    model.sess.close()


@right
def handed_over_by_a_queue():
    line = queue.Queue()

    def serve():
        line.get().predict()

    threads = start(serve)
    model = Model()
    line.put(model)
    join(threads)
    model.sess.close()


@right
def handed_over_in_a_deque():
    import collections

    line = collections.deque()

    def load():
        line.append(Model())

    def serve():
        late = time.monotonic() + 30
        while not line and time.monotonic() < late:
            pass
        model = line.popleft()
        model.predict()
        model.sess.close()

    together(load, serve)


@right
def lazy_class_attribute():
    class Service:
        model = None

        @classmethod
        def get(cls):
            if cls.model is None:
                cls.model = Model()
            return cls.model

    together(*[lambda: Service.get().predict()] * 3)
    Service.model.sess.close()


@right
def singleton_by_new():
    class Singleton:
        lock = threading.Lock()
        it = None

        def __new__(cls):
            with cls.lock:
                if cls.it is None:
                    cls.it = super().__new__(cls)
                    cls.it.model = Model()
            return cls.it

    together(*[lambda: Singleton().model.predict()] * 3)
    Singleton.it.model.sess.close()


@right
def model_for_each_thread():
    local = threading.local()

    def serve():
        local.model = Model()
        local.model.predict()
        local.model.sess.close()

    together(serve, serve)


@right
def hot_reload_by_a_new_graph():
    """A watcher publishes another model; requests use whichever they see."""
    holder = Holder()
    holder.model = Model()
    old = holder.model

    def reload():
        holder.model = Model()

    def serve():
        for _ in range(5):
            holder.model.predict()

    together(reload, serve, serve)
    old.sess.close()
    holder.model.sess.close()


@right
def heads_that_are_built_under_the_lock_that_runs_take():
    model, lock, heads = Model(), threading.Lock(), {}

    def head(name):
        with lock:
            if name not in heads:
                with model.graph.as_default():
                    heads[name] = tf.reduce_max(model.y, name=name)
            return model.sess.run(heads[name], {model.x: [[1.0, 2.0]]})

    together(*[functools.partial(head, name) for name in "abab"])
    model.sess.close()


@right
def frozen_graph_imported_lazily():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.multiply(x, 2.0, name="y")
        definition = graph.as_graph_def()
    holder, lock = Holder(), threading.Lock()

    def get():
        if holder.model is None:
            with lock:
                if holder.model is None:
                    graph = tf.Graph()
                    with graph.as_default():
                        tf.import_graph_def(definition, name="")
                    holder.model = tf.Session(graph=graph)
        return holder.model

    together(*[lambda: get().run("y:0", {"x:0": 1.0})] * 3)
    holder.model.close()


@right
def restored_in_a_thread():
    holder = Holder()
    with tempfile.TemporaryDirectory() as folder:
        model = Model()
        with model.graph.as_default():
            path = tf.train.Saver().save(model.sess, folder + "/model")
        model.sess.close()

        class Restored:
            predict = Model.predict

            def __init__(self):
                with tf.Graph().as_default() as self.graph:
                    self.sess = tf.Session()
                    self.x = tf.placeholder(tf.float32, [None, 2])
                    self.y = tf.nn.softmax(tf.matmul(self.x, tf.get_variable("w", [2, 3])))
                    tf.train.Saver().restore(self.sess, path)

        def load():
            holder.model = Restored()

        def serve():
            spin(holder)
            holder.model.predict()

        together(load, serve)
    holder.model.sess.close()


@noted
def more_operations_after_it_was_published():
    """Nothing changes after the other's first run, this time; the order was luck."""
    holder, done = Holder(), []

    def load():
        holder.model = model = Model()
        with model.graph.as_default():
            tf.identity(model.y, name="late")
        done.append(1)

    def serve():
        late = time.monotonic() + 30
        while not done and time.monotonic() < late:
            pass
        holder.model.predict()

    together(load, serve)
    holder.model.sess.close()


@noted
def summaries_merged_after_the_session():
    holder = Holder()

    def load():
        model = Model()
        with model.graph.as_default():
            tf.summary.scalar("y", tf.reduce_mean(model.y))
            model.summaries = tf.summary.merge_all()
        holder.model = model

    def serve():
        spin(holder)
        holder.model.predict()

    together(load, serve)
    holder.model.sess.close()


@planted("mutation while running")
def built_on_while_another_runs():
    model = Model()
    ran, go_on = types.SimpleNamespace(model=None), types.SimpleNamespace(model=None)

    def load():
        spin(ran)
        with model.graph.as_default():
            tf.identity(model.y, name="late")
        go_on.model = 1

    def serve():
        model.predict()
        ran.model = 1
        spin(go_on)
        model.predict()

    together(load, serve)
    model.sess.close()


@planted("mutation while running")
def published_and_then_changed():
    holder, ran = Holder(), Holder()

    def load():
        holder.model = model = Model()
        spin(ran)
        with model.graph.as_default():
            tf.identity(model.y, name="late")

    def serve():
        spin(holder)
        holder.model.predict()
        ran.model = 1

    together(load, serve)
    holder.model.sess.close()


@planted("mutation while running")
def head_built_beside_runs_of_others():
    """Whoever runs needs nothing of what is built, so the two may come at once, whichever came first this time."""
    model = Model()

    def add_head():
        with model.graph.as_default():
            tf.reduce_max(model.y)

    together(add_head, model.predict)
    model.sess.close()


@planted("mutation while running")
def head_built_after_the_model_was_handed_over():
    line = queue.Queue()

    def serve():
        line.get().predict()

    threads = start(serve)
    model = Model()
    line.put(model)
    with model.graph.as_default():
        tf.reduce_max(model.y)
    join(threads)
    model.sess.close()


@planted("mutation while running")
def double_checked_too_early():
    """The name is set before the model is complete, and the others run what there is."""
    holder, lock, ran = Holder(), threading.Lock(), Holder()

    def get():
        if holder.model is None:
            with lock:
                if holder.model is None:
                    holder.model = Model()
                    spin(ran)
                    with holder.model.graph.as_default():
                        tf.identity(holder.model.y, name="output")
        return holder.model

    def serve():
        spin(holder)
        get().predict()
        ran.model = 1

    together(get, serve)
    holder.model.sess.close()


@planted("concurrent construction")
def two_threads_build_one_graph():
    graph = tf.Graph()

    def build():
        with graph.as_default():
            tf.constant(1.0)

    together(build, build)


@planted("concurrent construction")
def two_locks_of_thread():
    graph = tf.Graph()

    def build():
        lock = _thread.allocate_lock()
        with lock, graph.as_default():
            tf.constant(1.0)

    together(build, build)


@planted("concurrent construction", "mutation while running")
def get_or_create_without_a_lock():
    model, heads = Model(), {}

    def head(name):
        if name not in heads:
            with model.graph.as_default():
                heads[name] = tf.reduce_max(model.y, name=name)
        return model.sess.run(heads[name], {model.x: [[1.0, 2.0]]})

    together(*[functools.partial(head, name) for name in "ab"])
    model.sess.close()


@planted("mutation while running")
def lock_around_building_only():
    model, lock = Model(), threading.Lock()

    def build():
        with lock, model.graph.as_default():
            tf.reduce_max(model.y)

    together(build, model.predict)
    model.sess.close()


@planted("mutation while running")
def lock_in_between_is_an_accident():
    """Both count under a lock, and the runs need nothing of what is built."""
    model, lock, counts = Model(), threading.Lock(), []

    def count():
        with lock:
            counts.append(1)

    def build():
        with model.graph.as_default():
            tf.reduce_max(model.y)
        count()

    def serve():
        count()
        model.predict()

    together(build, serve)
    model.sess.close()
