"""The form of a trace's index, checked; :mod:`~tf1sessions.porting.traces` says what it means.

A form is a function that raises a ``ValueError``, which names the key and its value, for what does not have it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tf1sessions.texts import brief

__all__ = ["check"]

_Form = Callable[[Any, str], None]


def _is(right: Callable[[Any], bool]) -> _Form:
    def form(value: Any, where: str) -> None:
        if not right(value):
            raise ValueError(f"{where} is {brief(value)}")

    return form


def _each(of: _Form) -> _Form:
    def form(values: Any, where: str) -> None:
        _list(values, where)
        for number, value in enumerate(values):
            of(value, f"{where}[{number}]")

    return form


def _row(*of: _Form) -> _Form:
    def form(values: Any, where: str) -> None:
        _list(values, where)
        if len(values) != len(of):
            raise ValueError(f"{where} is {brief(values)}")
        for number, (each, value) in enumerate(zip(of, values, strict=True)):
            each(value, f"{where}[{number}]")

    return form


def _by_name(of: _Form) -> _Form:
    def form(values: Any, where: str) -> None:
        _object(values, where)
        for name, value in values.items():
            of(value, f"{where}[{name!r}]")

    return form


def _keys(needed: Mapping[str, _Form], others: Mapping[str, _Form] | None = None) -> _Form:
    """An object with these keys, and perhaps with others; of keys that are not named here it may have any."""

    def form(values: Any, where: str) -> None:
        _object(values, where)
        for name in needed:
            if name not in values:
                raise ValueError(f"{where} has no {name!r}")
        for name, of in {**needed, **(others or {})}.items():
            if name in values:
                of(values[name], f"{where}.{name}" if where else name)

    return form


def _whole(low: int) -> _Form:
    return _is(lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= low)


_list = _is(lambda value: isinstance(value, list))
_object = _is(lambda value: isinstance(value, dict))
_text = _is(lambda value: isinstance(value, str))
_flag = _is(lambda value: isinstance(value, bool))
_number = _is(lambda value: isinstance(value, int | float) and value > 0)
_integer = _is(lambda value: isinstance(value, int))
_integer_or_none = _is(lambda value: value is None or isinstance(value, int))
_count = _whole(0)
_number_from_1 = _whole(1)
_texts = _each(_text)
_texts_by_name = _by_name(_texts)

_OPTIONS = {
    "tensors": _texts,
    "every": _number_from_1,
    "variables_every": _count,
    "max_mb": _number,
    "whole_kb": _count,
    "losses": _flag,
}
_KIND = {
    "graph": _number_from_1,
    "how": _text,
    "fetches": _texts,
    "targets": _texts,
    "feeds": _texts,
    "extras": _texts,
    "random": _texts_by_name,
    "races": _texts_by_name,
    "order": _by_name(_integer),
}
_GRAPH = {
    "seed": _integer_or_none,
    "seed_at_first": _integer_or_none,
    "seeds": _by_name(_row(_integer, _integer)),
    "losses": _texts,
    "variables": _each(_keys({"name": _text, "trainable": _flag, "readable": _flag})),
    "places": _flag,
    "counts": _by_name(_integer),
    "lacking": _text,
}
_SERIES = {
    "role": _text,
    "session": _number_from_1,
    "name": _text,
    "dtype": _text,
    "shape": _each(_count),
    "form": _text,
    "rows": _count,
    "pieces": _count,
}
_INDEX = _keys(
    {
        "versions": _by_name(_text),
        "program": _keys({}, {"script": _text, "arguments": _texts}),
        "ended": _keys({}, {"how": _text, "code": _integer, "message": _text}),
        "options": _keys({}, _OPTIONS),
        "calls": _keys({"count": _count, "pieces": _count}),
        "threads": _texts,
        "errors": _each(_keys({"type": _text, "message": _text})),
        "kinds": _each(_keys(_KIND, {"place": _whole(-1)})),
        "sessions": _each(_keys({"number": _number_from_1, "graph": _number_from_1}, {"calls": _count})),
        "graphs": _each(_keys({"number": _number_from_1, "kept": _flag}, _GRAPH)),
        "series": _each(_keys(_SERIES)),
        "left_out": _by_name(_count),
        "notes": _texts,
    },
    {
        "sources": _each(_keys({"file": _text, "lines": _each(_count)})),
        "lines": _each(_row(_count, _count, _text)),
        "places": _each(_each(_count)),
    },
)


def check(index: Any) -> None:
    """Raise unless an index has the form of one, and names no session or graph that it does not have.

    Raises:
        ValueError: It has not; the text names the key and its value.
    """
    _INDEX(index, "")
    graphs = {entry["number"] for entry in index["graphs"]}
    sessions = {entry["number"] for entry in index["sessions"]}
    for what, known, numbers in (
        ("kinds", graphs, [entry["graph"] for entry in index["kinds"]]),
        ("sessions", graphs, [entry["graph"] for entry in index["sessions"]]),
        ("series", sessions, [entry["session"] for entry in index["series"]]),
    ):
        for place, number in enumerate(numbers):
            if number not in known:
                raise ValueError(f"{what}[{place}] is of {number}, which is not there")
