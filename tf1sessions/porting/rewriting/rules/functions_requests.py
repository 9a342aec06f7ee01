"""Requests to a session become functions: ``sess.run([train, loss], {x: a})`` is ``run_train_and_loss(a)``.

What builds the graph stays as it is, inside of ``with legacy:``, where ``legacy`` is a ``porting.LegacyGraph``. Each
request whose fetches and feeds are written out becomes a function of that graph, made once, before the loop that calls
it. A request that is put together while the program runs stays one, of the LegacyGraph in place of the session.

A program changes as a whole, with all files that it imports, or not at all: eager execution is on afterwards, so what
builds outside of ``with legacy:`` would compute at once.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from ....source.uses import FileUses
from ..requests.closed import check_closed
from ..requests.file_plan import FilePlan, switches
from ..requests.graph_code import GraphCode, graph_code
from ..requests.known import check_known
from ..requests.request import NotPossible, refuse_code_in_texts
from ..requests.scope_plan import RUNNERS, planned
from ..rule import Change, Remark, Rule

__all__ = ["RULE"]

#: Names of TensorFlow that keep a program at the step before.
_BLOCKERS = {
    "tf.train.SingularMonitoredSession": "a SingularMonitoredSession",
    "tf.train.Supervisor": "a Supervisor",
    "tf.train.Server": "a cluster",
    "tf.train.import_meta_graph": "a graph that is read from a file",
    "tf.import_graph_def": "a graph that is read from a file",
    "tf.get_default_session": "the default session",
}
_BLOCKING_METHODS = {
    "partial_run": "a partial run",
    "partial_run_setup": "a partial run",
    "add_meta_graph_and_variables": "a SavedModelBuilder",
}
_BLOCKING_PREFIXES = {
    "tf.estimator.": "an estimator",
    "tf1sessions.estimator": "an estimator",
    "tf1sessions.contrib.learn.": "tf.contrib.learn",
    "tf.contrib.learn.": "tf.contrib.learn",
}
#: Of those, what makes no graph.
_DATA = ("tf1sessions.contrib.learn.datasets", "tf.contrib.learn.datasets")


def _find(file: FileUses) -> Iterator[Change | Remark]:
    files = file.connected
    code = graph_code(files)
    if not any(switches(each) for each in files) or any(_is_eager(each) for each in files):
        return
    if not any(_runs_sessions(code, each) for each in files):
        return
    plans = _plans(files)
    problem = next(((each, plan) for each, plan in plans.items() if isinstance(plan, NotPossible)), None)
    if problem is None:
        plan = plans[file]
        assert not isinstance(plan, NotPossible)
        if plan.edits:
            yield Change(file.tree, "sessions", tuple(plan.edits), places=tuple(plan.places))
    elif problem[0] is file:
        found = problem[1]
        assert isinstance(found, NotPossible)
        yield Remark(found.node, f"{found.what}, so this program keeps its session.")


@functools.lru_cache(maxsize=2)
def _plans(files: tuple[FileUses, ...]) -> dict[FileUses, FilePlan | NotPossible]:
    """For each file of a program what changes, or why it does not."""
    found = _planned(files, is_shared=False)
    plans = {file: plan for file, plan in found.items() if isinstance(plan, FilePlan) and plan.makes_default}
    built = {file for file, plan in plans.items() if plan.makes_when_imported}
    return _planned(files, is_shared=True) if any(built & file.reached - {file} for file in plans) else found


def _planned(files: tuple[FileUses, ...], is_shared: bool) -> dict[FileUses, FilePlan | NotPossible]:
    code = graph_code(files)
    found: dict[FileUses, FilePlan | NotPossible] = {}
    for file in files:
        try:
            _check(code, file)
            plan = planned(code, file, is_shared)
            check_known(code, file)
            found[file] = plan
        except NotPossible as error:
            found[file] = error
    return found


def _is_eager(file: FileUses) -> bool:
    """Whether a file has eager execution on: what this rule writes."""
    return any(use.name == "tf.enable_eager_execution" for use in file.uses)


def _runs_sessions(code: GraphCode, file: FileUses) -> bool:
    return any(code.makes_session(file, node) or code.is_monitored(file, node) for node in ast.walk(file.tree))


def _check(code: GraphCode, file: FileUses) -> None:
    """Refuse what a LegacyGraph does not have.

    Raises:
        NotPossible: The file has some of it.
    """
    refuse_code_in_texts(file)
    check_closed(code, file)
    for use in file.uses:
        what = _BLOCKERS.get(use.name)
        if what is None and not use.name.startswith(_DATA):
            what = next((text for start, text in _BLOCKING_PREFIXES.items() if use.name.startswith(start)), None)
        if what is not None:
            raise NotPossible(use.node, f"It has {what}")
        if use.name == "tf.Graph" and use.call is not None and isinstance(file.parents[use.call], ast.Tuple | ast.List):
            raise NotPossible(use.node, "A graph has no name of its own")
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _BLOCKING_METHODS:
                raise NotPossible(node, f"It has {_BLOCKING_METHODS[node.func.attr]}")
            symbol = code.symbol(file, node.func) or ""
            if symbol == "tf.train.MonitoredSession" and not (node.args or node.keywords):
                raise NotPossible(node, "It has a MonitoredSession without a session creator")
            if symbol.startswith("tf.") and symbol not in ("tf.train.global_step", RUNNERS):
                given = [*node.args, *(each.value for each in node.keywords)]
                if any(code.is_session(each) for each in given):
                    raise NotPossible(node, f"{symbol} takes the session")
            if symbol.endswith("reset_default_graph") and not _runs_where(code, file, node):
                raise NotPossible(node, "A function that runs no session resets the default graph")
            if code.is_request(file, node) and {each.arg for each in node.keywords} & {"options", "run_metadata"}:
                raise NotPossible(node, "A request has options or takes metadata")


def _runs_where(code: GraphCode, file: FileUses, node: ast.AST) -> bool:
    """Whether the function that a node is in runs a session, or it is in none."""
    while not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        if isinstance(node, ast.Module):
            return True
        node = file.parents[node]
    return not isinstance(node, ast.Lambda) and any(code.has_requests(file, each) for each in node.body)


RULE = Rule(
    "functions-requests",
    "A session's requests become functions of the graph, which is built inside of `with legacy:`.",
    _find,
)
