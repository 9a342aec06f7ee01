"""Gym's old API, on stand-ins for Gymnasium and for Gym 0.26."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# NAME is the package's name. Its base classes and make() are of the new API.
STAND_IN = {
    "__init__.py": "from .core import *\nfrom .envs.registration import make, register, spec, registry\n"
    "from . import core, envs, spaces, utils, wrappers, error, logger\n__version__ = '0.26.2'\n",
    "core.py": """
class Env:
    metadata = {"render_modes": []}
    render_mode = spec = None
    def step(self, action): raise NotImplementedError
    def reset(self, *, seed=None, options=None): raise NotImplementedError
    def render(self): raise NotImplementedError
    def close(self): pass
    @property
    def unwrapped(self): return self
    @property
    def np_random(self): return self._np_random
    @np_random.setter
    def np_random(self, value): self._np_random = value
class Wrapper(Env):
    def __init__(self, env): self.env = env
    def step(self, action): return self.env.step(action)
    def reset(self, *, seed=None, options=None): return self.env.reset(seed=seed, options=options)
    def render(self): return self.env.render()
    def close(self): return self.env.close()
    @property
    def unwrapped(self): return self.env.unwrapped
    @property
    def spec(self): return self.env.spec
class ObservationWrapper(Wrapper):
    def reset(self, *, seed=None, options=None):
        observation, info = self.env.reset(seed=seed, options=options)
        return self.observation(observation), info
    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self.observation(observation), reward, terminated, truncated, info
class RewardWrapper(Wrapper): pass
class ActionWrapper(Wrapper): pass
""",
    "envs/__init__.py": "from .registration import make, register, registry, spec\n",
    "envs/toy_text/__init__.py": "",
    "envs/registration.py": """
from NAME import core, wrappers
registry = {}
class EnvSpec:
    def __init__(self, id, entry_point, max_episode_steps=None, kwargs=None):
        self.id, self.entry_point, self.max_episode_steps, self.kwargs = id, entry_point, max_episode_steps, kwargs
def register(id, entry_point, max_episode_steps=None, kwargs=None):
    registry[id] = EnvSpec(id, entry_point, max_episode_steps, kwargs or {})
def spec(id): return registry[id]
def make(id, disable_env_checker=None, **named):
    env = registry[id].entry_point(**{**registry[id].kwargs, **named})
    env.spec = registry[id]
    return wrappers.TimeLimit(wrappers.OrderEnforcing(env))
class Counter(core.Env):
    def reset(self, *, seed=None, options=None):
        self.seed_given, self.count = seed, 0
        return 0, {}
    def step(self, action):
        self.count += action
        return self.count, 1.0, self.count >= 9, False, {}
    def render(self): return self.render_mode
    def rewind(self): return self.reset(), self.render()
register("Counter-v2", Counter, 3)
""",
    "wrappers/__init__.py": "from NAME.core import Wrapper\nclass TimeLimit(Wrapper): pass\n"
    "class OrderEnforcing(Wrapper): pass\n",
    "spaces/__init__.py": "from .discrete import Discrete\n",
    "spaces/discrete.py": "class Discrete:\n    def __init__(self, n): self.n = float(n)\n",
    "utils/__init__.py": "from . import seeding\n",
    "utils/seeding.py": "def np_random(seed=None): return f'new generator {seed}', seed\n",
    "error.py": "class Error(Exception): pass\n",
    "logger.py": "level = 0\ndef set_level(new):\n    global level\n    level = new\n",
}
LIBRARY = """
import NAME as gym
class Doubled(gym.ObservationWrapper):
    def observation(self, observation): return 2 * observation
def new(): return Doubled(gym.make("Counter-v2"))
"""
PROGRAM = """
import sys
import tf1sessions.scripts
tf1sessions.scripts.install()
sys.path.insert(0, sys.argv[1])
import gym, json, os
from gym import spaces
from gym.spaces.discrete import Discrete
from gym.utils import seeding
from gym.envs.registration import register
from gym.envs.toy_text import discrete
from gym.wrappers import Monitor
import library

env = gym.make("Counter-v2")
reset = [env.seed(7), env.reset(), env.unwrapped.seed_given, env.reset(), env.unwrapped.seed_given]
steps = [env.step(1) for _ in range(3)]
report(reset=reset, steps=steps, ended=(env.reset(), env.step(9))[1], wrapped=type(env.env).__name__,
       render=[env.render(mode="rgb_array"), env.render(), env.render(close=True)],
       spec=[env.spec.timestep_limit, env.spec.tags, gym.spec("Counter-v2").id, env._max_episode_steps],
       registry=[one.id for one in gym.envs.registry.all()], older=gym.make("Counter-v0").spec.id,
       limit=isinstance(env, gym.wrappers.TimeLimit) or type(env).__name__)

inner = sys.modules.get("gymnasium.envs.registration") or sys.modules["gym.envs.registration"]
inner.registry["Gone-v0"] = inner.EnvSpec("Gone-v0", inner.spec)
report(entry=[str(one.entry_point) for one in gym.envs.registry.all() if one.id == "Gone-v0"])
del inner.registry["Gone-v0"]

import copy, pickle
raw, kind = env.unwrapped, type(env.unwrapped)
env.reset()
copies = [copy.deepcopy(env).step(2)[0], pickle.loads(pickle.dumps(env)).unwrapped.step(3)[:2]]
report(raw=[raw.seed(5), raw.reset(), raw.seed_given, raw.step(1), raw.render(mode="rgb_array"), raw.rewind(), copies],
       kind=[kind.__name__, kind.__module__.rpartition(".")[2], isinstance(raw, gym.envs.registration.Counter),
             type(gym.envs.registration.Counter().reset()).__name__, raw.spec.timestep_limit],
       n=type(spaces.Discrete(3).n).__name__)

class Old(gym.Env):
    def __init__(self, n=3):
        self.action_space, self.n = spaces.Discrete(2), n
        self._seed()
    def _seed(self, seed=None):
        self.np_random, seed = seeding.np_random(seed)
        return [seed]
    def _reset(self):
        self.t = 0
        return 0
    def _step(self, action):
        self.t += 1
        return self.t, float(self.np_random.randint(1)), self.t >= self.n, {}
    def _render(self, mode="human", close=False):
        return f"drawn {mode}"
class Shifted(gym.ObservationWrapper):
    def _observation(self, observation): return observation + 10
class Richer(gym.RewardWrapper):
    def reward(self, reward): return reward + 1
class Backwards(gym.ActionWrapper):
    def action(self, action): return -action
class Noop(gym.Wrapper):
    def __init__(self, env):
        gym.Wrapper.__init__(self, env)
        self.inner = env.unwrapped.n
    def reset(self, **named):
        self.env.reset(**named)
        return self.env.step(0)[0]
register(id="Old-v0", entry_point=Old, timestep_limit=2, kwargs={"n": 5}, tags={"x": 1})
env = Richer(Shifted(Noop(gym.make("Old-v0"))))
report(old=[env.seed(3), env.reset(), env.step(1), env.action_space.n, env.n, env.render(mode="x")],
       action=Backwards(gym.make("Counter-v2")).env.spec.id,
       own=[Old().reset(), Old().seed(4), isinstance(env, gym.Env), Discrete is spaces.Discrete])

moves = {0: {0: [(1.0, 1, 1.0, True)], 1: [(1.0, 0, 0.0, False)]}}
grid = discrete.DiscreteEnv(2, 2, moves, [1.0, 0.0])
report(grid=[grid.reset(), grid.step(1), grid.step(0)])

env = Monitor(gym.make("Counter-v2"), "monitored", video_callable=False)
for _ in range(2):
    env.reset()
    while not env.step(4)[2]:
        pass
env.close()
stats = json.load(open(os.path.join("monitored", os.listdir("monitored")[0])))
try:
    Monitor(env, "monitored")
    again = None
except gym.error.Error as error:
    again = "force=True" in str(error)
Monitor(env, "monitored", force=True, video_callable=False)
report(monitor=[stats["episode_rewards"], stats["episode_lengths"], env.get_total_steps(), again])

def named(module):
    try:
        return __import__(module, fromlist=["x"]).VideoRecorder(env)
    except Exception as error:
        return [type(error).__name__, str(error)]
report(recorder=[named("gym.wrappers.monitoring.video_recorder"), named("gym.wrappers.monitoring.no_such_module")],
       on_gymnasium="gymnasium" in sys.modules)

made = library.new()
gym.logger.setLevel(40)
report(library=[made.reset(), made.step(2), seeding.np_random(1)[1]], generator=type(seeding.np_random(1)[0]).__name__,
       missing=[name for name in ("gym.no_such_module",) if not __import__("importlib").util.find_spec(name)])
"""


def site(folder: Path, name: str) -> Path:
    folder = folder / "site-packages"
    for path, code in {**{f"{name}/{path}": code for path, code in STAND_IN.items()}, "library.py": LIBRARY}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(code.replace("NAME", name))
    return folder


@pytest.fixture(scope="module", params=["gymnasium", "gym"])
def found(request: Any, run_python: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if request.param == "gymnasium" and __import__("importlib.machinery").machinery.PathFinder.find_spec("gym"):
        pytest.skip("Gym is installed, and goes first")
    return run_python(PROGRAM, str(site(tmp_path_factory.mktemp("gym"), request.param))).results


def test_reset_gives_the_observation_and_step_four_values(found):
    assert found["reset"] == [[7], 0, 7, 0, None]
    assert found["steps"] == [
        [1, 1.0, False, {}], [2, 1.0, False, {}], [3, 1.0, True, {"TimeLimit.truncated": True}],
    ]  # fmt: skip
    assert found["ended"] == [9, 1.0, True, {}] and found["wrapped"] == "Counter"


def test_the_environment_itself_speaks_the_old_api_to_the_program(found):
    assert found["raw"] == [[5], 0, 5, [1, 1.0, False, {}], "rgb_array", [[0, {}], "rgb_array"], [2, [3, 1.0]]]
    assert found["kind"] == ["Counter", "registration", True, "tuple", 3] and found["n"] == "int"


def test_render_specs_and_the_registry(found):
    assert found["render"] == ["rgb_array", "human", None]
    assert found["spec"] == [3, {"wrapper_config.TimeLimit.max_episode_steps": 3}, "Counter-v2", 3]
    assert found["registry"] == ["Counter-v2"] and found["older"] == "Counter-v2"
    assert found["limit"] is True


def test_entry_points_of_the_library_are_texts(found):
    if found["on_gymnasium"]:  # Gym's own registry is left as it is
        assert found["entry"] == ["gymnasium.envs.registration:spec"]


def test_environments_and_wrappers_of_the_program(found):
    assert found["old"] == [[3], 11, [12, 1.0, True, {"TimeLimit.truncated": True}], 2, 5, "drawn x"]
    assert found["own"] == [0, [4], True, True] and found["action"] == "Counter-v2"
    assert found["grid"] == [0, [0, 0.0, False, {"prob": 1.0}], [1, 1.0, True, {"prob": 1.0}]]


def test_monitor_writes_rewards(found):
    assert found["monitor"] == [[3.0, 3.0], [3, 3], 6, True]


def test_a_recorder_can_be_imported_and_says_what_records_now(found):
    recorder, no_such_module = found["recorder"]
    assert no_such_module[0] == "ModuleNotFoundError" and "gym.wrappers.monitoring" in no_such_module[1]
    if found["on_gymnasium"]:  # Gym 0.26 has its own
        assert recorder == ["NotImplementedError", "Gymnasium has no VideoRecorder: use gymnasium.wrappers.RecordVideo"]


def test_a_library_of_the_new_api_has_it(found):
    assert found["library"][:2] == [[0, {}], [4, 1.0, False, False, {}]]
    assert (
        found["library"][2] == 1 and found["generator"] == "RandomState" and found["missing"] == ["gym.no_such_module"]
    )
