"""Ways to do a thing, each measured in a process of its own. They take turns: a busy moment is everybody's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Hashable, Mapping
from typing import Any, TypeVar

Way = TypeVar("Way", bound=Hashable)

#: What the code of a way may use, besides ``sys.argv``.
TOOLS = """
import json, os, sys, time

def memory():
    # This process's megabytes: VmHWM at its highest, RssAnon what is its own by now.
    with open("/proc/self/status") as status:
        return {line.split(":")[0]: int(line.split()[1]) / 1024 for line in status if line.startswith(("Rss", "VmHWM"))}

def usage():
    # Seconds by the clock, those of the processor, and megabytes at the highest.
    return [time.perf_counter(), time.process_time(), memory()["VmHWM"]]

def tell_since(before):
    print(json.dumps([after - start for after, start in zip(usage(), before)]))
"""


def run(code: str, *args: str) -> str:
    """What a process prints that runs this code."""
    environment = {"TF_CPP_MIN_LOG_LEVEL": "3"} | dict(os.environ)
    command = [sys.executable, "-c", TOOLS + code, *args]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def by_turns(ways: Mapping[Way, str], rounds: int, *args: str) -> dict[Way, list[Any]]:
    """What each way's process prints last, as JSON, once for each round."""
    found: dict[Way, list[Any]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, code in ways.items():
            found[way].append(json.loads(run(code, *args).splitlines()[-1]))
    return found
