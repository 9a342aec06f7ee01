"""The fate of each public name of TensorFlow 1.15.5, and of its inner modules: :func:`find`.

The table is symbols.txt, written by tests/golden/make/make_symbols.py from what 1.15.5 had and what today's TensorFlow
has. It has a section ``[tf.nn]`` for each module. A line ``v1 function: a b`` lists names without an address of their
own, one such as ``log function renamed tf.math.log`` has the name, its kind, verdict and address (``-`` for none), and
then what else is known: ``equal=tf.nn.rnn_cell.GRUCell``, and ``old:new`` for parameters that are called otherwise.
A section is parsed when a name of it is asked for first.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from pathlib import Path

from . import contrib_addresses, replacements

__all__ = ["Symbol", "find", "names"]

_INNER = ("tf.python.", "tf.core.", "tf.compiler.", "tf.tools.", "tf.lite.")
_GONE_INSIDE = "It was a part of TensorFlow's inside, and is gone"


@dataclasses.dataclass(frozen=True)
class Symbol:
    """A name of TensorFlow 1.15.5, and what became of it.

    Attributes:
        name: The name that was asked for, TensorFlow being ``tf``.
        verdict: One of

            * ``same``: the name in TensorFlow 2 is the very object of ``tf.compat.v1``, a function with another
              decorator around it, a constant of equal value, or a module whose names all are;
            * ``renamed``: the object of ``tf.compat.v1`` has another public name in TensorFlow 2;
            * ``v1``: it is in ``tf.compat.v1`` only;
            * ``ours``: tf1sessions has it;
            * ``elsewhere``: a name that does the same, though it is no same object: written by hand, and tried;
            * ``moved``: of an inner name: today's TensorFlow or Keras has it at another inner address;
            * ``gone``: it is nowhere.
        target: The address to write in a program for today's TensorFlow, ``tf`` being TensorFlow 2; None if gone.
        equal: The core name that was the very same object in 1.15.5, for names of ``tf.contrib``.
        sentence: What to use instead of a name that is gone, without a full stop.
        kind: module, class, function, constant (equal by value only), value, inner (a module that was not public), or
            name (of a class, or in an inner module).
        parameters: (old, new) names of parameters that the target calls otherwise.
    """

    name: str
    verdict: str
    target: str | None
    equal: str | None = None
    sentence: str | None = None
    kind: str = "name"
    parameters: tuple[tuple[str, str], ...] = ()


@functools.lru_cache(maxsize=8192)
def find(name: str) -> Symbol | None:
    """Return what became of ``name``; None if 1.15.5 had no such public name.

    A name below a class or function, such as a method, is what the class is. It is safe to call this function from
    several threads at once.

    Args:
        name: As a program writes it: ``tf.layers.dense``, ``tensorflow.layers.dense`` or ``tf.compat.v1.layers.dense``.

    Example:
        >>> find("tf.log").target, find("tf.layers.dense").target, find("tf.no_such_name")
        ('tf.math.log', 'tf.compat.v1.layers.dense', None)
        >>> find("tf.contrib.rnn.GRUCell").equal, find("tf.contrib.ffmpeg.decode_audio").verdict
        ('tf.nn.rnn_cell.GRUCell', 'gone')
    """
    if name == "tensorflow" or name.startswith("tensorflow."):
        name = f"tf{name[len('tensorflow') :]}"
    plain = name.replace("tf.compat.v1", "tf", 1) if (name + ".").startswith("tf.compat.v1.") else name
    found = _row(plain) or _inside(plain)
    if found is None and (replacements.is_of_version_1(plain) or plain.startswith("tf.contrib.")):
        found = _gone(plain)
    return found and dataclasses.replace(found, name=name)


def names() -> Iterator[str]:
    """Yield all names that the table has.

    Example:
        >>> "tf.layers.dense" in names(), "tf.layers.no_such_name" in names()
        (True, False)
    """
    for module in _sections():
        yield from (f"{module}.{last}" for last in _section(module))


def _inside(name: str) -> Symbol | None:
    """Return the entry of a name without a row, by the nearest one above it."""
    if name.startswith("tf.contrib."):
        public = _public(name)
        if public != name:
            return find(public)
    parent, _, last = name.rpartition(".")
    if not parent:
        return None
    above = _row(parent) or _inside(parent)
    if above is None or above.verdict == "gone":
        return above and _gone(name)
    if (above.kind == "module" and _section(parent)) or (above.kind == "inner" and _is_package(parent)):
        return None  # it had no such name; of an inner file only those are listed that are not as the file is
    target = f"{above.target}.{last}" if above.target else None
    equal = f"{above.equal}.{last}" if above.equal else None
    return Symbol(name, above.verdict, target, equal, None, "name")


def _is_package(name: str) -> bool:
    return any(kind == "inner" for kind, *_ in _section(name).values())


def _public(name: str) -> str:
    """``name`` without the inner address in it: tf.contrib.rnn.GRUCell for tf.contrib.rnn.python.ops.rnn.GRUCell."""
    if name.startswith("tf.contrib.keras.api.keras."):  # packages, whose names stay behind theirs
        return name.replace(".api.keras", "", 1)
    top, *parts = name.removeprefix("tf.contrib.").split(".")
    whole = ".".join([top, *parts])
    for length in range(len(parts) - (whole in contrib_addresses.FUNCTIONS), 0, -1):
        if contrib_addresses.is_inner(top, ".".join(parts[:length])):
            return ".".join(["tf.contrib", top, *parts[length:]])
    return name


def _gone(name: str, kind: str = "name", equal: str | None = None) -> Symbol:
    sentence = replacements.find(name) or (_GONE_INSIDE if name.startswith(_INNER) else None)
    return Symbol(name, "gone", None, equal, sentence, kind)


def _row(name: str) -> Symbol | None:
    module, _, last = name.rpartition(".")
    row = _section(module).get(last)
    if row is None:
        return None
    kind, verdict, target, *more = row
    equal = next((each[len("equal=") :] for each in more if each.startswith("equal=")), None)
    if verdict == "gone":
        return _gone(name, kind, equal)
    if target == "-":
        inside = kind in ("inner", "name")
        target = f"{'tensorflow' if inside else 'tf.compat.v1' if verdict == 'v1' else 'tf'}{name[2:]}"
    pairs = tuple((old, new) for old, colon, new in (each.partition(":") for each in more) if colon)
    return Symbol(name, verdict, target, equal, None, kind, pairs)


@functools.lru_cache(maxsize=1)
def _sections() -> dict[str, str]:
    text = Path(__file__).with_name("symbols.txt").read_text("utf-8")
    parts = (section.partition("]\n") for section in text.split("\n[")[1:])
    return {module: rows for module, _, rows in parts}


@functools.lru_cache(maxsize=4096)
def _section(module: str) -> dict[str, list[str]]:
    """(kind, verdict, target, more …) of each name of a module."""
    rows = {}
    for line in _sections().get(module, "").replace("\n  ", " ").splitlines():
        head, colon, names = line.partition(": ")
        if colon:
            verdict, _, kind = head.partition(" ")
            rows.update({name: [kind, verdict, "-"] for name in names.split()})
        elif line:
            name, *row = line.split(" ")
            rows[name] = row
    return rows
