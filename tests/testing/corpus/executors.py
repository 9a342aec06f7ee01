"""Jobs that one worker of an executor happens to run, as the other one is busy: what it keeps, what all jobs share."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

import tensorflow as tf

import tf1sessions as t1

from .verdicts import planted, right


class Model:
    """A variable, how it is changed and read, and a session."""

    def __init__(self, session=None):
        with (tf.Graph() if session is None else session.graph).as_default() as graph:
            self.variable = tf.Variable(0.0)
            self.value = tf.placeholder(tf.float32, [])
            self.write = self.variable.assign(self.value)
            self.read = tf.identity(self.variable)
            self.session = session or tf.Session(graph=graph)
            self.session.run(tf.variables_initializer([self.variable]))

    def train(self):
        self.session.run(self.write, {self.value: 1.0})

    def predict(self):
        return self.session.run(self.read)

    def steps(self):
        self.train()
        self.predict()


@contextlib.contextmanager
def one_idle_worker(initializer=None):
    """An executor with two workers, of which one waits for the end of the block."""
    over = threading.Event()
    with ThreadPoolExecutor(2, initializer=initializer) as pool:
        pool.submit(over.wait)
        try:
            yield pool
        finally:
            over.set()


def results(jobs):
    for job in jobs:
        job.result()


# -- what all jobs share ----------------------------------------------------------------------------------------------


@planted("unknown order")
def one_worker_trains_and_predicts():
    model = Model()
    with one_idle_worker() as pool:
        results([pool.submit(model.train), pool.submit(model.predict)])


@planted("unknown order")
def one_worker_trains_twice():
    model = Model()
    with one_idle_worker() as pool:
        results([pool.submit(model.train) for _ in range(2)])


@planted("unknown order")
def one_worker_builds_twice():
    graph = tf.Graph()

    def build():
        with graph.as_default():
            tf.constant(1.0)

    with one_idle_worker() as pool:
        results([pool.submit(build) for _ in range(3)])


def train(session, write, value):
    session.run(write, {value: 1.0})


def read(session, *, what):
    return session.run(what)


@planted("unknown order")
def one_worker_gets_all_by_arguments():
    model = Model()
    with one_idle_worker() as pool:
        first = pool.submit(train, model.session, model.write, model.value)
        results([first, pool.submit(read, model.session, what=model.read)])


@planted("unknown order")
def one_worker_gets_a_partial():
    model = Model()
    with one_idle_worker() as pool:
        first = pool.submit(functools.partial(train, model.session, value=model.value), model.write)
        results([first, pool.submit(functools.partial(read, what=model.read), model.session)])


@planted("unknown order")
def one_worker_of_an_event_loop():
    model = Model()

    async def main(pool):
        loop = asyncio.get_running_loop()
        await asyncio.gather(loop.run_in_executor(pool, model.train), loop.run_in_executor(pool, model.predict))

    with one_idle_worker() as pool:
        asyncio.run(main(pool))


@planted("variable read while assigned")
def workers_begun_on_the_shared_model():
    """The initializer of one worker is in order with that one's jobs, and with none of the other's."""
    model = Model()
    with one_idle_worker(model.predict) as pool:
        results([pool.submit(model.train), pool.submit(model.predict)])


@planted("unknown order")
def one_worker_of_a_thread_pool():
    model, over = Model(), threading.Event()
    with ThreadPool(2) as pool:
        jobs = [pool.apply_async(job) for job in (over.wait, model.train, model.predict)]
        for job in jobs[1:]:
            job.get()
        over.set()
        jobs[0].get()


@planted("unknown order", may=("mutation while running",))
def one_worker_maps():
    graph, over = tf.Graph(), threading.Event()

    def build(number):
        with graph.as_default():
            tf.constant(number)

    with ThreadPool(2) as pool:
        waiting = pool.apply_async(over.wait)
        pool.map(build, range(3), chunksize=1)
        over.set()
        waiting.get()


@planted("unknown order")
def one_worker_of_a_compiled_model():
    with t1.GraphSession() as gs:
        variable = tf.get_variable("v", initializer=0.0)
        value = tf.placeholder(tf.float32, [])
        write, look = gs.compile([value], variable.assign(value)), gs.compile([], tf.identity(variable))
        gs.initialize()
        with one_idle_worker() as pool:
            results([pool.submit(write, 1.0), pool.submit(look)])


@planted("unknown order")
def one_worker_closes_the_session():
    model = Model()

    def end():
        model.session.close()

    with one_idle_worker() as pool:
        results([pool.submit(model.predict), pool.submit(end)])


@planted("unknown order")
def one_worker_builds_and_runs():
    model = Model()

    def grow():
        with model.session.graph.as_default():
            tf.constant(1.0)

    with one_idle_worker() as pool:
        results([pool.submit(grow), pool.submit(model.predict)])


@planted("unknown order")
def one_worker_under_a_lock_and_without():
    model, lock = Model(), threading.Lock()

    def locked():
        with lock:
            model.train()

    with one_idle_worker() as pool:
        results([pool.submit(model.predict), pool.submit(locked)])


class Server:
    """A server with a cache that no session is in."""

    def __init__(self):
        self.model, self.answers, self.executor = Model(), {}, None

    @property
    def current(self):
        return self.model

    def update(self):
        self.current.train()

    def handle(self, number):
        if number not in self.answers:
            self.answers[number] = self.current.predict()


@planted("unknown order")
def one_worker_of_a_server():
    server = Server()
    with one_idle_worker() as server.executor:
        results([server.executor.submit(server.handle, 1), server.executor.submit(server.update)])


@planted("unknown order")
def one_worker_takes_the_session_out_of_a_dict():
    models = {"trained": Model(), "other": Model()}

    def update():
        models["trained"].train()

    def ask(name):
        return models[name].predict()

    with one_idle_worker() as pool:
        results([pool.submit(update), pool.submit(ask, "trained")])


@planted("unknown order")
def one_worker_of_sessions_by_name():
    """The graphs of a server's models, and what it fetches there by the names of tensors."""
    model = Model()
    sessions, names = {"default": model.session}, {"default": (model.write.name, model.value.name, model.read.name)}

    def update():
        write, value, _ = names["default"]
        sessions["default"].run(model.write, {value: 1.0})
        return write

    def ask(key, output):
        return sessions[key].run(output)

    with one_idle_worker() as pool:
        results([pool.submit(update), pool.submit(ask, "default", model.read.name)])


@planted("unknown order")
def one_worker_fetches_by_constant_names():
    with tf.Graph().as_default() as graph:
        variable = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        variable.assign(1.0, name="write")
        tf.identity(variable, name="read")
    session = tf.Session(graph=graph)
    session.run("v/Assign")

    def update():
        session.run("write:0")

    with one_idle_worker() as pool:
        results([pool.submit(update), pool.submit(lambda: session.run("read:0"))])


@planted("unknown order")
def one_worker_initializes_and_predicts():
    model = Model()

    def begin_anew():
        model.session.run(model.variable.initializer)

    with one_idle_worker() as pool:
        results([pool.submit(model.predict), pool.submit(begin_anew)])


@planted("unknown order")
def one_worker_of_a_session_pool():
    model, over = Model(), threading.Event()
    with t1.ThreadSessionPool(2, initializer=lambda session: None) as pool:
        try:
            pool.submit(lambda session: over.wait())
            results([pool.submit(lambda session: model.train()), pool.submit(lambda session: model.predict())])
        finally:
            over.set()


# -- what workers keep, and jobs in order -----------------------------------------------------------------------------


@right
def worker_keeps_a_model_in_a_local():
    local = threading.local()

    def job():
        if not hasattr(local, "model"):
            local.model = Model()
        local.model.steps()

    with one_idle_worker() as pool:
        results([pool.submit(job) for _ in range(3)])


@right
def worker_keeps_a_session_on_the_shared_graph():
    local, model = threading.local(), Model()

    def job():
        if not hasattr(local, "session"):
            local.session = tf.Session(graph=model.session.graph)
        local.session.run(model.write, {model.value: 1.0})
        local.session.run(model.read)

    with one_idle_worker() as pool:
        results([pool.submit(job) for _ in range(3)])


@right
def worker_is_begun_with_a_model():
    local = threading.local()

    def begin():
        local.model = Model()

    with one_idle_worker(begin) as pool:
        results([pool.submit(lambda: local.model.steps()) for _ in range(3)])


@right
def worker_takes_a_model_once():
    local, free = threading.local(), queue.Queue()
    for _ in range(2):
        free.put(Model())

    def job():
        if not hasattr(local, "model"):
            local.model = free.get()
        local.model.steps()

    with one_idle_worker() as pool:
        results([pool.submit(job) for _ in range(3)])


@right
def worker_has_a_model_by_its_number():
    models, workers = [Model(), Model()], {}

    def job():
        number = workers.setdefault(threading.get_ident(), len(workers))
        models[number].steps()

    with one_idle_worker() as pool:
        results([pool.submit(job) for _ in range(3)])


@right
def worker_has_a_model_by_its_name():
    models, free, names = {"first": Model(), "second": Model()}, ["first", "second"], {}

    def job(number):
        name = names.setdefault(threading.get_ident(), free[len(names)])
        models[name].steps()
        return number

    with one_idle_worker() as pool:
        results([pool.submit(job, number) for number in range(3)])


@right
def worker_has_outputs_of_its_own_by_name():
    session, local, numbers = tf.Session(graph=tf.Graph()), threading.local(), queue.Queue()
    with session.graph.as_default():
        for number in range(2):
            variable = tf.get_variable(f"v{number}", [], initializer=tf.zeros_initializer())
            variable.assign_add(1.0, name=f"step{number}")
            session.run(variable.initializer)
            numbers.put(number)

    def job():
        if not hasattr(local, "number"):
            local.number = numbers.get()
        session.run(f"step{local.number}:0")
        return session.run(f"v{local.number}:0")

    with one_idle_worker() as pool:
        results([pool.submit(job) for _ in range(3)])


@right
def worker_of_a_session_pool_uses_its_own():
    def build(session):
        with session.graph.as_default():
            return Model(session)

    def step(session):
        session.run(session.built.write, {session.built.value: 1.0})
        return session.run(session.built.read)

    over = threading.Event()
    with t1.ThreadSessionPool(2, initializer=build) as pool:
        try:
            pool.submit(lambda session: over.wait())
            results([pool.submit(step) for _ in range(4)])
        finally:
            over.set()


@right
def worker_has_variables_of_its_own_in_one_session():
    session, free, local = tf.Session(graph=tf.Graph()), queue.Queue(), threading.local()
    for _ in range(2):
        free.put(Model(session))

    def job():
        if not hasattr(local, "model"):
            local.model = free.get()
        session.run(local.model.write, {local.model.value: 1.0})
        return session.run(local.model.read)

    with one_idle_worker() as pool:
        results([pool.submit(job) for _ in range(3)])


@right
def worker_adds_its_variables_under_a_lock():
    session, lock, local = tf.Session(graph=tf.Graph()), threading.Lock(), threading.local()

    def job():
        with lock:
            if not hasattr(local, "model"):
                local.model = Model(session)
            session.run(local.model.write, {local.model.value: 1.0})
            session.run(local.model.read)

    with one_idle_worker() as pool:
        results([pool.submit(job) for _ in range(3)])


@right
def worker_that_is_the_only_one():
    model = Model()
    with ThreadPoolExecutor(1) as pool, ThreadPool(1) as other:
        results([pool.submit(model.train), pool.submit(model.predict)])
        jobs = [other.apply_async(model.train), other.apply_async(model.predict)]
        for job in jobs:
            job.get()


@right
def jobs_awaited_one_by_one():
    model = Model()
    with one_idle_worker() as pool:
        for job in (model.train, model.predict, model.train):
            pool.submit(job).result()
        concurrent.futures.wait([pool.submit(model.predict)])
        for job in concurrent.futures.as_completed([pool.submit(model.train)]):
            job.result()


@right
def jobs_that_are_chained():
    model, done = Model(), threading.Event()
    with one_idle_worker() as pool:

        def next_one(_):
            pool.submit(model.predict).add_done_callback(lambda _: done.set())

        pool.submit(model.train).add_done_callback(next_one)
        done.wait()


@right
def jobs_that_wait_for_each_other():
    model, trained = Model(), threading.Event()

    def first():
        model.train()
        trained.set()

    def second():
        trained.wait()
        model.predict()

    with one_idle_worker() as pool:
        results([pool.submit(first), pool.submit(second)])


@right
def jobs_that_hand_the_model_on():
    model, line = Model(), queue.Queue()

    def second():
        line.get()
        model.predict()

    with one_idle_worker() as pool:
        results([pool.submit(lambda: (model.train(), line.put(1))), pool.submit(second)])


@right
def jobs_under_one_lock():
    model, lock = Model(), threading.Lock()

    def job():
        with lock:
            model.steps()

    with one_idle_worker() as pool:
        results([pool.submit(job) for _ in range(3)])


@right
def jobs_that_only_read():
    model = Model()
    model.session.graph.finalize()
    with one_idle_worker() as pool:
        results([pool.submit(model.predict) for _ in range(3)])


@right
def jobs_that_update_atomically():
    with tf.Graph().as_default():
        count = tf.get_variable("count", initializer=0.0, use_resource=True)
        add = count.assign_add(1.0, read_value=False)
        session = tf.Session()
        session.run(count.initializer)
    with one_idle_worker() as pool:
        results([pool.submit(session.run, add) for _ in range(3)])


@right
def jobs_with_a_model_each():
    models = [Model() for _ in range(4)]
    with one_idle_worker() as pool:
        list(pool.map(Model.steps, models))


def one_in_flight(submit):
    """Jobs of which at most one is there: its end is noted under the lock under which the next one is given."""
    model, lock, state = Model(), threading.Lock(), {"active": False}

    def work():
        model.steps()
        with lock:
            state["active"] = False

    def takes():
        with lock:
            is_free, state["active"] = not state["active"], True
        return is_free

    for job in (work, work, work, None):
        while not takes():
            pass
        if job is not None:
            submit(job)


@right
def jobs_of_which_one_is_in_flight():
    with one_idle_worker() as pool:
        one_in_flight(pool.submit)


@right
def jobs_of_a_thread_pool_of_which_one_is_in_flight():
    over = threading.Event()
    with ThreadPool(2) as pool:
        pool.apply_async(over.wait)
        one_in_flight(pool.apply_async)
        over.set()
        pool.close()
        pool.join()


@right
def jobs_that_look_whether_it_is_free():
    model, lock, state = Model(), threading.Lock(), {"busy": False}

    def work():
        with lock:
            if state["busy"]:
                return
            state["busy"] = True
        model.train()
        with lock:
            state["busy"] = False

    with one_idle_worker() as pool:
        results([pool.submit(work) for _ in range(3)])


@right
def jobs_of_a_coroutine_in_order():
    model = Model()

    async def main(pool):
        loop = asyncio.get_running_loop()
        for job in (model.train, model.predict, model.train):
            await loop.run_in_executor(pool, job)

    with one_idle_worker() as pool:
        asyncio.run(main(pool))


@right
def jobs_of_one_chunk():
    """One worker runs them all, always."""
    graph = tf.Graph()

    def build(number):
        with graph.as_default():
            tf.constant(number)

    with ThreadPool(2) as pool:
        pool.map(build, range(3), chunksize=3)
