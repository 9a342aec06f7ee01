"""The page of ``inspect --html``: it stands by itself, nothing in a model can break out of it, and its layout holds."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import ROOT, PythonRun

MODELS = ROOT / "tests" / "golden" / "data" / "models"
NASTY = "a/</script><img src=x onerror=alert(1)>\u2028&quot;"

CODE = '''
import sys
import tensorflow.compat.v1 as tf
from tf1sessions.models import diagram
from tf1sessions.models.files import Artifact, read
from tf1sessions.models.inspection import inspect

def page(name, artifact):
    report(**{name: diagram.page(artifact, inspect(artifact))})

page("training", read(sys.argv[1]))
page("empty", Artifact("/empty", "graph", tf.GraphDef()))

nasty = tf.GraphDef()
nasty.node.add(name=sys.argv[2], op="NoOp")
page("nasty", Artifact("/" + sys.argv[2], "graph", nasty))

def large(name):
    """6,000 nodes; ``name`` says how they are called."""
    made = tf.GraphDef()
    for k in range(6000):
        node = made.node.add(name=name(k), op="Relu" if k else "Placeholder")
        node.attr["T" if k else "dtype"].type = tf.float32.as_datatype_enum
        if k:
            node.input.append(name(k - 1))
    return Artifact("/large", "graph", made)
page("flat", large(lambda k: f"node_{k}"))
page("scopes", large(lambda k: f"net/layer_{k // 50}/part_{k % 50 // 10}/node_{k % 10}"))

with tf.Graph().as_default() as graph:
    tf.disable_control_flow_v2()
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    def body(i, y):
        return i + 1, tf.reshape(tf.py_func(lambda a: a, [y], tf.float32), [-1, 2])
    _, y = tf.while_loop(lambda i, y: i < 3, body, [0, x])
    tf.identity(y, name="y")
page("loop", Artifact("/loop", "graph", graph.as_graph_def()))
'''


@pytest.fixture(scope="module")
def pages(run_python: Callable[..., PythonRun]) -> dict[str, str]:
    done: dict[str, str] = run_python(CODE, str(MODELS / "training"), NASTY, deadline=120).results
    return done


def data_of(page: str) -> dict[str, Any]:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, flags=re.DOTALL)
    data: dict[str, Any] = json.loads(text)
    return data


def test_a_page_needs_nothing_else(pages: dict[str, str]) -> None:
    for page in pages.values():
        frame = page.replace("http://www.w3.org/2000/svg", "")  # the name of SVG's elements, fetched by nothing
        assert not re.search(r"https?:|//[a-z]|\bsrc=|<link|@import|url\((?!#)|fetch\(|XMLHttp|import\(", _code(frame))
        assert "default-src 'none'" in page
        assert "@DATA@" not in page


def _code(page: str) -> str:
    """A page without its data."""
    return re.sub(r'(id="data">).*?</script>', r"\1</script>", page, flags=re.DOTALL)


def test_the_data_is_that_of_the_model(pages: dict[str, str]) -> None:
    data = data_of(pages["training"])
    count = len(data["names"])
    assert count == data["report"]["nodes"]
    for name in ("ops", "kinds", "inputs", "controls", "shapes", "bytes", "flops", "risks", "needed", "attrs"):
        assert len(data[name]) == count, name
    conv = data["names"].index("conv/Conv2D")
    assert data["opNames"][data["ops"][conv]] == "Conv2D"
    assert data["kindNames"][data["kinds"][conv]] == "product"
    assert [data["names"][source] for source in data["inputs"][conv][::2]] == ["images", "conv/kernel/read"]
    assert [data["shapeTexts"][each] for each in data["shapes"][conv]] == ["float32 [1, 4, 4, 2]"]
    assert data["flops"][conv] == 2 * (4 * 4 * 2) * 9
    assert "padding = SAME" in data["attrs"][conv]
    kinds = {name: data["kindNames"][kind] for name, kind in zip(data["names"], data["kinds"], strict=True)}
    assert kinds["images"] == "input"
    assert kinds["probabilities"] == "output"
    assert kinds["conv/kernel"] == "variable"
    assert sum(data["needed"]) == data["report"]["needed_nodes"]


def test_risky_nodes_are_marked(pages: dict[str, str]) -> None:
    data = data_of(pages["loop"])
    marked = {data["opNames"][op]: why for op, why in zip(data["ops"], data["risks"], strict=True) if why}
    assert marked == {"PyFunc": "calls a Python function of the process"}


def test_no_name_ends_the_data(pages: dict[str, str]) -> None:
    page = pages["nasty"]
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert data_of(page)["names"] == [NASTY]


@pytest.mark.parametrize("name", ["training", "flat", "scopes", "loop", "nasty", "empty"])
def test_layout(name: str, pages: dict[str, str], tmp_path: Path) -> None:
    if (node := shutil.which("node")) is None:
        pytest.skip("the page's script is run by node, which is not here")
    (code,) = re.findall(r'<script id="code">(.*?)</script>', pages[name], flags=re.DOTALL)
    (tmp_path / "code.js").write_text(code, "utf-8")
    (tmp_path / "data.json").write_text(json.dumps(data_of(pages[name])), "utf-8")
    done = subprocess.run(
        [
            node,
            str(Path(__file__).with_name("check_diagram.js")),
            str(tmp_path / "code.js"),
            str(tmp_path / "data.json"),
        ],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout)
    assert reported["problems"] == []
    assert reported["most"] <= 60
    assert reported["closed"] <= 60
    assert (reported["back"] > 0) == (name == "loop")
    if name in ("flat", "scopes"):
        assert reported["nodes"] == 6000
        assert reported["deepest"] >= 3
        assert reported["edges"] >= 5999
