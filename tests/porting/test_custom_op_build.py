"""``tf1sessions build-op`` with a compiler: old sources become a library, and programs load it. One compile for all."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import PythonRun

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not any(map(shutil.which, ("g++", "c++", "clang++"))), reason="there is no C++ compiler"),
]

HEADER = """
#ifndef COUNTED_H_
#define COUNTED_H_
#include "tensorflow/core/platform/default/logging.h"
#include "tensorflow/core/platform/mutex.h"
struct Counted {
  tensorflow::mutex mu;
  tensorflow::int64 calls GUARDED_BY(mu) = 0;
};
#endif
"""

SOURCE = """
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "third_party/eigen3/unsupported/Eigen/CXX11/Tensor"
#include "tensorflow/core/kernels/bounds_check.h"
#include "../include/counted.h"

using namespace tensorflow;

REGISTER_OP("OldScale")
    .Input("x: float")
    .Output("y: float")
    .Output("calls: int64")
    .Attr("factor: float = 0.5")
    .SetIsStateful()
    .SetShapeFn([](shape_inference::InferenceContext* c) {
      c->set_output(0, c->input(0));
      c->set_output(1, c->Scalar());
      return Status::OK();
    });
REGISTER_OP("OldGreeting").Input("names: string").Output("texts: string").SetShapeFn(
    [](shape_inference::InferenceContext* c) { c->set_output(0, c->input(0)); return ::tensorflow::Status::OK(); });

class OldScaleOp : public OpKernel {
 public:
  explicit OldScaleOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("factor", &factor_));
    Tensor* kept = nullptr;
    OP_REQUIRES_OK(c, c->allocate_persistent(DT_FLOAT, TensorShape({1}),
                                             &kept_, &kept));
    kept->flat<float>()(0) = factor_;
  }
  void Compute(OpKernelContext* c) override {
    OP_REQUIRES_OK(c, Check(c->input(0)));
    Tensor* y = nullptr;
    Tensor* calls = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, c->input(0).shape(), &y));
    OP_REQUIRES_OK(c, c->allocate_output(1, TensorShape({}), &calls));
    y->flat<float>() = c->input(0).flat<float>() * kept_.AccessTensor(c)->flat<float>()(0);
    mutex_lock lock(counted_.mu);
    calls->scalar<long long>()() = ++counted_.calls;
  }

 private:
  Status Check(const Tensor& x) {
    Status s = x.dims() > 3 ? Status(error::INVALID_ARGUMENT, "too many dimensions") : Status::OK();
    if (!s.ok()) return errors::InvalidArgument(s.error_message(), ": ", x.dims());
    return s;
  }
  float factor_;
  PersistentTensor kept_;
  Counted counted_;
};
REGISTER_KERNEL_BUILDER(Name("OldScale").Device(DEVICE_CPU), OldScaleOp);

class OldGreetingOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    auto names = c->input(0).flat<string>();
    Tensor* texts = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, c->input(0).shape(), &texts));
    for (long long i = 0; i < names.size(); ++i) {
      const string& name = names(i);
      texts->flat<string>()(i) = "hello " + name;
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("OldGreeting").Device(DEVICE_CPU), OldGreetingOp);
"""

#: A program of TensorFlow 1.
PROGRAM = """
import json, sys
import tensorflow as tf
from tensorflow.python.framework import ops

found = {}
module = tf.contrib.util.loader.load_op_library(sys.argv[1])
found["names"] = [hasattr(module, name) for name in ("old_scale", "old_greeting", "_ops")]
found["operations"] = sorted(op.name for op in module.OP_LIST.op)

@ops.RegisterGradient("OldScale")
def _gradient(op, grad, _):
    return [grad * op.get_attr("factor")]

x = tf.placeholder(tf.float32, [2, None])
y, calls = module.old_scale(x, factor=3.0, name="scaled")
found["shape"], found["name"] = y.shape.as_list(), y.op.name
with tf.Session() as session:
    feed = {x: [[1.0, 2.0], [3.0, 4.0]]}
    found["values"] = session.run([y, tf.gradients(y, x)[0]], feed)
    found["values"] = [value.tolist() for value in found["values"]]
    found["calls"] = [int(session.run(calls, feed)) for _ in range(2)]
    found["texts"] = [text.decode() for text in session.run(module.old_greeting(["a", "b" * 50]))]
    try:
        session.run(module.old_scale(tf.zeros([1, 1, 1, 1]))[0])
    except tf.errors.InvalidArgumentError as error:
        found["error"] = "too many dimensions: 4" in error.message
json.dump(found, open(sys.argv[2], "w"))
"""

LIBRARY = """
import sys
import tf1sessions as t1
tf = t1.tf1
module = tf.load_op_library(sys.argv[1])
with t1.GraphSession() as gs:
    x = tf.placeholder(tf.float32, [None])
    call = gs.compile(feeds=[x], fetches=module.old_scale(x)[0])
    report(values=call([2.0, 4.0]).tolist())
"""


def build_op(*args: str, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tf1sessions", "build-op", *args],
        capture_output=True, text=True, timeout=500, cwd=cwd, env={**os.environ, **(env or {})},
    )  # fmt: skip


def test_old_sources_become_a_library(tmp_path: Path, run_python: Callable[..., PythonRun]) -> None:
    for name, text in (("src/old.cc", SOURCE), ("include/counted.h", HEADER)):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "temporary").mkdir()
    env = {"TMPDIR": str(tmp_path / "temporary")}
    done = build_op("src/old.cc", "-o", "old.so", "--diff", "--keep-sources", "kept", cwd=tmp_path, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("the rewritten sources are in kept\nold.so: 2 functions: old_greeting, old_scale\n")
    lines = ",".join(str(number) for number, line in enumerate(SOURCE.split("\n"), 1) if "Status::OK()" in line)
    assert f"Status::OK() → absl::OkStatus()  (src/old.cc:{lines})\n" in done.stdout
    assert "+  tensorflow::int64 calls TF_GUARDED_BY(mu) = 0;" in done.stdout
    assert (tmp_path / "src/old.cc").read_text("utf-8") == SOURCE
    assert sorted(os.listdir(tmp_path)) == ["include", "kept", "old.so", "src", "temporary"]
    assert os.listdir(tmp_path / "temporary") == []
    assert "PersistentTensor" not in (tmp_path / "kept/src/old.cc").read_text("utf-8")

    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "tf1sessions", "run", "program.py", "--", "./old.so", "found.json"],
        capture_output=True, text=True, timeout=200, cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert json.loads((tmp_path / "found.json").read_text("utf-8")) == {
        "names": [True, True, True],
        "operations": ["OldGreeting", "OldScale"],
        "shape": [2, None],
        "name": "scaled",
        "values": [[[3.0, 6.0], [9.0, 12.0]], [[3.0, 3.0], [3.0, 3.0]]],
        "calls": [2, 3],
        "texts": ["hello a", "hello " + "b" * 50],
        "error": True,
    }
    assert run_python(LIBRARY, str(tmp_path / "old.so")).results == {"values": [1.0, 2.0]}


def test_failure_names_the_line_and_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "bad.cc").write_text(
        "#include <string>\n\nint f() {\n  return undeclared;\n}\nint g() { return no; }\n"
    )
    (tmp_path / "out.so").write_text("the old one")
    (tmp_path / "temporary").mkdir()
    env = {"TMPDIR": str(tmp_path / "temporary")}
    done = build_op("bad.cc", "-o", "out.so", cwd=tmp_path, env=env)
    assert done.returncode == 1 and done.stdout == "nothing to rewrite\n"
    assert done.stderr.startswith(f"Error: {tmp_path}/bad.cc:4: ") and "undeclared" in done.stderr
    assert "1 more" in done.stderr and "--verbose" in done.stderr

    (tmp_path / "bad.cc").write_text("int missing();\nint f() { return missing(); }\n")  # compiles, and does not load
    done = build_op("bad.cc", "-o", "out.so", cwd=tmp_path, env=env)
    assert done.returncode == 1
    assert "nothing defines missing()" in done.stderr and "Name the source that defines it" in done.stderr

    assert (tmp_path / "out.so").read_text() == "the old one"
    assert sorted(os.listdir(tmp_path)) == ["bad.cc", "out.so", "temporary"]
    assert os.listdir(tmp_path / "temporary") == []
