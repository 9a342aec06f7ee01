"""Environments of Gym's API of up to 0.25: ``reset()`` gives the observation, ``step()`` gives four values.

Imported when a program imports ``gym``, of which it has the base classes: those of Gym 0.26, or of Gymnasium. Data
flow: the program's ``gym.make`` makes the real environment, takes off the wrappers that check for the new API, and
puts a :class:`TimeLimit` around it, which speaks the old one. The base classes get what their old ones had
(:func:`give_core_the_old_api`); they pass results of both APIs on as they are, so that wrappers of libraries that were
written for the new one work as before.
"""

from __future__ import annotations

import collections
import functools
import hashlib
import importlib
import importlib.machinery
import importlib.util
import inspect
import json
import logging
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from ..callers import by_program, of_program

__all__ = [
    "DiscreteEnv",
    "Monitor",
    "TimeLimit",
    "adopt",
    "categorical_sample",
    "create_seed",
    "give_core_the_old_api",
    "hash_seed",
    "make",
    "np_random",
    "register",
    "registry",
    "spec",
]

_NAME = "gymnasium" if importlib.machinery.PathFinder.find_spec("gym") is None else "gym"
_real: Any = importlib.import_module(_NAME)
_core: Any = importlib.import_module(f"{_NAME}.core")
_registration: Any = importlib.import_module(f"{_NAME}.envs.registration")
_seeding: Any = importlib.import_module(f"{_NAME}.utils.seeding")
_wrappers: Any = importlib.import_module(f"{_NAME}.wrappers")
_numpy: Any = importlib.import_module("numpy")
_make, _register, _spec = _real.make, _real.register, _real.spec
_LIMIT = "wrapper_config.TimeLimit.max_episode_steps"
_CHECKS = ("OrderEnforcing", "PassiveEnvChecker", "TimeLimit")  # wrappers that make() puts on

_log = logging.getLogger("tf1sessions")


# -- results of both APIs ---------------------------------------------------------------------------------------------


def _four(result: Any) -> tuple[Any, Any, bool, dict[str, Any]]:
    if len(result) == 4:
        return result  # type: ignore[no-any-return]
    observation, reward, terminated, truncated, info = result
    if truncated and not terminated:
        info = {**info, "TimeLimit.truncated": True}
    return observation, reward, bool(terminated or truncated), info


def _has_info(result: Any) -> bool:
    """Whether a result of ``reset()`` is of the new API: the observation, and a dict."""
    return isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], dict)


def _takes(function: Any, name: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return name in parameters or any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())


# -- the base classes -------------------------------------------------------------------------------------------------


def _seed(self: Any, seed: int | None = None) -> list[int | None]:
    """Seed the environment's numbers; the next ``reset()`` goes on with them."""
    self._np_random, used = _seeding.np_random(seed)
    self._np_random_seed = used
    return [used]


_seed.of_core = True  # type: ignore[attr-defined]


def _or_underscored(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """Up to 0.9.6 a program's classes defined ``_step`` and so on, which ``step`` called."""

    def method(self: Any, *args: Any, **named: Any) -> Any:
        old = getattr(type(self), f"_{name}", None)
        return original(self, *args, **named) if old is None else old(self, *args, **named)

    method.__name__, method.__doc__ = name, original.__doc__
    return method


def _wrapper_reset(self: Any, **named: Any) -> Any:
    return self.env.reset(**named)


def _wrapper_render(self: Any, *args: Any, **named: Any) -> Any:
    return self.env.render(*args, **named)


def _wrapper_seed(self: Any, seed: int | None = None) -> Any:
    return self.env.seed(seed)


def _forward(self: Any, name: str) -> Any:
    if name.startswith("_") or name == "env":
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
    return getattr(self.env, name)


def _observe(self: Any, observation: Any) -> Any:
    old = getattr(type(self), "_observation", None)
    return self.observation(observation) if old is None else old(self, observation)


def _observation_reset(self: Any, **named: Any) -> Any:
    result = self.env.reset(**named)
    return (_observe(self, result[0]), result[1]) if _has_info(result) else _observe(self, result)


def _observation_step(self: Any, action: Any) -> Any:
    observation, *rest = self.env.step(action)
    return (_observe(self, observation), *rest)


def _reward_step(self: Any, action: Any) -> Any:
    observation, reward, *rest = self.env.step(action)
    old = getattr(type(self), "_reward", None)
    return (observation, self.reward(reward) if old is None else old(self, reward), *rest)


def _action_step(self: Any, action: Any) -> Any:
    old = getattr(type(self), "_action", None)
    return self.env.step(self.action(action) if old is None else old(self, action))


def _with_whole_number(original: Callable[..., Any]) -> Callable[..., Any]:
    """``space.n`` is an int, which TensorFlow 1's layers want, and no scalar of NumPy."""

    @functools.wraps(original)
    def make(self: Any, *args: Any, **named: Any) -> None:
        original(self, *args, **named)
        self.n = int(self.n)

    return make


def give_core_the_old_api() -> None:
    """Let the base classes have the methods that programs call and define. Once a process."""
    wrapper = _core.Wrapper
    wrapper.reset, wrapper.render = _wrapper_reset, _wrapper_render
    for owner in (_core.Env, wrapper):
        for name in ("step", "reset", "render", "close"):
            setattr(owner, name, _or_underscored(name, getattr(owner, name)))
    _core.Env.seed = _or_underscored("seed", _seed)
    _core.Env.seed.of_core = True
    wrapper.seed = _or_underscored("seed", _wrapper_seed)
    if "__getattr__" not in vars(wrapper):
        wrapper.__getattr__ = _forward
    _core.ObservationWrapper.reset, _core.ObservationWrapper.step = _observation_reset, _observation_step
    _core.RewardWrapper.step, _core.ActionWrapper.step = _reward_step, _action_step
    discrete = importlib.import_module(f"{_NAME}.spaces").Discrete
    discrete.__init__ = _with_whole_number(discrete.__init__)
    kind = _registration.EnvSpec
    for name, value in (
        ("timestep_limit", lambda self: self.max_episode_steps),
        ("tags", lambda self: {} if self.max_episode_steps is None else {_LIMIT: self.max_episode_steps}),
        ("_entry_point", lambda self: self.entry_point),
    ):
        if not hasattr(kind, name):
            setattr(kind, name, property(value))


# -- environments -----------------------------------------------------------------------------------------------------


def _render(env: Any, call: Callable[..., Any], mode: str, close: bool, named: dict[str, Any]) -> Any:
    """Have ``call`` render ``env`` in this mode, which the new API takes when the environment is made."""
    if close:
        return None
    if _takes(call, "mode"):
        return call(mode=mode, **named)
    if env.render_mode != mode:
        env.render_mode = mode
    return call()


class _OldEnv:
    """The old API for ``env.unwrapped``: a replacement for the class of a library's environment.

    What the environment's own methods call of it (``self.render()``), and wrappers of libraries, is of the new API, as
    ever. Not thread-safe.
    """

    _base: Any  # the class itself
    _new_seed: int | None = None

    def step(self, action: Any) -> Any:
        result = self._base.step(self, action)
        return _four(result) if by_program() else result

    def reset(self, **named: Any) -> Any:
        if not by_program():
            return self._base.reset(self, **named)
        if self._new_seed is not None and _takes(getattr(self._base, "_reset", self._base.reset), "seed"):
            named.setdefault("seed", self._new_seed)
        self._new_seed = None
        result = self._base.reset(self, **named)
        return result[0] if _has_info(result) else result

    def seed(self, seed: int | None = None) -> Any:
        if getattr(self._base.seed, "of_core", False):
            self._new_seed = seed
        return self._base.seed(self, seed)

    def render(self, mode: str = "human", close: bool = False, **named: Any) -> Any:
        method = functools.partial(self._base.render, self)
        return _render(self, method, mode, close, named) if by_program() else method(**named)

    def __reduce_ex__(self, protocol: Any) -> Any:
        _, _, *rest = self._base.__reduce_ex__(self, 2)
        return (_restore, (self._base,), *rest)


_old_classes: dict[Any, Any] = {}


def _old_class(kind: Any) -> Any:
    """``kind`` with the methods of :class:`_OldEnv`; an object of ``kind`` can change to it."""
    if kind not in _old_classes:
        names: dict[str, Any] = dict(vars(_OldEnv))
        for name in ("__dict__", "__weakref__"):
            del names[name]
        names |= {name: getattr(kind, name) for name in ("__module__", "__qualname__", "__doc__")}
        _old_classes[kind] = type(kind.__name__, (kind,), {**names, "_base": kind, "__slots__": ()})
    return _old_classes[kind]


def _restore(kind: Any) -> Any:
    env = kind.__new__(kind)
    env.__class__ = _old_class(kind)
    return env


class TimeLimit(_wrappers.TimeLimit):  # type: ignore[misc]
    """An environment of the old API whose episodes end after ``max_episode_steps`` steps. Not thread-safe.

    It is of the library's class, so that programs that look for that one find it.
    """

    def __init__(self, env: Any, max_episode_steps: int | None = None, spec: Any = None) -> None:
        _core.Wrapper.__init__(self, env)
        self._given_spec = spec
        if max_episode_steps is None and env.spec is not None:
            max_episode_steps = env.spec.max_episode_steps
        self._max_episode_steps = max_episode_steps
        self._elapsed_steps: int | None = None
        self._new_seed: int | None = None

    def step(self, action: Any) -> Any:
        assert self._elapsed_steps is not None, "Cannot call env.step() before calling reset()"
        observation, reward, done, info = _four(self.env.step(action))
        self._elapsed_steps += 1
        if self._max_episode_steps is not None and self._elapsed_steps >= self._max_episode_steps:
            info = {**info, "TimeLimit.truncated": not done}
            done = True
        return observation, reward, done, info

    def reset(self, **named: Any) -> Any:
        self._elapsed_steps = 0
        if self._new_seed is not None and _takes(getattr(self.env, "_reset", self.env.reset), "seed"):
            named.setdefault("seed", self._new_seed)
        self._new_seed = None
        result = self.env.reset(**named)
        return result[0] if _has_info(result) else result

    def seed(self, seed: int | None = None) -> Any:
        inner = type(self.unwrapped)
        if getattr(inner.seed, "of_core", False) and not hasattr(inner, "_seed"):
            self._new_seed = seed
        return self.env.seed(seed)

    def render(self, mode: str = "human", close: bool = False, **named: Any) -> Any:
        inner = self.unwrapped
        if _takes(type(inner).render, "mode"):
            return None if close else self.env.render(mode=mode, **named)
        return _render(inner, self.env.render, mode, close, named)

    @property
    def spec(self) -> Any:
        return super().spec if self._given_spec is None else self._given_spec

    @property
    def render_mode(self) -> Any:
        return getattr(self.unwrapped, "render_mode", None)


def make(id: Any, **named: Any) -> Any:
    """``gym.make``: in the program's own lines, an environment of the old API."""
    if _NAME == "gym" and not by_program():
        return _make(id, **named)
    name = _existing(id) if isinstance(id, str) else id
    env = _make(name, disable_env_checker=True, **named)
    known = env.spec
    while type(env).__name__ in _CHECKS and type(env).__module__.startswith(f"{_NAME}."):
        env = env.env
    if env is env.unwrapped and not of_program(type(env)) and not hasattr(env, "_base"):
        env.__class__ = _old_class(type(env))
        env.spec = known
    return TimeLimit(env, None if known is None else known.max_episode_steps, known)


def spec(id: str) -> Any:
    """``gym.spec``."""
    return _spec(_existing(id))


def _existing(name: str) -> str:
    """The name, or that of the newest version, where the version that it names is gone."""
    known = _registration.registry
    if name in known or ":" in name:
        return name
    if "ale_py" not in known and importlib.util.find_spec("ale_py") is not None:
        ale = importlib.import_module("ale_py")  # its import registers the games, or lets them be registered
        getattr(_real, "register_envs", lambda module: None)(ale)
        if name in known:
            return name
    base, _, version = name.rpartition("-v")
    others = [re.fullmatch(re.escape(base) + r"-v(\d+)", one) for one in known]
    newest = max((int(one[1]) for one in others if one), default=None)
    if not version.isdigit() or newest is None or newest <= int(version):
        return name
    _log.warning(f"{name} is gone: {base}-v{newest} is used instead, whose rewards and observations may differ.")
    return f"{base}-v{newest}"


def register(id: str, entry_point: Any = None, **named: Any) -> None:
    """``gym.envs.registration.register``, with arguments of old."""
    tags = named.pop("tags", None) or {}
    limit = named.pop("timestep_limit", None) or tags.get(_LIMIT)
    if limit is not None:
        named.setdefault("max_episode_steps", limit)
    for name in ("trials", "local_only"):
        named.pop(name, None)
    _register(id=id, entry_point=entry_point, **named)


class _Registry(collections.UserDict[str, Any]):
    """The specs by their names, with the methods of old."""

    def __init__(self) -> None:
        self.data = _registration.registry

    def all(self) -> Any:
        """The specs; the entry points of the library's own were texts, which programs take apart."""
        for spec in self.data.values():
            made_by = getattr(spec, "entry_point", None)
            if isinstance(made_by, FunctionType) and made_by.__module__.startswith(f"{_real.__name__}."):
                spec.entry_point = f"{made_by.__module__}:{made_by.__qualname__}"
        return self.data.values()

    @property
    def env_specs(self) -> Any:
        return self.data

    def spec(self, id: str) -> Any:
        return spec(id)

    def make(self, id: str, **named: Any) -> Any:
        return make(id, **named)


_specs: list[_Registry] = []


def registry() -> _Registry:
    """``gym.envs.registry``, one for the process."""
    if not _specs:
        _specs.append(_Registry())
    return _specs[0]


class Monitor(_core.Wrapper):  # type: ignore[misc]
    """``gym.wrappers.Monitor``: writes rewards and lengths of episodes as JSON. It records no videos, and says so."""

    def __init__(
        self, env: Any, directory: Any, video_callable: Any = None, force: bool = False, resume: bool = False,
        write_upon_reset: bool = False, uid: Any = None, mode: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(env)
        self.directory = os.path.abspath(directory)
        os.makedirs(self.directory, exist_ok=True)
        there = sorted(Path(self.directory).glob("openaigym.*"))
        if force:
            for path in there:
                path.unlink()
        elif there and not resume:
            raise _real.error.Error(
                f"Trying to write to monitor directory {directory} with existing monitor files: {there[0].name}. "
                "Use a unique directory, resume=True to go on in it, or force=True to remove these files."
            )
        if video_callable is not False:
            _log.warning(f"gym.wrappers.Monitor writes the rewards of episodes to {self.directory}, but no videos.")
        self.episode_id = 0
        self._episode_rewards: list[float] = []
        self._episode_lengths: list[int] = []
        self._timestamps: list[float] = []
        self._reward, self._steps, self._total_steps = 0.0, 0, 0
        self._began = time.time()
        self._file = f"openaigym.episode_batch.{len(there) if not force else 0}.{uid or os.getpid()}.stats.json"

    def step(self, action: Any) -> Any:
        result = self.env.step(action)
        self._reward += float(result[1])
        self._steps += 1
        self._total_steps += 1
        if result[2] or (len(result) == 5 and result[3]):
            self._end_episode()
        return result

    def reset(self, **named: Any) -> Any:
        if self._steps:
            self._end_episode()
        return self.env.reset(**named)

    def _end_episode(self) -> None:
        self._episode_rewards.append(self._reward)
        self._episode_lengths.append(self._steps)
        self._timestamps.append(time.time())
        self._reward, self._steps = 0.0, 0
        self.episode_id += 1

    def get_episode_rewards(self) -> list[float]:
        return self._episode_rewards

    def get_episode_lengths(self) -> list[int]:
        return self._episode_lengths

    def get_total_steps(self) -> int:
        return self._total_steps

    def close(self) -> None:
        super().close()
        stats = {
            "initial_reset_timestamp": self._began,
            "timestamps": self._timestamps,
            "episode_lengths": self._episode_lengths,
            "episode_rewards": self._episode_rewards,
            "episode_types": ["t"] * self.episode_id,
        }
        with open(os.path.join(self.directory, self._file), "w") as file:
            json.dump(stats, file)


def np_random(seed: int | None = None) -> tuple[Any, int]:
    """``seeding.np_random``: a ``RandomState``, with the methods that programs call, and its seed."""
    if seed is not None and (not isinstance(seed, (int, _numpy.integer)) or seed < 0):
        raise _real.error.Error(f"Seed must be a non-negative integer or omitted, not {seed}")
    used = create_seed(seed)
    return _numpy.random.RandomState(used % 2**32), used


def create_seed(a: int | None = None, max_bytes: int = 8) -> int:
    """A seed: ``a`` itself, or one of the system's random numbers."""
    return int.from_bytes(os.urandom(max_bytes), "little") if a is None else int(a) % 2 ** (8 * max_bytes)


def hash_seed(seed: int | None = None, max_bytes: int = 8) -> int:
    """Another seed, made of this one; not the number that it was then."""
    text = str(create_seed(max_bytes=max_bytes) if seed is None else seed)
    return int.from_bytes(hashlib.sha512(text.encode()).digest()[:max_bytes], "little")


def categorical_sample(prob_n: Any, np_random: Any) -> int:
    """The number of a class, drawn by the probabilities [N]."""
    draw = np_random.random() if hasattr(np_random, "random") else np_random.rand()
    return int((_numpy.cumsum(_numpy.asarray(prob_n)) > draw).argmax())


class DiscreteEnv(_core.Env):  # type: ignore[misc]
    """``gym.envs.toy_text.discrete.DiscreteEnv``: states and actions are numbers.

    Args:
        nS: How many states.
        nA: How many actions.
        P: ``P[state][action]`` is a list of (probability, next state, reward, done).
        isd: The probabilities of the first state, [nS].
    """

    def __init__(self, nS: int, nA: int, P: Any, isd: Any) -> None:
        spaces: Any = importlib.import_module(f"{_NAME}.spaces")
        self.P, self.isd, self.nS, self.nA = P, isd, nS, nA
        self.lastaction: int | None = None
        self.action_space, self.observation_space = spaces.Discrete(nA), spaces.Discrete(nS)
        self.seed()
        self.s = categorical_sample(isd, self.np_random)

    def seed(self, seed: int | None = None) -> list[int]:
        self.np_random, used = np_random(seed)
        return [used]

    def reset(self) -> int:
        self.s = categorical_sample(self.isd, self.np_random)
        self.lastaction = None
        return self.s

    def step(self, action: int) -> Any:
        transitions = self.P[self.s][action]
        chosen = categorical_sample([one[0] for one in transitions], self.np_random)
        probability, self.s, reward, done = transitions[chosen]
        self.lastaction = action
        return self.s, reward, done, {"prob": probability}


def adopt(gym: ModuleType) -> None:
    """Give Gym 0.26, which has just been imported, the old API in the program's own lines."""
    give_core_the_old_api()
    found: Any = gym
    seeding = found.utils.seeding
    original = seeding.np_random

    def old_np_random(seed: int | None = None) -> Any:
        return np_random(seed) if by_program() else original(seed)

    seeding.np_random, seeding.hash_seed, seeding.create_seed = old_np_random, hash_seed, create_seed
    for owner in (found, found.envs, _registration):
        owner.make, owner.register, owner.spec = make, register, spec
    found.envs.registry = registry()
    wrappers: Any = importlib.import_module("gym.wrappers")
    wrappers.Monitor = Monitor
    found.logger.setLevel = found.logger.set_level
