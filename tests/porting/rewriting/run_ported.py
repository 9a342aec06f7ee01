"""Runs ported programs in plain TensorFlow, each in a fork of one process that has imported it.

``python run_ported.py CASES.json``, a list of {"script", "args", "cwd"}: each prints to ``cwd/stdout`` and
``cwd/stderr``, and its exit code goes to ``cwd/code``. Nothing of tf1sessions changes TensorFlow here but the seeds:
those of TensorFlow 1, so that the numbers can be those of genuine TensorFlow 1.15.5.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow.compat.v1  # noqa: F401
import tf_keras  # noqa: F401

from tf1sessions.scripts import seeds

sys.path.insert(0, str(Path(__file__).parents[2]))
from collector import collect_rarely


def run(case: dict[str, Any]) -> None:
    """Run a program in this process, and end it."""
    os.chdir(case["cwd"])
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), descriptor)
    sys.argv = [case["script"], *case["args"]]
    sys.path[0] = os.path.dirname(case["script"])
    code: Any = 1
    try:
        runpy.run_path(case["script"], run_name="__main__")
        code = 0
    except SystemExit as error:
        code = error.code or 0
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    Path("code").write_text(str(code))
    os._exit(0)


seeds.apply()
seeds.choose("tf1")
collect_rarely()
running: list[int] = []
for each in json.loads(Path(sys.argv[1]).read_text("utf-8")):
    if len(running) == 2:
        os.waitpid(running.pop(0), 0)
    process = os.fork()
    if not process:
        run(each)
    running.append(process)
for process in running:
    os.waitpid(process, 0)
