"""Reports of races as SARIF."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tf1sessions import sarif
from tf1sessions.testing.reports import FIX, WHY, Access, RaceKind, Report, StackFrame

__all__ = ["order_report", "report"]

_ORDER = "order-that-goes-wrong"
_LEVELS = {"hazard": "error", "warning": "warning", "note": "note"}


def order_report(failure: str, schedule: str, place: str, version: str) -> dict[str, Any]:
    """Return an order of threads that goes wrong, otherwise than by a race, as a SARIF log in plain values.

    Args:
        failure: What went wrong, in words.
        schedule: The order.
        place: ``file:line in function`` of its last step.
        version: Of tf1sessions.
    """
    frame = StackFrame.parse(place)
    result: sarif.Result = {
        "ruleId": _ORDER,
        "level": "error",
        "message": {"text": f"{failure} Replay it: tf1sessions races --replay {schedule!r}"},
        "locations": [sarif.location(frame.file, frame.line)] if frame is not None else [],
    }
    rules = {_ORDER: ("An order of the program's threads goes wrong", "error")}
    return sarif.log("tf1sessions races", version, rules, [result])


def report(reports: Iterable[Report], version: str) -> dict[str, Any]:
    """Return races as a SARIF log, in plain values: hazards are errors; each at both places, with both stacks.

    Args:
        reports: The races. Paths are relative to the current folder where they are named so.
        version: Of tf1sessions.
    """
    rules = {_rule(kind): (WHY[kind].rstrip("."), _LEVELS[kind.level]) for kind in RaceKind}
    return sarif.log("tf1sessions races", version, rules, [_result(each) for each in reports])


def _rule(kind: RaceKind) -> str:
    return kind.value.replace(" ", "-")


def _result(race: Report) -> sarif.Result:
    first, second = race.first, race.second
    note = f" {race.note}" if race.note else ""
    text = (
        f"{race.kind.value}: {race.graph}. Thread {first.thread!r} {_what(first)} at {first.place}; thread "
        f"{second.thread!r} {_what(second)} here. {WHY[race.kind]}{note} {FIX[race.kind]}"
    )
    return {
        "ruleId": _rule(race.kind),
        "level": _LEVELS[race.kind.level],
        "message": {"text": text},
        "locations": _locations(second)[:1],
        "relatedLocations": _locations(first)[:1],
        "stacks": [_stack(each) for each in (second, first)],
    }


def _what(access: Access) -> str:
    return f"{access.what} ({', '.join(access.names)})" if access.names else access.what


def _locations(access: Access) -> list[dict[str, Any]]:
    frames = filter(None, map(StackFrame.parse, access.stack))
    return [sarif.location(frame.file, frame.line) for frame in frames]


def _stack(access: Access) -> dict[str, Any]:
    text = f"thread {access.thread!r} {_what(access)}"
    return {"message": {"text": text}, "frames": [{"location": each} for each in _locations(access)]}
