"""pandas: methods, functions and arguments that 0.23 to 3.0 removed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.edits import Edit
from ....source.uses import FileUses, Use
from .. import library_tables
from ..renames import (
    Row,
    Spelled,
    argument_edit,
    find_method_arguments,
    find_names,
    imports_library,
    method_call,
    text_of,
    with_attribute,
)
from ..rule import Change, Remark, Rule
from ..scopes import names_of

__all__ = ["RULE", "find"]

_STATISTICS = ("mean", "sum", "std", "var", "min", "max", "median", "count")
_METHODS = {"as_matrix": ("to_numpy", "pandas 1.0"), "iteritems": ("items", "pandas 2.0"),
            "applymap": ("map", "pandas 3.0")}  # fmt: skip
_GONE_ATTRIBUTES = {
    "ix": ".ix is gone since pandas 1.0: .loc takes labels, .iloc positions.",
    "get_value": ".get_value(row, column) is .at[row, column] since pandas 1.0.",
    "set_value": ".set_value(row, column, value) is .at[row, column] = value since pandas 1.0.",
}
_READERS = ("read_csv", "read_table")
_DROPPED = ("mangle_dupe_cols", "tupleize_cols", "infer_datetime_format", "verbose", "keep_date_col")


def _rolling(file: FileUses, use: Use) -> Spelled | None:
    """``pd.rolling_mean(x, 3)`` as ``x.rolling(3).mean()``."""
    call = use.call
    if call is None or len(call.args) < 2:
        return None
    statistic = use.symbol.rpartition("_")[2]
    rest = [file.positions.source(each) for each in (*call.args[1:], *call.keywords)]
    return Spelled(f"{text_of(file, call.args[0], tight=True)}.rolling({', '.join(rest)}).{statistic}()")


_TABLE: dict[str, Row] = {
    **{f"pandas.rolling_{name}": Row(None, "pandas 0.23", _rolling,
                                     f"pd.rolling_{name}(x, n) is x.rolling(n).{name}().")
       for name in _STATISTICS},
    "pandas.np": Row("numpy", "pandas 2.0"),
    "pandas.datetime": Row("datetime.datetime", "pandas 2.0"),
    "pandas.Panel": Row(None, "pandas 0.25", remark="pandas.Panel is gone: a DataFrame with a MultiIndex, or xarray."),
    "pandas.DataFrame.from_csv": Row(None, "pandas 1.0", remark="DataFrame.from_csv(path) is "
                                     "pd.read_csv(path, index_col=0, parse_dates=True)."),
    "pandas.tools.plotting.scatter_matrix": Row("pandas.plotting.scatter_matrix", "pandas 0.25"),
}  # fmt: skip
_MODULES: dict[str, Row] = {
    **library_tables.modules("pandas"),
    "pandas.tools.plotting": Row("pandas.plotting", "pandas 0.25"),
    "pandas.io.json.json_normalize": Row("pandas.json_normalize", "pandas 2.0"),
}


def find(file: FileUses) -> Iterator[Change | Remark]:
    """Find the names of pandas that are gone."""
    if not imports_library(file, "pandas"):
        return
    yield from find_names(file, _TABLE, _MODULES)
    yield from find_method_arguments(file, "pandas", library_tables.method_arguments("pandas"))
    for use in file.uses:
        if use.call is not None and use.symbol in [f"pandas.{name}" for name in _READERS]:
            yield from _reader(file, use.call)
    for function, call in file.calls.items():
        method = method_call(file, function, *_METHODS)
        if method is not None and (len(call.args) == 0 or method.attr == "applymap"):
            yield with_attribute(file, method, *_METHODS[method.attr])
    yield from _frames(file)


def _reader(file: FileUses, call: ast.Call) -> Iterator[Change]:
    given = {keyword.arg: keyword for keyword in call.keywords}
    for name in _DROPPED:
        if name in given:
            yield Change(
                call, f"read_csv({name}=): left out (pandas 3.0)", (argument_edit(file, call, given[name], None),)
            )
    bad, warns = given.get("error_bad_lines"), given.get("warn_bad_lines")
    if bad is not None and warns is None and isinstance(bad.value, ast.Constant):
        text = f'on_bad_lines="{"error" if bad.value.value else "warn"}"'
        yield Change(call, f"read_csv(error_bad_lines=): {text} (pandas 2.0)", (file.positions.replace(bad, text),))
    elif bad is not None and warns is not None and isinstance(warns.value, ast.Constant):
        text = 'on_bad_lines="skip"' if not warns.value.value else 'on_bad_lines="warn"'
        both = (file.positions.replace(bad, text), argument_edit(file, call, warns, None))
        yield Change(call, f"read_csv(error_bad_lines=): {text} (pandas 2.0)", both)
    blanks = given.get("delim_whitespace")
    if blanks is not None and isinstance(blanks.value, ast.Constant) and blanks.value.value is True:
        edits = (file.positions.replace(blanks, 'sep=r"\\s+"'),)
        yield Change(call, 'read_csv(delim_whitespace=True): sep=r"\\s+" (pandas 3.0)', edits)


def _frames(file: FileUses) -> Iterator[Change | Remark]:
    """Methods whose name others have, too: of what surely is a frame, and a remark where only pandas has it."""
    names = names_of(file)
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.Attribute):
            continue
        if node.attr in _GONE_ATTRIBUTES and node.attr not in file.bound:
            is_ix = node.attr == "ix" and isinstance(file.parents.get(node), ast.Subscript)
            if is_ix or (node.attr != "ix" and _is_frame(names.path(node.value))):
                yield Remark(node, _GONE_ATTRIBUTES[node.attr])
        call = file.calls.get(node)
        if node.attr == "append" and call is not None and _is_frame(names.path(node.value)):
            yield from _append(file, node, call)
        elif node.attr == "sort" and call is not None and _is_frame(names.path(node.value)):
            yield Remark(node, ".sort() of a DataFrame is .sort_values(columns) since pandas 0.20.")


def _is_frame(path: str | None) -> bool:
    return (path or "") in ("pandas.DataFrame()", "pandas.read_csv()", "pandas.read_table()", "pandas.Series()")


def _append(file: FileUses, node: ast.Attribute, call: ast.Call) -> Iterator[Change | Remark]:
    """``frame.append(other)``: of two frames it is a concatenation."""
    path = names_of(file).path(call.args[0]) if call.args else None
    if len(call.args) == 1 and _is_frame(path) and {each.arg for each in call.keywords} <= {"ignore_index", "sort"}:
        base = next((each.bound for each in file.imports if each.meaning == "pandas"), None)
        if base is not None and base not in file.bound:
            start, end = file.positions.span(node.value)
            argument = file.positions.span(call.args[0])
            edits = (
                Edit(start, start, f"{base}.concat(["),
                Edit(end, argument[0], ", "),
                Edit(argument[1], argument[1], "]"),
            )
            yield Change(node, "frame.append(other): pd.concat([frame, other]) (pandas 2.0)", edits)
            return
    yield Remark(node, "DataFrame.append() is gone since pandas 2.0: pd.concat([frame, other]), rows as frames.")


RULE = Rule("pandas-names", "Gives names and arguments of pandas that are gone their new ones.", find)
