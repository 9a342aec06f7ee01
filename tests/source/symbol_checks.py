"""The table of symbols against today's TensorFlow, in one process: each check reports what is not as the table says."""

import functools
import importlib
import inspect
import io
import logging
import os
import sys

import absl.flags
import tensorflow as tf
import tensorflow.compat.v1 as v1
from tensorflow.python.util import tf_decorator

from tf1sessions.source import symbols

sys.modules["tensorflow_probability"] = None  # what only it can do is not ours
ABSENT = object()
ROOTS = {"tf": tf, "tf1sessions": importlib.import_module("tf1sessions"), "absl": absl, "logging": logging}
SYMBOLS = [symbols.find(name) for name in symbols.names()]


def read(root, name):
    """The object of a dotted name below ``root``; ABSENT if it is not there."""
    try:
        return functools.reduce(getattr, name.split("."), root)
    except (AttributeError, ImportError):
        return ABSENT


def at(address):
    """The object at an address as a program writes it, ``f()`` being a call."""
    first, _, rest = address.partition(".")
    if first not in ROOTS:
        return imported(address)
    value = ROOTS[first]
    for part in rest.split("."):
        value = read(value, part.removesuffix("()"))
        value = value() if part.endswith("()") else value
    return value if value is not ABSENT else imported(address)


def imported(address):
    try:
        return importlib.import_module(address)
    except ImportError:
        module, _, name = address.rpartition(".")
        return read(imported(module), name) if module else ABSENT


def is_equal(symbol, one, other):
    """Whether two things are the same: as objects, and constants by type and value."""
    if symbol.kind == "constant":
        return type(one) is type(other) and one == other
    return core(one) is core(other)


def core(value):
    """What is behind the decorators of a function; see make_symbols.py."""
    return tf_decorator.unwrap(value)[1] if inspect.isfunction(value) else value


def is_wrong(symbol):
    """Whether the table says what is not so; modules are looked at by their names, inner ones by their import."""
    old, new = read(v1, symbol.name[3:]), read(tf, symbol.name[3:])
    match symbol.verdict, symbol.kind:
        case "same", "module":
            return old is ABSENT or new is ABSENT
        case "same", "inner" | "name":
            return imported(symbol.target) is ABSENT
        case "same", _:
            return not is_equal(symbol, old, new)
        case "renamed", _:
            return not is_equal(symbol, old, at(symbol.target)) or is_equal(symbol, old, new)
        case "v1", _:
            same = symbol.kind != "module" and is_equal(symbol, old, new)
            return old is ABSENT or at(symbol.target) is not old or same
        case "gone", _:
            ours = read(ROOTS["tf1sessions"], symbol.name[3:]) if symbol.name.startswith("tf.contrib.") else ABSENT
            is_there = symbol.kind in ("class", "function") and (old is not ABSENT or ours is not ABSENT)
            return symbol.target is not None or is_there
        case _:
            return at(symbol.target) is ABSENT


def modules_with_others():
    """Modules that are called the same, and have a name in the table that is not."""
    same = {symbol.name for symbol in SYMBOLS if (symbol.verdict, symbol.kind) == ("same", "module")}
    return [s.name for s in SYMBOLS if s.verdict != "same" and s.kind != "inner" and s.name.rpartition(".")[0] in same
            and not s.name.startswith(("tf.python.", "tf.core.", "tf.compiler.", "tf.tools."))]  # fmt: skip


def parameters_that_are_not_there():
    """Parameters of 1.15 and of the target that are not those of the functions."""
    found = []
    for symbol in SYMBOLS:
        for old, new in symbol.parameters:
            taken = inspect.signature(at(symbol.target)).parameters
            here = inspect.signature(read(v1, symbol.name[3:])).parameters  # of flags: those of absl's, see flags()
            if new not in taken or (old not in here and new not in here):
                found.append([symbol.name, old, new])
    return found


def files():
    """What the functions of tf.gfile and their targets do with the same files."""

    def calls(function):
        os.makedirs("a/b")
        for name in ("a/one", "a/two"):
            with open(name, "w") as file:
                file.write(name)
        with function("FastGFile")("a/one") as file:
            seen = [file.read()]
        seen += [function("Exists")(name) for name in ("a/one", "a/none")]
        seen += [function("IsDirectory")(name) for name in ("a", "a/one")]
        seen += [sorted(function("ListDirectory")("a")), sorted(function("Glob")("a/*"))]
        seen += [function("Copy")("a/one", "a/three"), function("Copy")("a/one", "a/two", True), open("a/two").read()]
        seen += [said(function("Copy"), "a/one", "a/two"), said(function("ListDirectory"), "none")]
        seen += [function("Rename")("a/three", "a/four"), function("Remove")("a/two"), sorted(os.listdir("a"))]
        seen += [function("MkDir")("a/c"), function("MakeDirs")("a/d/e"), function("Stat")("a/one").length]
        seen += [said(function("MkDir"), "x/y/z"), said(function("Remove"), "none")]
        seen += [[(top, sorted(below), sorted(names)) for top, below, names in function("Walk")("a")]]
        return [*seen, function("DeleteRecursively")("a"), os.path.exists("a")]

    old = calls(lambda name: read(v1.gfile, name))
    return [old == calls(lambda name: at(symbols.find(f"tf.gfile.{name}").target)), old]


def said(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error).__name__


def logs():
    """What the functions of tf.logging and their targets write, and which levels they give."""

    def calls(function):
        text = io.StringIO()
        handler = logging.StreamHandler(text)
        handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
        tf.get_logger().addHandler(handler)
        levels = []
        for level in ("DEBUG", "ERROR", "FATAL", "INFO", "WARN"):
            function("set_verbosity")(function(level))
            levels += [function("get_verbosity")(), tf.get_logger().getEffectiveLevel()]
            for name in ("debug", "info", "warn", "warning", "error", "fatal"):
                function(name)("%s at %d", name, 7)
            function("log")(function("ERROR"), "logged %s", level)
        tf.get_logger().removeHandler(handler)
        return [levels, text.getvalue()]

    old = calls(lambda name: read(v1.logging, name))
    return [old == calls(lambda name: at(symbols.find(f"tf.logging.{name}").target)), old[1].count("\n")]


def flags():
    """What the functions that define flags give, by position and by the names that they had."""
    kinds = {"bool": False, "boolean": True, "float": 1.5, "integer": 3, "string": "text"}
    for kind, value in kinds.items():
        symbol = symbols.find(f"tf.flags.DEFINE_{kind}")
        names = dict(symbol.parameters)
        read(v1.flags, f"DEFINE_{kind}")(flag_name=f"{kind}_old", default_value=value, docstring="Help.")
        given = {"flag_name": f"{kind}_new", "default_value": value, "docstring": "Help."}
        at(symbol.target)(**{names[name]: each for name, each in given.items()})
    v1.flags.FLAGS(["program", "--string_old=other", "--string_new=other", "--nobool_old", "--nobool_new"])
    pairs = [[getattr(v1.flags.FLAGS, f"{kind}_{age}") for age in ("old", "new")] for kind in kinds]
    helps = [absl.flags.FLAGS[f"{kind}_{age}"].help for kind in kinds for age in ("old", "new")]
    identical = all(read(v1, s.name[3:]) is at(s.target) for s in SYMBOLS if s.name.startswith("tf.flags.")
                    and s.verdict == "elsewhere" and not s.parameters)  # fmt: skip
    return [pairs, helps, identical]


def tried():
    """The names that files(), logs() and flags() do not look at, and that no identity in 1.15.5 speaks for."""
    known = ("tf.gfile.", "tf.logging.", "tf.flags.", "tf.app.flags.")
    return [s.name for s in SYMBOLS if s.verdict == "elsewhere" and not s.equal and not s.name.startswith(known)]


found = {
    "count": len(SYMBOLS),
    "wrong": [[s.name, s.verdict, s.target] for s in SYMBOLS if is_wrong(s)],
    "modules": modules_with_others(),
    "parameters": parameters_that_are_not_there(),
    "files": files(),
    "logs": logs(),
    "flags": flags(),
    "untried": tried(),
    "equal": [s.name for s in SYMBOLS if s.equal and symbols.find(s.equal) is None],
}
v1.disable_v2_behavior()
found["after"] = [s.name for s in SYMBOLS if s.verdict in ("same", "renamed") and is_wrong(s)]
report(**found)  # noqa: F821
