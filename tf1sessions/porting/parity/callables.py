"""A Python function, or whatever else can be called, as a side: it takes arrays and gives arrays or tensors."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tf1sessions.errors import UsageError
from tf1sessions.porting.parity.functions import flat_outputs
from tf1sessions.porting.parity.sides import Side, array

__all__ = ["CallableSide", "of_module"]


class CallableSide(Side):
    """A callable.

    How it is called: by keywords, where its parameters have the names of the inputs; with the one input, where there
    is one; with a dict of all, where it takes one argument; else with one argument for each, in their order. Keras
    models are called with ``training=False``.

    Args:
        function: The callable.
        what: Its name in messages.
        folder: Where what it imports when it is called is found too; for a function of a file.
    """

    no_view = "it is a Python function, which has no graph to look into"

    def __init__(self, function: Callable[..., Any], what: str, folder: str | None = None) -> None:
        super().__init__(what, "Keras model" if _is_keras(function) else "Python function")
        self._function = function
        self._folder = folder

    def run(self, given: Mapping[str, Any]) -> dict[str, Any]:
        given = {name: value.copy() for name, value in given.items()}  # it may change its own, and not the other side's
        try:
            with _imports_from(self._folder):
                return {name: array(value) for name, value in flat_outputs(self._call(given)).items()}
        except UsageError:
            raise
        except (Exception, SystemExit) as error:
            raise UsageError(
                f"{self.what} raised {_described(error)}",
                where=self.what,
                next_step="Give inputs that it takes: --inputs data.npz, inputs=.",
            ) from error

    def _call(self, given: Mapping[str, Any]) -> Any:
        values = list(given.values())
        if _is_keras(self._function):
            return self._function(values[0] if len(values) == 1 else self._by_layers(given), training=False)
        positional, names, anything = _parameters(self._function)
        if set(given) <= names or (anything and not positional):
            return self._function(**given)
        if len(values) == 1:
            return self._function(values[0])
        if positional == 1:
            return self._function(dict(given))
        if positional == len(values):
            return self._function(*values)
        raise UsageError(
            f"{self.what} takes {positional} arguments ({', '.join(sorted(names)) or 'no names'}), and the inputs are "
            f"{', '.join(given)}",
            where=self.what,
            next_step="Name its parameters as the inputs are named, or take one dict of all of them.",
        )

    def _by_layers(self, given: Mapping[str, Any]) -> Any:
        """Several inputs as a Keras model takes them: a dict by its own names, or a list in its own order."""
        names = list(getattr(self._function, "input_names", ()) or ())
        if not names:
            names = [each.name.partition(":")[0] for each in getattr(self._function, "inputs", None) or ()]
        return [given[name] for name in names] if set(names) == set(given) else list(given.values())


def of_module(module: str, name: str, role: str) -> CallableSide:
    """Return the callable that ``module.py:name`` or ``package.module:name`` means.

    Raises:
        UsageError: There is no such module, it has no such name, or it cannot be imported.
    """
    if module.endswith(".py") and not os.path.isfile(module):
        raise UsageError(f"there is no file {module!r}", where=role, next_step="Give an existing file:function.")
    folder = os.path.dirname(os.path.abspath(module)) if module.endswith(".py") else ""  # the current one
    try:
        with _imports_from(folder):
            found = _from_file(module) if module.endswith(".py") else importlib.import_module(module)
    except (Exception, SystemExit) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{module}.".startswith(f"{missing}."):
            raise UsageError(
                f"there is no module {module!r}, nor a file of the name {module}:{name}",
                where=role,
                next_step="Give a path, or module.py:function.",
            ) from error
        raise UsageError(
            f"{module} raised {_described(error)}, when it was imported",
            where=role,
            next_step='What it does as a program belongs under `if __name__ == "__main__":`.',
        ) from error
    if not callable(value := getattr(found, name, None)):
        names = [each for each, thing in vars(found).items() if callable(thing) and not each.startswith("_")]
        raise UsageError(
            f"{module} has no function {name!r}",
            where=role,
            next_step=f"It has {', '.join(names[:8])}." if names else "",
        )
    return CallableSide(value, f"{module}:{name}", folder)


def _described(error: BaseException) -> str:
    """An error of the user's code in a line: its last one, and where it was raised."""
    text = "".join(traceback.format_exception_only(error)).strip().rpartition("\n")[2]
    own = os.path.dirname(__file__)
    places = [place for place in traceback.extract_tb(error.__traceback__) if not place.filename.startswith(own)]
    at = f" at {places[-1].filename}:{places[-1].lineno}" if places else ""
    return f"{text}{at}"


@contextlib.contextmanager
def _imports_from(folder: str | None) -> Iterator[None]:
    """Find modules in a folder first."""
    if folder is None:
        yield
        return
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):  # what runs inside has taken it out
            sys.path.remove(folder)


def _from_file(path: str) -> Any:
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(path))[0], path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _is_keras(function: Any) -> bool:
    """Whether it is a model of Keras, of either kind, found without importing it."""
    return any(
        each.__name__ == "Model" and each.__module__.partition(".")[0] in ("keras", "tf_keras")
        for each in type(function).__mro__
    )


def _parameters(function: Any) -> tuple[int, set[str], bool]:
    """Return the number of arguments by position, their names, and whether any keyword is taken."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # something built in
        return 1, set(), False
    by_position = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    names = {each.name for each in parameters if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD)}
    return len(by_position), names, any(each.kind == each.VAR_KEYWORD for each in parameters)
