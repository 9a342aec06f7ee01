"""The command lines that start the tasks of a cluster on several machines: to type, for Slurm, for Kubernetes."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tf1sessions.cluster import flags
from tf1sessions.cluster.tasks import Cluster, Task
from tf1sessions.errors import ConfigError
from tf1sessions.scripts.cluster_tasks import VARIABLE, HandStarted
from tf1sessions.scripts.jobs import Job

__all__ = ["FORMS", "PORT", "Recipe", "addresses"]

#: The port of a task that has a machine for itself: that of TensorFlow's own examples.
PORT = 2222
_HOST = re.compile(r"@host(\d+)@")


@dataclass(frozen=True)
class Recipe:
    """The program that the tasks of a cluster run.

    Args:
        job: The program, with its arguments.
        cluster: The cluster.
        found: The program's flags.
        tf2: Whether the program is TensorFlow 2, which runs by plain Python.
        start_limit_secs: How long a task waits for the others to come.
    """

    job: Job
    cluster: Cluster
    found: flags.TaskFlags
    tf2: bool = False
    start_limit_secs: float = 300.0

    def environment(self, task: Task, one_image: bool = False) -> dict[str, str]:
        """The variables of a task.

        Args:
            task: One of the cluster.
            one_image: Whether all tasks have the same versions anyway, whatever this machine has.
        """
        found = {"TF_CONFIG": self.cluster.tf_config(task)}
        if task.job == "ps":  # as under launch: it would take memory of a GPU from workers of the same machine
            found["CUDA_VISIBLE_DEVICES"] = "-1"
        if not self.tf2:
            limits = HandStarted(trains=self.trains(task), start_limit_secs=self.start_limit_secs)
            found[VARIABLE] = (replace(limits, versions={}) if one_image else limits).variable()
        return found

    def words(self, task: Task) -> list[str]:
        """The command line of a task, without its environment."""
        program = ["-m", self.job.module] if self.job.module else [self.job.script or ""]
        own = [*self.found.arguments(self.cluster, task), *flags.fill_in(self.job.args, self.cluster, task)]
        if self.tf2:
            return ["python", *program, *own]
        return ["tf1sessions", "run", *program, *(["--", *own] if own else [])]

    def trains(self, task: Task) -> bool:
        """Whether the cluster is done when this task and those like it are."""
        return self.cluster.trains(task, self.tf2)


def addresses(hosts: Sequence[str], count: int) -> list[str]:
    """Return the addresses of ``count`` tasks on these machines, which may have a port and may come several times.

    Raises:
        ConfigError: There are not as many as there are tasks, or a port is none.

    Example:
        >>> addresses(["a", "b:9000", "a"], 3)
        ['a:2222', 'b:9000', 'a:2223']
    """
    if len(hosts) != count:
        raise ConfigError(
            f"{len(hosts)} hosts are named, and {count} tasks have an address",
            where="option --hosts",
            next_step="Name one for each task: parameter servers first, then the chief and the workers.",
        )
    found: list[str] = []
    for host in hosts:
        name, _, port = host.partition(":")
        if not name or (port and not (port.isdecimal() and 0 < int(port) < 65536)):
            raise ConfigError(f"{host!r} is not HOST or HOST:PORT", where="option --hosts")
        number = int(port or PORT)
        while not port and f"{name}:{number}" in found:
            number += 1
        found.append(f"{name}:{number}")
    if len(set(found)) < len(found):
        raise ConfigError(f"two tasks have one address: {', '.join(found)}", where="option --hosts")
    return found


def commands(recipe: Recipe) -> list[str]:
    """A command line for each task, to be typed on its machine."""
    lines = [
        "# A command line for each task. Its server listens on all interfaces, and TensorFlow's gRPC has no",
        "# authentication: only these machines may reach the ports. Parameter servers are ended by hand.",
    ]
    for task in recipe.cluster.tasks:
        where = f", on {task.address.rpartition(':')[0]}" if task.address else ""
        variables = [f"{name}={shlex.quote(value)}" for name, value in recipe.environment(task).items()]
        words = [*variables, shlex.join(recipe.words(task))]
        lines += [f"# {task.name}{where}", " ".join(words)]
    return lines


def slurm(recipe: Recipe) -> list[str]:
    """A batch script for ``sbatch``: a node for each task; what trains is waited for, then the rest is ended."""
    tasks = recipe.cluster.tasks
    machines = Cluster.at([f"@host{number}@:{PORT}" for number in range(len(tasks))], *_shape(recipe.cluster))
    placed = replace(recipe, cluster=machines)
    lines = [
        "#!/bin/bash",
        f"#SBATCH --job-name={shlex.quote(recipe.job.name)}",
        f"#SBATCH --nodes={len(tasks)}",
        "#SBATCH --ntasks-per-node=1",
        "# The servers listen on all interfaces, without authentication: other users of the nodes can reach them.",
        'H=($(scontrol show hostnames "$SLURM_JOB_NODELIST"))',
        "workers=()",
    ]
    for number, task in enumerate(machines.tasks):
        variables = [f"{name}={value}" for name, value in placed.environment(task).items()]
        words = " ".join(_in_bash(word) for word in ["env", *variables, *placed.words(task)])
        step = f'srun --nodes=1 --ntasks=1 --nodelist="${{H[{number}]}}" {words} &'
        lines.append(step + (" workers+=($!)" if placed.trains(task) else "") + f"  # {task.name}")
    return [
        *lines,
        "code=0",
        'for pid in "${workers[@]}"; do wait "$pid" || code=1; done',
        "kill $(jobs -p) 2> /dev/null",
        "exit $code",
    ]


def _in_bash(word: str) -> str:
    if not _HOST.search(word):
        return shlex.quote(word)
    escaped = re.sub(r'([\\"$`])', r"\\\1", word)
    return '"' + _HOST.sub(r"${H[\1]}", escaped) + '"'


def kubernetes(recipe: Recipe) -> list[str]:
    """Objects for ``kubectl apply``: a service and a job for each task, and a policy that keeps others out."""
    name = re.sub(r"[^a-z0-9]+", "-", recipe.job.name.lower()).strip("-")[:40] or "train"
    shape = _shape(recipe.cluster)
    names = [f"{name}-{task.job}-{task.index}" for task in recipe.cluster.tasks]
    machines = Cluster.at([f"{host}:{PORT}" for host in names], *shape)
    placed = replace(recipe, cluster=machines)
    objects = [
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": name},
            "spec": {
                "podSelector": {"matchLabels": {"cluster": name}},
                "ingress": [{"from": [{"podSelector": {"matchLabels": {"cluster": name}}}]}],
            },
        }
    ]
    for own, task in zip(names, machines.tasks, strict=True):
        labels = {"cluster": name, "task": own}
        container = {
            "name": "tensorflow",
            "image": "IMAGE",
            "command": placed.words(task),
            "env": [{"name": name, "value": value} for name, value in placed.environment(task, True).items()],
            "ports": [{"containerPort": PORT}],
        }
        pod = {"metadata": {"labels": labels}, "spec": {"restartPolicy": "OnFailure", "containers": [container]}}
        service = {"clusterIP": "None", "selector": labels, "ports": [{"port": PORT}], "publishNotReadyAddresses": True}
        if task.address:
            objects.append({"apiVersion": "v1", "kind": "Service", "metadata": {"name": own}, "spec": service})
        objects.append({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": own}, "spec": {"template": pod}})
    trainers = " ".join(f"job/{own}" for own, task in zip(names, machines.tasks, strict=True) if placed.trains(task))
    lines = [
        "# Put in the name of your image, which has tf1sessions and the program. When the workers are done:",
        f"#   kubectl wait --for=condition=complete --timeout=-1s {trainers}",
        f"#   kubectl delete job,service,networkpolicy {' '.join(names)} {name} --ignore-not-found",
    ]
    for one in objects:
        lines += ["---", *_yaml(one)]
    return lines


def _shape(cluster: Cluster) -> tuple[int, int, bool, bool]:
    count = {job: sum(task.job == job for task in cluster.tasks) for job in ("ps", "worker", "chief", "evaluator")}
    return count["ps"], count["worker"], bool(count["chief"]), bool(count["evaluator"])


def _yaml(value: object, indent: str = "") -> list[str]:
    """The lines of a YAML object of dicts, lists, texts and numbers; texts are written as in JSON, which YAML takes."""
    lines: list[str] = []
    entries = value.items() if isinstance(value, dict) else [("-", entry) for entry in value]  # type: ignore[attr-defined]
    for key, entry in entries:
        head = indent + ("-" if key == "-" else f"{key}:")
        if not isinstance(entry, (dict, list)):
            lines.append(f"{head} {json.dumps(entry)}")
        elif key == "-":
            first, *rest = _yaml(entry, indent + "  ")
            lines += [f"{head} {first.lstrip()}", *rest]
        else:
            lines += [head, *_yaml(entry, indent + "  ")]
    return lines


#: What a cluster can be written as.
FORMS: dict[str, Callable[[Recipe], list[str]]] = {"commands": commands, "slurm": slurm, "kubernetes": kubernetes}
