"""Libraries around TensorFlow that dropped or renamed what TF1 programs use of them.

Layout::

    rows.py               the kinds of rows, and what puts them in place
    gym_rows.py           Gym's API of up to 0.25, on Gym 0.26 or Gymnasium
    gym_classes.py        its environments and wrappers
    h5py_rows.py          h5py
    librosa_rows.py       librosa
    matplotlib_rows.py    matplotlib
    networkx_rows.py      networkx
    nltk_rows.py          nltk
    pandas_rows.py        pandas
    probability_rows.py   TensorFlow Probability
    scipy_rows.py         SciPy
    sklearn_rows.py       scikit-learn
    small_rows.py         libraries with a row or two

Each row names the release that made the change. Data flow: the import hooks ask :func:`find` for each module that is
imported. The table of a library is loaded with the library, and never before; a table imports nothing of its library
at the top. What the installed release still has is left alone.

Where a change could hurt a library that was written for the new release, the old behaviour is given only to lines of
the program's own files.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .rows import Table

__all__ = ["LIBRARIES", "apply_to_loaded", "find", "table"]

#: The library's import name -> our module with its table, in this package.
LIBRARIES = {
    "gin": "small",
    "gym": "gym",
    "h5py": "h5py",
    "librosa": "librosa",
    "matplotlib": "matplotlib",
    "moviepy": "small",
    "networkx": "networkx",
    "nltk": "nltk",
    "nose_parameterized": "small",
    "pandas": "pandas",
    "scipy": "scipy",
    "seaborn": "small",
    "sklearn": "sklearn",
    "tensorflow_hub": "small",
    "tensorflow_probability": "probability",
    "yaml": "small",
}

Build = Callable[[str, Callable[[], ModuleType]], importlib.machinery.ModuleSpec]
After = Callable[[str, Callable[[ModuleType], None]], "importlib.machinery.ModuleSpec | None"]


def table(library: str) -> Table:
    """The table of a library of :data:`LIBRARIES`."""
    module = importlib.import_module(f"{__name__}.{LIBRARIES[library]}_rows")
    found: Table = module.TABLES[library]
    return found


def find(
    fullname: str, path: Sequence[str] | None, after: After, build: Build
) -> importlib.machinery.ModuleSpec | None:
    """The spec of a module of such a library; None where it is to be found as ever.

    Args:
        fullname: The module that is imported.
        path: Where its package looks for it.
        after: Makes the spec of a real module, for whose import something is left to do.
        build: Makes the spec of a module that we make.
    """
    library = fullname.partition(".")[0]
    if library not in LIBRARIES:
        return None
    rows = table(library)
    if rows.changes(fullname):
        spec = after(fullname, rows.apply)
        if spec is not None:
            return spec
    make = rows.module(fullname)
    if make is None:
        return None
    if not make.always and importlib.machinery.PathFinder.find_spec(fullname, path) is not None:
        return None
    return build(fullname, make)


def apply_to_loaded() -> None:
    """Apply the tables of the libraries that this process imported before."""
    for library in LIBRARIES:
        if library in sys.modules:
            rows = table(library)
            for name, module in list(sys.modules.items()):
                if module is not None and rows.changes(name):  # None is for a host that lets an import fail
                    rows.apply(module)
