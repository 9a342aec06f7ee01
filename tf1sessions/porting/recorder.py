"""Records what a TensorFlow 1 program computes, call by call, on the machine where it still runs.

One file that needs numpy and TensorFlow 1 and nothing else: copy it there, and run the program, unchanged, under it::

    python recorder.py [options] script.py [-- arguments of the script]

What ``Session.run`` was given and gave back, the variables when they were initialised and at the end, seeds, graphs and
versions go into one file, the trace, which ``tf1sessions verify trace.npz script.py`` holds against today's TensorFlow.

Data flow::

    the program --> BaseSession._do_run, _make_callable_from_options, close: the hooks below
                      `-> Recorder --> a _Series for each tensor --> _Spool, a file beside the trace
    the program ends, however it does --> Recorder.finish --> the trace, whole or not at all; once more, where functions
                                      that it gave to atexit have run sessions

The trace, version 1, is an ``.npz`` of plain arrays; ``np.load(path, allow_pickle=False)`` reads it:

* ``index``: a JSON text in UTF-8, as uint8. What it says is listed in ``traces.py`` of tf1sessions.
* ``calls.K``: int64 [n, 5], a row a call: its number (from 1, in the order in which calls ended), session, thread, kind
  and error; the last three count from 0 in the index's lists, error from 1, 0 for none.
* ``series.S.calls.K`` and ``series.S.values.K``: int64 [m] and [m, ...], the values of one tensor and the calls that
  gave them. Texts: ``values`` are their bytes after each other, ``lengths`` int64 [m, texts in a value].
* ``series.S.digests.K`` uint8 [m, 32], ``.statistics.K`` float64 [m, 7], ``.samples.K`` [m, up to 64]: instead of
  values where those are too large. SHA-256 of the bytes; smallest, largest, mean, standard deviation and Euclidean
  norm of the finite elements, how many are NaN and how many infinite; elements at equal distances.
* ``graph.G``: a GraphDef, as uint8. ``graph.G.places``: int32, for each of its nodes the place, among those that the
  index lists, where the program made it; -1 where that is not known.

K counts the pieces of an array that grew, from 0. The file is written for Python 2.7 and 3.5 and later.
"""

from __future__ import print_function

import argparse
import atexit
import collections
import copy
import errno
import fnmatch
import hashlib
import importlib
import io
import json
import os
import platform
import signal
import sys
import tempfile
import threading
import time
import traceback
import types
import weakref
import zipfile
import zlib

import numpy as np

_open, _sleep = open, time.sleep  # a program may put something of its own in their place

FORMAT = "tf1sessions trace"
VERSION = 1

#: How many elements stand for an array that is too large to keep. Arbitrary.
SAMPLE = 64
#: Up to how many elements a value counts as small: it is kept at every call, whatever --every says.
SMALL = 16
#: Bytes of a piece of a series, and of all that waits to become one.
_PIECE = 1 << 20
_WAITING = 1 << 25
#: How many tensors and how many kinds of calls are distinguished: a bound for programs whose graph grows at each step.
_MOST = 20000
#: A GraphDef of more bytes than this is not kept. Arbitrary.
_LARGEST_GRAPH = 1 << 26
#: So many sessions are kept alive, for their last values, when the program forgets to close them.
_KEPT_SESSIONS = 4

#: Up to how many operations a fetch may come from for its races to be looked for. Arbitrary.
_RACING = 200
#: Of how many operations a variable's next value may be made if that is all but there when the call begins. Arbitrary.
_COUNTING = 16
_WRITERS = ("Assign", "Scatter", "Apply", "SparseApply", "ResourceApply", "ResourceScatter", "ResourceSparseApply")
_VARIABLES = ("VariableV2", "Variable")
_RANDOM_WORDS = ("Random", "Shuffle", "Multinomial", "TruncatedNormal", "Dropout")
#: Packages whose lines are not the program's own.
_LIBRARIES = ("tensorflow", "tensorflow.python", "tensorflow_estimator", "keras", "tf_keras", "tf1sessions", "numpy")
#: How many places and files a trace names at most, and how much of a line. Arbitrary.
_MOST_PLACES = 5000
_LONGEST_LINE = 200


_save = np.save  # programs put functions of their own in NumPy's places


class RecorderError(Exception):
    """The reason why the recorder cannot record; the text says what to do."""


class SpoolError(OSError):
    """The disk takes no more. The text is the system's reason."""


class Options(object):
    """The choices of what is recorded.

    Args:
        tensors: Patterns (as of file names) of tensors that are fetched beside those that the program fetches, in each
            call that computes them anyway.
        every: Of values with more than ``SMALL`` elements, those of each so-many-th call of a kind are kept.
        variables_every: After each so-many-th call of a session its variables are kept; 0: at their beginning and end.
        max_mb: How many megabytes of values are kept, before compression.
        whole_kb: Up to how many kilobytes a fetched or fed value is kept whole. Variables are, whatever their size.
        losses: Whether the losses of the graph (``tf.GraphKeys.LOSSES``) are fetched, as ``tensors`` are.
    """

    def __init__(self, tensors=(), every=1, variables_every=0, max_mb=256, whole_kb=1024, losses=True):
        self.tensors = list(tensors)
        self.every = every
        self.variables_every = variables_every
        self.max_mb = max_mb
        self.whole_kb = whole_kb
        self.losses = losses

    def as_dict(self):
        return dict(vars(self))


# -- the file ---------------------------------------------------------------------------------------------------------


class _Spool(object):
    """A file beside the trace that arrays are added to. The caller's lock orders its calls.

    A plain descriptor: a child that the program forks, and that ends, writes nothing to it. The file has no name, where
    the system allows that, so that nothing of it is left whatever ends the program.
    """

    def __init__(self, out, force=True):
        folder = os.path.dirname(os.path.abspath(out))
        self._prefix = "." + os.path.basename(out) + "."
        self._folder = folder
        self._out = self._wanted = out
        self._force = force
        #: Hidden files of recordings that were killed while they wrote their trace.
        self.left = sorted(
            os.path.join(folder, name)
            for name in os.listdir(folder)
            if name.startswith(self._prefix) and name.endswith(".part")
        )
        self._fd, self._path = tempfile.mkstemp(".part", self._prefix, folder)
        if os.name != "nt":
            os.remove(self._path)
        self._file = self._identity()
        self._size = 0
        self._places = collections.OrderedDict()

    def _identity(self):
        return _identity_of(self._fd)

    def add(self, name, array):
        """Adds an array, or replaces the one of this name; returns the bytes that it takes.

        Raises:
            SpoolError: It cannot be written; what was added before is there.
        """
        data = io.BytesIO()
        _save(data, array, allow_pickle=False)
        text = memoryview(data.getvalue())
        done = 0
        if self._identity() != self._file:
            raise SpoolError("the program has closed the file that the recording goes to")
        try:
            os.lseek(self._fd, self._size, os.SEEK_SET)
            while done < len(text):
                done += os.write(self._fd, text[done : done + (1 << 24)])
        except (IOError, OSError) as error:
            raise SpoolError(error.strerror or str(error))
        self._places[name] = (self._size, done)  # now that it is there: Ctrl-C may come at any time
        self._size += done
        return done

    def _read(self, offset, length):
        if self._identity() != self._file:
            raise SpoolError("the program has closed the file that the recording goes to")
        os.lseek(self._fd, offset, os.SEEK_SET)
        found = []
        while length:
            found.append(os.read(self._fd, min(length, 1 << 24)))
            if not found[-1]:
                raise IOError("%s was cut off by another program" % self._path)
            length -= len(found[-1])
        return b"".join(found)

    def write(self):
        """Makes the trace of what is there: it appears whole, in the place of one that was there before.

        Without ``force`` nothing is replaced but what was written here before: where something else has come to be, the
        trace gets another name beside it.

        Returns:
            The trace's path.
        """
        fd, part = tempfile.mkstemp(".part", self._prefix, self._folder)
        try:
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(part, 0o666 & ~mask)
            with os.fdopen(fd, "wb") as file:
                with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
                    for name, (offset, length) in self._places.items():
                        archive.writestr(name + ".npy", self._read(offset, length))
                file.flush()
                os.fsync(file.fileno())
            number = 0
            while not _put(part, self._out, self._force):
                number += 1
                stem, ending = os.path.splitext(self._wanted)
                self._out, self._force = "%s-%d%s" % (stem, number, ending), False
            self._force = True
        except BaseException:
            if os.path.exists(part):
                os.remove(part)
            raise
        return self._out

    def close(self):
        """Removes the file. Idempotent."""
        if self._fd is not None:
            if self._identity() == self._file:
                os.close(self._fd)
            self._fd = None
            if os.name == "nt":
                os.remove(self._path)


def _identity_of(fd):
    """Return the file of a descriptor: a program that closes all descriptors may have opened one of its own."""
    try:
        found = os.fstat(fd)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_nlink  # a new file may have the number of one that has gone


def _put(part, path, replace):
    """Gives a finished file its name, unless something has it that must not be replaced.

    Returns:
        Whether it has the name.
    """
    if replace or os.name == "nt":
        if os.path.lexists(path) and not (replace and os.path.isfile(path)):
            return False
        if os.name == "nt" and os.path.exists(path):
            os.remove(path)
        os.rename(part, path)
        return True
    try:
        os.link(part, path)  # which, unlike rename, replaces nothing
    except OSError as error:
        if error.errno == errno.EEXIST:
            return False
        # A file system without links: an empty file takes the name, and is replaced.
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except OSError as taken:
            if taken.errno == errno.EEXIST:
                return False
            raise
        os.rename(part, path)
        return True
    os.remove(part)
    return True


class _Budget(object):
    """The bytes that may still be kept. A fifth is for small values and for calls alone: losses at every step."""

    def __init__(self, limit):
        self.left = limit
        self._for_small = limit // 5
        #: Kept back for the last values of variables whose first ones are there.
        self.reserved = 0

    def take(self, size, small=False, last=False):
        """Whether so many bytes are free; they are taken."""
        free = self.left - (0 if last else self.reserved) - (0 if small or last else self._for_small)
        if size > free:
            return False
        self.left -= size
        if last:
            self.reserved = max(0, self.reserved - size)
        return True


class _Series(object):
    """The values of one tensor, of one shape and dtype, in one role."""

    def __init__(self, number, about, form):
        self.number = number
        self.about = about
        self.form = form
        self.waiting = 0
        self._calls = []
        self._columns = collections.OrderedDict()
        self._rows = 0
        self._pieces = 0

    def add(self, call, **columns):
        self._calls.append(call)
        for name, value in columns.items():
            self._columns.setdefault(name, []).append(value)
            self.waiting += getattr(value, "nbytes", 8)
        self.waiting += 8

    def flush(self, spool):
        # Ctrl-C may have come in the midst of an addition.
        whole = min([len(self._calls)] + [len(rows) for rows in self._columns.values()])
        if not whole:
            return
        prefix = "series.%d." % self.number
        spool.add("%scalls.%d" % (prefix, self._pieces), np.array(self._calls[:whole], np.int64))
        for name, rows in self._columns.items():
            join = np.concatenate if self.form == "text" and name == "values" else np.stack
            spool.add("%s%s.%d" % (prefix, name, self._pieces), join(rows[:whole]))
        self._rows += whole
        self._pieces += 1
        self._calls = []
        self._columns.clear()
        self.waiting = 0

    def entry(self):
        return dict(self.about, form=self.form, rows=self._rows, pieces=self._pieces)


def digest(array):
    """SHA-256 of the elements in order, as 32 numbers."""
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    return np.frombuffer(hashlib.sha256(np.ascontiguousarray(array).tobytes()).digest(), np.uint8)


def digest_of_texts(array):
    """SHA-256 of texts, each after its length and a colon, as 32 numbers."""
    found = hashlib.sha256()
    for text in _texts(array):
        found.update(("%d:" % len(text)).encode("ascii") + text)
    return np.frombuffer(found.digest(), np.uint8)


def statistics(array):
    """Smallest, largest, mean, standard deviation, Euclidean norm of the finite elements; NaNs, infinities."""
    flat = np.abs(array).ravel() if array.dtype.kind == "c" else array.ravel()
    flat = flat.astype(np.float64)
    finite = flat[np.isfinite(flat)]
    nans = np.isnan(flat).sum()
    if not finite.size:
        return np.array([np.nan] * 5 + [nans, flat.size - nans])
    about = [finite.min(), finite.max(), finite.mean(), finite.std(), np.sqrt((finite * finite).sum())]
    return np.array(about + [nans, flat.size - nans - finite.size])


def sample_of(array):
    """Elements at equal distances, the first and the last among them."""
    flat = array.ravel()
    return flat[np.linspace(0, flat.size - 1, min(SAMPLE, flat.size)).astype(np.int64)]


def _as_text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _plain(value, dtype):
    """A value as an array that a file can hold, and the name of its dtype."""
    array = np.asarray(value)
    if array.dtype.kind == "V" or array.dtype.name.startswith("bfloat16"):  # a dtype of TensorFlow's own
        return array.view("u%d" % array.dtype.itemsize), dtype
    if array.dtype.kind in "OSU":
        return array, "string"
    return array, array.dtype.name


# -- graphs -----------------------------------------------------------------------------------------------------------


def _context(operation):
    return operation._get_control_flow_context()


def _is_random(operation):
    if any(word in operation.type for word in _RANDOM_WORDS):
        return True
    return _seeds(operation) is not None


def _seeds(operation):
    """The seeds that an operation was made with, or None where it takes none."""
    try:
        return [int(operation.get_attr("seed")), int(operation.get_attr("seed2"))]
    except ValueError:
        return None


def closure(tensors, operations, fed):
    """Return what a call computes: the operations that its fetches and targets need, up to what is fed."""
    found = {}
    ahead = [tensor.op for tensor in tensors if tensor.name not in fed] + list(operations)
    while ahead:
        operation = ahead.pop()
        if operation.name in found:
            continue
        found[operation.name] = operation
        ahead += [tensor.op for tensor in operation.inputs if tensor.name not in fed]
        ahead += operation.control_inputs
    return found


def _dead_or_looping(operations):
    """Names of operations whose outputs a call may not be able to fetch: in branches and loops.

    A graph that Python built knows; one that was imported does not, and there all that follows is counted in.
    """
    inside = {name for name, operation in operations.items() if _context(operation) is not None}
    readers = collections.defaultdict(list)
    for operation in operations.values():
        for before in [tensor.op for tensor in operation.inputs] + list(operation.control_inputs):
            readers[before.name].append(operation.name)
    ahead = []
    for operation in operations.values():
        if operation.type in ("Switch", "RefSwitch", "Enter", "RefEnter") and operation.name not in inside:
            # Two Identities that a condition hangs on are made outside of its branches, all that follows inside.
            pivots = [name for name in readers[operation.name] if operations[name].type == "Identity"]
            known = all(name in inside for pivot in pivots for name in readers[pivot])
            if len(pivots) == len(readers[operation.name]) and known:
                inside.update(pivots + [operation.name])
            else:
                ahead.append(operation.name)
    while ahead:
        name = ahead.pop()
        inside.add(name)
        ahead += [reader for reader in readers[name] if reader not in inside]
    return inside


class _Places(object):
    """The lines of a program's own files that made something, the outermost first. Not thread-safe."""

    def __init__(self):
        self._folder = os.getcwd()  # what names of files are relative to: the program may change it
        self._files = {}  # name -> its number among the sources, None where it is not the program's
        self._sources = []
        self._lines = collections.OrderedDict()
        self._chains = collections.OrderedDict()
        self._known = {}
        self._roots = None

    def of(self, frames):
        """The number of a place, given by (file, line); -1 where none of them is the program's."""
        frames = tuple(frames)
        if frames not in self._known:
            found = []
            for name, line in frames:
                source = self._source(name)
                if source is not None:
                    found.append(self._lines.setdefault((source, line), len(self._lines)))
            chain = tuple(found)
            if not chain or (len(self._chains) >= _MOST_PLACES and chain not in self._chains):
                return -1
            self._known[frames] = self._chains.setdefault(chain, len(self._chains))
        return self._known[frames]

    def of_operation(self, operation):
        return self.of((frame[0], frame[1]) for frame in getattr(operation, "traceback", None) or ())

    def here(self):
        """The place of the caller's caller."""
        frames = []
        frame = sys._getframe(2)
        while frame is not None:
            frames.append((frame.f_code.co_filename, frame.f_lineno))
            frame = frame.f_back
        return self.of(reversed(frames))

    def texts(self, number):
        """Return what the lines of a place say, as :meth:`entries` has them."""
        lines = list(self._lines)
        chain = list(self._chains)[number] if number >= 0 else ()
        return tuple(self._text(_lines_of(self._sources[lines[line][0]]), lines[line][1]) for line in chain)

    @staticmethod
    def _text(text, line):
        return _as_text(text[line - 1] if 0 < line <= len(text) else b"")[:_LONGEST_LINE]

    def _source(self, name):
        if name not in self._files:
            path = os.path.join(self._folder, name)
            own = len(self._sources) < _MOST_PLACES and not name.startswith("<") and self._is_own(path)
            self._files[name] = len(self._sources) if own else None
            if own:
                self._sources.append(path)
        return self._files[name]

    def _is_own(self, path):
        if self._roots is None:
            self._roots = []
            for library in _LIBRARIES:
                file = getattr(sys.modules.get(library), "__file__", None)
                if file:
                    root = os.path.dirname(os.path.abspath(file))
                    self._roots.append((os.path.dirname(root) if "." in library else root) + os.sep)
        if path == os.path.join(self._folder, _run.__code__.co_filename) or path.startswith(tuple(self._roots)):
            return False
        installed = os.sep + "site-packages" + os.sep in path or os.sep + "dist-packages" + os.sep in path
        return installed or not path.startswith(os.path.dirname(os.path.abspath(os.__file__)) + os.sep)

    def entries(self, script):
        """Return what the index says: ``sources``, ``lines``, ``places``."""
        folder = os.path.join(os.path.dirname(script), "")
        texts = [_lines_of(path) for path in self._sources]
        sources = []
        for path, text in zip(self._sources, texts):
            shown = path[len(folder) :] if path.startswith(folder) else os.sep.join(path.split(os.sep)[-3:])
            sources.append({"file": shown, "lines": [zlib.crc32(line) & 0xFFFFFFFF for line in text]})
        lines = []
        for source, line in self._lines:
            lines.append([source, line, self._text(texts[source], line)])
        return {"sources": sources, "lines": lines, "places": [list(chain) for chain in self._chains]}


def _lines_of(path):
    """The lines of a file without what is before and after them; none where it cannot be read."""
    try:
        with _open(path, "rb") as file:
            return [line.strip() for line in file.read().splitlines()]
    except (IOError, OSError):
        return []


class _Graph(object):
    """A graph, and its variables as far as they were looked for. Only used under the recorder's lock."""

    def __init__(self, number, graph):
        self.number = number
        self.graph = weakref.ref(graph)
        self.seed_at_first = graph.seed
        self.variables = collections.OrderedDict()  # operation's name -> what reads it, or None
        self.entry = {"number": number, "kept": False}
        self._seen = 0
        self._described = None

    def look(self, graph):
        """Looks at what was added to the graph."""
        operations = graph.get_operations()
        for operation in operations[self._seen :]:
            if operation.type in _VARIABLES:
                self.variables[operation.name] = operation.outputs[0]
            elif operation.type == "VarHandleOp":
                self.variables.setdefault(operation.name, None)
            elif operation.type == "ReadVariableOp" and _context(operation) is None and not operation.control_inputs:
                name = operation.inputs[0].op.name
                if operation.inputs[0].op.type == "VarHandleOp" and self.variables.get(name) is None:
                    self.variables[name] = operation.outputs[0]
        self._seen = len(operations)

    def describe(self, graph, spool, places):
        """Puts the graph, as it is now, into the trace."""
        if self._described == graph.version:
            return
        self.look(graph)
        try:
            definition = graph.as_graph_def()
            data = definition.SerializeToString()
        except ValueError as error:  # more than 2 GB
            self.entry["lacking"] = str(error)
            return
        self._described = graph.version
        nodes = [(node.name, node) for node in definition.node]
        for function in definition.library.function:
            nodes += [(function.signature.name + ":" + node.name, node) for node in function.node_def]
        lines = ["%s %s %s" % (name, node.op, " ".join(node.input)) for name, node in nodes]
        trainable = {variable.op.name for variable in graph.get_collection("trainable_variables")}
        seeded = [(name, node.attr) for name, node in nodes if "seed" in node.attr]
        self.entry.update(
            seed=graph.seed,
            seed_at_first=self.seed_at_first,
            nodes=len(definition.node),
            digest=hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest(),
            seeds={name: [int(attr["seed"].i), int(attr["seed2"].i)] for name, attr in seeded},
            losses=[tensor.name for tensor in graph.get_collection("losses") if hasattr(tensor, "name")],
            variables=[
                {"name": name, "trainable": name in trainable, "readable": read is not None}
                for name, read in self.variables.items()
            ],
            kept=len(data) <= _LARGEST_GRAPH,
        )
        if self.entry["kept"]:
            spool.add("graph.%d" % self.number, np.frombuffer(data, np.uint8))
            found = {operation.name: operation for operation in graph.get_operations()}
            made = [places.of_operation(found[node.name]) for node in definition.node]
            spool.add("graph.%d.places" % self.number, np.array(made, np.int32))
            self.entry["places"] = True


class _CallKind(object):
    """Calls of one graph with the same fetches, targets and feeds at one place. Only used under the recorder's lock."""

    def __init__(self, number, graph, how, fetches, targets, feeds, options):
        self.number = number
        self.turns = collections.Counter()  # a session's number -> its calls of this kind
        fed = set(feeds)
        needed = closure(fetches, targets, fed)
        self.extras = [] if how == "partial_run" else _extras(graph, needed, {t.name for t in fetches} | fed, options)
        assigns = [each for each in needed.values() if each.type in ("Assign", "AssignVariableOp") and len(each.inputs)]
        self.written = [each.inputs[0].op.name for each in sorted(assigns, key=lambda each: getattr(each, "_id", 0))]
        self.fetches = [tensor.name for tensor in fetches]
        self.entry = {
            "how": how,
            "fetches": self.fetches,
            "targets": [operation.name for operation in targets],
            "feeds": sorted(fed),
            "extras": [tensor.name for tensor in self.extras],
            "random": _random_sources(fetches + self.extras, targets, fed, needed),
            "races": _races(fetches, fed, needed),
            "order": {tensor.name: getattr(tensor.op, "_id", 0) for tensor in fetches + self.extras},
        }


def _extras(graph, needed, known, options):
    """The tensors that are fetched beside what the program fetches: those that its call computes anyway."""
    wanted = set()
    if options.losses:
        wanted = {tensor.name for tensor in graph.get_collection("losses") if hasattr(tensor, "name")}
    found = []
    inside = None
    for operation in needed.values():
        for tensor in operation.outputs:
            name = tensor.name
            if name in known:
                continue
            if name not in wanted and not any(_fits(name, operation.name, pattern) for pattern in options.tensors):
                continue
            if inside is None:
                inside = _dead_or_looping(needed)
            if operation.name in inside or not graph.is_fetchable(tensor):
                continue
            if tensor.dtype._is_ref_dtype or tensor.dtype.name in ("resource", "variant"):
                continue
            found.append(tensor)
    return sorted(found, key=lambda tensor: tensor.name)


def _fits(name, operation, pattern):
    """Whether a pattern means a tensor. What initializers are made of has to be meant in so many words."""
    if "/Initializer/" in name and "Initializer" not in pattern:
        return False
    return fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(operation, pattern)


def _random_sources(fetches, targets, fed, needed):
    """Fetch -> the random operations that it comes from, sixteen at most; "" for the targets."""
    if not any(_is_random(operation) for operation in needed.values()):
        return {}
    found = {}
    for name, part in [(tensor.name, closure([tensor], [], fed)) for tensor in fetches[:64]] + [
        ("", closure([], targets, fed))
    ]:
        names = sorted(key for key, operation in part.items() if _is_random(operation))
        if names:
            found[name] = names[:16]
    return found


def _races(fetches, fed, needed):
    """Fetch -> the variables that it reads and that the same call changes, where neither waits for the other.

    With "" for all other changes: a rate may be computed from a counter that the same call raises.
    """
    writers = {}
    for operation in needed.values():
        if operation.type.startswith(_WRITERS) and len(operation.inputs):
            writers.setdefault(operation.inputs[0].op.name, []).append(operation)
    found = {}
    for tensor in fetches if writers else ():
        read = closure([tensor], [], fed)
        if len(read) > _RACING or tensor.op.type.startswith(_WRITERS):
            continue
        names = sorted(name for name in writers if name in read and _unordered(name, writers[name], read, fed))
        if names:
            found[tensor.name] = names
    names = []
    for name in sorted(writers):
        if all(_is_counter(writer) for writer in writers[name]):
            others = [writer for other in writers if other != name for writer in writers[other]]
            read = closure([], others, fed)
            if name in read and _unordered(name, writers[name], read, fed, _readers(read[name], read)):
                names.append(name)
    if names:
        found[""] = names
    return found


def _is_counter(writer):
    """Say whether a variable's new value is made of little, and waits for nothing."""
    seen = set()
    queue = [writer]
    while queue and len(seen) <= _COUNTING:
        operation = queue.pop()
        if operation.control_inputs or operation.type.startswith("Placeholder"):
            return False
        if operation.name not in seen:
            seen.add(operation.name)
            queue.extend(tensor.op for tensor in operation.inputs)
    return len(seen) <= _COUNTING


def _readers(operation, among):
    """Return what takes the value of a variable. An Identity of a reference does not: it passes its memory on."""
    found = []
    for reader in [reader for output in operation.outputs for reader in output.consumers() if reader.name in among]:
        handed_on = reader.type == "Identity" and _readers(reader, among)
        found.extend(handed_on or [reader.name])
    return found


def _unordered(name, writers, read, fed, readers=()):
    """Whether a variable is read, by what is in ``read``, in no order with an operation that writes it."""
    if not readers:
        readers = [
            reader.name for output in read[name].outputs for reader in output.consumers() if reader.name in read
        ] or [name]
    for writer in writers:
        if writer.name not in read:
            before = closure([], [writer], fed)
            if name in readers or any(reader not in before for reader in readers):
                return True
    return False


class _Session(object):
    """The state of a session. Only used under the recorder's lock."""

    def __init__(self, number, session, graph):
        self.number = number
        self.session = weakref.ref(session)
        self.graph = graph
        self.calls = 0
        self.initialised = set()
        self.ended = False
        config = getattr(session, "_config", None)
        self.entry = {
            "number": number,
            "graph": graph.number,
            "target": _as_text(getattr(session, "_target", None) or b""),
            "config": "" if config is None else str(config),
        }


# -- the recorder -----------------------------------------------------------------------------------------------------


class Recorder(object):
    """Notes what the sessions of this process do, and writes the trace.

    Any thread may run sessions. ``_lock`` protects all that is noted and the spool; no session runs under it but to
    read variables, which waits for nobody. In a child process that the program forks nothing is noted.

    Args:
        out: Where the trace is to be. Its folder is written to at once.
        options: What is recorded.
        program: What the index says about the program: ``script`` and ``arguments``; and its absolute ``path``.
        force: Whether the trace replaces what is at ``out`` when it is written. Otherwise it gets another name beside
            it then, which ``out`` is after that.

    Raises:
        RecorderError: The trace could not be written there.
    """

    def __init__(self, out, options, program, force=True):
        if os.path.isdir(out):
            raise RecorderError("%s is a folder; name a file for the trace." % out)
        try:
            self._spool = _Spool(out, force)
        except (IOError, OSError) as error:
            raise RecorderError("the trace cannot be written to %s: %s" % (out, error.strerror))
        self.out = out
        self.options = options
        self._program = program
        self._pid = os.getpid()
        self._began = time.time()
        self._lock = threading.RLock()
        self._inside = threading.local()
        self._budget = _Budget(int(options.max_mb * (1 << 20)))
        self._calls = []
        self._call_pieces = 0
        self.calls = 0
        self.finished = ()  # how many of them there were in finish(), and how the program had ended
        self._calls_left_out = 0
        self._threads = collections.OrderedDict()
        self._errors = collections.OrderedDict()
        self._series = collections.OrderedDict()
        self._kinds = collections.OrderedDict()
        self._first_kinds = {}  # by what they fetch, run and are fed
        self._graphs = []
        self._places = _Places()
        self._sessions = []
        self._alive = collections.deque()
        self._left_out = collections.Counter()
        self._notes = []
        self._undo = []
        self._read = None
        self._waiting = 0
        self._closed = False
        self._stopped = None
        for path in self._spool.left:
            _say("%s is of a recording that was killed while it was written; it can be deleted." % path)

    # Hooks

    def hook(self, base):
        """Puts the hooks around the methods of TensorFlow's ``BaseSession``."""
        do_run = self._read = base._do_run
        run, make_callable, close = base.run, base.make_callable, base.close

        def _do_run(session, handle, target_list, fetch_list, feed_dict, options, run_metadata):
            if not self._noting():
                return do_run(session, handle, target_list, fetch_list, feed_dict, options, run_metadata)
            how = "run" if handle is None else "partial_run"
            keys = list(feed_dict)
            fed = [key.deref() if hasattr(key, "deref") else key for key in keys]
            kind, turn, given = self.begin(session, how, list(fetch_list), list(target_list), fed, feed_dict.values())
            for key, value in zip(keys, given):
                feed_dict[key] = value
            try:
                results = do_run(
                    session, handle, target_list, list(fetch_list) + kind.extras, feed_dict, options, run_metadata
                )
            except BaseException as error:
                self.end(session, kind, turn, fed, given, None, error)
                raise
            self.end(session, kind, turn, fed, given, results, None)
            return results[: len(fetch_list)]

        def made(session, fetches, feed_list=None, accept_options=False):
            if feed_list is not None or not self._noting():
                return make_callable(session, fetches, feed_list, accept_options)
            make_callable(session, fetches, feed_list, accept_options)  # what it refuses is refused here
            return lambda *args, **named: run(session, fetches, *args, **named)

        def closed(session):
            if self._noting():
                self.session_ends(session)
            return close(session)

        self._put(base, "_do_run", _do_run)
        self._put(base, "make_callable", made)
        self._put(base, "close", closed)
        if hasattr(base, "_make_callable_from_options"):  # what Keras runs its functions by
            self._hook_options(base)

    def _hook_options(self, base):
        make = base._make_callable_from_options

        def made(session, callable_options):
            function = make(session, callable_options)
            graph = session.graph
            fetches = [graph.as_graph_element(name) for name in callable_options.fetch]
            targets = [graph.as_graph_element(name) for name in callable_options.target]
            feeds = [graph.as_graph_element(name) for name in callable_options.feed]

            def call(*args, **named):
                if not self._noting():
                    return function(*args, **named)
                kind, turn, given = self.begin(session, "callable", fetches, targets, feeds, args)
                try:
                    results = function(*given, **named)
                except BaseException as error:
                    self.end(session, kind, turn, feeds, given, None, error)
                    raise
                self.end(session, kind, turn, feeds, given, results, None)
                return results

            return call

        self._put(base, "_make_callable_from_options", made)

    def _put(self, owner, name, function):
        before = owner.__dict__[name]
        function.__doc__ = before.__doc__
        setattr(owner, name, function)
        self._undo.append((owner, name, before))

    def here(self):
        """Whether this is the process that is recorded, and not a child that it has forked."""
        return os.getpid() == self._pid

    def _noting(self):
        """Whether this call of the program is noted: not our own ones, and not in a forked child."""
        if self._closed or self._stopped is not None:
            return False
        return self.here() and not getattr(self._inside, "reading", False)

    def _stop(self, error):
        """Notes nothing more: the disk takes nothing. The program goes on."""
        if self._stopped is None:
            self._stopped = "recording has stopped at call %d: %s" % (self.calls, error)
            _say("%s; the script goes on." % self._stopped)
            self.note(self._stopped)

    # Calls

    def begin(self, session, how, fetches, targets, fed, values):
        """A call begins: its kind, which time this is, and the values to feed."""
        with self._lock:
            about = self._session(session)
            kind = self._kind(about.graph, session.graph, how, fetches, targets, fed)
            kind.turns[about.number] += 1
            turn = kind.turns[about.number]
            return kind, turn, self.feeds(about, kind, turn, [tensor.name for tensor in fed], list(values))

    def feeds(self, about, kind, turn, names, values):
        """Return what is fed: here, what the program gives. For subclasses."""
        return values

    def initial(self, session, about, name, value):
        """A variable has its first value: here, that is what the program gave it. For subclasses."""
        return value

    def end(self, session, kind, turn, fed, given, results, error):
        """A call has ended. Values are copied here, before the program gets them."""
        with self._lock:
            if self._closed or self._stopped is not None:
                return
            try:
                self._end(session, kind, turn, fed, given, results, error)
            except SpoolError as problem:
                self._stop(problem)

    def _end(self, session, kind, turn, fed, given, results, error):
        about = self._session(session)
        self.calls += 1
        about.calls += 1
        call = self.calls
        thread = self._threads.setdefault(threading.current_thread().name, len(self._threads))
        self._note_call([call, about.number, thread, kind.number, self._error(error)])
        full = (turn - 1) % self.options.every == 0
        for tensor, value in zip(fed, given):
            self._value("feed", about, tensor.name, tensor.dtype, value, call, full)
        if results is None:
            return
        extras = [tensor.name for tensor in kind.extras]
        for position, (name, value) in enumerate(zip(kind.fetches + extras, results)):
            role = "fetch" if position < len(kind.fetches) else "extra"
            self._value(role, about, name, session.graph.as_graph_element(name).dtype, value, call, full)
        self._first_values(session, about, kind, call)
        if self.options.variables_every and about.calls % self.options.variables_every == 0:
            self._all_variables("variable", session, about)
        if self._waiting > _WAITING:
            self._flush()

    def _note_call(self, row):
        if not self._budget.take(40, small=True):
            self._calls_left_out += 1
            return
        self._calls.append(row)
        if len(self._calls) * 40 > _PIECE:
            self._flush_calls()

    def _error(self, error):
        if error is None:
            return 0
        text = getattr(error, "message", None) or str(error)
        key = (type(error).__name__, _as_text(text)[:500])
        if len(self._errors) >= 1000 and key not in self._errors:
            key = (key[0], "")
        return self._errors.setdefault(key, len(self._errors) + 1)

    def _session(self, session):
        about = getattr(session, "_tf1sessions_recorded", None)
        if about is None:
            about = _Session(len(self._sessions) + 1, session, self._graph(session.graph))
            session._tf1sessions_recorded = about
            self._sessions.append(about)
            self._alive.append(session)
            if len(self._alive) > _KEPT_SESSIONS:
                self._let_go(self._alive.popleft())
        return about

    def _let_go(self, session):
        if not session._closed:
            self.session_ends(session, for_good=False)

    def _graph(self, graph):
        about = getattr(graph, "_tf1sessions_recorded", None)
        if about is None:
            about = graph._tf1sessions_recorded = _Graph(len(self._graphs) + 1, graph)
            self._graphs.append(about)
        return about

    def _kind(self, about, graph, how, fetches, targets, fed):
        names = [tensor.name for tensor in fed]
        key = (
            about.number,
            how,
            tuple(tensor.name for tensor in fetches),
            tuple(operation.name for operation in targets),
            tuple(sorted(names)),
        )
        place = self._places.here()
        kind = self._kinds.get((key, place))
        if kind is None:
            alike = self._first_kinds.get(key)  # at another place; it shares the turns, by which values are kept whole
            if alike is None:
                kind = _CallKind(len(self._kinds), graph, how, fetches, targets, names, self.options)
            else:
                kind = copy.copy(alike)
                kind.number, kind.entry = len(self._kinds), dict(alike.entry)
            kind.entry.update(graph=about.number, place=place)
            if len(self._kinds) < _MOST:
                self._kinds[key, place] = kind
                self._first_kinds.setdefault(key, kind)
            else:
                kind.number = -1
                self._left_out["kinds of calls"] += 1
        return kind

    # Values

    def _value(self, role, about, name, dtype, value, call, full=True):
        array, shown = _plain(value, dtype.base_dtype.name)
        if not full and array.size > SMALL:
            return
        variable = role in ("initial", "variable", "last")
        limit = float("inf") if variable else self.options.whole_kb * 1024
        form = "text" if array.dtype.kind in "OSU" else "whole"
        size = array.nbytes if form == "whole" else sum(len(text) for text in _texts(array)) + 8 * array.size
        if size > limit or not self._budget.take(size + 8, array.size <= SMALL, role == "last"):
            form = "digest" if form == "text" else "summary"
            if not self._budget.take(1024):
                self._left_out["values"] += 1
                return
        if role == "initial" and form == "whole":
            self._budget.reserved += size
        series = self._series_of(role, about, name, shown, array, form)
        if series is None:
            self._left_out["values"] += 1
            return
        before = series.waiting
        if form == "whole":
            series.add(call, values=np.array(array))
        elif form == "text":
            texts = _texts(array)
            lengths = np.array([len(text) for text in texts], np.int64)
            series.add(call, values=np.frombuffer(b"".join(texts), np.uint8), lengths=lengths)
        elif form == "digest":
            series.add(call, digests=digest_of_texts(array))
        else:
            sample = sample_of(array)
            series.add(call, digests=digest(array), statistics=statistics(array), samples=np.array(sample))
        self._waiting += series.waiting - before
        if series.waiting > _PIECE:
            self._waiting -= series.waiting
            series.flush(self._spool)

    def _series_of(self, role, about, name, dtype, array, form):
        key = (role, about.number, name, dtype, array.shape, form)
        series = self._series.get(key)
        if series is None:
            if len(self._series) >= _MOST:
                return None
            entry = {"role": role, "session": about.number, "name": name, "dtype": dtype, "shape": list(array.shape)}
            series = self._series[key] = _Series(len(self._series), entry, form)
        return series

    # Variables

    def _first_values(self, session, about, kind, call):
        """After a call that assigned to variables for the first time: these are their initial values."""
        new = [name for name in kind.written if name not in about.initialised]
        if not new:
            return
        about.graph.look(session.graph)
        for name, value in self._values_of(session, about, new):
            about.initialised.add(name)
            value = self.initial(session, about, name, value)
            self._value("initial", about, name, session.graph.get_operation_by_name(name).outputs[0].dtype, value, call)

    def _all_variables(self, role, session, about):
        about.graph.look(session.graph)
        for name, value in self._values_of(session, about, list(about.graph.variables)):
            dtype = session.graph.get_operation_by_name(name).outputs[0].dtype
            self._value(role, about, name, dtype, value, self.calls)

    def _values_of(self, session, about, names):
        """The values of those variables that have one: (name, value), in order. Adds nothing to the graph."""
        known = [name for name in names if about.graph.variables.get(name) is not None]
        if not known:
            return []
        self._inside.reading = True
        try:
            values = self._read(session, None, [], [about.graph.variables[name] for name in known], {}, None, None)
        except Exception:  # TensorFlow's: one of them has no value, or the session is broken
            if len(known) == 1:
                return []
            half = len(known) // 2
            return self._values_of(session, about, known[:half]) + self._values_of(session, about, known[half:])
        finally:
            self._inside.reading = False
        return list(zip(known, values))

    def session_ends(self, session, for_good=True):
        """The last values of a session's variables, and its graph."""
        about = getattr(session, "_tf1sessions_recorded", None)
        if about is None or about.ended or session._closed:
            return
        with self._lock:
            about.ended = for_good
            try:
                self._all_variables("last", session, about)
                self.describe(about.graph, session.graph)
            except SpoolError as problem:
                self._stop(problem)

    def describe(self, about, graph):
        """Puts a graph, as it is now, into the trace. For subclasses."""
        about.describe(graph, self._spool, self._places)

    # The end

    def _flush_calls(self):
        if self._calls:
            self._spool.add("calls.%d" % self._call_pieces, np.array(self._calls, np.int64))
            self._call_pieces += 1
            self._calls = []

    def _flush(self):
        for series in self._series.values():
            series.flush(self._spool)
        self._waiting = 0

    def note(self, text):
        """Says something about this recording, in its index."""
        with self._lock:
            if len(self._notes) < 1000 and text not in self._notes:
                self._notes.append(text)

    def finish(self, ended):
        """Writes the trace. What is noted after that is in it when this is called again.

        Args:
            ended: How the program ended; see :func:`how_it_ended`.

        Returns:
            False when no call was noted: there is no trace then.

        Raises:
            IOError, OSError: The trace could not be written; there is none.
        """
        if not self.here() or self._closed:
            return True
        with self._lock:
            for about in self._sessions:
                session = about.session()
                if session is not None and not session._closed and self._stopped is None:
                    self.session_ends(session, for_good=False)
            self.finished = self.calls, ended
            if not self.calls:
                return False
            try:
                if self._stopped is None:
                    self._flush()
                    self._flush_calls()
            except SpoolError as problem:
                self._stop(problem)
            text = json.dumps(self._index(ended)).encode("utf-8")
            self._spool.add("index", np.frombuffer(text, np.uint8))
            self.out = self._spool.write()
        return True

    def is_late(self):
        """Whether calls were noted after finish()."""
        return self.here() and bool(self.finished) and self.calls > self.finished[0]

    def close(self):
        """Takes the hooks out and removes what is beside the trace. Idempotent."""
        if not self.here():
            return
        with self._lock:
            self._closed = True
            while self._undo:
                owner, name, before = self._undo.pop()
                setattr(owner, name, before)
            self._spool.close()

    def _index(self, ended):
        left_out = dict(self._left_out)
        if self._calls_left_out:
            left_out["calls"] = self._calls_left_out
        return dict(
            self._places.entries(self._program.get("path", "")),
            format=FORMAT,
            version=VERSION,
            versions=versions(),
            program={"script": self._program["script"], "arguments": self._program["arguments"]},
            began=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._began)),
            seconds=round(time.time() - self._began, 3),
            ended=ended,
            options=self.options.as_dict(),
            calls={"count": self.calls, "pieces": self._call_pieces},
            threads=list(self._threads),
            errors=[{"type": key[0], "message": key[1]} for key in self._errors],
            kinds=[kind.entry for kind in self._kinds.values()],
            by_place=True,
            sessions=[dict(about.entry, calls=about.calls) for about in self._sessions],
            graphs=[about.entry for about in self._graphs],
            series=[series.entry() for series in self._series.values()],
            left_out=left_out,
            notes=self._notes,
        )


def _texts(array):
    """The elements of an array of texts, as bytes."""
    return [item if isinstance(item, bytes) else str(item).encode("utf-8") for item in array.ravel().tolist()]


def versions():
    """Return what the program ran on."""
    tensorflow = sys.modules.get("tensorflow.python.framework.versions")
    return {
        "tensorflow": str(getattr(tensorflow, "VERSION", "unknown")),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
    }


# -- running the program ----------------------------------------------------------------------------------------------


def how_it_ended(error):
    """Return what the index says about the end of a program that raised ``error``, or None."""
    if error is None:
        return {"how": "done", "code": 0}
    if isinstance(error, SystemExit):
        code, message = _exit_of(error)
        return {"how": "exit", "code": code} if message is None else {"how": "exit", "code": code, "message": message}
    if isinstance(error, KeyboardInterrupt):
        return {"how": "interrupted", "code": 130}
    if isinstance(error, _Terminated):
        return {"how": "terminated", "code": 128 + error.signum}
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    return {"how": "exception", "code": 1, "message": text[:2000]}


def _exit_of(error):
    """The exit code of a SystemExit, and the text that Python prints for one that is no number, else None."""
    try:
        code = error.code
    except Exception:  # a property of the program's own; Python prints the error then
        code = error
    if code is None or isinstance(code, int):
        return code or 0, None
    try:
        return 1, str(code)
    except Exception:
        return 1, ""


class _Terminated(BaseException):
    """SIGTERM came, or SIGHUP: the terminal was closed."""

    def __init__(self, signum):
        BaseException.__init__(self, signum)
        self.signum = signum


#: A terminal that is closed sends several signals at once; within so many seconds they are one.
_ONE_END_SECS = 1.0
#: So long the program may take to hear a signal, and its trace to be written, before the process ends all the same.
_UNHEARD_SECS = 5.0
_UNWRITTEN_SECS = 30.0

_heard = [0.0]  # when a signal was last raised in the program


def _terminate(signum, frame):
    before, _heard[0] = _heard[0], time.time()
    if abs(_heard[0] - before) > _ONE_END_SECS:
        raise _Terminated(signum)


def _far_pipe():
    """A pipe with high numbers: a program that closes all descriptors does not get these for its next files."""
    fcntl, resource = importlib.import_module("fcntl"), importlib.import_module("resource")  # not on Windows
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    lowest = (1024 if most == resource.RLIM_INFINITY else min(most, 1024)) - 16
    near = os.pipe()
    far = [fcntl.fcntl(fd, fcntl.F_DUPFD, max(lowest, 0)) for fd in near]
    for fd in near:
        os.close(fd)
    for fd in far:
        os.set_inheritable(fd, False)
        os.set_blocking(fd, fd == far[0])
    return far


def _watch_signals(unheard):
    """Calls ``unheard(signum)`` in a thread when a signal that ends a recording is not heard by the program.

    Python runs a handler between two of its instructions: not while the main thread waits inside of TensorFlow, where
    the signal would end a program that is not recorded. Before Python 3.7 such a program is not ended.

    Returns:
        What stops that.
    """
    if not hasattr(os, "register_at_fork") or os.name == "nt":
        return lambda: None
    reading, writing = _far_pipe()
    pipe, here = _identity_of(writing), os.getpid()
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)

    def put_back(value):
        found = signal.set_wakeup_fd(value)
        if found not in (writing, value):
            signal.set_wakeup_fd(found)  # the program has one of its own by now

    def forked():  # what a child hears is not meant for the program; it ends as it does without a recorder
        put_back(-1)
        _replace_handlers(_terminate, signal.SIG_DFL)

    os.register_at_fork(after_in_child=forked)

    def watch():
        while True:
            for signum in bytearray(os.read(reading, 1)) or [0]:
                if not signum:
                    return
                came = time.time()
                while signal.getsignal(signum) == _terminate and time.time() < came + _UNHEARD_SECS:
                    if _heard[0] >= came - _ONE_END_SECS:
                        break
                    _sleep(0.05)
                else:
                    if signal.getsignal(signum) == _terminate:
                        unheard(signum)

    def stop():
        if os.getpid() == here:
            put_back(before)
            if _identity_of(writing) == pipe:
                os.write(writing, b"\0")

    thread = threading.Thread(target=watch, name="recorder-signals")
    thread.daemon = True
    thread.start()
    return stop


def _replace_handlers(before, after):
    """Gives the signals that end a recording as Ctrl-C does another handler, where they have this one."""
    for name in ("SIGTERM", "SIGHUP"):
        signum = getattr(signal, name, None)
        if signum is not None and signal.getsignal(signum) == before:
            signal.signal(signum, after)


#: The code of the script. TensorFlow 2's tracebacks of operations point to it, and do not keep it.
_kept = []  # type: list[types.CodeType]


def _run(path):
    """Runs a script as ``__main__``; returns what it raised, or None."""
    sys.modules["_recorder_of_tf1sessions"] = sys.modules["__main__"]  # Python 2 would clear this module
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=path, __builtins__=sys.modules.get("builtins") or sys.modules["__builtin__"])
    sys.modules["__main__"] = main
    try:
        with _open(path, "rb") as file:
            code = compile(file.read(), path, "exec", 0, True)
        _kept.append(code)
        exec(code, main.__dict__)
        _wait_for_threads()
    except BaseException as error:
        return error
    return None


def _wait_for_threads():
    """Wait, as Python does at the end of a program, for all threads that are not daemons."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            while thread.is_alive():
                thread.join(0.1)  # Ctrl-C is heard between two of these


def _report(error):
    """Prints what Python prints for an exception that nobody caught, without our frames."""
    if isinstance(error, SystemExit):
        message = _exit_of(error)[1]
        if message is not None:
            print(message, file=sys.stderr)
        return
    if isinstance(error, _Terminated):
        return
    place = getattr(error, "__traceback__", None) or sys.exc_info()[2]
    ours = _run.__code__.co_filename
    while place is not None and place.tb_frame.f_code.co_filename == ours:
        place = place.tb_next
    if hasattr(error, "with_traceback"):
        error.with_traceback(place)
    try:
        sys.stdout.flush()
        sys.excepthook(type(error), error, place)
    except Exception:  # of a hook or a stream of the program's own; the trace is still to be written
        sys.__excepthook__(type(error), error, place)


def _say(text):
    try:
        print("recorder: " + text, file=sys.stderr)
    except Exception:  # the program has closed the stream, or put something of its own in its place
        pass


def _whole_number(low):
    def check(text):
        value = int(text)
        if value < low:
            raise argparse.ArgumentTypeError("%d is below %d" % (value, low))
        return value

    return check


def _parser():
    parser = argparse.ArgumentParser(
        prog="recorder.py",
        usage="python recorder.py [options] script.py [-- arguments of the script]",
        description="Runs a TensorFlow 1 program as python would, and records what its sessions compute.",
    )
    parser.add_argument("--out", default="trace.npz", metavar="FILE", help="the trace; trace.npz by default")
    parser.add_argument("--force", action="store_true", help="replace a trace that is there already")
    parser.add_argument(
        "--tensors",
        action="append",
        default=[],
        metavar="PATTERN",
        help="record these tensors too (dense/*) in calls that compute them anyway; may be given several times",
    )
    parser.add_argument(
        "--every",
        type=_whole_number(1),
        default=1,
        metavar="N",
        help="of values of more than %d elements, keep those of each N-th call of a kind" % SMALL,
    )
    parser.add_argument(
        "--variables-every",
        type=_whole_number(0),
        default=0,
        metavar="N",
        help="keep all variables after each N-th call of a session, too; by default their first and last values",
    )
    parser.add_argument(
        "--max-mb", type=_whole_number(1), default=256, metavar="MB", help="keep no more values than this; 256"
    )
    parser.add_argument(
        "--whole-kb",
        type=_whole_number(0),
        default=1024,
        metavar="KB",
        help="of larger values keep a digest, statistics and a sample; 1024",
    )
    parser.add_argument("--no-losses", action="store_true", help="do not fetch tf.GraphKeys.LOSSES with each call")
    parser.add_argument("script", nargs="?", help=argparse.SUPPRESS)
    return parser


def _arguments(argv):
    """Our options, and the script's arguments: what follows it, with or without ``--`` between."""
    parser = _parser()
    own = list(argv)
    theirs = []
    if "--" in own:
        cut = own.index("--")
        own, theirs = own[:cut], own[cut + 1 :]
    asked, unknown = parser.parse_known_args(own)
    if asked.script is None:
        parser.error("name the script that is to be recorded")
    if unknown:
        parser.error("%s: arguments of the script come after --" % " ".join(unknown))
    return asked, theirs


def _check_script(path):
    if not os.path.isfile(path):
        what = "it is a folder" if os.path.isdir(path) else "there is no such file"
        raise RecorderError("cannot run %s: %s." % (path, what))
    try:
        with _open(path, "rb") as file:
            compile(file.read(), path, "exec", 0, True)
    except (IOError, OSError) as error:
        raise RecorderError("cannot run %s: %s." % (path, error.strerror))
    except (SyntaxError, ValueError, TypeError) as error:
        version = platform.python_version()
        raise RecorderError("cannot run %s: %s (this is Python %s)." % (path, error, version))


def _base_session():
    """TensorFlow's class of sessions.

    Raises:
        RecorderError: There is none, or sessions are run in a way that cannot be recorded.
    """
    try:
        tensorflow = importlib.import_module("tensorflow")
        base = importlib.import_module("tensorflow.python.client.session").BaseSession
    except ImportError as error:
        raise RecorderError("TensorFlow cannot be imported (%s). Run this with the program's own Python." % error)
    if not hasattr(base, "_do_run"):
        raise RecorderError("TensorFlow %s is not known here: it has no BaseSession._do_run." % tensorflow.__version__)
    if base._do_run.__module__.partition(".")[0] == "tf1sessions":
        raise RecorderError("tf1sessions runs these sessions; its command verify records them itself.")
    importlib.import_module("tensorflow.python.framework.versions")
    major = versions()["tensorflow"].partition(".")[0]
    if major == "0":
        raise RecorderError("TensorFlow %s is too old; 1.4 is the oldest." % tensorflow.__version__)
    if major != "1":
        _say("this is TensorFlow %s: only what goes through sessions is recorded." % versions()["tensorflow"])
    return base


def main(argv=None):
    """Runs the script that ``argv`` names, and writes its trace. Returns the exit code: the script's own, or

    1 when it ran no session or the trace could not be written where it should be, 2 when nothing was started.
    """
    asked, theirs = _arguments(sys.argv[1:] if argv is None else argv)
    options = Options(
        asked.tensors, asked.every, asked.variables_every, asked.max_mb, asked.whole_kb, not asked.no_losses
    )
    recorder = None
    try:
        _check_script(asked.script)
        if os.path.exists(asked.out) and not asked.force and not os.path.isdir(asked.out):
            raise RecorderError("%s is there already; --force replaces it." % asked.out)
        if os.path.exists(asked.out) and not os.path.isfile(asked.out) and not os.path.isdir(asked.out):
            raise RecorderError("%s is a pipe, a socket or a device, and no file that can be replaced." % asked.out)
        if os.path.realpath(asked.out) == os.path.realpath(asked.script):
            raise RecorderError("--out %s is the script itself, which is not replaced." % asked.out)
        out = os.path.realpath(asked.out)  # the script may change the folder; of a link the target is replaced
        program = {"script": os.path.basename(asked.script), "arguments": theirs, "path": os.path.abspath(asked.script)}
        recorder = Recorder(out, options, program, asked.force)
        recorder.hook(_base_session())
    except RecorderError as error:
        if recorder is not None:
            recorder.close()
        _say(str(error))
        return 2
    sys.argv = [asked.script] + theirs
    sys.path[0] = os.path.dirname(os.path.abspath(asked.script))
    _replace_handlers(signal.SIG_DFL, _terminate)
    stop_watching = _watch_signals(lambda signum: _end_unheard(recorder, asked, signum))
    at_exit = _AtExit(lambda: _end(recorder, asked, stop_watching))
    try:
        return _record(recorder, asked)
    except KeyboardInterrupt:
        _say("interrupted while the trace was written; there is none.")
        return 130
    finally:
        at_exit.program_has_ended()


class _AtExit(object):
    """Calls ``end`` at the end of the process, after the functions that the program gives to atexit.

    A program may run these functions itself, and go on: atexit._run_exitfuncs() calls this one too, and forgets it.
    """

    def __init__(self, end):
        self._end = end
        self._has_ended = self._is_forgotten = False
        atexit.register(self)

    def __call__(self):
        if self._has_ended:
            self._end()
        self._is_forgotten = True

    def program_has_ended(self):
        self._has_ended = True
        if self._is_forgotten:
            atexit.register(self)


def _end(recorder, asked, stop_watching):
    """Writes the trace again where more has been noted since, and removes what is beside it."""
    try:
        if recorder.is_late():
            _write_trace(recorder, asked, recorder.finished[1])
    finally:
        stop_watching()
        recorder.close()


def _end_unheard(recorder, asked, signum):
    """Ends the process in the place of a main thread that waits inside of TensorFlow; called in another thread."""
    code = 128 + signum
    late = threading.Timer(_UNWRITTEN_SECS, os._exit, [code])
    late.daemon = True
    late.start()
    try:
        _write_trace(recorder, asked, {"how": "terminated", "code": code})
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    finally:
        os._exit(code)


def _record(recorder, asked):
    error = _run(asked.script)
    _replace_handlers(_terminate, signal.SIG_IGN)  # a terminal that is closed sends several
    ended = how_it_ended(error)
    if error is not None:
        _report(error)
    if not recorder.here():  # a child that the script has forked came out of it, too
        return ended["code"]
    return _write_trace(recorder, asked, ended)


def _write_trace(recorder, asked, ended):
    """Writes the trace, says so, and returns the exit code."""
    wanted = recorder.out
    try:
        written = recorder.finish(ended)
    except (IOError, OSError) as problem:
        _say("the trace could not be written to %s: %s" % (asked.out, problem))
        return ended["code"] or 1
    if not written:
        _say("%s ran no session, so there is nothing to record, and no trace." % asked.script)
        return ended["code"] or 1
    size = os.path.getsize(recorder.out)
    elsewhere = recorder.out != wanted
    _say("%d calls in %s, %.1f MB" % (recorder.calls, recorder.out if elsewhere else asked.out, size / 1e6))
    if elsewhere:
        _say("%s came to be while the script ran, and was not replaced: the trace is %s." % (asked.out, recorder.out))
    if ended["how"] != "done" and not (ended["how"] == "exit" and ended["code"] == 0):
        _say("the script did not end well (%s); the trace goes as far as it went." % ended["how"])
    return ended["code"] or int(elsewhere)


if __name__ == "__main__":
    sys.exit(main())
