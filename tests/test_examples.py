"""Every example, unchanged, in a worker of the script server prints what genuine TensorFlow 1.15.5 printed.

So do those on this library's own interface, as programs of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from examples_cases import CASES, PIPELINES
from support import ROOT

from tf1sessions.pools.fork_server import WorkerSpec
from tf1sessions.scripts.servers import script_server

DEADLINE = 240.0


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Runs all cases, two at a time, under one server: name -> (return code, stdout, stderr)."""
    folder = tmp_path_factory.mktemp("examples")
    env = dict(os.environ, TF_USE_LEGACY_KERAS="1", TF_ENABLE_ONEDNN_OPTS="0")
    null = threading.Lock()

    def run(case):
        cwd = folder / case.name
        cwd.mkdir()
        payload = {
            "kind": "script",
            "path": str(case.path),
            "path0": str(case.path.parent),
            "argv": list(case.args),
            "display": case.script,
            "settings": {"intra_op_threads": 1, "inter_op_threads": 1},
        }
        with open(cwd / "stdout", "wb") as out, open(cwd / "stderr", "wb") as err:
            spec = WorkerSpec(
                name=case.name,
                target="tf1sessions.scripts.program:execute",
                payload=payload,
                env=env,
                cwd=str(cwd),
                stdin=None,
                stdout=out.fileno(),
                stderr=err.fileno(),
            )
            with null:
                handle = server.spawn(spec)
            result = handle.wait(DEADLINE)
        if result is None:
            handle.kill()
        text = [(cwd / name).read_text(encoding="utf-8", errors="replace") for name in ("stdout", "stderr")]
        return result, *text

    with script_server(env) as server:
        server.wait_ready(DEADLINE)
        with ThreadPoolExecutor(2) as pool:
            return dict(zip([case.name for case in CASES], pool.map(run, CASES), strict=True))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_prints_what_it_printed_on_tensorflow_1_15(outputs, case):
    result, out, err = outputs[case.name]
    assert result is not None, f"did not end within {DEADLINE} s; stderr:\n{err[-3000:]}"
    assert result.returncode == 0, err[-3000:]
    differences = case.differences(out)
    assert not differences, "\n".join(differences)
    assert "Traceback" not in err and not result.leftovers


@pytest.mark.slow
@pytest.mark.parametrize("path", PIPELINES, ids=lambda path: path.stem)
def test_pipeline_prints_what_its_plain_form_printed_on_tensorflow_1_15(path, tmp_path):
    (case,) = (case for case in CASES if case.script == path.name)
    done = subprocess.run(
        [sys.executable, str(path)],
        cwd=tmp_path,
        env=dict(os.environ, PYTHONPATH=str(ROOT)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr[-3000:]
    assert case.differences(done.stdout) == []
