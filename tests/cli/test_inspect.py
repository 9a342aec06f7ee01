"""``tf1sessions inspect``: what it prints and writes, and how it fails."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import ROOT, PythonRun

MODELS = ROOT / "tests" / "golden" / "data" / "models"

#: Calls the command as the shell would, many times in one process.
CODE = """
import os, pathlib, shutil, sys
from click.testing import CliRunner
from tf1sessions.cli.main import cli

models = sys.argv[1]
os.environ["COLUMNS"] = "100"

def call(name, *args):
    done = CliRunner().invoke(cli, ["inspect", *args], prog_name="tf1sessions")
    report(**{name: [done.exit_code, done.stdout, done.stderr]})

call("frozen", f"{models}/frozen.pb")
call("queue", f"{models}/queue.pb")
call("unknown", f"{models}/unknown.pb")
call("saved", f"{models}/saved_signatures", "--signature", "regress")
call("tags", f"{models}/saved_tags", "--tags", "serve")
call("json", f"{models}/training", "--json")
call("html", f"{models}/training", "--html", "page.html")
page = pathlib.Path("page.html")
report(page=page.read_text("utf-8"), mode=oct(page.stat().st_mode & 0o777), files=sorted(os.listdir(".")))
page.write_text(page.read_text("utf-8")[:2000], "utf-8")
page.chmod(0o400)
call("again", f"{models}/training", "--json", "--html", "page.html")
report(replaced=page.read_text("utf-8"))

pathlib.Path("text.pb").write_text("this is no model")
pathlib.Path("cut.pb").write_bytes(pathlib.Path(f"{models}/frozen.pb").read_bytes()[:-100])
call("missing", "no/such.pb")
call("text", "text.pb")
call("cut", "cut.pb")
call("no_signature", f"{models}/saved_signatures", "--signature", "zzz")
call("no_tags", f"{models}/saved_tags", "--tags", "nope")
call("many_tags", f"{models}/saved_signatures", "--tags", "serve, gpu")
call("no_folder", f"{models}/frozen.pb", "--html", "no/such/page.html")
call("a_folder", f"{models}/frozen.pb", "--html", ".")
report(left=sorted(os.listdir(".")))

shutil.copy(f"{models}/frozen.pb", "m.pb")
shutil.copytree(f"{models}/training", "ck")
pathlib.Path("mine.py").write_text("import tensorflow as tf\\n")
pathlib.Path("mine.html").write_text("<!doctype html>\\n<title>tf1sessions</title>mine")
pathlib.Path("empty.html").write_text("")
pathlib.Path("link.html").symlink_to("m.pb")
pathlib.Path("ck-link").symlink_to("ck")
before = {str(path): path.read_bytes() for path in pathlib.Path(".").rglob("*") if path.is_file()}
call("over_model", "m.pb", "--html", "./m.pb")
call("over_link", "m.pb", "--html", "link.html")
call("over_state", "ck", "--html", "ck/checkpoint")
call("in_model", "ck-link", "--html", "ck/page.html")
call("over_prefix", "ck/none", "--html", "ck/none")
call("over_script", "m.pb", "--html", "mine.py")
call("over_page", "m.pb", "--html", "mine.html")
report(kept=before == {str(path): path.read_bytes() for path in pathlib.Path(".").rglob("*") if path.is_file()})
call("over_empty", "m.pb", "--html", "empty.html")
call("over_device", "m.pb", "--html", "/dev/null")
report(filled=pathlib.Path("empty.html").read_text("utf-8")[:15])

import tensorflow.compat.v1 as tf
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.string, [], name="x")
    tf.identity(tf.read_file(x), name="y")
    tf.write_file("z", x, name="writes")
pathlib.Path("risky.pb").write_bytes(graph.as_graph_def().SerializeToString())
call("risky", "risky.pb")
call("trial", "risky.pb", "--trial")
with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [None], name="x")
    tf.add(x, tf.reduce_sum(tf.fill([2**34], 1.0, name="large")), name="y")
pathlib.Path("large.pb").write_bytes(graph.as_graph_def().SerializeToString())
call("large", "large.pb")
call("large_json", "large.pb", "--json")
odd = tf.GraphDef()
odd.node.add(name="n", op="Evil\\x07\\rOp")
for k in range(50):
    odd.node.add(name=f"n{k}", op="RandomGamma" + "abcdefghij"[k % 10] * (k // 10 + 1))
pathlib.Path("odd.pb").write_bytes(odd.SerializeToString())
call("odd", "odd.pb")
"""


@pytest.fixture(scope="module")
def calls(run_python: Callable[..., PythonRun]) -> dict[str, Any]:
    return run_python(CODE, str(MODELS), deadline=150).results


def test_help_names_each_option() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tf1sessions", "inspect", "--help"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    for option in ("--json", "--html", "--tags", "--signature"):
        assert f"  {option} " in done.stdout or f"  {option}\n" in done.stdout
    assert "tf1sessions inspect frozen.pb" in done.stdout


def sections(text: str) -> dict[str, list[str]]:
    """Title, with its remark -> the lines below it."""
    first, *blocks = text.rstrip("\n").split("\n\n")
    assert "\n" not in first
    return {block.split("\n")[0]: block.split("\n")[1:] for block in blocks}


def test_text(calls: dict[str, Any]) -> None:
    code, text, errors = calls["frozen"]
    assert (code, errors) == (0, "")
    assert text.split("\n")[0].endswith("frozen.pb: graph; 49 nodes (48 needed for the outputs)")
    found = sections(text)
    assert found["Inputs (guessed)"] == [
        "  images    float32  [?, 4, 4, 1]",
        "  training  bool     []            optional",
    ]
    assert found["Outputs (guessed)"] == ["  probabilities  float32  [?, 3]"]
    assert found["FLOPs for one row (1.1 thousand)"][0].startswith("  Conv2D 51%   FusedBatchNormV3 ")
    assert found["Operations (16 kinds)"][0].startswith("  Const 15   Identity 10   Switch 9")
    assert found["Control flow (1 condition)"] == ["  Switch 9   Merge 1"]
    assert "Risks: none found" in found
    assert "\x1b" not in text  # no colours where no terminal is
    assert max(map(len, text.split("\n")[1:])) <= 100  # the first has the path, which may be of any length


def test_weights_and_tables_have_columns(calls: dict[str, Any]) -> None:
    found = sections(calls["html"][1])
    (weights,) = (lines for title, lines in found.items() if title == "Weights (516 bytes in 9 ref variables)")
    assert weights[0] == "  logits/kernel         float32  [32, 3]       ref               384 bytes"
    assert weights[-1].startswith("  norm/moving_variance  float32  [2]           ref, not trained  ")
    found = sections(calls["queue"][1])
    assert found["Queues"][0].split() == ["names", "FIFOQueueV2", "string"]


def test_memory_that_the_sizes_in_a_graph_ask_for(calls: dict[str, Any]) -> None:
    """As load() adds it up, which refuses what does not fit into the memory that is free."""
    found = sections(calls["large"][1])
    title = "Memory for one row (at least 69 GB, by the sizes that stand in the graph)"
    assert found[title] == ["  largest tensor: large, 69 GB"]
    size = json.loads(calls["large_json"][1])["static_size"]
    assert size == {"filled": 2**36, "largest": 2**36, "node": "large", "function": ""}
    assert not [each for each in sections(calls["frozen"][1]) if each.startswith("Memory")]  # of few bytes


def test_signature_and_tags_choose(calls: dict[str, Any]) -> None:
    code, text, _ = calls["saved"]
    assert code == 0
    assert "Outputs" in sections(text)
    assert sections(text)["Signatures"][1] == "  regress  tensorflow/serving/regress"
    assert calls["tags"][0] == 0


def test_json_is_all_that_is_printed(calls: dict[str, Any]) -> None:
    code, text, errors = calls["json"]
    assert (code, errors) == (0, "")
    found = json.loads(text)
    assert found["kind"] == "checkpoint"
    assert len(found["variables"]) == 9


def test_page(calls: dict[str, Any]) -> None:
    code, text, errors = calls["html"]
    assert (code, errors) == (0, "")
    assert text.endswith("\n\nThe diagram is in page.html\n")
    assert calls["page"].startswith("<!doctype html>")
    assert calls["mode"] in ("0o644", "0o664", "0o666")
    assert calls["files"] == ["page.html"]  # and no temporary one
    assert calls["again"][0] == 0
    json.loads(calls["again"][1])
    assert calls["replaced"] == calls["page"]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("missing", ["no/such.pb", "Give a .pb"]),
        ("text", ["text.pb"]),
        ("cut", ["cut.pb", "compare its size"]),
        ("no_signature", ["'zzz'", "It has classify, regress, serving_default"]),
        ("no_tags", ["'nope'", "'serve'"]),
        ("many_tags", ["'gpu', 'serve'", "'serve'"]),
        ("no_folder", ["--html", "no/such/page.html", "No such file or directory"]),
        ("a_folder", ["--html", "'.'"]),
    ],
)
def test_errors_name_the_value_and_the_next_step(name: str, parts: list[str], calls: dict[str, Any]) -> None:
    code, text, errors = calls[name]
    assert (code, text) == (2, "")
    for part in parts:
        assert part in errors


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("over_model", "'./m.pb' is what is read"),
        ("over_link", "'link.html' is what is read"),
        ("over_state", "'ck/checkpoint' is inside of 'ck', which is read"),
        ("in_model", "'ck/page.html' is inside of 'ck-link', which is read"),
        ("over_prefix", "'ck/none' is what is read"),
        ("over_script", "'mine.py' is there already, and is no page of tf1sessions"),
        ("over_page", "'mine.html' is there already, and is no page of tf1sessions"),
    ],
)
def test_a_page_replaces_nothing_but_a_page(name: str, why: str, calls: dict[str, Any]) -> None:
    code, text, errors = calls[name]
    assert (code, text) == (2, "") and "--html" in errors
    assert why in " ".join(errors.split())
    assert calls["kept"]


def test_a_page_replaces_an_empty_file_and_goes_to_a_device(calls: dict[str, Any]) -> None:
    assert calls["over_empty"][0] == calls["over_device"][0] == 0
    assert calls["filled"] == "<!doctype html>"


def test_failed_calls_leave_no_file(calls: dict[str, Any]) -> None:
    assert calls["left"] == ["cut.pb", "page.html", "text.pb"]


def test_risks_and_unknown_operations_are_reported(calls: dict[str, Any]) -> None:
    found = sections(calls["risky"][1])
    (needed,) = (lines for title, lines in found.items() if title.startswith("Risks (the outputs need these; load()"))
    assert needed == ["  ReadFile  reads the file it is given: ReadFile"]
    assert found["Risks elsewhere (the outputs do not need these)"] == [
        "  WriteFile  writes to the file it is given: writes"
    ]
    assert "Operations that this TensorFlow does not have" in sections(calls["unknown"][1])


def test_a_trial_without_a_result_is_no_pass(calls: dict[str, Any]) -> None:
    code, out, err = calls["trial"]
    assert code == 0 and out == calls["risky"][1]
    assert err.splitlines()[-1].startswith("trial: the model gave no result: UnsafeModelError: ")


def test_long_lists_are_cut(calls: dict[str, Any]) -> None:
    found = sections(calls["odd"][1])
    (operations,) = (lines for title, lines in found.items() if title == "Operations (51 kinds)")
    assert len(operations) == 4
    assert operations[-1].endswith("more")
    shown = sum(len(line.split()) // 2 for line in operations) - 1
    assert f"and {51 - shown} more" in operations[-1]


def test_names_cannot_steer_the_terminal(calls: dict[str, Any]) -> None:
    text = calls["odd"][1]
    assert r"Evil\x07\rOp" in text
    assert "\x07" not in text and "\r" not in text


def test_by_itself_it_says_nothing_of_the_machine(tmp_path: Path) -> None:
    """TensorFlow's library says, on stderr, what processor it runs on."""
    done = subprocess.run(
        [sys.executable, "-m", "tf1sessions", "inspect", str(MODELS / "frozen.pb"), "--json"],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["nodes"] == 49
