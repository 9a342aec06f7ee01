"""Damaged models, many of them, each loaded in turn by one process; what that process died of is one case.

``python tests/models/fuzzing.py FIRST LAST`` loads the cases of these numbers. It prints a line for each that does
anything but load or end in an error of ours, and one with the counts at the end. A case is made from its number alone:
``python tests/models/fuzzing.py 4711 4712`` is that one again, and ``--keep FILE`` leaves its bytes there.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "data" / "models"
#: What a case may take. Far above what any takes: a hang is found, a slow machine is not.
CASE_SECS = 60


def seeds() -> list[tuple[str, bytes, str]]:
    """Name, bytes and kind of each artifact that consists of one message."""
    from tf1sessions.models import files

    found = []
    for path in sorted(GOLDEN.rglob("*")):
        if path.suffix in (".pb", ".meta"):
            found.append((path.relative_to(GOLDEN).as_posix(), path.read_bytes(), files.read(path).kind))
    return [(name, raw, kind) for name, raw, kind in found if len(raw) < 60_000]


# ---------------------------------------------------------------------------------------------------------- mutations

_NUMBERS = (-(2**63), -(2**31), -3, -2, -1, 0, 1, 2, 3, 7, 255, 256, 2**15, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1)


def damaged_bytes(raw: bytes, rng: random.Random) -> bytes:
    """Bytes flipped, cut off, repeated, or a length that claims 3 GB."""
    data = bytearray(raw)
    for _ in range(rng.choice((1, 1, 1, 2, 5, 20))):
        if not data:
            break
        place = rng.randrange(len(data))
        kind = rng.randrange(6)
        if kind == 0:
            data[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[place] = rng.randrange(256)
        elif kind == 2:
            del data[place:]
        elif kind == 3:
            del data[place : place + rng.randrange(1, 64)]
        elif kind == 4:
            end = min(len(data), place + rng.randrange(1, 64))
            data[place:place] = data[place:end]
        else:
            data[place : place + 1] = b"\x80\x80\x80\x80\x0c"  # 3 GB as a varint
    return bytes(data)


def _graph_of(message: Any, rng: random.Random) -> Any:
    """A graph in the message, and in it the nodes of the graph itself or of one of its functions."""
    if hasattr(message, "meta_graphs"):
        message = rng.choice(message.meta_graphs)
    return message.graph_def if hasattr(message, "graph_def") else message


def damaged_message(message: Any, rng: random.Random) -> None:
    """A message that is well-formed and makes no sense."""
    graph = _graph_of(message, rng)
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        bodies = [graph.node, *(function.node_def for function in graph.library.function)]
        nodes = rng.choice(bodies) if rng.random() < 0.4 else bodies[0]
        if not len(nodes):
            continue
        rng.choice(_CHANGES)(graph, nodes, rng.choice(nodes), rng)


def _rewire(graph: Any, nodes: Any, node: Any, rng: random.Random) -> None:
    other = rng.choice(nodes).name
    entry = rng.choice((other, f"{other}:1", f"{other}:{2**31}", f"^{other}", "", ":0", "^", f"{other}:-1", "nobody"))
    if node.input and rng.random() < 0.7:
        node.input[rng.randrange(len(node.input))] = entry
    else:
        node.input.append(entry)


def _drop_input(graph: Any, nodes: Any, node: Any, rng: random.Random) -> None:
    if node.input:
        del node.input[rng.randrange(len(node.input))]


def _drop_node(graph: Any, nodes: Any, node: Any, rng: random.Random) -> None:
    nodes.remove(node)


def _repeat_node(graph: Any, nodes: Any, node: Any, rng: random.Random) -> None:
    copy = nodes.add()
    copy.CopyFrom(node)
    if rng.random() < 0.5:
        copy.name += "_again"


def _other_op(graph: Any, nodes: Any, node: Any, rng: random.Random) -> None:
    names = [each.op for each in nodes] + [function.signature.name for function in graph.library.function]
    node.op = rng.choice([*names, *_registered()])


def _other_name(graph: Any, nodes: Any, node: Any, rng: random.Random) -> None:
    node.name = rng.choice(("", "/", "a b", "_x", "\u00e9", "x" * 5000, rng.choice(nodes).name, "a:0", "^a"))


def _other_device(graph: Any, nodes: Any, node: Any, rng: random.Random) -> None:
    node.device = rng.choice(("/device:GPU:7", "/cpu:99", "nonsense", "/job:x/task:3", "\0"))


def _drop_attr(graph: Any, nodes: Any, node: Any, rng: random.Random) -> None:
    if node.attr:
        del node.attr[rng.choice(sorted(node.attr))]


def _swap_attr(graph: Any, nodes: Any, node: Any, rng: random.Random) -> None:
    donor = rng.choice(nodes)
    if donor.attr and node.attr:
        node.attr[rng.choice(sorted(node.attr))].CopyFrom(donor.attr[rng.choice(sorted(donor.attr))])


def _number_attr(graph: Any, nodes: Any, node: Any, rng: random.Random) -> None:
    if not node.attr:
        return
    attr = node.attr[rng.choice(sorted(node.attr))]
    which = attr.WhichOneof("value")
    if which == "i":
        attr.i = rng.choice(_NUMBERS)
    elif which == "type":
        attr.type = rng.choice((0, 1, 2, 3, 7, 9, 10, 20, 21, 101, 103, 107, 19, 14, 99, 5000))
    elif which == "f":
        attr.f = rng.choice((float("nan"), float("inf"), -1.0, 0.0, 1e38))
    elif which == "b":
        attr.b = not attr.b
    elif which == "s":
        attr.s = rng.choice((b"", b"\xff\xfe", b"SAME", b"loc:@nobody", b"loc:@" + node.name.encode(), b"x" * 100000))
    elif which == "func":
        attr.func.name = rng.choice(["", "nobody", *(function.signature.name for function in graph.library.function)])
    elif which == "shape":
        _damage_shape(attr.shape, rng)
    elif which == "list":
        values = rng.choice((attr.list.i, attr.list.type, attr.list.s))
        if len(values) and rng.random() < 0.5:
            del values[rng.randrange(len(values)) :]
        else:
            attr.list.i.append(rng.choice(_NUMBERS))
        for shape in attr.list.shape:
            _damage_shape(shape, rng)
    elif which == "tensor":
        _damage_tensor(attr.tensor, rng)


def _damage_shape(shape: Any, rng: random.Random) -> None:
    kind = rng.randrange(5)
    if kind == 0:
        shape.dim.add().size = rng.choice(_NUMBERS)
    elif kind == 1 and shape.dim:
        shape.dim[rng.randrange(len(shape.dim))].size = rng.choice(_NUMBERS)
    elif kind == 2 and shape.dim:
        del shape.dim[rng.randrange(len(shape.dim))]
    elif kind == 3:
        shape.unknown_rank = True
    else:
        for _ in range(rng.choice((5, 200, 300))):
            shape.dim.add().size = rng.choice((1, 1, 2))


def _damage_tensor(tensor: Any, rng: random.Random) -> None:
    kind = rng.randrange(6)
    if kind == 0:
        tensor.dtype = rng.choice((0, 1, 2, 3, 7, 9, 10, 20, 21, 101, 107, 23, 30, 5000))
    elif kind == 1:
        _damage_shape(tensor.tensor_shape, rng)
    elif kind == 2:
        tensor.tensor_content = tensor.tensor_content[: rng.randrange(len(tensor.tensor_content) + 1)]
    elif kind == 3:
        tensor.tensor_content += bytes(rng.randrange(256) for _ in range(rng.randrange(1, 40)))
    elif kind == 4:
        tensor.int_val.extend(rng.choice(_NUMBERS[1:14]) for _ in range(rng.randrange(1, 40)))
    else:
        tensor.string_val.extend([b"x"] * rng.randrange(1, 40))


def _library(graph: Any, nodes: Any, node: Any, rng: random.Random) -> None:
    functions = graph.library.function
    if not len(functions):
        return
    function = rng.choice(functions)
    kind = rng.randrange(6)
    if kind == 0:
        graph.library.function.add().CopyFrom(function)
    elif kind == 1:
        functions.remove(function)
    elif kind == 2:
        function.signature.name = rng.choice(("", "nobody", rng.choice(functions).signature.name))
    elif kind == 3 and function.ret:
        function.ret[rng.choice(sorted(function.ret))] = rng.choice(("", "nobody:out:0", "x", ":"))
    elif kind == 4 and function.signature.input_arg:
        del function.signature.input_arg[rng.randrange(len(function.signature.input_arg))]
    else:
        graph.library.gradient.add(function_name=function.signature.name, gradient_func=function.signature.name)


def _versions(graph: Any, nodes: Any, node: Any, rng: random.Random) -> None:
    graph.versions.producer = rng.choice((0, 1, 7, 20, 100, 10_000, 2**31 - 1, -1))
    if rng.random() < 0.5:
        graph.versions.min_consumer = rng.choice((0, 5000, -1, 2**31 - 1))
    if rng.random() < 0.3:
        graph.versions.bad_consumers.extend((rng.randrange(3000), 2000))


def _full_type(graph: Any, nodes: Any, node: Any, rng: random.Random) -> None:
    kinds = (0, 1, 3, 5, 20, 100, 1000, 1003, 10002, 10003, 10102, 10203)
    node.experimental_type.type_id = rng.choice(kinds)
    for _ in range(rng.randrange(3)):
        node.experimental_type.args.add(type_id=rng.choice(kinds)).args.add(type_id=rng.choice(kinds))


_CHANGES: list[Callable[[Any, Any, Any, random.Random], None]] = [
    _rewire, _rewire, _drop_input, _drop_node, _repeat_node, _other_op, _other_op, _other_name, _other_device,
    _drop_attr, _swap_attr, _swap_attr, _number_attr, _number_attr, _number_attr, _number_attr, _library, _versions,
    _full_type,
]  # fmt: skip


def _registered() -> list[str]:
    if not _OPS:
        from tf1sessions.scripts.inner.framework import registered_ops

        _OPS.extend(sorted(registered_ops()))
    return _OPS


_OPS: list[str] = []


def case(number: int, originals: list[tuple[str, bytes, str]]) -> tuple[str, bytes]:
    """The bytes of a case, and the name of what they were."""
    from tf1sessions.models.parsing import MESSAGES

    rng = random.Random(number)
    name, raw, kind = rng.choice(originals)
    if rng.random() < 0.4:
        return name, damaged_bytes(raw, rng)
    message = MESSAGES["meta graph" if name.endswith(".meta") else kind]()
    message.ParseFromString(raw)
    damaged_message(message, rng)
    return name, message.SerializeToString()


def load_case(raw: bytes, name: str, folder: Path) -> str:
    """Loads a case, and has TensorFlow optimise what a call would run. Returns how that ended."""
    from tf1sessions.errors import Tf1SessionsError
    from tf1sessions.models.model import load
    from tf1sessions.runtime import tf

    path = folder / ("case" + Path(name).suffix if not name.endswith("saved_model.pb") else "saved_model.pb")
    path.write_bytes(raw)
    try:
        model = load(path, initialize=True)
    except Tf1SessionsError as error:
        return type(error).__name__
    with model:
        for signature in model.signatures.values():
            try:
                signature._compile(tuple(key for key, spec in signature.inputs.items() if not spec.optional))
            except (Tf1SessionsError, tf.errors.OpError, ValueError) as error:
                return f"compiles not: {type(error).__name__}"
    return "loads"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--progress", type=Path, help="a file that always has the number of the case at hand")
    args = parser.parse_args()
    faulthandler.enable()
    originals = seeds()
    ends: collections.Counter[str] = collections.Counter()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(args.first, args.last):
            if args.progress:
                args.progress.write_text(str(number))
            name, raw = case(number, originals)
            if args.keep:
                args.keep.write_bytes(raw)
            faulthandler.dump_traceback_later(CASE_SECS, exit=True)
            try:
                end = load_case(raw, name, Path(folder))
            except Exception as error:
                end = f"escaped: {type(error).__name__}"
                print(f"{number} {name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
            faulthandler.cancel_dump_traceback_later()
            ends[end] += 1
            for left in Path(folder).iterdir():
                left.unlink()
    print("counts", dict(ends), f"{time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    main()
