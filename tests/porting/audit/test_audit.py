"""The audit of files: what each kind of place and construct is, near-misses, steps, order, and bad input."""

from __future__ import annotations

import datetime
import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support import without_root

from tf1sessions.cli.main import cli
from tf1sessions.porting.audit import sarif, shares
from tf1sessions.porting.audit import survey as audit_survey
from tf1sessions.porting.audit.constructs import CONSTRUCTS
from tf1sessions.porting.audit.html_report import page
from tf1sessions.porting.audit.order import imports_first
from tf1sessions.porting.audit.record import RULES, STEPS, STEPS_BY_NAMES, Audit, FileAudit
from tf1sessions.porting.audit.survey import survey

TF = "import tensorflow as tf\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audited(text: str | bytes, name: str = "a.py") -> FileAudit:
    """The audit of one file in the current folder."""
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    (file,) = survey([name]).files
    return file


# -- places -----------------------------------------------------------------------------------------------------------

BY_HAND = {
    "gone": (TF + "tf.contrib.ffmpeg.decode_audio()", "gone-symbol", None),
    "gone, imported": ("from tensorflow.contrib.ffmpeg import decode_audio\n", "gone-symbol", None),
    "gone, by an alias": ("import tensorflow.contrib.ffmpeg as f\nf.decode_audio()", "gone-symbol", None),
    "custom operation": (TF + "m = tf.load_op_library('zero_out.so')", "custom-operation", None),
    "NumPy": (TF + "import scipy.misc\nscipy.misc.imread('a.png')\n", "old-library", "run"),
}
NOT_BY_HAND = {
    "there": TF + "tf.contrib.layers.conv2d(x, 3, 3)\ntf.layers.dense(x, 3)\ntf.log(x)\n",
    "of the program": "class contrib:\n    ffmpeg = None\ntf = contrib()\ntf.contrib.ffmpeg.decode_audio()\n",
    "tried": TF + "try:\n    decode = tf.contrib.ffmpeg.decode_audio\nexcept AttributeError:\n    decode = None\n",
    "asked for": TF + "if 'concat_v2' in dir(tf):\n    concat = tf.concat_v2\nelse:\n    concat = tf.concat\n",
    "imported in try": "try:\n    from tensorflow.contrib import ffmpeg\nexcept ImportError:\n    pass\n",
    "moved": "from tensorflow.python.framework import ops\nops.Tensor\n",
    "of TensorFlow 2": TF + "tf.random.set_seed(3)\ntf.optimizers.Adam()\n",
    "in a text": "text = 'tf.contrib.ffmpeg.decode_audio()'  # tf.contrib.ffmpeg\n",
    "before 1.0": TF + "tf.mul(1, 2)\ntf.concat(1, [a, b])\n",
}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", BY_HAND)
def test_what_is_left_by_hand(name: str) -> None:
    text, rule, reach = BY_HAND[name]
    file = audited(text)
    places = [place for place in file.places if place.by_hand]
    assert {place.rule for place in places} == {rule} and file.by_hand == len(places)
    assert places[-1].line.line == len(text.splitlines())
    assert places[-1].fix or rule == "old-library"
    assert file.reach == reach


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", NOT_BY_HAND)
def test_what_is_not(name: str) -> None:
    file = audited(NOT_BY_HAND[name])
    assert [place for place in file.places if place.by_hand] == []
    assert file.reach == "clean"


@pytest.mark.usefixtures("here")
def test_old_protocol_buffers_go_as_far_as_python_3() -> None:
    text = (
        "from google.protobuf import descriptor as _descriptor\nDESCRIPTOR = _descriptor.FileDescriptor(\n  name='a')\n"
    )
    assert [place.rule for place in audited(text, "a_pb2.py").places] == ["old-protocol-buffer"]
    assert audited(text, "a_pb2.py").reach == "py3"
    assert audited(text, "a_pb3.py").places == ()


@pytest.mark.usefixtures("here")
def test_names_that_are_unknown_are_good_to_know() -> None:
    file = audited(TF + "tf.optimizers.Adam()\ntf.__version__\n")
    assert [(place.rule, place.symbol) for place in file.places] == [("unknown-symbol", "tf.optimizers.Adam")]
    assert file.uses == {"unknown": 1}


# -- constructs -------------------------------------------------------------------------------------------------------

LOOP = "sess = tf.Session()\nx = tf.placeholder(tf.float32)\nfor i in range(3):\n    "
USED = {
    "session": "with tf.Session() as s: pass",
    "placeholder": "tf.placeholder(tf.float32)",
    "feeds in a loop": LOOP + "sess.run(x, feed_dict={x: i})",
    "graph grows in a loop": LOOP + "sess.run(x + tf.constant(1.))",
    "collection": "tf.get_collection(tf.GraphKeys.UPDATE_OPS)",
    "shared variables": "tf.get_variable_scope().reuse_variables()",
    "control flow": "tf.while_loop(c, b, [0])",
    "queue": "tf.train.start_queue_runners(sess)",
    "py_func": "tf.py_func(f, [], tf.float32)",
    "saver": "tf.train.Saver().restore(s, 'a')",
    "thread": "import threading\nthreading.Thread(target=print).start()",
    "custom operation": "tf.load_op_library('a.so')",
}
NOT_USED = {
    "session": "isinstance(s, tf.Session)",
    "placeholder": "placeholder(tf.float32)",
    "feeds in a loop": "sess = tf.Session()\nfor i in x:\n    pass\nsess.run(x, feed_dict={x: i})",
    "graph grows in a loop": "sess = tf.Session()\nfor i in x:\n    y = tf.constant(i)\nsess.run(y)",
    "collection": "get_collection('a')",
    "shared variables": "with tf.variable_scope('a'): pass",
    "control flow": "cond(a, b, c)",
    "queue": "import queue\nqueue.Queue()",
    "py_func": "tf.data.Dataset",
    "saver": "tf.train.latest_checkpoint('a')",
    "thread": "import threading\nthreading.Lock()",
    "custom operation": "import ctypes\nctypes.CDLL('a.so')",
}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("kind", CONSTRUCTS)
def test_constructs(kind: str) -> None:
    found = audited(TF + USED[kind] + "\n").constructs
    assert kind in found and found[kind][-1].line == (TF + USED[kind]).count("\n") + 1
    assert kind not in audited(TF + NOT_USED[kind] + "\n").constructs


@pytest.mark.usefixtures("here")
def test_only_the_innermost_loop_around_operations_counts() -> None:
    text = (
        TF
        + "sess = tf.Session()\nfor run in range(3):\n    y = tf.constant(run)\n    for i in x:\n        sess.run(y)\n"
    )
    assert "graph grows in a loop" in audited(text).constructs
    text = TF + "sess = tf.Session()\nfor e in x:\n    for a in b:\n        y = tf.constant(a)\nsess.run(y)\n"
    assert "graph grows in a loop" not in audited(text).constructs


# -- where files stand, and how far they go ---------------------------------------------------------------------------


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("text", "stands"),
    [
        (TF + "tf.Session()\n", "tensorflow 1"),
        (TF + "tf.layers.dense(x, 3)\n", "tensorflow 1"),
        ("import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\ntf.Session()\ntf.log(x)\n", "v1"),
        (TF + "tf.compat.v1.disable_v2_behavior()\ntf.compat.v1.Session()\ntf.math.log(x)\n", "clean"),
        (TF + "@tf.function\ndef f(x): return tf.nn.relu(x)\n", "clean"),
        (TF, "clean"),
        ("from tensorflow.contrib import slim\nslim.conv2d(x, 3, 3)\n", "tensorflow 1"),
        ("from tensorflow import placeholder\n", "tensorflow 1"),
        ("import numpy as np\nnp.zeros(3)\n", "no tensorflow"),
        ("print 'a'\n", "python 2"),
        ("for i in xrange(3): pass\n", "python 2"),
        ("try:\n    xrange\nexcept NameError:\n    xrange = range\n", "no tensorflow"),
        ("print('a'\n", "unread"),
    ],
)
def test_where_a_file_stands(text: str, stands: str) -> None:
    assert audited(text).stands == stands


@pytest.mark.usefixtures("here")
def test_python_2_is_looked_at_as_it_will_be() -> None:
    file = audited(TF + "print 'a', tf.log(x)\n")
    assert (file.reach, file.uses, file.by_hand) == ("clean", {"renamed": 1}, 0)
    assert [(place.rule, place.line.line, place.by_hand) for place in file.places] == [("python-2", 2, False)]
    file = audited(TF + "print 'a', tf.contrib.ffmpeg.encode_audio(x, x)\n")
    assert (file.reach, file.by_hand) == (None, 1)
    file = audited(TF + "def f(a, b):\n    return len(a) / b\nprint 'a'\n")
    assert [(place.line.line, place.blocks) for place in file.places if place.by_hand] == [(3, "py3")]
    assert file.reach is None


def test_a_file_goes_no_further_than_what_it_imports(here: Path) -> None:
    (here / "package").mkdir()
    (here / "package/__init__.py").write_text("")
    (here / "package/model.py").write_text(TF + "from . import layers\ntf.Session()\n")
    (here / "package/layers.py").write_text(TF + "tf.contrib.ffmpeg.encode_audio(1, 2)\n")
    (here / "train.py").write_text(TF + "from package.model import build\ntf.Session()\n")
    (here / "other.py").write_text(TF + "tf.Session()\n")
    found = survey(["."])
    by_name = {file.file: file for file in found.files}
    train = by_name["train.py"]
    assert (train.reach, train.reach_with_imports, train.waits_for) == ("clean", None, "package/layers.py")
    assert train.imports == ("package/model.py",)
    assert (by_name["other.py"].reach_with_imports, by_name["other.py"].waits_for) == ("clean", None)
    names = list(by_name)
    assert names.index("package/layers.py") < names.index("package/model.py") < names.index("train.py")
    assert found.reaches() == {"clean": 1, "v1": 0, "py3": 0, "run": 0, "none": 3}
    assert found.by_hand == 1


def test_circles_are_settled(here: Path) -> None:
    (here / "a.py").write_text(TF + "import b\ntf.Session()\n")
    (here / "b.py").write_text(TF + "import c\ntf.Session()\n")
    (here / "c.py").write_text(TF + "import a\ntf.contrib.ffmpeg.encode_audio(1, 2)\n")
    assert [file.reach_with_imports for file in survey(["."]).files] == [None] * 3


@pytest.mark.parametrize(
    ("imports", "order"),
    [
        ({"a": ["b"], "b": ["c"], "c": []}, "cba"),
        ({"a": [], "b": [], "c": []}, "abc"),
        ({"a": ["b", "c"], "b": ["c"], "c": []}, "cba"),
        ({"a": ["b"], "b": ["c"], "c": ["a"]}, "cba"),
        ({"a": ["a"]}, "a"),
        ({}, ""),
    ],
)
def test_imports_come_first(imports: dict[str, list[str]], order: str) -> None:
    assert "".join(imports_first(imports)) == order


def test_a_deep_chain_of_imports_is_no_recursion() -> None:
    imports = {number: [number + 1] for number in range(5000)} | {5000: []}
    assert imports_first(imports) == list(range(5000, -1, -1))


# -- bad input --------------------------------------------------------------------------------------------------------

USE = b"import tensorflow as tf\ntf.contrib.ffmpeg.encode_audio(1, 2)\n"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + USE,
        USE.replace(b"\n", b"\r\n"),
        USE.replace(b"\n", b"\r"),
        USE.rstrip(),
        b"\x0c" + USE,
        b"# -*- coding: latin-1 -*-\nx = '\xe9'\n" + USE,
        b"if x:\n\tpass\n" + USE,
        b"match x:\n    case 1:\n        pass\n" + USE,
    ],
    ids=["bom", "crlf", "cr", "no newline", "form feed", "latin-1", "tabs", "newer syntax"],
)
def test_any_form_of_text_is_read(data: bytes) -> None:
    file = audited(data)
    assert [place.symbol for place in file.places] == ["tf.contrib.ffmpeg.encode_audio"]
    assert file.places[0].line.line == len(data.decode("latin-1").replace("\x0c", "").splitlines())


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"x = '\xe9'\n" + USE, "not-python"),
        (b"\x00\x01\x7fELF\x00", "not-python"),
        (b"def f(:\n" + USE, "not-python"),
        (b"# coding: no-such-encoding\n" + USE, "not-python"),
        (b"x = " + b"(" * 5000 + b"\n", "not-python"),
        (b"{ this is no notebook", "not-python"),
        (b"print 'a'\ndef f(:\n" + USE, "not-python"),
    ],
    ids=["latin-1", "binary", "syntax", "encoding", "nesting", "notebook", "neither Python"],
)
def test_what_is_no_python_is_reported(data: bytes, rule: str) -> None:
    file = audited(data, "a.ipynb" if data[:1] == b"{" else "a.py")
    assert [(place.rule, place.by_hand) for place in file.places] == [(rule, True)]
    assert (file.stands, file.reach) == ("unread", None)


@pytest.mark.usefixtures("here")
def test_an_empty_file_is_nothing() -> None:
    assert audited("") == FileAudit("a.py", 0, "no tensorflow", "clean", "clean")


def test_a_folder_with_all_of_it(here: Path) -> None:
    (here / "good.py").write_bytes(USE)
    (here / "empty.py").write_bytes(b"")
    (here / "binary.py").write_bytes(b"\x00")
    (here / "inner").mkdir()
    (here / "inner/loop").symlink_to(here)
    (here / "loop.py").symlink_to("loop.py")
    (here / "gone.py").symlink_to("no_such_file")
    (here / ".hidden").mkdir()
    (here / ".hidden/other.py").write_bytes(USE)
    found = survey(["."])
    assert {file.file: [place.rule for place in file.places] for file in found.files} == {
        "good.py": ["gone-symbol"], "empty.py": [], "binary.py": ["not-python"], "loop.py": ["unreadable"],
        "gone.py": ["unreadable"],
    }  # fmt: skip
    assert found.incomplete


def test_cells_of_notebooks_are_named(here: Path) -> None:
    cells = [
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import tensorflow as tf\n"], "metadata": {}},
        {"cell_type": "markdown", "source": ["tf.contrib.ffmpeg.encode_audio(1, 2)"], "metadata": {}},
        {"cell_type": "code", "source": ["x = 1\n", "tf.contrib.ffmpeg.encode_audio(1, 2)"], "metadata": {}},
    ]
    notebook = {"cells": cells, "nbformat": 4, "nbformat_minor": 2, "metadata": {}}
    (here / "a.ipynb").write_text(json.dumps(notebook))
    found = survey(["a.ipynb"])
    (place,) = found.files[0].places
    assert str(place.line) == "a.ipynb, cell 2, line 2"
    (result,) = sarif.report(found, "1")["runs"][0]["results"]
    assert result["properties"] == {"cell": 2, "line": 2}
    assert result["message"]["text"].startswith("Cell 2, line 2: tf.contrib.ffmpeg.encode_audio is gone.")


@pytest.mark.parametrize(
    ("cells", "stands", "reach", "places"),
    [
        (["print 'a', tf.log(1.)"], "python 2", "clean", {("python-2", 2): False}),
        (["tf.nn.( ... )"], "tensorflow 1", "run", {("not-python", 2): True}),
        (["tf.nn.(", "print 'a'"], "python 2", None, {("python-2", 2): True, ("python-2", 3): False}),
        (["%%bash\nls -l"], "tensorflow 1", "clean", {}),
        (["%%bash\nls -l", "xrange(3)"], "python 2", "clean", {("python-2", 3): False}),
    ],
)
def test_cells_that_are_not_python_three(here: Path, cells: list[str], stands: str, reach: str, places: object) -> None:
    cells = ["import tensorflow as tf\nx = tf.placeholder(tf.float32)", *cells]
    found = [{"cell_type": "code", "source": cell, "metadata": {}} for cell in cells]
    (here / "a.ipynb").write_text(json.dumps({"cells": found, "nbformat": 4, "nbformat_minor": 2, "metadata": {}}))
    (file,) = survey(["a.ipynb"]).files
    assert (file.stands, file.reach) == (stands, reach)
    assert {(place.rule, place.line.cell): place.by_hand for place in file.places} == places


# -- the command and the formats --------------------------------------------------------------------------------------


def run(*args: str) -> Any:
    return CliRunner().invoke(cli, ["audit", *args], prog_name="tf1sessions")


@pytest.fixture
def tree(here: Path) -> Path:
    (here / "model.py").write_text(TF + "tf.contrib.ffmpeg.encode_audio(1, 2)\ntf.layers.dense(x, 3)\n")
    (here / "train \x1b[31m é.py").write_text(TF + "import model\nsess = tf.Session()\n")
    (here / "old.py").write_text("print 'a'\n")
    return here


@pytest.mark.usefixtures("here")
def test_exit_codes() -> None:
    Path("a.py").write_text(TF + "tf.Session()\n")
    assert run("a.py").exit_code == 0
    Path("b.py").write_text(TF + "tf.contrib.ffmpeg.encode_audio(1, 2)\n")
    assert run("a.py", "b.py").exit_code == 1
    Path("c.py").symlink_to("c.py")
    assert run(".").exit_code == 2
    missing = run("no_such_file.py")
    assert missing.exit_code == 2 and "There is no file or folder no_such_file.py" in missing.output
    assert run().exit_code == 2
    assert run("a.py", "--json", "--sarif").exit_code == 2
    assert run("a.py", "--html", "no_such_folder/page.html").exit_code == 2


def test_a_page_is_written_over_no_file_of_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("src").mkdir()
    for name in ("a.py", "src/b.py", "src/index.html"):
        Path(name).write_text("import tensorflow as tf\n")
    Path("link.html").symlink_to("a.py")
    for arguments in (("a.py", "a.py"), ("a.py", "link.html"), ("src", "src/b.py"), (".", "src/index.html")):
        done = run(arguments[0], "--html", arguments[1])
        assert done.exit_code == 2 and "Give another name" in done.output, arguments
    assert {path.read_text() for path in tmp_path.rglob("*.*") if path.is_file()} == {"import tensorflow as tf\n"}
    assert (
        run("src", "--html", "src/audit.html").exit_code == 0 and run("src", "--html", "src/audit.html").exit_code == 0
    )
    assert "<title>tf1sessions audit" in Path("src/audit.html").read_text("utf-8")


@pytest.mark.usefixtures("tree")
def test_text() -> None:
    done = run(".")
    assert done.exit_code == 1
    assert "By hand: 1 place in 1 file" in done.stdout
    assert "tf.contrib.ffmpeg.encode_audio is gone: Use tf.audio.decode_wav" in done.stdout
    assert "model.py:2" in done.stdout and "waits for model.py" in done.stdout
    assert "\x1b" not in done.stdout
    assert run("old.py").stdout.count("Nothing is left to do by hand.") == 1


@pytest.mark.usefixtures("tree")
def test_json_has_what_the_page_says() -> None:
    found = json.loads(run(".", "--json").stdout)
    assert list(found) == ["by_hand", "lines", "reaches", "verdicts", "constructs", "symbols", "files"]
    assert found["verdicts"] == {"v1": 2, "gone": 1}
    assert found["reaches"] == {"clean": 1, "v1": 0, "py3": 0, "run": 0, "none": 2}
    by_name = {file["file"]: file for file in found["files"]}
    assert by_name["model.py"]["by_hand"] == 1
    (place,) = by_name["model.py"]["places"]
    assert place["place"] == {"file": "model.py", "line": 2, "cell": None}
    assert (place["blocks"], place["symbol"]) == ("run", "tf.contrib.ffmpeg.encode_audio")
    names = {symbol["name"] for symbol in found["symbols"]}
    assert names == {"tf.contrib.ffmpeg.encode_audio", "tf.layers.dense", "tf.Session"}


@pytest.mark.usefixtures("tree")
def test_sarif() -> None:
    found = json.loads(run(".", "--sarif").stdout)
    assert (found["version"], found["$schema"].rpartition("/")[2]) == ("2.1.0", "sarif-schema-2.1.0.json")
    (one,) = found["runs"]
    rules = [rule["id"] for rule in one["tool"]["driver"]["rules"]]
    assert rules == list(RULES)
    assert [rules[result["ruleIndex"]] for result in one["results"]] == [each["ruleId"] for each in one["results"]]
    levels = {result["ruleId"]: result["level"] for result in one["results"]}
    assert levels == {"gone-symbol": "warning", "python-2": "note"}
    region = one["results"][0]["locations"][0]["physicalLocation"]
    assert region == {"artifactLocation": {"uri": "model.py"}, "region": {"startLine": 2}}


def test_names_of_files_are_uris(here: Path) -> None:
    name = "a b é%#?.py"
    (here / name).write_bytes(USE)
    (result,) = sarif.report(survey([name]), "1")["runs"][0]["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "a%20b%20%C3%A9%25%23%3F.py"


@pytest.mark.usefixtures("tree")
def test_page_is_one_file_that_no_name_can_break() -> None:
    Path("</script><b>.py".replace("/", "\u2215")).write_bytes(USE)
    Path("x.py").write_text(TF + "tf.no_such_name['</script>']\n")
    assert run(".", "--html", "out.html").exit_code == 1
    text = Path("out.html").read_text("utf-8")
    assert text.count("</script>") == 2 and "@DATA@" not in text and "http:" not in text and "https:" not in text
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    assert data["title"] == Path.cwd().name and data["date"] == datetime.date.today().isoformat()
    assert data["by_hand"] == 2 and dict(data["numbers"])["files"] == 5
    assert {row[0] for row in data["files"]} >= {"model.py", "old.py"}
    assert page(Audit((), ()), []).count("@DATA@") == 0


_RUN = "with tf.Session() as sess:\n    print(sess.run(y, {x: [1.0]}))\n"
_PROGRAMS = {
    "native.py": TF + "x = tf.placeholder(tf.float32, [None])\ny = tf.log(x)\n" + _RUN,
    "functions.py": TF + "x = tf.placeholder(tf.float32, [None])\ny = tf.log(x)\ntf.add_to_collection('y', y)\n" + _RUN,
    "clean.py": TF
    + "y = tf.log(1.0)\na, b = tf.Session(), tf.Session()\nprint(a.run(y))\nprint(b.run(y))\nprint(a.run(y))\n",
    "none.py": TF + "tf.contrib.ffmpeg.encode_audio()\n",
    "plain.py": "import os\n",
}


def test_all_steps(here: Path) -> None:
    """And without being asked for, no file goes further than clean, and the way to ask is said."""
    for name, text in _PROGRAMS.items():
        (here / name).write_text(text)
    found = survey(["."], all_steps=True)
    reach = {file.file: file.reach or "none" for file in found.files if file.stands != "no tensorflow"}
    assert {f"{step}.py": step for step in reach.values()} == reach and len(reach) == 4
    assert found.reaches() == {"native": 1, "functions": 1, "clean": 1, "v1": 0, "py3": 0, "run": 0, "none": 1}
    stays = {file.file: file.stays for file in found.files if file.stays}
    assert "It has a collection of the graph" in stays["functions.py"] and "native.py" not in stays
    text = run("--all-steps", ".").stdout
    assert "to plain TensorFlow 2" in text and f"functions.py: {stays['functions.py']}" in text
    assert set(survey(["."]).reaches()) == {*STEPS_BY_NAMES, "none"}
    assert "--all-steps" in run(".").stdout and "--all-steps" not in text
    assert json.loads(run("--all-steps", "--json", ".").stdout)["reaches"]["native"] == 1


def test_tables_agree() -> None:
    assert set(USED) == set(NOT_USED) == set(CONSTRUCTS)
    assert (*STEPS_BY_NAMES, "functions", "native") == STEPS


def test_what_may_not_be_read_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own may be read by its user alone
        os.chmod(folder, 0o755)
        monkeypatch.chdir(folder)
        _check_what_may_not_be_read(Path(folder))
        monkeypatch.undo()


def _check_what_may_not_be_read(here: Path) -> None:
    (here / "a.py").write_bytes(USE)
    (here / "secret.py").write_bytes(USE)
    (here / "secret.py").chmod(0)
    (here / "closed").mkdir(mode=0)
    (here / "listed").mkdir()
    (here / "listed/b.py").write_bytes(USE)
    (here / "listed").chmod(0o644)  # its names may be read, and no file of it opened
    found: list[Audit] = []
    without_root(lambda: found.append(survey(["."])))
    rules = {file.file: [place.rule for place in file.places] for file in found[0].files}
    assert rules == {
        "a.py": ["gone-symbol"],
        "secret.py": ["unreadable"],
        "closed": ["unreadable"],
        "listed/b.py": ["unreadable"],
    }


# -- several processes ------------------------------------------------------------------------------------------------

PROJECT = {
    "nets/__init__.py": "from nets.base import *\n",
    "nets/base.py": "import tensorflow as tf\nfrom tensorflow import contrib as c\nslim = c.slim\n",
    "train.py": "from nets import tf, slim\nimport nets\nnets.c.ffmpeg.decode_audio()\nslim.conv2d(tf.placeholder())\n",
    "two.py": "from nets import tf\nprint tf.log(1)\n",
    "scalar.py": "import numpy as np\nclass A:\n    def itemset(self): pass\n",
    "broken.py": "def f(:\n",
    "use.py": "import numpy as np\nimport scalar\na = np.zeros(3)\na.itemset(1)\n",
}


@pytest.mark.usefixtures("here")
def test_several_processes_find_what_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in PROJECT.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    cell = {"cell_type": "code", "source": "from train import tf\ntf.log"}
    Path("book.ipynb").write_text(json.dumps({"cells": [cell]}))
    alone = survey(["."])
    assert alone.by_hand >= 2 and alone.verdicts()["renamed"] == 1
    monkeypatch.setattr(audit_survey, "_PAYS", 1)
    monkeypatch.setattr(audit_survey, "can_fork", lambda: True)  # nothing here uses TensorFlow
    forked = []
    monkeypatch.setattr(shares, "_Child", lambda *args, real=shares._Child: forked.append(real(*args)) or forked[-1])
    counts: list[int] = []
    for processes in (2, 3):
        assert survey(["."], counts.append, processes=processes) == alone
    assert len(forked) == 3 and max(counts) <= len(PROJECT) + 1
    real = shares._do
    monkeypatch.setattr(shares, "_do", lambda *args: os.kill(os.getpid(), signal.SIGKILL))
    assert survey(["."], processes=2) == alone  # where a child is killed, its files are read here
    monkeypatch.setattr(shares, "_do", real)


def test_a_process_with_tensorflow_is_not_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    assert shares.can_fork()
    monkeypatch.setitem(sys.modules, "tensorflow", sys)
    assert not shares.can_fork()


@pytest.mark.usefixtures("tree")
def test_the_command_uses_all_processors_for_large_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_survey, "_PAYS", 1)
    monkeypatch.setattr(audit_survey, "can_fork", lambda: True)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    forked = []
    monkeypatch.setattr(shares, "_Child", lambda *args, real=shares._Child: forked.append(real(*args)) or forked[-1])
    assert run(".", "--json").exit_code == 1
    assert len(forked) == 1
