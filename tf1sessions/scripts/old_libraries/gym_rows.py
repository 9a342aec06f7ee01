"""Gym: its API of up to 0.25, on Gym 0.26 or, where Gym is not installed, on Gymnasium.

``import gym`` without Gym gives a module of ours, with what Gymnasium has; what is below it (``gym.spaces``) is
Gymnasium's, but for the modules in ``_OURS``. ``gym_classes.py`` has the environments of the old API.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any

from .rows import Module, OtherChange, Table, built

__all__ = ["TABLES"]


def _classes() -> Any:
    return importlib.import_module(f"{__package__}.gym_classes")


def _like(name: str, **more: Any) -> ModuleType:
    """A module with what Gymnasium's of this name has, and more."""
    real = importlib.import_module(name.replace("gym", "gymnasium", 1))
    public = {key: value for key, value in vars(real).items() if not key.startswith("__")}
    made = built(name, {**public, **more})
    made.__path__ = []
    return made


def _gym() -> ModuleType:
    ours = _classes()
    ours.give_core_the_old_api()
    made = _like("gym", make=ours.make, register=ours.register, __version__="0.21.0")
    for name in ("envs", "spaces", "utils", "wrappers", "logger", "error", "core"):
        setattr(made, name, importlib.import_module(f"gymnasium.{name}"))
    made.spec = ours.spec  # type: ignore[attr-defined]
    made.envs = _envs()  # type: ignore[attr-defined]
    made.utils = _utils()  # type: ignore[attr-defined]
    made.wrappers = _wrappers()  # type: ignore[attr-defined]
    made.logger = _logger()  # type: ignore[attr-defined]
    return made


def _envs() -> ModuleType:
    ours = _classes()
    return _like("gym.envs", make=ours.make, register=ours.register, registry=ours.registry(), spec=ours.spec,
                 registration=_registration())  # fmt: skip


def _registration() -> ModuleType:
    ours = _classes()
    return _like("gym.envs.registration", make=ours.make, register=ours.register, registry=ours.registry(),
                 spec=ours.spec)  # fmt: skip


def _utils() -> ModuleType:
    return _like("gym.utils", seeding=_seeding())


def _seeding() -> ModuleType:
    ours = _classes()
    return _like("gym.utils.seeding", np_random=ours.np_random, hash_seed=ours.hash_seed, create_seed=ours.create_seed)


def _wrappers() -> ModuleType:
    ours = _classes()
    names = {"Monitor": ours.Monitor, "TimeLimit": ours.TimeLimit, "monitoring": _monitoring()}
    return _like("gym.wrappers", **names)


def _monitoring() -> ModuleType:
    return built("gym.wrappers.monitoring", {"Monitor": _classes().Monitor, "logger": _logger(), "__path__": []})


def _video_recorder() -> ModuleType:
    """Programs import it and record only where they are asked to."""

    class VideoRecorder:
        def __init__(self, *_: Any, **__: Any) -> None:
            raise NotImplementedError("Gymnasium has no VideoRecorder: use gymnasium.wrappers.RecordVideo")

    return built("gym.wrappers.monitoring.video_recorder", {"VideoRecorder": VideoRecorder})


def _time_limit() -> ModuleType:
    return built("gym.wrappers.time_limit", {"TimeLimit": _classes().TimeLimit})


def _logger() -> ModuleType:
    real: Any = importlib.import_module("gymnasium.logger")

    def set_level(level: int) -> None:
        real.min_level = level

    levels = {"DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40, "DISABLED": 50, "MIN_LEVEL": 30}
    known = {name: value for name, value in levels.items() if not hasattr(real, name)}
    return _like("gym.logger", set_level=getattr(real, "set_level", set_level), setLevel=set_level, **known)


def _discrete() -> ModuleType:
    ours = _classes()
    names = {"DiscreteEnv": ours.DiscreteEnv, "categorical_sample": ours.categorical_sample}
    return built("gym.envs.toy_text.discrete", names)


def _toy_text() -> ModuleType:
    return _like("gym.envs.toy_text", discrete=_discrete())


_OURS = {
    "gym": _gym,
    "gym.envs": _envs,
    "gym.envs.registration": _registration,
    "gym.envs.toy_text": _toy_text,
    "gym.logger": _logger,
    "gym.utils": _utils,
    "gym.utils.seeding": _seeding,
    "gym.wrappers": _wrappers,
    "gym.wrappers.monitoring": _monitoring,
    "gym.wrappers.monitoring.video_recorder": _video_recorder,
    "gym.wrappers.time_limit": _time_limit,
}


def _on_gymnasium(name: str) -> Module | None:
    if importlib.machinery.PathFinder.find_spec("gym") is not None:
        return None
    if importlib.util.find_spec("gymnasium") is None:
        return None
    if name in _OURS:
        return Module(name, "0.26", _kept(name), always=True)
    new = name.replace("gym", "gymnasium", 1)
    try:
        if importlib.util.find_spec(new) is None:
            return None
    except ModuleNotFoundError:  # Gymnasium lacks the package, too
        return None
    return Module(name, "0.26", new, always=True)


def _kept(name: str) -> Any:
    """Return the function that makes the module, unless its package has one that it made: each is made once."""

    def make() -> ModuleType:
        package, _, last = name.rpartition(".")
        found = getattr(sys.modules.get(package), last, None)
        return found if isinstance(found, ModuleType) and found.__name__ == name else _OURS[name]()

    return make


def _adopt(gym: ModuleType) -> None:
    """Gym 0.26 itself gets the old API."""
    version = str(getattr(gym, "__version__", "0")).split(".")
    if [int(part) for part in version[:2] if part.isdigit()] >= [0, 26]:
        _classes().adopt(gym)


TABLES = {
    "gym": Table(
        changes=[OtherChange("gym", "0.26", _adopt)],
        modules=[Module("gym.envs.toy_text.discrete", "0.22", _discrete)],
        other=_on_gymnasium,
    )
}
