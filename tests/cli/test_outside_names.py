"""Names that come from files and other processes: no command lets them steer the terminal, or make lines of their own.

Each command is called with names of jobs, models, nodes, files and processes that are full of what a terminal acts on.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from typing import Any

import pytest
from plain_jobs import Plain
from support import PythonRun
from test_terminal import Terminal, terminal  # noqa: F401  # a fixture

from tf1sessions.testing.leak_reports import Leak, LeakKind
from tf1sessions.testing.reports import Access, Kind, Report
from tf1sessions.texts import printable, quoted

pytest_plugins = ("plain_fixture",)

#: CSI by two characters and by one of C1, OSC, bell, backspace, delete, marks of direction, other line ends, markup of
#: rich, its names of emoji, and a line that looks like one of ours.
EVIL = "\x1b[31mA\x9b2JB\x1b]0;title\x07\b\x7f\u202eC\u2066\u2028\x85[red]:smile:\r\nFAKE"


def wrong_with(text: str) -> list[str]:
    """What is in a command's output that must not be there."""
    found = [ascii(each) for each in text if not each.isprintable() and each != "\n"]
    found += [line for line in text.split("\n") if line.startswith("FAKE")]
    return found + [each for each in ("\N{SMILING FACE WITH OPEN MOUTH AND SMILING EYES}",) if each in text]


def test_the_attack_itself_is_seen() -> None:
    assert len(wrong_with(EVIL)) > 10
    assert wrong_with(printable(EVIL)) == wrong_with(quoted(EVIL)) == []


def test_every_character_is_shown_or_escaped_and_quoted_words_are_read_back() -> None:
    import subprocess

    for text in ("plain", "naïve 名前", "a b", "it's", EVIL, "\udcff\ud800", "\0", "\\x1b", "'\x1b'\\"):
        assert printable(text).isprintable() and quoted(text).isprintable()
    assert printable("naïve 名前 \\x1b") == "naïve 名前 \\x1b"
    words = ["a b", "it's", EVIL, os.fsdecode(b"\xff"), "'\x1b'\\"]
    line = " ".join(map(quoted, words))
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True, timeout=60)
    assert [os.fsdecode(word) for word in done.stdout.split(b"\0")[:-1]] == words


# -------------------------------------------------------------------------------------------------------------- jobs

NAMES = [f"{EVIL}.py", os.fsdecode(b"\xff\x9b.py"), "good.py"]


@pytest.fixture
def evil(plain: Plain) -> Plain:
    for name in NAMES:
        plain.script(name, "import sys; sys.exit(3)")
    (plain.folder / EVIL).mkdir()
    job = {"script": "good.py", "name": EVIL, "args": [EVIL], "cwd": EVIL}
    lines = [*(f"{key} = {json.dumps(value)}" for key, value in job.items()), f"env = {{ A = {json.dumps(EVIL)} }}"]
    plain.script("jobs.toml", "[[job]]\n" + "\n".join(lines))
    plain.script(f"{EVIL}.toml", "[[job]]\nscript = 3")
    return plain


@pytest.mark.parametrize(
    ("code", "args"),
    [
        (1, [*NAMES, "jobs.toml"]),
        (3, [NAMES[0]]),
        (3, [NAMES[1]]),
        (3, ["jobs.toml"]),
        (1, ["--json", *NAMES]),
        (1, ["--fail-fast", "-j", "1", *NAMES]),
        (0, ["--dry-run", *NAMES, "jobs.toml", "--", EVIL]),
        (0, ["--dry-run", "--json", *NAMES, "jobs.toml"]),
        (2, [f"{EVIL}.toml"]),
        (2, [f"none{EVIL}.py"]),
        (2, [NAMES[0], EVIL]),
        (2, [f"--{EVIL}"]),
        (2, ["-m", EVIL, NAMES[0]]),
        (2, ["--resume", EVIL]),
        (2, ["--out", EVIL, "--resume", EVIL]),
        (2, ["--time-limit", EVIL, NAMES[0]]),
        (2, ["--gpus", f"\udcff{EVIL}", f"none{EVIL}.py"]),
    ],
    ids=lambda value: ascii(" ".join(value))[:40] if isinstance(value, list) else str(value),
)
def test_run(evil: Plain, code: int, args: list[str]) -> None:
    out = [] if code == 2 or "--dry-run" in args else ["--out", f"run{EVIL}"]
    done = evil.cli("run", *out, *args)
    assert done.returncode == code, done
    assert wrong_with(done.stdout.decode()) == wrong_with(done.stderr.decode()) == []


def test_resume_and_what_it_says_to_type(evil: Plain) -> None:
    done = evil.cli("run", "--out", f"run{EVIL}", *NAMES)
    (line,) = [line for line in done.stdout.decode().split("\n") if line.startswith("To run what is not done again: ")]
    assert line.endswith(f"tf1sessions run --resume {quoted(f'run{EVIL}')}")
    again = evil.cli("run", "--resume", f"run{EVIL}")
    assert again.returncode == 1
    assert wrong_with(again.stdout.decode()) == []


def test_live_table(evil: Plain, terminal: Callable[..., Terminal]) -> None:  # noqa: F811
    evil.script(
        NAMES[2],
        "import os, time\nprint('told \\x9b2J')\nwhile not os.path.exists(__file__ + '.go'):\n    time.sleep(0.02)",
    )
    shown = terminal("run", "--out", f"run{EVIL}", "-j", "2", "jobs.toml", *NAMES)
    shown.shows("told \N{REPLACEMENT CHARACTER}2J")
    (evil.folder / "good.py.go").touch()
    assert shown.end() == 1
    plain = re.sub(r"\x1b\[[\d;]*[mKAhl]|\x1b\[\?25[hl]|\r", "", shown.raw)  # what rich and click draw with
    assert wrong_with(plain) == []
    assert "\x1b[31mA" not in shown.raw and ":smile:" in plain and "[red]" in plain


# ------------------------------------------------------------------------------------------- models and other commands

CODE = """
import json, os, sys
from click.testing import CliRunner
import tensorflow.compat.v1 as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import saved_model_pb2
from tf1sessions.cli.main import cli

EVIL = sys.argv[1]

def attr(node, **types):
    for name, value in types.items():
        node.attr[name].type = value

bad = graph_pb2.GraphDef()
attr(bad.node.add(name="x" + EVIL, op="Placeholder"), dtype=1)
attr(bad.node.add(name="y" + EVIL, op="Identity", input=["x" + EVIL]), T=1)
bad.node.add(name="z" + EVIL, op="Op" + EVIL, input=["x" + EVIL], device=EVIL)
good = graph_pb2.GraphDef()
attr(good.node.add(name="x", op="Placeholder"), dtype=1)
attr(good.node.add(name="y", op="Identity", input=["x"]), T=1)
unknown = graph_pb2.GraphDef()
unknown.CopyFrom(good)
unknown.node.add(name="z", op="Op" + EVIL, input=["y"], device=EVIL)
saved = saved_model_pb2.SavedModel(saved_model_schema_version=1)
meta = saved.meta_graphs.add()
meta.meta_info_def.tags.extend(["serve", EVIL])
meta.meta_info_def.tensorflow_version = EVIL
meta.graph_def.CopyFrom(good)
for name, tensor in (("s", "x:0"), ("t", "nope" + EVIL + ":0")):
    signature = meta.signature_def[name + EVIL]
    signature.inputs["a" + EVIL].name, signature.inputs["a" + EVIL].dtype = tensor, 1
    signature.outputs["b" + EVIL].name, signature.outputs["b" + EVIL].dtype = "y:0", 1
    signature.method_name = EVIL
os.mkdir("saved")
for path, proto in {
    "bad.pb": bad, "bad" + EVIL + ".pb": bad, "good.pb": good, "good" + EVIL + ".pb": good, "unknown.pb": unknown,
    "saved/saved_model.pb": saved,
}.items():
    with open(path, "wb") as file:
        file.write(proto.SerializeToString())
with tf.Graph().as_default(), tf.Session() as session:
    variable = tf.get_variable("v", [2])
    session.run(tf.global_variables_initializer())
    tf.train.Saver({"v" + EVIL: variable}).save(session, "./values", write_meta_graph=False)
with open("machine.json", "w") as file:
    holders = [{"pid": 3, "used_mb": 5, "name": EVIL}]
    json.dump({"cores": 2, "gpus": [{"name": EVIL, "total_mb": 8000, "holders": holders}]}, file)
with open("evil" + EVIL + ".py", "w") as file:
    file.write("import tensorflow as tf\\nwith tf.Session():\\n    tf.reset_default_graph()\\n")

number = 0
def call(*args):
    global number
    done = CliRunner().invoke(cli, list(args), prog_name="tf1sessions")
    crashed = None if done.exception is None or isinstance(done.exception, SystemExit) else repr(done.exception)
    report(**{str(number): [args, done.exit_code, done.stdout, done.stderr, crashed]})
    number += 1

for model in ("bad.pb", "bad" + EVIL + ".pb", "unknown.pb", "saved"):
    call("inspect", model)
    call("inspect", model, "--html", "page" + EVIL + ".html")
    call("inspect", model, "--signature", EVIL)
    call("inspect", model, "--tags", EVIL)
    call("convert", model, "out" + EVIL)
    call("convert", model, "out", "--signature", "s" + EVIL, "--dry-run")
    call("convert", model, "out", "--checkpoint", EVIL)
    call("verify", model, "good.pb")
    call("verify", model, "good.pb", "--signature", "s" + EVIL)
call("inspect", "saved", "--json")
call("convert", "saved", "made" + EVIL, "--input", EVIL + "=x:0", "--output", "b" + EVIL + "=y:0")
call("verify", "good.pb", "saved", "--signature", "s" + EVIL, "--map", "x=a" + EVIL)
call("verify", "good.pb", "good.pb", "--map", EVIL + "=" + EVIL)
call("verify", "good.pb", "good" + EVIL + ".pb")
call("verify", "good.pb", "good.pb", "--inputs", EVIL)
call("verify", "good.pb", "good.pb", "--html", "verified" + EVIL + ".html")
call("convert", "values", "objects" + EVIL)
call("convert", EVIL + ".py:build", "out")
call("memory", "-n", "2", "--describe", "machine.json")
call("memory", "-n", "2", "--describe", "machine.json", "--json")
call("memory", "--describe", EVIL)
call("doctor", "evil" + EVIL + ".py")
call("doctor", "none" + EVIL + ".py")
call("doctor", "--ignore", EVIL, "evil" + EVIL + ".py")
call("races", EVIL, EVIL)
call(EVIL)
call(EVIL + ".py", EVIL)
call("--" + EVIL)
"""


def test_models_and_machines(run_python: Callable[..., PythonRun]) -> None:
    results = run_python(CODE, EVIL, deadline=170).results
    codes: dict[Any, int] = {}
    for args, code, stdout, stderr, crashed in results.values():
        assert crashed is None, (args, crashed)
        assert wrong_with(stdout) == wrong_with(stderr) == [], (args, stdout, stderr)
        codes[code] = codes.get(code, 0) + 1
    assert len(results) == 55 and codes[0] >= 10  # names are shown, not only refused


def test_reports_of_the_pytest_plugin() -> None:
    access = Access(EVIL, "adds operations", (f"{EVIL}:3 in {EVIL}",), (EVIL,))
    assert wrong_with(str(Report(Kind.GROWTH, EVIL, access, access, note=EVIL))) == []
    assert wrong_with(str(Leak(LeakKind.THREAD, EVIL, EVIL, "Join it."))) == []
