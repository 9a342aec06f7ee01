"""Runs cases of queues, queue runners and coordinators and records what one can observe of them.

The same code for TensorFlow 1.15.5 and for today's, on Python 3.7 too. A case is a function of ``(tf, t)``; ``t`` is a
:class:`Trial`, which has the session, starts and ends queue runners, and keeps what is noted::

    case(tf, t) ── builds queues and runners in the default graph
               ├── t.session.run(...)            runs them
               ├── with t.running() as ended:    all queue runners run meanwhile; ended() says how they ended
               └── t.note(name=value)            what is recorded

What can end in two ways in TensorFlow 1 is not recorded: a case forces the order, by what a queue has taken
(:meth:`Trial.until`), never by time.
"""

import contextlib
import gzip
import json
import os
import re
import shutil
import tempfile
import threading
import time

import numpy as np

#: How long anything may take that has to happen.
DEADLINE_SECS = 20.0
#: Name -> case. Those in ``ADOPTED`` start their queue runners by ``t.running()`` or ``t.drain()``, and can as well be
#: run by a pipeline that adopts them.
CASES = {}
ADOPTED = set()


def case(build, name=None):
    CASES[name or build.__name__] = build
    return build


def adopted(build, name=None):
    ADOPTED.add(name or build.__name__)
    return case(build, name)


def each(kinds, decorate=case):
    """A case for each kind: the function takes one more argument."""

    def decorator(build):
        for kind in kinds:
            decorate(lambda tf, t, kind=kind: build(tf, t, kind), "%s %s" % (build.__name__, kind))
        return build

    return decorator


def plain(value):
    """``value`` as what JSON knows; bytes as text, floats as float32 is printed, operations by name."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (float, np.floating)):
        return float("%.6g" % value)
    if isinstance(value, np.generic):
        return plain(value.item())
    if hasattr(value, "graph"):
        return value.name
    return value


def text(error):
    """What an exception says, without the operation's address, the graph's lines and numbers of the process."""
    message = str(getattr(error, "message", None) or error)
    found = re.search(r"^Node: '[^']*'\n", message, re.MULTILINE)  # Graph execution error: where, then what
    if found:
        message = message[found.end() :]
    message = re.split(r"\n\t ?\[\[|\n\nOriginal stack trace|\n\nErrors may have originated|\n\nCaused by", message)[0]
    message = re.sub(r"Dimension\((\w+)\)", r"\1", message)  # TensorShape's, in version 1
    message = re.sub(r"'_\d+_", "'_", message)  # '_3_queue': the third queue of the process
    message = re.sub(r"\b(pyfunc_|0x)[0-9a-f]+", r"\1", message)
    return re.sub(r"(?<![\w.-])(/[\w.-]+)+/(?=[\w.-]+)", "", message).strip()


def described(error):
    return [type(error).__name__, text(error)]


def outcome(call):
    """What ``call`` returns, or the type and text of what it raises."""
    try:
        return plain(call())
    except Exception as error:  # the exception is the result
        return {"error": described(error)}


def kind_of(call):
    """The type of what ``call`` raises; None if it raises nothing."""
    found = outcome(call)
    return found["error"][0] if isinstance(found, dict) and "error" in found else None


def dimensions(shape):
    return None if shape.ndims is None else shape.as_list()


def static(tensors):
    """Names, types and shapes of tensors: of one, a list or a dict."""
    tensors = list(tensors.values()) if isinstance(tensors, dict) else tensors
    tensors = tensors if isinstance(tensors, (list, tuple)) else [tensors]
    return [[tensor.name, tensor.dtype.name, dimensions(tensor.shape)] for tensor in tensors]


def make_queue(tf, kind, capacity=10, dtypes=None, shapes=None, **settings):
    """A queue of integers, named as its kind."""
    dtypes, shapes = dtypes or [tf.int32], [[]] if shapes is None else shapes
    settings.setdefault("name", kind)
    if kind == "shuffle":
        # nothing left to chance: the least that remains is what a dequeue may take
        return tf.RandomShuffleQueue(capacity, 0, dtypes, shapes, seed=3, **settings)
    if kind == "priority":
        return tf.PriorityQueue(capacity, dtypes, shapes, **settings)
    return {"fifo": tf.FIFOQueue, "padding": tf.PaddingFIFOQueue}[kind](capacity, dtypes, shapes, **settings)


def names(threads):
    return [[thread.name, thread.daemon] for thread in threads]


class Ended:
    """How queue runners ended: what was raised at the end, and which of their threads still run."""

    def __init__(self):
        self.threads = []
        self.raised = None

    def __call__(self):
        alive = [thread.name for thread in self.threads if thread.is_alive()]
        return {"raised": self.raised, "alive": alive}


class Trial:
    """One run of a case, in TensorFlow's own session with TensorFlow's own coordinator. See the module."""

    def __init__(self, tf):
        self.tf = tf
        self.noted = {}
        self._stack = contextlib.ExitStack()
        self._folder = None

    def __enter__(self):
        self._stack.enter_context(self.tf.Graph().as_default())
        self.session = self.new_session()
        self._stack.enter_context(self.session.as_default())
        return self

    def __exit__(self, *error):
        self._stack.close()
        if self._folder:
            shutil.rmtree(self._folder)

    def note(self, **values):
        self.noted.update((name, plain(value)) for name, value in values.items())

    def new_session(self):
        """One more session on the case's graph; closed when the case ends."""
        session = self.tf.Session(config=config(self.tf))
        self._stack.callback(session.close)
        return session

    def coordinator(self, **settings):
        return self.tf.train.Coordinator(**settings)

    @contextlib.contextmanager
    def running(self, functions=(), queues=()):
        """Starts the queue runners of the graph; at the end a stop is requested and all are joined.

        Args:
            functions: Functions of the coordinator, each to be run in a thread as well.
            queues: What these threads may wait for; closed at the end.
        """
        ended = Ended()
        coordinator = self.coordinator()
        ended.threads = [threading.Thread(target=function, args=(coordinator,)) for function in functions]
        closes = [queue.close(cancel_pending_enqueues=True) for queue in queues]
        for thread in ended.threads:
            thread.start()
        ended.threads += self.tf.train.start_queue_runners(self.session, coordinator)
        try:
            yield ended
        finally:
            coordinator.request_stop()
            self.session.run(closes)
            try:
                coordinator.join(ended.threads, stop_grace_period_secs=DEADLINE_SECS)
            except Exception as error:
                ended.raised = described(error)

    def drain(self, fetches, runs=50, variables=True):
        """Starts all, fetches until there is an error (or ``runs`` times), ends all; notes rows, error and end.

        An error says nothing of how much was there: a dequeue that waits has taken what came, or has not.
        """
        if variables:
            self.session.run([self.tf.global_variables_initializer(), self.tf.local_variables_initializer()])
        rows = []
        error = None
        with self.running() as ended:
            for _ in range(runs):
                try:
                    rows.append(self.session.run(fetches))
                except self.tf.errors.OpError as raised:
                    error = described(raised)
                    error[1] = re.sub(r" \(requested \d+, current size \d+\)$", "", error[1])
                    break
        self.note(rows=rows, error=error, ended=ended())

    def rows(self, fetches, runs=50):
        """Fetches until there is an error: the results, and the error (None after ``runs`` results)."""
        found = []
        for _ in range(runs):
            try:
                found.append(plain(self.session.run(fetches)))
            except self.tf.errors.OpError as raised:
                return [found, described(raised)]
        return [found, None]

    def until(self, condition, what="it"):
        """Waits until ``condition()`` is true."""
        deadline = time.time() + DEADLINE_SECS
        while not condition():
            if time.time() > deadline:
                raise RuntimeError("%s did not happen" % what)
            time.sleep(0.001)

    def until_size(self, queue, size):
        """Waits until ``queue`` holds ``size``: what has taken or given that many is then inside TensorFlow."""
        count = self.op(lambda: queue.size(), queue.name + "/size")
        self.until(lambda: self.session.run(count) == size, "size %d" % size)

    def op(self, make, key):
        """What ``make()`` makes, made once for each ``key``."""
        made = self.__dict__.setdefault("_made", {})
        if key not in made:
            made[key] = make()
        return made[key]

    def background(self, fetches):
        """Runs ``fetches`` in a thread; returns a function that waits for it and gives its outcome."""
        found = []
        session = self.session
        thread = threading.Thread(target=lambda: found.append(outcome(lambda: session.run(fetches))))
        thread.daemon = True
        thread.start()

        def wait():
            thread.join(DEADLINE_SECS)
            return found[0] if found else "it still waits"

        return wait

    def file(self, name, content):
        """Writes a file into the case's folder; returns its path."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="queues-")
        path = os.path.join(self._folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def path(self, name):
        """A path in the case's folder, where there is nothing yet."""
        return os.path.join(os.path.dirname(self.file(".folder", b"")), name)


def config(tf):
    """A session's settings: to optimize graphs that run once takes most of the time of small cases."""
    found = tf.ConfigProto()
    found.graph_options.rewrite_options.disable_meta_optimizer = True
    return found


def record(trial, case):
    """What ``case`` notes in ``trial``; an exception of the case itself is noted as ``failed``."""
    with trial as t:
        t.tf.set_random_seed(1)
        case(t.tf, t)
        return t.noted


def save(path, recorded):
    """Writes JSON, a case a line; no time stamp, so that the file is the same each time."""
    lines = ["%s: %s" % (json.dumps(name), json.dumps(recorded[name], sort_keys=True)) for name in sorted(recorded)]
    with open(path, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as file:
        file.write(("{\n%s\n}\n" % ",\n".join(lines)).encode())


def load(path):
    with gzip.open(path) as file:
        return json.loads(file.read().decode())
