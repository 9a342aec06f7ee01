"""Command lines for several machines: what is printed runs, with stand-ins for Slurm's commands."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tf1sessions.cluster import recipes
from tf1sessions.cluster.flags import TaskFlags
from tf1sessions.cluster.tasks import Cluster
from tf1sessions.errors import ConfigError
from tf1sessions.scripts.cluster_tasks import VARIABLE
from tf1sessions.scripts.jobs import Job

FLAGS = TaskFlags({"job_name": "job", "worker_hosts": "workers"})
ARGS = ('--name=it\'s $HOME `x` "q"', "{ps_hosts}")


def recipe(hosts: list[str], evaluator: bool = False) -> recipes.Recipe:
    cluster = Cluster.at(recipes.addresses(hosts, 3), ps=1, workers=2, evaluator=evaluator)
    return recipes.Recipe(Job(script="My train.py", args=ARGS), cluster, FLAGS)


def test_a_command_line_for_each_task() -> None:
    lines = [line for line in recipes.commands(recipe(["a", "b:9", "a"])) if not line.startswith("#")]
    words = [shlex.split(line) for line in lines]
    assert [json.loads(line[0].removeprefix("TF_CONFIG="))["task"] for line in words] == [
        {"type": "ps", "index": 0},
        {"type": "worker", "index": 0},
        {"type": "worker", "index": 1},
    ]
    assert words[2][2:] == [
        *["tf1sessions", "run", "My train.py", "--"],
        *["--job=worker", "--workers=b:9,a:2223", ARGS[0], "a:2222"],
    ]


@pytest.mark.parametrize(
    "hosts, text",
    [(["a"], "1 hosts are named"), (["a", "b", "c:x"], "'c:x' is not HOST"), (["a", "", "c"], "'' is not HOST")]
    + [(["a:1", "b", "a:1"], "two tasks have one address")],
)
def test_hosts_that_cannot_be(hosts: list[str], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        recipe(hosts)


@pytest.mark.parametrize("fails", [False, True])
def test_the_slurm_script_runs_and_ends_what_does_not_end(tmp_path: Path, fails: bool) -> None:
    script = tmp_path / "train.sbatch"
    script.write_text("\n".join(recipes.slurm(recipe(["a", "b", "c"]))))
    commands = {
        "scontrol": 'printf "%s\\n" node7 node8 node9',
        "srun": 'shift 2; where=$1; shift; echo "$where" >> nodes; exec "$@"',
        "tf1sessions": f"""
            python3 told.py "$@" > written-$$
            mv written-$$ out-$$
            until [ "$(ls | grep -c ^out-)" = 3 ]; do sleep 0.02; done
            case "$*" in *--job=ps*) exec sleep 600;; esac
            exit {int(fails)}
        """,
    }
    told_py = 'import json, os, sys\nprint(json.dumps([os.environ["TF_CONFIG"], sys.argv[1:]]))\n'
    (tmp_path / "told.py").write_text(told_py)
    for name, text in commands.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{text}\n")
        (tmp_path / name).chmod(0o755)
    env = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SLURM_JOB_NODELIST": "node[7-9]"}
    done = subprocess.run(["bash", script], cwd=tmp_path, env=env, timeout=60)
    assert done.returncode == int(fails)
    assert sorted((tmp_path / "nodes").read_text().split()) == [f"--nodelist=node{number}" for number in (7, 8, 9)]
    reported = sorted(json.loads(path.read_text())[1] for path in tmp_path.glob("out-*"))
    hosts = "--workers=node8:2222,node9:2222"
    assert reported[-1] == ["run", "My train.py", "--", "--job=worker", hosts, ARGS[0], "node7:2222"]
    config = json.loads(json.loads(next(tmp_path.glob("out-*")).read_text())[0])
    assert config["cluster"] == {"ps": ["node7:2222"], "worker": ["node8:2222", "node9:2222"]}


def test_objects_for_kubernetes() -> None:
    text = "\n".join(recipes.kubernetes(recipe(["a", "b", "c"], evaluator=True)))
    names = ["my-train-ps-0", "my-train-worker-0", "my-train-worker-1"]
    assert re.findall(r'kind: "Service"\nmetadata:\n  name: "(.*)"', text) == names
    assert re.findall(r'kind: "Job"\nmetadata:\n  name: "(.*)"', text) == [*names, "my-train-evaluator-0"]
    configs = [
        json.loads(json.loads(value)) for value in re.findall(r'"TF_CONFIG"\n +value: (.*)$', text, re.MULTILINE)
    ]
    assert text.count(VARIABLE) == len(configs) == 4 and '\\"versions\\": {}' in text  # a pod has its image's
    assert {json.dumps(config["cluster"]) for config in configs} == {
        json.dumps({"ps": [f"{names[0]}:2222"], "worker": [f"{name}:2222" for name in names[1:]]})
    }
    assert "timeout=-1s job/my-train-worker-0 job/my-train-worker-1\n" in text


def test_yaml_of_lists_and_dicts() -> None:
    lines = recipes._yaml({"a": [{"b": 1, "c": ["x", "y"]}, {"d": {"e": True}}], "f": "g: h"})
    assert lines == [
        *["a:", "  - b: 1", "    c:", '      - "x"', '      - "y"'],
        *["  - d:", "      e: true", 'f: "g: h"'],
    ]
