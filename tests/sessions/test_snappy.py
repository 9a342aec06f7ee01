"""Models whose checkpoints have a compressed index, as those of TensorFlow Serving's documentation do."""

from __future__ import annotations

import pytest
from support import PythonRun

from tf1sessions.sessions import snappy

LONG = bytes(range(256)) * 300


@pytest.mark.parametrize(
    ("compressed", "plain"),
    [
        (b"\x00", b""),
        (b"\x03\x08abc", b"abc"),
        (b"\x08\x04ab\x09\x02", b"ab" + b"ababab"[:6]),  # a copy of one byte's offset that goes on into itself
        (b"\x05\x00a\x0e\x01\x00", b"aaaaa"),  # of two bytes
        (b"\x05\x04ab\x0b\x02\x00\x00\x00", b"ababa"),  # of four
        (b"\x3d\xf0\x3c" + LONG[:61], LONG[:61]),
        (b"\xac\x02\xf4\x2b\x01" + LONG[:300], LONG[:300]),  # literals whose length takes one and two bytes more
    ],
)
def test_blocks(compressed, plain):
    assert snappy.decompress(compressed, 1 << 20) == plain


@pytest.mark.parametrize(
    "damaged",
    [
        b"", b"\xff", b"\x80\x80\x80\x80\x80\x00", b"\x03", b"\x03\x08ab", b"\x02\x08abc", b"\x04\x08abc",
        b"\x04\x00a\x01", b"\x04\x00a\x05\x00", b"\x04\x00a\x05\x02", b"\x05\x00a\x0e\x01", b"\x10\xf4\x00",
        b"\x80\x80\x80\x08\x00a",
    ],
)  # fmt: skip
def test_damaged_blocks_are_refused(damaged):
    with pytest.raises(ValueError, match="a block"):
        snappy.decompress(damaged, 1 << 20)


_PROGRAM = '''
import os, struct, sys
import numpy as np
import tf1sessions as t1
from tf1sessions.errors import ModelFileError
tf = t1.tf1

# A model as TensorFlow Serving's half_plus_two is: its main operation sets a variable that its saver does not know.
with tf.Graph().as_default(), tf.Session() as session:
    a, b = tf.Variable(0.5, name="a"), tf.Variable(2.0, name="b")
    name = tf.Variable("first", name="name", collections=[], trainable=False)
    x = tf.placeholder(tf.float32, [None, 1], name="x")
    y = tf.add(a * x, b, name="y")
    session.run(tf.global_variables_initializer())
    info, signature = tf.saved_model.build_tensor_info, tf.saved_model.build_signature_def
    builder = tf.saved_model.Builder("model")
    builder.add_meta_graph_and_variables(
        session, ["serve"], {"serving_default": signature({"x": info(x)}, {"y": info(y)}, "tensorflow/serving/predict"),
                             "name": signature({"x": info(x)}, {"name": info(name.read_value())}, "")},
        main_op=tf.group(tf.assign(name, "second")))
    builder.save()

def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

def number(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + number(value >> 7)

def read_number(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift; shift += 7; at += 1
        if data[at - 1] < 128: return value, at

def compressed(block):
    """Literals, and one copy: of the byte before the last."""
    rest = block[4:]
    assert block[:4].count(block[0]) != 4
    pieces = [rest[at : at + 60] for at in range(0, len(rest), 60)]
    return number(len(block)) + bytes([3 << 2]) + block[:4] + b"".join(bytes([len(p) - 1 << 2]) + p for p in pieces)

path = "model/variables/variables.index"
index = open(path, "rb").read()
footer = index[-48:]
_, at = read_number(footer, 0); _, at = read_number(footer, at)
where, at = read_number(footer, at); size, at = read_number(footer, at)
handles = index[where : where + size]
_, at = read_number(handles, 0); rest, at = read_number(handles, at); length, at = read_number(handles, at)
key = handles[at : at + rest]; start, end = read_number(handles, at + rest); count, _ = read_number(handles, end)

def written(block, kind):
    data = compressed(block) if kind else block
    return data + bytes([kind]) + crc32c(data + bytes([kind])), len(data)

def whole(change=lambda block: block):
    first, first_size = written(index[start : start + count], 1)
    first = change(first)
    handle = number(0) + number(first_size)
    entry = number(0) + number(len(key)) + number(len(handle)) + key + handle
    second, second_size = written(entry + struct.pack("<II", 0, 1), 0)
    meta, meta_size = written(struct.pack("<II", 0, 1), 0)
    handles = number(len(first)) + number(meta_size) + number(len(first) + len(meta)) + number(second_size)
    return first + meta + second + handles.ljust(40, b"\\0") + footer[40:]

results = {}
with open(path, "wb") as file: file.write(whole())
results["tensorflow"] = float(tf.train.NewCheckpointReader("model/variables/variables").get_tensor("a"))
with t1.load("model") as model:
    results["loaded"] = model(x=[[1.0], [5.0]])["y"].tolist()
    results["given"] = bytes(model.signatures["name"](x=[[1.0]])["name"]).decode()
changes = {"cut": lambda block: b"\\xff" * 9 + block[9:], "unknown": lambda block: block[:-5] + b"\\2" + block[-4:]}
for kind, change in changes.items():
    with open(path, "wb") as file: file.write(whole(change))
    try:
        t1.load("model").close()
    except ModelFileError as error:
        results[kind] = str(error)
report(**results)
'''


@pytest.mark.timeout(120)
def test_a_model_with_a_compressed_index(run_python):
    run: PythonRun = run_python(_PROGRAM)
    found = run.results
    assert found["tensorflow"] == 0.5, "TensorFlow reads what this test has written"
    assert found["loaded"] == [[2.5], [4.5]]
    assert found["given"] == "second"
    assert "it is compressed, and a block" in found["cut"]
    assert "compressed in a way that TensorFlow does not read" in found["unknown"]
