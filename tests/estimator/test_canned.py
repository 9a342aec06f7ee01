"""The canned estimators do what TensorFlow 1.15.5's did: graphs, steps, metrics, and checkpoints that it wrote."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from compare_canned import close
from support import ROOT

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden"


def run(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
    done = subprocess.run([sys.executable, *map(str, arguments)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_graphs_and_steps_are_those_of_1_15():
    assert run(HERE / "compare_canned.py") == {}


def test_scripts_get_the_same():
    cases = (
        "DNNClassifier",
        "DNNLinearCombinedClassifier bn",
        "BaselineRegressor 2",
        "contrib multi_class_head name weight_column",
    )
    assert run(HERE / "compare_canned.py", "v1", *cases) == {}


def test_checkpoints_of_1_15_are_restored_and_resumed(tmp_path):
    with tarfile.open(GOLDEN / "estimator_canned_checkpoints.tar.gz") as archive:
        for member in archive.getmembers():
            target = tmp_path / member.name
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(archive.extractfile(member).read())
    with gzip.open(GOLDEN / "estimator_canned_results.json.gz") as file:
        golden = json.load(file)
    found = run(HERE / "canned_programs_checks.py", tmp_path)
    assert found.keys() == golden.keys()
    for name, moments in golden.items():
        for moment, results in moments.items():
            for part, expected in results.items():
                assert found[name][moment][part].keys() == expected.keys()
                for key, value in expected.items():
                    assert close([value], [found[name][moment][part][key]]), (name, moment, key)
        assert found[name]["warm"] < 0.2, name  # one step of another optimizer state away


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_trees_are_those_of_1_15():
    with gzip.open(GOLDEN / "estimator_boosted.json.gz") as file:
        golden = json.load(file)
    found = run(HERE / "boosted_checks.py")
    resumed = found.pop("resumed")
    assert found.keys() == golden.keys()
    for name, expected in golden.items():
        assert found[name]["importances"] == [
            [[column, pytest.approx(gain, rel=1e-4)] for column, gain in one] for one in expected["importances"]
        ]
        for part in ("metrics", "predictions"):
            assert found[name][part].keys() == expected[part].keys()
            for key, value in expected[part].items():
                assert close([value], [found[name][part][key]]), (name, part, key)
    # one step and then three are the four of this program
    assert close(resumed["predicted"], golden["regressor partial"]["predictions"]["predictions"])
    assert resumed["served"] == pytest.approx(resumed["predicted"])


def test_bad_arguments_and_parsing_specs():
    assert run(HERE / "canned_argument_checks.py") == {}
