"""SciPy: modules and functions that moved, and the names of NumPy that it had as its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....scripts.old_libraries import scipy_rows
from ....source.uses import FileUses, Use
from .. import library_tables
from ..renames import Row, Spelled, find_names, imports_library, spell, written
from ..rule import Change, Remark, Rule

__all__ = ["RULE", "find"]

_REAL = ("sqrt", "log", "log2", "log10", "power", "arccos", "arcsin")
_PICTURES = {
    "imread": "np.asarray(PIL.Image.open(path)), or imageio.imread(path),",
    "imsave": "PIL.Image.fromarray(x).save(path), of an array of uint8,",
    "imresize": "np.asarray(PIL.Image.fromarray(x).resize((width, height), PIL.Image.BILINEAR))",
    "imrotate": "np.asarray(PIL.Image.fromarray(x).rotate(angle))",
    "toimage": "PIL.Image.fromarray(x), of an array of uint8,",
    "fromimage": "np.asarray(image)",
    "imshow": "matplotlib's plt.imshow(x)",
    "imfilter": "PIL.Image.fromarray(x).filter(...)",
    "bytescale": "a line of NumPy",
}

_PICTURE = "scipy.misc.{}() is gone since SciPy 1.2: {} comes near. `tf1sessions run` still gives it."


def _simpson(file: FileUses, use: Use) -> Spelled | None:
    """``simps(y, x)``: only y by its place now."""
    call = use.call
    if call is None or len(call.args) > 2 or any(each.arg == "even" for each in call.keywords):
        return None
    parts = [file.positions.source(call.args[0]), *(f"x={file.positions.source(each)}" for each in call.args[1:])]
    parts += [file.positions.source(each) for each in call.keywords]
    found = spell(file, use, "scipy.integrate.simpson")
    return Spelled(f"{found.text}({', '.join(parts)})", found.imports)


_TABLE: dict[str, Row] = {
    **{f"scipy.{name}": Row(f"numpy.{name}", "SciPy 1.12") for name in scipy_rows.OF_NUMPY.split()},
    **{f"scipy.{name}": Row(f"numpy.lib.scimath.{name}", "SciPy 1.12") for name in _REAL},
    **{f"scipy.{name}": Row(f"numpy.random.{name}", "SciPy 1.12") for name in ("rand", "randn")},
    **{f"scipy.signal.{name}": Row(f"scipy.signal.windows.{name}", "SciPy 1.13")
       for name in scipy_rows.WINDOWS.split()},
    **library_tables.names("scipy"),
    "scipy.integrate.simps": Row(None, "SciPy 1.14", _simpson, "scipy.integrate.simps() is simpson(y, x=x)."),
    "scipy.linalg.pinv2": Row(None, "SciPy 1.9", written("{f}({0})", 1, f="scipy.linalg.pinv"),
                              "scipy.linalg.pinv2() is pinv(), with rtol for cond."),
    **{f"scipy.misc.{name}": Row(f"scipy.special.{name}", "SciPy 1.3") for name in ("comb", "factorial", "logsumexp")},
    **{f"scipy.misc.{name}": Row(f"scipy.datasets.{name}", "SciPy 1.12")
       for name in ("face", "ascent", "electrocardiogram")},
    **{f"scipy.misc.{name}": Row(None, "SciPy 1.2", remark=_PICTURE.format(name, new))
       for name, new in _PICTURES.items()},
    "scipy.interpolate.interp2d": Row(None, "SciPy 1.14", remark="interp2d is gone: RegularGridInterpolator or "
                                      "RectBivariateSpline interpolate on a grid."),
}  # fmt: skip
_MODULES: dict[str, Row] = {
    **{old: Row(new, "SciPy 2.0") for old, new in scipy_rows.PUBLIC.items()},
    "scipy.sparse.linalg.eigen.arpack": Row("scipy.sparse.linalg", "SciPy 1.8"),
}


def find(file: FileUses) -> Iterator[Change | Remark]:
    """Find the names of SciPy that are gone or private."""
    if not imports_library(file, "scipy"):
        return
    modules = {name: row for name, row in _MODULES.items() if not _is_function(file, name)}
    yield from find_names(file, _TABLE, modules, ("scipy.misc",))


def _is_function(file: FileUses, name: str) -> bool:
    """Say whether a private module's name stands for a function here: ``interpolate.interpolate`` does not."""
    return any(use.symbol == name and use.call is not None for use in file.uses) or any(
        isinstance(each.statement, ast.ImportFrom) and f"{each.module}.{each.alias.name}" == name
        and any(use.symbol == name and not isinstance(file.parents.get(use.node), ast.Attribute) for use in file.uses)
        for each in file.imports
    )  # fmt: skip


RULE = Rule("scipy-names", "Gives names and modules of SciPy that are gone their new ones.", find)
