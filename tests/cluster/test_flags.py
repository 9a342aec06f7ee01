"""Flags that tell a program its task: those that are found, near-misses, those that are given."""

from __future__ import annotations

import pytest

from tf1sessions.cluster import flags
from tf1sessions.cluster.tasks import Cluster
from tf1sessions.errors import ConfigError
from tf1sessions.source.program import read_text

CLUSTER = Cluster.at(["h:1", "h:2", "h:3"], ps=1, workers=2)
TF_FLAGS = """
import tensorflow as tf
define = tf.app.flags
define.DEFINE_string("job_name", "", "")
define.DEFINE_integer("task_id", 0, "")
tf.flags.DEFINE_string(name="worker_hosts", default="", help="")
tf.app.flags.DEFINE_string("ps_hosts", "", "")
"""
ARGPARSE = """
import argparse
p = argparse.ArgumentParser()
p.add_argument("-j", "--job-name")
p.add_argument("--task-index", type=int)
p.add_argument("--workers", help="--ps_hosts")
"""


FOUR = {"job_name": "job_name", "task_index": "task_id", "ps_hosts": "ps_hosts", "worker_hosts": "worker_hosts"}


@pytest.mark.parametrize(
    "text, names",
    [
        (TF_FLAGS, FOUR),
        (ARGPARSE, {"job_name": "job-name", "task_index": "task-index", "worker_hosts": "workers"}),
        ("import argparse\nargparse.ArgumentParser().add_argument('--index')", {}),  # of what, the program knows
        ("f.DEFINE_string('job', '', '')\nf.DEFINE_integer('workers', 4, 'threads that read')", {}),
        ("print('--job_name', '--task_index')", {}),
        (
            "f.DEFINE_integer('task_index', 0, '')\nf.DEFINE_string('worker_hosts', '', '')",
            {"task_index": "task_index", "worker_hosts": "worker_hosts"},
        ),
    ],
)
def test_flags_that_are_found(text: str, names: dict[str, str]) -> None:
    assert flags.find(read_text(text)).names == names


def test_arguments_of_a_task() -> None:
    found = flags.find(read_text(TF_FLAGS))
    assert found.arguments(CLUSTER, CLUSTER.tasks[2]) == (
        "--job_name=worker",
        "--task_id=1",
        "--ps_hosts=h:1",
        "--worker_hosts=h:2,h:3",
    )


def test_given_names_count_above_what_is_found() -> None:
    found = flags.find(read_text(TF_FLAGS), ["task_index=--rank", "ps_hosts="])
    assert found.names == {"job_name": "job_name", "task_index": "rank", "worker_hosts": "worker_hosts"}
    assert flags.find(read_text("pass"), ["job_name=kind"]).names == {"job_name": "kind"}
    for wrong in ("rank", "rank=task_index", "=x"):
        with pytest.raises(ConfigError, match="is not ROLE=NAME"):
            flags.find(read_text("pass"), [wrong])


def test_arguments_with_places_for_a_task() -> None:
    given = ["{job_name}:{task_index}", '{"a": {}}', "{ps_hosts}", "{other}"]
    assert flags.fill_in(given, CLUSTER, CLUSTER.tasks[1]) == ("worker:0", '{"a": {}}', "h:1", "{other}")
