"""The surroundings of a process, such as its limits: what it has from the one that started it, besides its environment.

They are read in one process and taken over in another. For Linux.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Mapping, Set
from typing import Any

__all__ = ["ignore_signals", "surroundings", "take_over"]

_NOT_TO_SET = {signal.SIGKILL, signal.SIGSTOP}
_OOM_SCORE = "/proc/self/oom_score_adj"
#: Of /proc/self/status: what a process may do. A fork cannot get back what its server lacks, and must not have more.
_RIGHTS = ("NoNewPrivs", "Seccomp", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")


def surroundings() -> dict[str, Any]:
    """Return the surroundings of this process; JSON can carry them."""
    with open("/proc/self/status") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    with open("/proc/self/cgroup") as file:
        control_group = file.read()
    with open(_OOM_SCORE) as file:
        oom_score = int(file.read())
    root = os.stat("/")
    paths = os.environ.get("PYTHONPATH")  # an empty entry in it is the working directory
    return {
        "same": {
            "PYTHONPATH": [os.path.abspath(entry) for entry in paths.split(os.pathsep)] if paths else [],
            "the user": [os.geteuid(), os.getegid(), sorted(os.getgroups())],
            "what the process may do": [status.get(name) for name in _RIGHTS],
            "the control group": control_group,
            "the root folder": [root.st_dev, root.st_ino],
            **{f"the namespace {name!r}": os.readlink(f"/proc/self/ns/{name}") for name in os.listdir("/proc/self/ns")},
        },
        "umask": int(status["Umask"], 8),
        "ignored": [signum for signum in signal.valid_signals() if int(status["SigIgn"], 16) >> (signum - 1) & 1],
        "limits": {name: resource.getrlimit(getattr(resource, name)) for name in _limits()},
        "niceness": os.getpriority(os.PRIO_PROCESS, 0),
        "scheduling": [os.sched_getscheduler(0), os.sched_getparam(0).sched_priority],
        "oom_score": oom_score,
        "processors": sorted(os.sched_getaffinity(0)),
    }


def _limits() -> list[str]:
    return sorted(name for name in vars(resource) if name.startswith("RLIMIT_") and name != "RLIMIT_OFILE")


def take_over(wanted: Mapping[str, Any]) -> list[str]:
    """Give this process what can be set of the surroundings. Returns a reason for each that cannot."""
    reasons = []
    os.umask(wanted["umask"])
    os.sched_setaffinity(0, wanted["processors"])
    policy, priority = wanted["scheduling"]
    try:
        os.sched_setscheduler(0, policy, os.sched_param(priority))
    except OSError:
        reasons.append(f"it cannot have the scheduling policy {policy}")
    try:
        with open(_OOM_SCORE, "w") as file:
            file.write(str(wanted["oom_score"]))
    except OSError:
        reasons.append(f"its OOM score is above {wanted['oom_score']}")
    try:
        os.setpriority(os.PRIO_PROCESS, 0, wanted["niceness"])
    except PermissionError:
        reasons.append(f"its niceness is above {wanted['niceness']}")
    for name, (soft, hard) in wanted["limits"].items():
        try:
            resource.setrlimit(getattr(resource, name), (soft, hard))
        except (PermissionError, ValueError):
            reasons.append(f"its {name} is below {hard}")
    return reasons


def ignore_signals(signals: Set[int]) -> None:
    """Ignore these signals and no others, as a process does that its caller has started."""
    for signum in signal.valid_signals() - _NOT_TO_SET:
        if signum in signals:
            signal.signal(signum, signal.SIG_IGN)
        elif signal.getsignal(signum) == signal.SIG_IGN:
            signal.signal(signum, signal.default_int_handler if signum == signal.SIGINT else signal.SIG_DFL)
