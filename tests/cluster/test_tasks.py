"""The tasks of a cluster and what TF_CONFIG says to them."""

from __future__ import annotations

import json

import pytest

from tf1sessions.cluster.tasks import Cluster
from tf1sessions.errors import ConfigError


def test_tasks_have_their_addresses_in_order() -> None:
    assert Cluster.size(2, 1, chief=True) == 4
    cluster = Cluster.at(["a:1", "b:1", "c:1", "d:1"], ps=2, workers=1, chief=True, evaluator=True)
    assert [task.name for task in cluster.tasks] == ["ps:0", "ps:1", "chief:0", "worker:0", "evaluator:0"]
    assert [cluster.trains(task) for task in cluster.tasks] == [False, False, True, True, False]
    assert [cluster.trains(task, tf2=True) for task in cluster.tasks] == [False, False, True, False, False]
    assert cluster.spec() == {"chief": ["c:1"], "ps": ["a:1", "b:1"], "worker": ["d:1"]}
    config = json.loads(cluster.tf_config(cluster.tasks[4]))
    assert config == {
        "cluster": cluster.spec(),
        "task": {"type": "evaluator", "index": 0},
        "environment": "cloud",
    }


@pytest.mark.parametrize(
    "size, text", [((1, 0), "no task trains"), ((-1, 1), "--ps is -1"), ((0, 1001), "--workers is 1001")]
)
def test_sizes_that_are_none(size: tuple[int, int], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        Cluster.size(*size)
    assert Cluster.size(0, 0, chief=True) == 1
