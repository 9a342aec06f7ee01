"""examples/devices: each recipe runs, and the doctor names the pitfall beside it, and nothing in the recipe itself."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from plain_jobs import Plain
from support import ROOT, PythonRun
from warm import run_python

from tf1sessions.doctor.check import check
from tf1sessions.source.program import read_script, read_text

__all__ = ["run_python"]

pytest_plugins = ("plain_fixture",)
RECIPES = sorted((ROOT / "examples" / "devices").glob("*.py"))
PAGE = ROOT / "migration_notes" / "7-sharing-a-machine.md"

#: What each prints where there is no GPU.
OUTPUTS = {
    "threads.py": """
no GPU here: all sessions are on the CPU
rate 0.05: weight 0.651
rate 0.1: weight 0.893
rate 0.2: weight 0.994
rate 0.4: weight 1.000
""",
    "fractions.py": """
no GPU here: program 1 has a part of the CPU's threads and no limit of memory
sums 100 and 400
no GPU here: a session's own fraction means nothing
""",
    "lanes.py": """
no GPU here: 2 logical CPU devices stand for its parts
rate 0.1 on /device:CPU:N: weight 0.893
rate 0.2 on /device:CPU:N: weight 0.994
""",
    "model_parts.py": """
no GPU here: two logical CPU devices stand for two GPUs
hidden layer on /device:CPU:0, output on /device:CPU:1
the loss fell to less than a fifth: True
""",
    "mirrored.py": """
fewer than two GPUs here: two logical CPU devices stand for them
two replicas learn what one device does: True
the loss fell to less than a tenth: True
""",
    "processes.py": """
no GPU here: 2 processes divide the CPU's cores
rate 0.05: weight 0.651
rate 0.1: weight 0.893
rate 0.2: weight 0.994
rate 0.4: weight 1.000
in other processes than this one: True
""",
    "multi_worker.py": """
no GPU here: 2 processes divide the CPU's cores
weights 1.500 and 1.500: in the middle of what the workers were given
""",
    "train_aside.py": """
no GPU here: both processes are on the CPU
trained in another process: True
the last weight: 1.000
""",
}
_RUN = """
import runpy, sys
for path in sys.argv[1:]:
    print("#", path, flush=True)
    sys.argv[:] = [path, "1"]
    runpy.run_path(path, run_name="__main__")
"""


def pitfall(recipe: Path) -> tuple[str, str]:
    """The rule that a recipe's docstring names, and the program that stands under it."""
    text = ast.get_docstring(ast.parse(recipe.read_text("utf-8"))) or ""
    rule = re.search(r"which `tf1sessions doctor` names ([a-z-]+):", text)
    assert rule, f"{recipe.name} names no rule of the doctor"
    return rule[1], textwrap.dedent(text.partition("::\n")[2])


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.stem)
def test_doctor_names_the_pitfall_and_nothing_in_the_recipe(recipe: Path) -> None:
    rule, program = pitfall(recipe)
    assert rule in [finding.rule for finding in check(read_text(program))]
    assert check(read_script(recipe)) == []
    assert len(recipe.read_text("utf-8").splitlines()) < 80


def test_page_lists_every_recipe_with_its_rule() -> None:
    rows = re.findall(r"^\| .* \| `examples/devices/(\w+\.py)`.* \| `([a-z-]+)` \|$", PAGE.read_text("utf-8"), re.M)
    assert dict(rows) == {recipe.name: pitfall(recipe)[0] for recipe in RECIPES}
    assert {recipe.name for recipe in RECIPES} == {*OUTPUTS, "parameter_servers.py"}


# In one process, and with it one fork server, where a recipe's own process settles nothing for the next one.
TOGETHER = ["processes", "multi_worker", "train_aside"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "names", [["threads"], ["fractions"], ["lanes"], ["model_parts"], ["mirrored"], TOGETHER], ids="-".join
)
def test_prints(names: list[str], run_python: Callable[..., PythonRun]) -> None:
    paths = [str(ROOT / "examples" / "devices" / f"{name}.py") for name in names]
    done = run_python(_RUN, *paths, deadline=120)
    # The first free thread of the pool takes the next job, so that either lane may have either of them.
    printed = re.sub(r"^(rate \S+ on /device:CPU:)[01]:", r"\1N:", done.stdout, flags=re.M)
    assert printed == "".join(f"# {path}{OUTPUTS[Path(path).name]}" for path in paths), done.stderr[-3000:]


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.parametrize("name", ["threads", "fractions", "lanes", "model_parts", "processes", "train_aside"])
def test_takes_a_gpu_where_there_is_one(name: str, run_python: Callable[..., PythonRun]) -> None:
    done = run_python(_RUN, str(ROOT / "examples" / "devices" / f"{name}.py"), deadline=120, fresh=True)
    assert "no GPU here" not in done.stdout and "False" not in done.stdout


@pytest.mark.slow
def test_parameter_servers_under_launch(plain: Plain) -> None:
    recipe = str(ROOT / "examples" / "devices" / "parameter_servers.py")
    arguments = ["--ps", "1", "--workers", "2", "--out", "run", recipe]
    started = plain.start(*arguments, program=["-m", "tf1sessions", "launch"])
    stdout, stderr = started.communicate(timeout=120)
    assert started.returncode == 0, (stdout + stderr).decode()
    for number, record in enumerate(record for record in plain.records("run") if record["name"] != "ps:0"):
        said = (plain.folder / "run" / record["log"]).read_text()
        assert "no GPU here: the workers divide the CPU's cores" in said
        assert f"worker {number}: the loss is below 0.01: True" in said
