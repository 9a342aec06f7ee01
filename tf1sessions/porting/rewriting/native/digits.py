"""The reader of MNIST that the tutorials of TensorFlow 1 had, written into the program: nothing of tf1sessions stays.

Batches, their order and what is printed are those of 1.15.5.
"""

from __future__ import annotations

import ast
import re

from ....source.edits import Edit, Positions, apply

__all__ = ["last_import", "with_reader"]

_MODULE = "tf1sessions.contrib.learn.datasets.mnist"
_READ = "read_data_sets"
_KNOWN = frozenset(["train_dir", "one_hot", "reshape", "validation_size", "seed"])
_IMPORTS = ("import collections", "import gzip", "import os", "import struct", "import numpy as np")
_READER = '''
class Examples:
    """Images and labels, in batches."""

    def __init__(self, images, labels):
        self.images, self.labels = images, labels
        self.num_examples = len(images)
        self.epochs_completed = 0
        self.position = 0

    def next_batch(self, batch_size, shuffle=True):
        """The next images and labels: at the end of an epoch, with the first ones of the next."""
        if shuffle and not self.position:
            self.shuffle()
        start, end = self.position, self.position + batch_size
        if end <= self.num_examples:
            self.position = end
            return self.images[start:end], self.labels[start:end]
        images, labels = self.images[start:], self.labels[start:]
        self.epochs_completed += 1
        if shuffle:
            self.shuffle()
        self.position = end - self.num_examples
        images = np.concatenate([images, self.images[:self.position]])
        return images, np.concatenate([labels, self.labels[:self.position]])

    def shuffle(self):
        order = np.arange(self.num_examples)
        np.random.shuffle(order)
        self.images, self.labels = self.images[order], self.labels[order]


def read_array(path):
    """The array in a file of MNIST, gzipped or plain."""
    path = path if os.path.exists(path) else path + ".gz"
    print("Extracting", path)
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        data = file.read()
    shape = struct.unpack_from(">%dI" % data[3], data, 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * len(shape)).reshape(shape)


def read_data_sets(train_dir, one_hot=False, reshape=True, validation_size=5000, seed=None):
    """The data sets of MNIST, read from a folder: pixels are float32 from 0 to 1, labels numbers or one-hot."""
    arrays = []
    for part in ("train", "t10k"):
        images = read_array(os.path.join(train_dir, part + "-images-idx3-ubyte"))
        labels = read_array(os.path.join(train_dir, part + "-labels-idx1-ubyte"))
        images = images.reshape(len(images), -1) if reshape else images[..., np.newaxis]
        images = np.multiply(images.astype(np.float32), np.float32(1 / 255))
        arrays.append((images, np.eye(10)[labels] if one_hot else labels))
    (images, labels), test = arrays
    np.random.seed(seed)
    validation = Examples(images[:validation_size], labels[:validation_size])
    train = Examples(images[validation_size:], labels[validation_size:])
    return Datasets(train, validation, Examples(*test))


Datasets = collections.namedtuple("Datasets", "train validation test")
'''
_DEFINED = ("Examples", "Datasets", "read_array", _READ)


def with_reader(text: str) -> str:
    """Return the text of a program with a reader of its own, in place of the import of one.

    A program that uses more of that module, or other arguments than those above, stays as it is.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError:  # the caller says so
        return text
    found = next(((node, bound) for node in tree.body if (bound := _bound(node)) is not None), None)
    if found is None or text.count("tf1sessions") > 1:
        return text
    statement, bound = found
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and ast.unparse(each.func) == bound]
    base = bound.partition(".")[0]
    names = [each.id for each in ast.walk(tree) if isinstance(each, ast.Name)]
    if names.count(base) != len(calls) or not calls or not all(map(_is_known, calls)):
        return text
    positions = Positions(text)
    taken = {*names, *(each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.ClassDef))}
    new = {name: _free(name, taken - {bound}) for name in _DEFINED}
    edits = [positions.replace(each.func, new[_READ]) for each in calls]
    for each in calls:
        if seed := _graph_seed(tree, each):
            end = positions.span(each)[1] - 1
            edits.append(Edit(end, end, f", seed={seed}"))
    reader = re.sub("|".join(rf"\b{name}\b" for name in new), lambda match: new[match[0]], _READER)
    after = positions.line_start((last_import(tree, statement).end_lineno or 0) + 1)
    start, end = (positions.line_start(line) for line in (statement.lineno, (statement.end_lineno or 0) + 1))
    lines = [each for each in _IMPORTS if each not in {ast.unparse(node) for node in tree.body}]
    edits += [Edit(start, end, "".join(line + "\n" for line in lines)), Edit(after, after, f"\n{reader}\n\n")]
    return apply(text, edits)


def _bound(node: ast.stmt) -> str | None:
    """Return the name by which a program calls the reader, if the statement imports it alone."""
    if not isinstance(node, ast.Import | ast.ImportFrom) or len(node.names) != 1:
        return None
    alias = node.names[0]
    name = alias.asname or alias.name
    if isinstance(node, ast.Import):
        return f"{name}.{_READ}" if alias.name == _MODULE and alias.asname else None
    if f"{node.module}.{alias.name}" == _MODULE:
        return f"{name}.{_READ}"
    return name if node.module == _MODULE and alias.name == _READ else None


def _is_known(call: ast.Call) -> bool:
    """Whether the reader that is written knows the arguments of a call."""
    return len(call.args) <= 1 and {each.arg for each in call.keywords} <= _KNOWN


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _graph_seed(tree: ast.Module, call: ast.Call) -> str | None:
    """The seed of the graph, where the program sets it before the call: it was NumPy's as well."""
    if any(each.arg == "seed" for each in call.keywords):
        return None
    seeds = [each for each in tree.body if each.lineno < call.lineno and _is_seed(each)]
    return ast.unparse(seeds[-1].value.args[0]) if seeds else None  # type: ignore[attr-defined]


def _is_seed(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and ast.unparse(call.func).endswith(".random.set_seed") and bool(call.args)


def last_import(tree: ast.Module, statement: ast.stmt) -> ast.stmt:
    """The last of the imports that a statement is in."""
    last = statement
    for each in tree.body[tree.body.index(statement) + 1 :]:
        if not isinstance(each, ast.Import | ast.ImportFrom):
            break
        last = each
    return last
