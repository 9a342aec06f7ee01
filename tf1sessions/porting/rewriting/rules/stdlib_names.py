"""The standard library: names, arguments and modules that Python 3.7 to 3.13 removed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.edits import Edit
from ....source.old_names import STANDARD_LIBRARY, TEST_METHODS
from ....source.uses import FileUses, Use
from ..renames import (
    Row,
    find_arguments,
    find_names,
    imports_library,
    method_call,
    spell,
    with_attribute,
    written,
)
from ..rule import Change, Remark, Rule
from ..scopes import is_free

__all__ = ["RULE", "find"]

_PAST = {"basestring": "str", "long": "int", "raw_input": "input", "unichr": "chr", "unicode": "str", "xrange": "range"}
_LOAD_SOURCE = "imp.load_source(name, path) is importlib.machinery.SourceFileLoader(name, path).load_module()."

_TABLE: dict[str, Row] = {
    **{old: Row(new, f"Python {since}") for old, (new, since) in STANDARD_LIBRARY.items()},
    **{f"past.builtins.{old}": Row(f"builtins.{new}", "Python 3") for old, new in _PAST.items()},
    "past.builtins.reduce": Row("functools.reduce", "Python 3"),
    "cgi.escape": Row(None, "Python 3.8", written("{f}({0}, quote=False)", 1, f="html.escape"),
                      "cgi.escape(x) is html.escape(x, quote=False)."),
    **{f"platform.{name}": Row(None, "Python 3.8", remark=f"platform.{name}() is in the package distro.")
       for name in ("linux_distribution", "dist")},
    "locale.format": Row("locale.format_string", "Python 3.12"),
    "os.errno": Row("errno", "Python 3.7"),
    "distutils.spawn.find_executable": Row("shutil.which", "Python 3.12"),
    "distutils.util.strtobool": Row(None, "Python 3.12", remark="strtobool() is gone with distutils: write the test."),
    "distutils.version.LooseVersion": Row(None, "Python 3.12", remark="LooseVersion is gone with distutils: "
                                          "packaging.version.Version compares versions."),
    "distutils.version.StrictVersion": Row(None, "Python 3.12", remark="StrictVersion is gone with distutils: "
                                           "packaging.version.Version compares versions."),
    "distutils.dir_util.copy_tree": Row(None, "Python 3.12",
                                        remark="copy_tree(a, b) is shutil.copytree(a, b, dirs_exist_ok=True)."),
    "imp.load_source": Row(None, "Python 3.12", remark=_LOAD_SOURCE),
    "imp.find_module": Row(None, "Python 3.12", remark="imp is gone: importlib.util.find_spec() finds a module."),
    "imp.load_module": Row(None, "Python 3.12", remark="imp is gone: importlib.import_module() imports a module."),
    "asyncio.coroutine": Row(None, "Python 3.11", remark="@asyncio.coroutine is gone: write async def and await."),
}  # fmt: skip
_MODULES: dict[str, Row] = {
    "xml.etree.cElementTree": Row("xml.etree.ElementTree", "Python 3.9"),
    **{f"future.moves.urllib.{name}": Row(f"urllib.{name}", "Python 3") for name in ("error", "parse", "request")},
}
_GONE = frozenset(["cgi", "imp", "pipes"])
_ARGUMENTS: dict[str, dict[str, str | None]] = {"json.load": {"encoding": None}, "json.loads": {"encoding": None}}


def find(file: FileUses) -> Iterator[Change | Remark]:
    """Find what the standard library no longer has."""
    yield from find_names(file, _TABLE, _MODULES, _GONE)
    yield from find_arguments(file, _ARGUMENTS, dict.fromkeys(_ARGUMENTS, "Python 3.9"))
    for use in file.uses:
        if use.symbol == "inspect.getargspec" and use.call is not None and use.direct:
            yield from _getargspec(file, use)
    for function, call in file.calls.items():
        if isinstance(function, ast.Name) and function.id == "open":
            yield from _open(file, function, call)
    yield from _methods(file)
    if any(each.meaning.partition(".")[0] == "unittest" or "test" in each.meaning for each in file.imports):
        yield from _assertions(file)


def _open(file: FileUses, function: ast.expr, call: ast.Call) -> Iterator[Change]:
    """``open(path, "rU")``: every kind of line end is read so by itself."""
    if not is_free(file, function) or len(call.args) < 2 or not isinstance(call.args[1], ast.Constant):
        return
    mode = call.args[1].value
    if isinstance(mode, str) and "U" in mode:
        new = mode.replace("U", "")
        text = f'"{new if "r" in new else "r" + new}"'
        yield Change(call, f'open(..., "{mode}"): {text} (Python 3.11)', (file.positions.replace(call.args[1], text),))


def _getargspec(file: FileUses, use: Use) -> Iterator[Change | Remark]:
    """``inspect.getargspec(f)``: the first four fields of what getfullargspec() gives."""
    assert use.call is not None
    parent = file.parents.get(use.call)
    if isinstance(use.node, ast.Name):
        yield Remark(use.node, "inspect.getargspec(f) is inspect.getfullargspec(f), which has seven fields.")
        return
    new = spell(file, use, "inspect.getfullargspec")
    edits = [file.positions.replace(use.node, new.text)]
    if isinstance(parent, ast.Assign) and any(isinstance(target, ast.Tuple) for target in parent.targets):
        end = file.positions.span(use.call)[1]
        edits.append(Edit(end, end, "[:4]"))
    elif isinstance(parent, ast.Attribute) and parent.attr == "keywords":
        edits.append(Edit(file.positions.span(parent)[1] - len("keywords"), file.positions.span(parent)[1], "varkw"))
    elif not isinstance(parent, ast.Attribute | ast.Subscript):
        yield Remark(use.node, "inspect.getfullargspec() has varkw for keywords, and three fields more.", by_hand=False)
    yield Change(use.node, "inspect.getargspec: inspect.getfullargspec (Python 3.11)", tuple(edits), new.imports)


def _methods(file: FileUses) -> Iterator[Change]:
    table = {}
    if imports_library(file, "threading", "multiprocessing"):
        table["isAlive"] = ("is_alive", "Python 3.9")
    if imports_library(file, "configparser", "ConfigParser"):
        table["readfp"] = ("read_file", "Python 3.12")
    for function in file.calls if table else ():
        method = method_call(file, function, *table)
        if method is not None:
            yield with_attribute(file, method, *table[method.attr])


def _assertions(file: FileUses) -> Iterator[Change]:
    """``self.assertEquals()`` in a class of tests; of Python 2 assertItemsEqual, too."""
    names = TEST_METHODS | {"assertItemsEqual": "assertCountEqual"}
    for function in file.calls:
        method = method_call(file, function, *names)
        if method is None or not isinstance(method.value, ast.Name):
            continue
        if method.value.id == "self":
            yield with_attribute(file, method, names[method.attr], "Python 3.12")


RULE = Rule("standard-library-names", "Gives names of the standard library that are gone their new ones.", find)
