"""pandas: methods and arguments that 1.0 to 3.0 removed."""

from __future__ import annotations

import datetime
import importlib
from typing import Any

from .rows import Arguments, Module, Name, Table, Wrapped

__all__ = ["TABLES"]


def _append_frame(pandas: Any, name: str) -> Any:
    def append(
        self: Any, other: Any, ignore_index: bool = False, verify_integrity: bool = False, sort: bool = False
    ) -> Any:
        series = pandas().Series
        others = list(other) if isinstance(other, (list, tuple)) else [other]
        rows = []
        for one in others:
            if isinstance(one, dict):
                one = series(one)
                if not ignore_index:
                    raise TypeError("Can only append a dict if ignore_index=True")
            if isinstance(one, series):
                if one.name is None and not ignore_index:
                    raise TypeError("Can only append a Series if ignore_index=True or if the Series has a name")
                one = one.to_frame().T.infer_objects()
            elif isinstance(one, (list, tuple)):
                one = pandas().DataFrame([one])
            rows.append(one)
        # What is empty decides on no type, as it did not then.
        parts = [part for part in (self, *rows) if len(part)] or [self]
        columns = list(dict.fromkeys(column for part in (self, *rows) for column in part.columns))
        result = pandas().concat(parts, ignore_index=ignore_index, verify_integrity=verify_integrity, sort=sort)
        return result.reindex(columns=sorted(columns) if sort else columns)

    return append


def _append_series(pandas: Any, name: str) -> Any:
    def append(self: Any, to_append: Any, ignore_index: bool = False, verify_integrity: bool = False) -> Any:
        others = list(to_append) if isinstance(to_append, (list, tuple)) else [to_append]
        return pandas().concat([self, *others], ignore_index=ignore_index, verify_integrity=verify_integrity)

    return append


def _pandas() -> Any:
    return importlib.import_module("pandas")


class _Ix:
    """``frame.ix[rows, columns]``: labels where the index has them, else positions."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __getitem__(self, key: Any) -> Any:
        how, key = self._resolved(key)
        return how[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        how, key = self._resolved(key)
        how[key] = value

    def _resolved(self, key: Any) -> tuple[Any, Any]:
        parts = key if isinstance(key, tuple) else (key,)
        if len(parts) > self._data.ndim:
            return self._data.loc, key
        positions = [self._position(part, axis) for axis, part in enumerate(parts)]
        if all(is_position for is_position, _ in positions):
            return self._data.iloc, key
        labels = tuple(label for _, label in positions)
        return self._data.loc, labels if isinstance(key, tuple) else labels[0]

    def _position(self, part: Any, axis: int) -> tuple[bool, Any]:
        """Whether ``part`` means positions, and the labels that it stands for."""
        index = self._data.axes[axis]
        if index.dtype.kind in "iu" or not _whole(part):
            return False, part
        return True, index[part]


def _whole(part: Any) -> bool:
    """Whether it is made of whole numbers: 3, 1:4, [0, 2]."""
    numpy: Any = importlib.import_module("numpy")
    if isinstance(part, slice):
        return any(one is not None for one in (part.start, part.stop)) and all(
            one is None or isinstance(one, (int, numpy.integer)) for one in (part.start, part.stop)
        )
    if isinstance(part, bool):
        return False
    if isinstance(part, (list, numpy.ndarray)):
        return len(part) > 0 and numpy.asarray(part).dtype.kind in "iu"
    return isinstance(part, (int, numpy.integer))


def _as_matrix(kind: Any, name: str) -> Any:
    def as_matrix(self: Any, columns: Any = None) -> Any:
        return (self if columns is None else self[columns]).to_numpy()

    return as_matrix


def _get_value(kind: Any, name: str) -> Any:
    def get_value(self: Any, index: Any, col: Any, takeable: bool = False) -> Any:
        return self.iat[index, col] if takeable else self.at[index, col]

    return get_value


def _set_value(kind: Any, name: str) -> Any:
    def set_value(self: Any, index: Any, col: Any, value: Any, takeable: bool = False) -> Any:
        (self.iat if takeable else self.at)[index, col] = value
        return self

    return set_value


def _sort(kind: Any, name: str) -> Any:
    def sort(self: Any, columns: Any = None, axis: Any = 0, ascending: Any = True, inplace: bool = False) -> Any:
        if columns is None:
            return self.sort_index(axis=axis, ascending=ascending, inplace=inplace)
        return self.sort_values(columns, axis=axis, ascending=ascending, inplace=inplace)

    return sort


def _from_csv(kind: Any, name: str) -> Any:
    def from_csv(path: Any, header: Any = 0, sep: str = ",", index_col: Any = 0, parse_dates: Any = True) -> Any:
        return _pandas().read_csv(path, header=header, sep=sep, index_col=index_col, parse_dates=parse_dates)

    return staticmethod(from_csv)


def _rolling(pandas: Any, name: str) -> Any:
    """``pd.rolling_mean(x, 3)`` is ``x.rolling(3).mean()``, of a Series, DataFrame or array."""
    window, _, statistic = name.partition("_")

    def compute(arg: Any, *args: Any, **named: Any) -> Any:
        data = arg if hasattr(arg, window) else pandas.Series(arg)
        result = getattr(getattr(data, window)(*args, **named), statistic)()
        return result if data is arg else result.to_numpy()

    return compute


class _NoPanel:
    """``pd.Panel``: an error that says what to use."""

    def __init__(self, *args: Any, **named: Any) -> None:
        raise NotImplementedError(
            "pandas.Panel is gone since pandas 0.25: use a DataFrame with a MultiIndex, or the package xarray"
        )


def _read(original: Any, *args: Any, **named: Any) -> Any:
    """Arguments of ``read_csv`` and ``read_table`` that 2.0 and 3.0 refuse."""
    bad, warn = named.pop("error_bad_lines", None), named.pop("warn_bad_lines", None)
    if bad is not None or warn is not None:
        named["on_bad_lines"] = "error" if bad in (None, True) else ("skip" if warn is False else "warn")
    if named.pop("delim_whitespace", False):
        named["sep"] = r"\s+"
    for name in ("mangle_dupe_cols", "tupleize_cols", "infer_datetime_format", "verbose", "keep_date_col"):
        named.pop(name, None)
    prefix, squeeze = named.pop("prefix", None), named.pop("squeeze", False)
    result = original(*args, **named)
    if prefix is not None and "header" in named and named["header"] is None:
        result.columns = [f"{prefix}{column}" for column in result.columns]
    if squeeze and getattr(result, "ndim", 0) == 2 and len(result.columns) == 1:
        return result.iloc[:, 0]
    return result


_WINDOWS = " ".join(f"rolling_{name}" for name in ("mean", "sum", "std", "var", "min", "max", "median", "count"))
_BOTH = ("DataFrame", "Series")

TABLES = {
    "pandas": Table(
        changes=[
            Name("pandas", "", "np", "2.0", lambda pandas, name: importlib.import_module("numpy")),
            Name("pandas", "", "datetime", "2.0", lambda pandas, name: datetime.datetime),
            Name("pandas", "", _WINDOWS, "0.23", _rolling),
            Name("pandas", "", "Panel", "0.25", lambda pandas, name: _NoPanel),
            Name("pandas", "DataFrame", "append", "2.0", lambda kind, name: _append_frame(_pandas, name)),
            Name("pandas", "Series", "append", "2.0", lambda kind, name: _append_series(_pandas, name)),
            *(Name("pandas", kind, "ix", "1.0", lambda kind, name: property(_Ix)) for kind in _BOTH),
            *(Name("pandas", kind, "as_matrix", "1.0", _as_matrix) for kind in _BOTH),
            *(Name("pandas", kind, "iteritems", "2.0", f"{kind}.items") for kind in _BOTH),
            Name("pandas", "DataFrame", "get_value", "1.0", _get_value),
            Name("pandas", "DataFrame", "set_value", "1.0", _set_value),
            Name("pandas", "DataFrame", "sort", "0.20", _sort),
            Name("pandas", "DataFrame", "from_csv", "1.0", _from_csv),
            Name("pandas", "DataFrame", "applymap", "3.0", "DataFrame.map"),
            Wrapped("pandas", "read_csv", "2.0", _read),
            Wrapped("pandas", "read_table", "2.0", _read),
            Arguments("pandas", "DataFrame.to_csv", "2.0", {"line_terminator": "lineterminator", "cols": "columns"}),
        ],
        modules=[Module("pandas.util.testing", "2.0", "pandas.testing")],
    )
}
