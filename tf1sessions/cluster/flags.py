"""The flags that give a program its task of a cluster, found in its source; nothing of it is run.

Data flow: :func:`find` looks at the calls that define flags (``tf.app.flags``, absl, gflags, argparse, optparse, click)
in the files of a :class:`~tf1sessions.source.program.Program` and gives :class:`TaskFlags`; :meth:`TaskFlags.arguments`
writes them for one task. Programs that take them as plain arguments get them by :func:`fill_in`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tf1sessions.cluster.tasks import Cluster, Task
from tf1sessions.errors import ConfigError
from tf1sessions.source.program import Program
from tf1sessions.texts import quoted

__all__ = ["ROLES", "TaskFlags", "fill_in", "find"]

#: What a flag can say, and the names that programs give to such flags; the first that a program has is taken.
ROLES: dict[str, tuple[str, ...]] = {
    "job_name": ("job_name", "job-name", "jobname", "job_type", "task_type", "job", "role"),
    "task_index": ("task_index", "task-index", "task_id", "taskid", "task_idx", "task", "worker_index", "index"),
    "ps_hosts": ("ps_hosts", "ps-hosts", "ps_host", "ps_servers", "parameter_servers", "ps_list", "ps"),
    "worker_hosts": ("worker_hosts", "worker-hosts", "worker_host", "worker_servers", "worker_list", "workers"),
    "chief_hosts": ("chief_hosts", "chief-hosts", "chief_host", "master_hosts"),
}
# A program that has neither of these does not learn its task from flags, whatever else it calls "ps" or "index".
_NEEDED = ("job_name", "task_index")
_DEFINERS = ("add_argument", "add_option", "option")
_HOLDER = re.compile(r"\{(job_name|task_index|ps_hosts|worker_hosts|chief_hosts)\}")


@dataclass(frozen=True)
class TaskFlags:
    """The names of a program's flags, without hyphens before them.

    Attributes:
        names: By role; a role of :data:`ROLES` that is not in it has no flag.
    """

    names: Mapping[str, str]

    def __bool__(self) -> bool:
        return bool(self.names)

    def arguments(self, cluster: Cluster, task: Task) -> tuple[str, ...]:
        """Return the arguments by which a program knows that it is ``task`` of ``cluster``."""
        values = _values(cluster, task)
        return tuple(f"--{name}={values[role]}" for role, name in self.names.items())


def find(program: Program, given: Iterable[str] = ()) -> TaskFlags:
    """Return the flags of a program.

    Args:
        program: Its source.
        given: Names that count above what is found, each ``"role=name"``; a name that is empty takes the flag away.

    Raises:
        ConfigError: One of ``given`` has another form, or names a role that there is not.
    """
    chosen = dict(_parse(text) for text in given)
    defined = set(_defined(program))
    names: dict[str, str] = {}
    for role, candidates in ROLES.items():
        name = chosen[role] if role in chosen else next((name for name in candidates if name in defined), "")
        if name:
            names[role] = name
    if not chosen and not all(role in names for role in _NEEDED):
        # Workers alone need no job; "--ps_hosts" beside "--worker_hosts" is a cluster whatever the rest is called.
        if not ({"task_index", "worker_hosts"} <= names.keys() or {"ps_hosts", "worker_hosts"} <= names.keys()):
            return TaskFlags({})
    return TaskFlags(names)


def fill_in(arguments: Sequence[str], cluster: Cluster, task: Task) -> tuple[str, ...]:
    """Return arguments with ``{job_name}``, ``{task_index}``, ``{ps_hosts}`` and the like replaced by a task's values.

    Example:
        >>> cluster = Cluster.at(["127.0.0.1:9001"], ps=0, workers=1)
        >>> fill_in(["{job_name}", "--rank={task_index}", "{x}"], cluster, cluster.tasks[0])
        ('worker', '--rank=0', '{x}')
    """
    values = _values(cluster, task)
    return tuple(_HOLDER.sub(lambda match: values[match[1]], text) for text in arguments)


def _values(cluster: Cluster, task: Task) -> dict[str, str]:
    hosts = {f"{job}_hosts": ",".join(cluster.hosts(job)) for job in ("ps", "worker", "chief")}
    return {"job_name": task.job, "task_index": str(task.index), **hosts}


def _parse(text: str) -> tuple[str, str]:
    role, equals, name = text.partition("=")
    if not equals or role not in ROLES:
        raise ConfigError(
            f"--flag {quoted(text)} is not ROLE=NAME, with one of {', '.join(ROLES)} as its ROLE",
            next_step="Example: --flag task_index=rank",
        )
    return role, name.lstrip("-")


def _defined(program: Program) -> Iterator[str]:
    """The names of the flags that a program defines, without the hyphens before them."""
    for file in program.files:
        for node in ast.walk(file.tree):
            if not isinstance(node, ast.Call):
                continue
            function = node.func
            called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
            texts += [
                word.value.value
                for word in node.keywords
                if word.arg == "name" and isinstance(word.value, ast.Constant) and isinstance(word.value.value, str)
            ]
            if called.startswith("DEFINE_"):
                yield from texts[:1]
            elif called in _DEFINERS:
                yield from (text[2:] for text in texts if text.startswith("--"))
