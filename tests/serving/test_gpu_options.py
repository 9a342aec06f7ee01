"""`--lanes`, `--memory-mb` and a model's `lane`, on a machine without a GPU, where lanes are devices of the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("uvicorn")

_PROGRAM = """
import os, sys
sys.path.insert(0, sys.argv[1])
from served_models import SEVERAL, ask, export, frozen, serving
from tf1sessions.errors import UsageError
from tf1sessions.serving import repository
from tf1sessions.serving.server import Server, ServerSettings
from tf1sessions.serving.settings import models_from

if not os.fork():  # devices are divided before the first session of a process
    export("half/1")
    frozen()
    os._exit(0)
os.wait()

def refused(lane, lanes, memory_mb):
    settings = ServerSettings(port=0, lanes=lanes, memory_mb=memory_mb)
    try:
        Server(models_from({"m": {"path": "half", "lane": lane}}), settings).run()
    except UsageError as error:
        return str(error)

report(refused=[refused(0, 1, None), refused(1, 1, 512), refused(2, 2, None)])
configured = {}
class Noted(repository.ServedModel):
    def __init__(self, settings, version, path, limits, config=None):
        super().__init__(settings, version, path, limits, config)
        where = {node.device for node in self.model.graph.get_operations() if node.type in ("Add", "AddV2", "Sum")}
        configured[settings.name] = [config.lane, config.inter_op_threads, sorted(where)]
repository.ServedModel = Noted
models = {"half": {"path": "half", "lane": 1, "threads": 2}, "several": SEVERAL}
with serving(models, lanes=2, memory_mb=512) as server:
    report(answer=ask(server, "/v1/models/half:predict", {"instances": [1.0]}), configured=configured)
"""


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_model_runs_on_its_lane(run_python):
    found = run_python(_PROGRAM, str(Path(__file__).parent)).results
    assert found["answer"] == [200, {"predictions": [2.5]}]
    assert found["configured"] == {
        "half": ["/device:CPU:1", 2, ["/device:CPU:1"]],
        "several": ["/device:CPU:0", None, ["/device:CPU:0"]],
    }
    for said, lanes in zip(found["refused"], (2, 2, 3), strict=True):
        assert "model m" in said and f"--lanes {lanes} or more" in said
