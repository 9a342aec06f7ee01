"""Test classes of TensorFlow 1 under ``tf1sessions run``: legacy_classes.py, of which genuine 1.15.5 says the same.

Genuine 1.15.5, Python 3.7, pytest 7.4: "84 passed, 20 skipped"; of the module alone: "Ran 104 tests, OK (skipped=20)".
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CLASSES = Path(__file__).with_name("legacy_classes.py")
DEADLINE = 150.0
#: Skipped by 1.15.5, beside the method test_session of each class, which looks like a test to whoever collects tests.
SKIPPED = {"testCudaOnly", "testGpuOnly", "testV2Only", "testSkip", "testDecorated"}

WRONG = """
import tensorflow as tf

class WrongTest(tf.test.TestCase):
    def testFails(self):
        with self.test_session():
            self.assertAllClose([1.0], tf.constant([2.0]).eval())

    def testRaises(self):
        raise KeyError("on purpose")

    def testPasses(self):
        self.assertTrue(True)

    def testProto(self):
        self.assertProtoEquals(tf.Summary(value=[tf.Summary.Value(simple_value=0.5)]), tf.Summary())

if __name__ == "__main__":
    tf.test.main()
"""


JOBS = """
[[job]]
name = "pytest"
module = "pytest"
args = ["-v", "-p", "no:cacheprovider", "legacy_classes.py"]
[[job]]
name = "unittest"
script = "legacy_classes.py"
[[job]]
name = "named"
script = "legacy_classes.py"
args = ["SessionsTest.testTestSession", "SeedsTest"]
[[job]]
name = "benchmarks"
script = "legacy_classes.py"
args = ["--benchmarks=Add"]
[[job]]
name = "wrong under pytest"
module = "pytest"
args = ["-v", "-p", "no:cacheprovider", "wrong.py"]
[[job]]
name = "wrong"
script = "wrong.py"
"""


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each job wrote; and that those that should fail do, and no others."""
    folder = tmp_path_factory.mktemp("legacy")
    shutil.copy(CLASSES, folder)
    (folder / "wrong.py").write_text(WRONG, encoding="utf-8")
    (folder / "jobs.toml").write_text(JOBS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tf1sessions", "run", "--out", "out", "jobs.toml"],
        cwd=folder,
        timeout=DEADLINE,
        capture_output=True,
        text=True,
    )
    jobs = json.loads((folder / "out" / "jobs.json").read_text(encoding="utf-8"))
    reported = {job["name"]: (folder / "out" / job["log"]).read_text(encoding="utf-8") for job in jobs}
    failed = {job["name"] for job in jobs if job["exit_code"] != 0}
    assert failed == {"wrong under pytest", "wrong"}, done.stdout + done.stderr
    assert done.returncode == 1
    return reported


def test_under_pytest(reported: dict[str, str]) -> None:
    outcomes: dict[str, set[str]] = {"PASSED": set(), "SKIPPED": set()}
    for test, outcome in re.findall(r"^legacy_classes\.py::\w+::(\w+) ([A-Z]+)", reported["pytest"], re.M):
        outcomes[outcome].add(test)
    assert outcomes["SKIPPED"] == SKIPPED | {"test_session"}
    assert {"testCheckedThread", "testSquareTwo", "testNoNewObjectsHasRun"} <= outcomes["PASSED"]
    assert "= 84 passed, 20 skipped" in reported["pytest"], reported["pytest"][-3000:]


def test_by_themselves(reported: dict[str, str]) -> None:
    assert re.search(r"Ran 104 tests in .*\n\nOK \(skipped=20\)", reported["unittest"]), reported["unittest"][-3000:]
    assert re.search(r"Ran 6 tests in .*\n\nOK \(skipped=1\)", reported["named"]), reported["named"][-3000:]
    assert 'name: "MyBenchmark.benchmarkAdd"' in reported["benchmarks"] and "Ran " not in reported["benchmarks"]


def test_what_fails_fails(reported: dict[str, str]) -> None:
    assert "= 3 failed, 1 passed, 1 skipped" in reported["wrong under pytest"], reported["wrong under pytest"][-3000:]
    assert "FAILED (failures=2, errors=1, skipped=1)" in reported["wrong"], reported["wrong"][-3000:]
    assert "KeyError: 'on purpose'" in reported["wrong"]
    assert "-   simple_value: 0.5" in reported["wrong"]  # how the two protocol buffers differ
