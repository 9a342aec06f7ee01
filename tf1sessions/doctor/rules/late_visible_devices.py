"""``CUDA_VISIBLE_DEVICES`` set when CUDA has read it already."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source.effects import STARTS_CUDA, is_session
from ..code import Code
from ..findings import Severity
from ..order import ProgramStep
from .rule import Hit, Rule

_VARIABLE = "CUDA_VISIBLE_DEVICES"
#: Children get the environment as it is then; the variable may be meant for them.
_STARTS_CHILD = frozenset(
    """
    subprocess.Popen subprocess.run subprocess.call subprocess.check_call subprocess.check_output os.system
    multiprocessing.Process multiprocessing.Pool concurrent.futures.ProcessPoolExecutor
    """.split()
)


def find(code: Code) -> Iterator[Hit]:
    for steps in code.order.sequences():
        starts = [step for step in steps if step.path in STARTS_CUDA or is_session(step.path)]
        for step in steps:
            if starts and sets_variable(code, step):
                first = next((start for start in starts if code.order.follows(step, start)), None)
                if first is not None and not any(after.path in _STARTS_CHILD for after in steps[step.number :]):
                    title = f"{_VARIABLE} is set after {first.path}, which has read it already"
                    yield Hit(step.node, title, others=(first.node,))


def sets_variable(code: Code, step: ProgramStep) -> bool:
    """Whether a step sets the variable in this process's environment."""
    node = step.node
    if isinstance(node, ast.Assign):
        return any(
            isinstance(target, ast.Subscript)
            and code.path(target.value) == "os.environ"
            and code.names.literal(target.slice) == _VARIABLE
            for target in node.targets
        )
    if isinstance(node, ast.Call) and step.path in ("os.putenv", "os.environ.setdefault"):
        return bool(node.args) and code.names.literal(node.args[0]) == _VARIABLE
    if isinstance(node, ast.Call) and step.path == "os.environ.update" and node.args:
        keys = node.args[0].keys if isinstance(node.args[0], ast.Dict) else []
        return any(key is not None and code.names.literal(key) == _VARIABLE for key in keys)
    return False


RULE = Rule(
    name="late-visible-devices",
    severity=Severity.ERROR,
    what="CUDA_VISIBLE_DEVICES set after the first session or look at the GPUs",
    why="CUDA reads the variable once, when it is initialised: by the first session, eager operation or "
    "list_physical_devices. What is set later changes nothing, and the program uses the GPUs that it meant to leave.",
    fix="Set it in the first lines of the script, or in the environment of the command. After the import of "
    "TensorFlow is early enough.",
    find=find,
)
