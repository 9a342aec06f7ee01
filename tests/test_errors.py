"""The tree of errors: as drawn, picklable, and each message complete."""

from __future__ import annotations

import copy
import pickle
import re

import pytest

from tf1sessions import errors
from tf1sessions.errors import ConfigError, JobError, PythonTwoError, Tf1SessionsError

CLASSES = [getattr(errors, name) for name in errors.__all__]
OURS = set(CLASSES)

_NODE = re.compile(r"^(?P<indent>[ │├└─]*)(?P<name>\w+(?:Error|Conflict)|Overloaded)\b(?: \((?P<builtin>\w+)\))?")


def drawn_tree(docstring: str) -> dict[str, tuple[str | None, str | None]]:
    """Reads the drawing: class name -> (its parent in the drawing, the built-in error in brackets)."""
    tree: dict[str, tuple[str | None, str | None]] = {}
    above: list[tuple[int, str]] = []
    for line in docstring.splitlines():
        if found := _NODE.match(line.removeprefix("    ")):
            depth = len(found["indent"])
            while above and above[-1][0] >= depth:
                above.pop()
            tree[found["name"]] = (above[-1][1] if above else None, found["builtin"])
            above.append((depth, found["name"]))
    return tree


def real_tree() -> dict[str, tuple[str | None, str | None]]:
    tree: dict[str, tuple[str | None, str | None]] = {}
    for cls in CLASSES:
        parents = [base.__name__ for base in cls.__bases__ if base in OURS]
        builtins = [base.__name__ for base in cls.__bases__ if base not in OURS and base is not Exception]
        assert len(parents) <= 1 and len(builtins) <= 1, cls
        tree[cls.__name__] = (parents[0] if parents else None, builtins[0] if builtins else None)
    return tree


def test_tree_is_as_drawn() -> None:
    assert drawn_tree(errors.__doc__ or "") == real_tree()


def test_drawing_is_read_with_its_depth() -> None:
    drawing = """
    AError
    ├── BError (ValueError)     says CError
    │   └── CError
    └── DError
    """
    assert drawn_tree(drawing) == {
        "AError": (None, None),
        "BError": ("AError", "ValueError"),
        "CError": ("BError", None),
        "DError": ("AError", None),
    }


def test_every_error_of_the_module_is_exported() -> None:
    defined = {name for name, value in vars(errors).items() if getattr(value, "__module__", "") == errors.__name__}
    assert errors.__all__ == sorted(name for name in defined if not name.startswith("_"))


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_survives_pickling(cls: type[Tf1SessionsError], protocol: int) -> None:
    # name, filename and lineno are slots of some built-in errors and plain attributes of the others
    details = {"name": "train", "path": "/a/b", "filename": "train.py", "lineno": 3, "job": "j", "values": [1, 2]}
    error = cls("the rate is -1", where="train.py:3", next_step="Give a positive rate.", **details)
    error.__cause__ = ValueError("negative")
    error.later = "set after it was made"  # type: ignore[attr-defined]

    again = pickle.loads(pickle.dumps(error, protocol))

    assert type(again) is cls
    assert str(again) == str(error) == "the rate is -1 (from train.py:3). Give a positive rate."
    assert again.args == error.args
    for name, value in {**details, "where": "train.py:3", "next_step": "Give a positive rate."}.items():
        assert getattr(error, name) == value, name
        assert getattr(again, name) == value, name
    assert again.later == "set after it was made"
    assert repr(again.__cause__) == "ValueError('negative')"
    assert again.__suppress_context__


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_without_details(cls: type[Tf1SessionsError]) -> None:
    for again in (cls("plain"), copy.copy(cls("plain")), pickle.loads(pickle.dumps(cls("plain")))):
        assert (str(again), again.where, again.next_step, again.__cause__) == ("plain", None, None, None)
        assert not again.__suppress_context__
    assert str(cls()) == ""


class _NeedsTwo(Exception):
    """Pickles, and then fails to load: what most hand-written exceptions do."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(first)


def test_a_cause_that_cannot_be_pickled_arrives_as_text() -> None:
    try:
        try:
            raise _NeedsTwo("lost its second half", "")
        except _NeedsTwo as cause:
            raise JobError("job 'a' failed", job="a") from cause
    except JobError as caught:
        error = caught
    with pytest.raises(TypeError):  # the near miss: alone it does not survive
        pickle.loads(pickle.dumps(error.__cause__))

    again = pickle.loads(pickle.dumps(error))

    assert (str(again), again.job) == ("job 'a' failed", "a")
    assert isinstance(error.__cause__, _NeedsTwo), "the original keeps its own cause"
    assert type(again.__cause__) is RuntimeError
    assert "_NeedsTwo: lost its second half" in str(again.__cause__)
    assert 'raise _NeedsTwo("lost its second half"' in str(again.__cause__)


@pytest.mark.parametrize(
    ("where", "next_step", "expected"),
    [
        (None, None, "seed is -1."),
        (None, "Give 0 or more.", "seed is -1. Give 0 or more."),
        ("SessionConfig", None, "seed is -1. (from SessionConfig)"),
        ("", "", "seed is -1."),
    ],
)
def test_message_is_composed_of_what_is_known(where: str | None, next_step: str | None, expected: str) -> None:
    assert str(ConfigError("seed is -1.", where=where, next_step=next_step)) == expected


@pytest.mark.parametrize(
    ("cls", "caught_by", "not_by"),
    [
        (errors.ConfigError, ValueError, RuntimeError),
        (errors.ConcurrentGraphError, RuntimeError, ValueError),
        (errors.ClosedError, RuntimeError, ValueError),
        (errors.MissingSymbolError, AttributeError, ImportError),
        (errors.MissingModuleError, ImportError, AttributeError),
        (errors.PythonTwoError, SyntaxError, ImportError),
        (errors.JobTimeoutError, TimeoutError, errors.JobError),
        (errors.WorkerDiedError, errors.WorkError, errors.UsageError),
    ],
)
def test_is_caught_as_what_it_is(cls: type[Exception], caught_by: type[Exception], not_by: type[Exception]) -> None:
    assert issubclass(cls, caught_by)
    assert not issubclass(cls, not_by)


def test_missing_symbol_lets_hasattr_and_import_work(monkeypatch: pytest.MonkeyPatch) -> None:
    class Module:
        def __getattr__(self, name: str) -> None:
            raise errors.MissingSymbolError(f"no {name}", name=name)

    assert not hasattr(Module(), "contrib")

    try:
        raise errors.MissingModuleError("tensorflow.contrib is gone", name="tensorflow.contrib")
    except ImportError as error:
        assert error.name == "tensorflow.contrib"


def test_python_two_error_is_shown_with_its_place() -> None:
    error = PythonTwoError("a print statement", filename="old.py", lineno=7, next_step="Run: 2to3 -w old.py")
    assert (error.filename, error.lineno, error.msg) == ("old.py", 7, "a print statement. Run: 2to3 -w old.py")
    assert str(error) == error.msg  # without SyntaxError's "(old.py, line 7)", which the command line adds itself
