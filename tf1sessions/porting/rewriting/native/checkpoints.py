"""Savers become tf.train.Checkpoint: its files have other contents, and it reads those of a tf.train.Saver by name."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ....source.edits import Edit, Positions, apply
from ..requests.arguments import arguments
from ..requests.request import NotPossible
from .digits import last_import
from .kinds import Kind, Kinds
from .texts import Texts
from .variables import variable_list

__all__ = [
    "PARTLY_RESTORED",
    "RESTORED",
    "RESTORED_COMMENT",
    "checkpoint",
    "is_saver",
    "keeps_all",
    "listed_variables",
    "use_of_saver",
    "with_writer",
]

#: What is said where a checkpoint is restored into an optimizer that has a state.
RESTORED = (
    "From a checkpoint of TensorFlow 1 this reads the variables, and no state of optimizers: convert such a file once, "
    'as "Old checkpoints" in migration_notes/port-native.md shows.'
)
#: What is said where some of the variables are restored, and another saver writes checkpoints.
PARTLY_RESTORED = (
    "This reads what a Checkpoint with the same list of variables wrote, or a file of TensorFlow 1. From what another "
    "saver of this program wrote it ends with an AssertionError: give both Checkpoints the same names."
)
RESTORED_COMMENT = "# a file of TensorFlow 1 gives the variables, not the optimizer's state"
_KEPT = "5"  # checkpoints that a Saver keeps, if nothing is said
#: Arguments of ``save()`` that say nothing of what a Checkpoint writes.
_OF_GRAPHS = frozenset(["meta_graph_suffix", "save_debug_info", "strip_default_attrs", "write_meta_graph"])
#: What lists the names of what a checkpoint has in it: those of objects now.
_LISTERS = frozenset(
    "tf.train.NewCheckpointReader tf.train.list_variables tf.train.load_checkpoint tf.train.load_variable".split()
)
_ALL_PATHS = "all_model_checkpoint_paths"
_WRITER = "write_checkpoint"
_WRITER_TEXT = """
def {name}(checkpoint, path):
    \"\"\"Write a checkpoint, and name it as the latest one of its folder.\"\"\"
    checkpoint.save_counter.assign_add(1)
    {base}.compat.v1.train.update_checkpoint_state(path.rpartition("/")[0] or ".", checkpoint.write(path))
    return path
"""
#: The same where the paths change, of which a Saver keeps the last ones.
_DELETING_WRITER_TEXT = """
{name}_paths = {{}}  # of each checkpoint, those of this run, the latest at the end


def {name}(checkpoint, path, max_to_keep=5):
    \"\"\"Write a checkpoint, name it as the latest one of its folder, and delete the oldest of too many.\"\"\"
    checkpoint.save_counter.assign_add(1)
    {base}.compat.v1.train.update_checkpoint_state(path.rpartition("/")[0] or ".", checkpoint.write(path))
    paths = {name}_paths.setdefault(checkpoint, [])
    paths[:] = [each for each in paths if each != path] + [path]
    if max_to_keep and len(paths) > max_to_keep:
        oldest = paths.pop(0)
        for file in {base}.io.gfile.glob([oldest + ".index", oldest + ".data-*-of-*"]):
            {base}.io.gfile.remove(file)
    return path
"""


def is_saver(kinds: Kinds, node: ast.AST | None) -> bool:
    """Whether an expression makes a LegacySaver."""
    return isinstance(node, ast.Call) and kinds.symbol(node.func) == "tf1sessions.porting.LegacySaver"


def listed_variables(kinds: Kinds, call: ast.Call) -> ast.expr | None:
    """Return what lists the variables of a saver; None where it saves all of them."""
    listed = arguments(call, ("var_list",)).get("var_list")
    if listed is None or (isinstance(listed, ast.Constant) and listed.value is None):
        return None
    found = variable_list(kinds, listed)
    return listed if found is None or found.trainable or found.scope is not None else None


def checkpoint(
    texts: Texts, call: ast.Call, listed: ast.expr | None, names: Mapping[str, str], keys: dict[str, str], wish: str
) -> str:
    """Write the Checkpoint in place of a saver. Checkpoints have the same keys for the same variables.

    Args:
        texts: Of the file.
        call: What makes the saver.
        listed: What lists its variables; None for all.
        names: The variables, layers, optimizers and averages before it: the name of each -> its text.
        keys: Those of lists of variables by their texts, to which that of this one is added.
        wish: The key of the list, if it has no name.

    Raises:
        NotPossible: The saver has arguments that a Checkpoint has nothing for.
    """
    given = arguments(call, ("var_list",))
    known = {"var_list", "max_to_keep", "keep_checkpoint_every_n_hours", "name", "save_relative_paths"}
    if unknown := sorted(str(name) for name in given if name not in known):
        raise NotPossible(call, f"A saver has the argument {unknown[0]}")
    if listed is not None:
        found = ast.parse(texts.of(listed), mode="eval").body
        own = [ast.unparse(each) for each in found.elts] if isinstance(found, ast.List | ast.Tuple) else []
        if own and all(name in names for name in own):
            names = {name: names[name] for name in own}
        else:
            name = getattr(found, "id", getattr(found, "attr", wish))
            names = {keys.setdefault(texts.of(listed), name): texts.of(listed)}
    if not names:
        raise NotPossible(call, "A saver is made before the variables that it saves")
    parts = ", ".join(f"{name}={text}" for name, text in names.items())
    return f"{texts.tensorflow}.train.Checkpoint({parts})"


def use_of_saver(
    kinds: Kinds, texts: Texts, made: ast.Call, call: ast.Call, base: str, *, is_deleting: bool = False
) -> tuple[str | None, str, ast.expr]:
    """Write ``saver.save(legacy, path)`` or ``saver.restore(legacy, path)`` with the Checkpoint.

    Args:
        kinds, texts: Of the file.
        made: What makes the saver.
        call: The call.
        base: The name of TensorFlow.
        is_deleting: Whether a checkpoint without a number is one of several, of which old ones are deleted.

    Returns:
        The Checkpoint or a CheckpointManager of it, the call of its method, and the path; None and the call of a
        function where that writes it.

    Raises:
        NotPossible: It is called in another way.
    """
    assert isinstance(call.func, ast.Attribute)
    saver = texts.of(call.func.value)
    parameters = {"save": ("sess", "save_path", "global_step"), "restore": ("sess", "save_path")}.get(call.func.attr)
    if parameters is None:
        raise NotPossible(call, f"A saver's {call.func.attr}() is called")
    given = arguments(call, parameters)
    path, step = given.get("save_path"), given.get("global_step")
    if path is None:
        raise NotPossible(call, "A saver is called without a path")
    if unknown := sorted(given.keys() - {*parameters, *_OF_GRAPHS}):
        raise NotPossible(call, f"A saver has the argument {unknown[0]}")
    if call.func.attr == "restore":
        return saver, f"read({texts.of(path)}).assert_existing_objects_matched()", path
    if listing := next((use.node for use in texts.file.uses if use.name in _LISTERS), None):
        raise NotPossible(listing, "The variables of a checkpoint are asked for by their names")
    kept = {each.arg: texts.of(each.value) for each in made.keywords}.get("max_to_keep", _KEPT)
    if step is None:
        if any(isinstance(each, ast.Attribute) and each.attr == _ALL_PATHS for each in ast.walk(texts.file.tree)):
            raise NotPossible(call, "All checkpoints of a folder are asked for, and some have no number")
        most = f", max_to_keep={kept}" if is_deleting else ""
        return None, f"{_writer(texts)}({saver}, {texts.of(path)}{most})", path
    folder, name = _parts(texts, path)
    manager = f"{base}.train.CheckpointManager({saver}, {folder}, max_to_keep={kept}, checkpoint_name={name})"
    number = texts.of(step) if kinds.of(step, kinds.module) is Kind.STATIC and not isinstance(step, ast.Name) else None
    return manager, f"save(checkpoint_number={number or f'int({texts.of(step)})'})", path


def keeps_all(made: ast.Call) -> bool:
    """Whether a saver deletes nothing."""
    kept = arguments(made, ("var_list",)).get("max_to_keep")
    return isinstance(kept, ast.Constant) and not kept.value


def _writer(texts: Texts) -> str:
    """The name of the function that writes checkpoints without a number."""
    name = _WRITER
    while texts.file.taken(name) or texts.file.taken(f"{name}_paths"):
        name += "_"
    return name


def with_writer(text: str, texts: Texts) -> str:
    """Return the text of a file with the function that its calls need, behind its first imports."""
    name = _writer(texts)
    if f"{name}(" not in text:
        return text
    tree, positions = ast.parse(text), Positions(text)
    first = next(each for each in tree.body if "tensorflow" in ast.unparse(each))
    after = positions.line_start((last_import(tree, first).end_lineno or 0) + 1)
    calls = (each for each in ast.walk(tree) if isinstance(each, ast.Call) and getattr(each.func, "id", "") == name)
    is_deleting = any(each.keywords for each in calls)
    writer = (_DELETING_WRITER_TEXT if is_deleting else _WRITER_TEXT).format(name=name, base=texts.tensorflow)
    return apply(text, [Edit(after, after, f"\n{writer}\n\n")])


def _parts(texts: Texts, path: ast.expr) -> tuple[str, str]:
    """The folder and the name in a path, as expressions."""
    if isinstance(path, ast.Constant) and isinstance(path.value, str):
        folder, _, name = path.value.rpartition("/")
        return repr(folder or "."), repr(name)
    if isinstance(path, ast.Call) and isinstance(path.func, ast.Attribute) and path.func.attr == "join":
        if texts.of(path.func).endswith("path.join") and len(path.args) > 1:
            last = path.args[-1]
            if isinstance(last, ast.Constant) and "/" not in str(last.value):
                folders = [texts.of(each) for each in path.args[:-1]]
                joined = folders[0] if len(folders) == 1 else f"{texts.of(path.func)}({', '.join(folders)})"
                return joined, texts.of(last)
    if not any(each.bound == "os" and each.meaning == "os" for each in texts.file.imports):
        raise NotPossible(path, "The folder of a checkpoint is known when the program runs")
    return f"os.path.dirname({texts.of(path)})", f"os.path.basename({texts.of(path)})"
