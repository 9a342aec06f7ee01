"""Old names of libraries around TensorFlow: the kinds of rows, the import hooks on stand-ins, the libraries."""

from __future__ import annotations

import importlib.util
import inspect
import json
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from old_library_cases import CASES

from tf1sessions.scripts import old_libraries
from tf1sessions.scripts.old_libraries import networkx_rows, rows


def module(code: str, name: str = "new_library") -> ModuleType:
    made = ModuleType(name)
    exec(code, vars(made))
    return made


# -- rows -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", sorted(old_libraries.LIBRARIES))
def test_each_row_is_of_its_library_and_names_a_release(library):
    table = old_libraries.table(library)
    changes = [row for group in table.rows.values() for row in group]
    assert changes or table.modules
    for row in changes:
        assert row.module.partition(".")[0] == library
        assert row.since.replace(".", "").isdigit()
    for name, row in table.modules.items():
        assert name == row.name and name.partition(".")[0] == library and row.since.replace(".", "").isdigit()


def test_a_table_imports_nothing_of_its_library(run_python):
    code = """
        import sys
        from tf1sessions.scripts import old_libraries
        for library in old_libraries.LIBRARIES:
            old_libraries.table(library)
        report(loaded=[name for name in (*old_libraries.LIBRARIES, "numpy", "tensorflow") if name in sys.modules])
    """
    assert run_python(code, fresh=True).results["loaded"] == []


def test_a_name_is_added_where_it_is_missing_only():
    found = module("class Frame:\n    items = 1\n    kept = 'as it is'\ndef new(): return 'new'")
    for row in (
        rows.Name("new_library", "Frame", "iteritems", "2.0", "Frame.items"),
        rows.Name("new_library", "Frame", "kept", "2.0", lambda owner, name: "ours"),
        rows.Name("new_library", "", "old older", "2.0", lambda owner, name: f"{name} of {owner.__name__}"),
        rows.Name("new_library", "NoSuchClass", "old", "2.0", "new"),
        rows.Name("new_library", "", "nothing", "2.0", "no.such.path"),
    ):
        row.apply(found)
    assert found.Frame.iteritems == 1 and found.Frame.kept == "as it is"
    assert (found.old, found.older) == ("old of new_library", "older of new_library")
    assert not hasattr(found, "nothing")


def test_arguments_that_were_renamed_or_dropped():
    found = module(
        "class Model:\n"
        "    def __init__(self, *, max_iter=10, seed=0): self.max_iter, self.seed = max_iter, seed\n"
        "def plot(x, visible=None, **more): return x, visible, more\n"
        "def kept(warn=0): return warn"
    )
    rows.Arguments("new_library", "Model.__init__", "1", {"n_iter": "max_iter"}, dropped=("n_jobs",)).apply(found)
    rows.Arguments("new_library", "plot", "1", {"b": "visible"}, values={"b": lambda b: not b}).apply(found)
    rows.Arguments("new_library", "kept", "1", dropped=("warn",)).apply(found)
    rows.Arguments("new_library", "gone", "1", dropped=("warn",)).apply(found)
    assert found.Model(n_iter=5, n_jobs=2).max_iter == 5 and found.Model(max_iter=7).max_iter == 7
    assert found.Model(n_iter=5, max_iter=8).max_iter == 8  # a program for both
    with pytest.raises(TypeError, match="n_itr"):
        found.Model(n_itr=5)
    assert list(inspect.signature(found.Model).parameters) == ["max_iter", "seed"]
    assert found.plot(1, b=True, c=2) == (1, False, {"c": 2})
    assert found.kept(warn=3) == 3 and not hasattr(found, "gone")


def test_arguments_that_were_positional():
    found = module(
        "def mel(*, sr, n_fft, n_mels=128): return sr, n_fft, n_mels\n"
        "def load(path, *, sr=22050, mono=True): return path, sr, mono\n"
        "def many(*values, scale=1): return values, scale\n"
        "def _private(*, a): return a"
    )
    rows.Positional("new_library", "0.10").apply(found)
    assert found.mel(8000, 512) == (8000, 512, 128) and found.mel(8000, n_fft=4) == (8000, 4, 128)
    assert found.load("a", 16000) == ("a", 16000, True) and found.load("a", sr=1) == ("a", 1, True)
    assert found.many(1, 2) == ((1, 2), 1)
    for call in (
        lambda: found.load("a", 1, True, 4),  # more than there ever were
        lambda: found.load("a", 16000, sr=1),  # twice
        lambda: found._private(1),
    ):
        with pytest.raises(TypeError):
            call()


def double(original: Any, *args: Any) -> Any:
    return 2 * original(*args)


class Called:
    """An object that can be called, as networkx's functions are."""

    name = "called"

    def __call__(self, x: int) -> int:
        return x

    def __reduce__(self) -> str:
        return "CALLED"


CALLED = Called()
ORIGINAL = CALLED


def function(x: int) -> int:
    """One."""
    return x


@pytest.mark.parametrize("name", ["function", "CALLED"])
def test_a_wrapped_function_is_like_the_one_below(monkeypatch, name):
    home = sys.modules[__name__]
    original = getattr(home, name)
    monkeypatch.setattr(home, name, original)  # to be put back
    rows.Wrapped(__name__, name, "1", double).apply(home)
    wrapper = getattr(home, name)
    assert wrapper is not original and wrapper(3) == 6
    assert pickle.loads(pickle.dumps(wrapper)) is wrapper
    if name == "CALLED":
        assert wrapper == ORIGINAL and wrapper == ORIGINAL and hash(wrapper) == hash(ORIGINAL)
        assert wrapper.name == "called" and repr(wrapper) == repr(ORIGINAL)
    else:
        assert (wrapper.__name__, wrapper.__doc__) == ("function", "One.")
        assert str(inspect.signature(wrapper)) == str(inspect.signature(original))


def test_methods_of_c_code_are_bound():
    found = module("class Items(list): pass")
    rows.Wrapped("new_library", "Items.__len__", "1", double).apply(found)
    assert len(found.Items([1, 2])) == 4 and len([1, 2]) == 2


def test_a_function_is_wrapped_where_it_is_defined_too(monkeypatch):
    inner, outer = module("def f(): return 1", "inner_part"), ModuleType("outer")
    outer.f = inner.f
    monkeypatch.setitem(sys.modules, "inner_part", inner)
    rows.Wrapped("outer", "f", "1", double).apply(outer)
    assert outer.f is inner.f and inner.f() == 2


def test_functions_of_an_older_networkx_stay_as_they_are():
    address = "networkx.readwrite.json_graph.node_link"
    older = ModuleType(address)
    newer = ModuleType(address)
    vars(older).update(node_link_graph=lambda data, directed=False: data["links"])
    vars(newer).update(node_link_graph=lambda data, directed=False, *, edges="edges": data[edges])
    for module in (older, newer):
        networkx_rows.TABLES["networkx"].apply(module)
        assert module.node_link_graph({"links": 3}) == 3


def test_graphs_of_networkx_1_set_their_own_node():
    code = "class Graph:\n    def __init__(self): self.node = {}\n    def nodes(self): return list(self.node)\n"
    old = module(code, "networkx")
    new = module("class Graph:\n    nodes = {1: 'one'}\n", "networkx")
    for library in (old, new):
        networkx_rows.TABLES["networkx"].apply(library)
    graph = old.Graph()
    graph.node[1] = "one"
    assert graph.nodes() == [1] and new.Graph().node == {1: "one"}


# -- the import hooks, on stand-ins -----------------------------------------------------------------------------------

STAND_INS = {
    "networkx/__init__.py": "from .readwrite.json_graph.node_link import *\nclass Graph:\n    nodes = {1: 'one'}\n",
    "networkx/readwrite/__init__.py": "",
    "networkx/readwrite/json_graph/__init__.py": "from .node_link import *\n",
    "networkx/readwrite/json_graph/node_link.py": "def node_link_data(G, *, edges='edges'): return edges\n"
    "def node_link_graph(data, *, edges='edges'): return data[edges]\n",
    "sklearn/__init__.py": "",
    "sklearn/manifold/__init__.py": "from ._t_sne import TSNE\n",
    "sklearn/manifold/_t_sne.py": "class TSNE:\n    def __init__(self, *, max_iter=1000): self.max_iter = max_iter\n",
    "sklearn/model_selection.py": "def learning_curve(): return 'a curve'\ndef validation_curve(): pass\n",
    "scipy/__init__.py": "",
    "scipy/special.py": "comb = factorial = logsumexp = len\n",
    "scipy/misc.py": "raise ImportError('gone')\n",
    "scipy/signal/__init__.py": "from . import windows\n",
    "scipy/signal/windows.py": "hann = 'a window'\n",
    "scipy/ndimage/__init__.py": "zoom = 'a function'\n",
    "gin/__init__.py": "from gin.config import configurable\n",
    "gin/config.py": "def configurable(name=None, allowlist=None, denylist=None): return [name, allowlist, denylist]\n",
    "yaml.py": "class FullLoader: pass\ndef load(stream, Loader): return [stream, Loader.__name__]\n",
    "nltk/__init__.py": "from .downloader import download\nfrom . import data\n",
    "nltk/downloader.py": "asked = []\ndef download(name=None, quiet=False): asked.append(name); return True\n",
    "nltk/data.py": "def find(name):\n    if 'punkt_tab' not in name: raise LookupError(name)\n    return name\n",
    "moviepy/__init__.py": "VideoFileClip = 'a clip'\n",
    "tensorflow_hub/__init__.py": "__version__ = '0.16.1'\ndef load(path): return path\n",
    "tensorflow_probability/__init__.py": "",
    "tensorflow_probability/python/__init__.py": "",
    "tensorflow_probability/python/distributions/__init__.py": "class Coin:\n"
    "    def __init__(self, logits=None, probs=None): self._logits, self._probs = logits, probs\n"
    "    logits = property(lambda self: self._logits)\n    probs = property(lambda self: self._probs)\n"
    "    def logits_parameter(self): return 'computed logits' if self.logits is None else self.logits\n"
    "    def probs_parameter(self): return 'computed probs' if self.probs is None else self.probs\n",
    "parameterized/__init__.py": "class parameterized: pass\n",
    "librarian.py": "import networkx\ndef write(G): return networkx.node_link_data(G)\n",
    "unrelated.py": "x = 1\n",
}
ON_STAND_INS = """
import sys
import tf1sessions.scripts
tf1sessions.scripts.install()
report(early=[name for name in sys.modules if name.startswith("tf1sessions.scripts.old_libraries.")])
sys.path.insert(0, sys.argv[1])
import networkx as nx
from networkx.readwrite import json_graph
from sklearn.manifold import TSNE
from sklearn.manifold.t_sne import TSNE as same
from sklearn.learning_curve import learning_curve
import scipy.misc, scipy.signal
from scipy.ndimage.interpolation import zoom
import gin, yaml, nltk, tensorflow_hub as hub
from moviepy.editor import VideoFileClip
from nose_parameterized import parameterized
from tensorflow_probability.python.distributions import Coin
def fails(call):
    try:
        return call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
def absent(name):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        return str(error)
nltk.download("punkt", quiet=True)
nltk.download("stopwords")
report(
    node=nx.Graph().node[1],
    links=[json_graph.node_link_data(None), __import__("librarian").write(None), nx.node_link_data(None, edges="e"),
           nx.node_link_graph({"links": 1}), nx.node_link_graph({"edges": 2, "links": 1})],
    same=json_graph.node_link_data is nx.node_link_data,
    sklearn=[TSNE(n_iter=5).max_iter, same is TSNE, learning_curve()],
    scipy=[scipy.signal.hann, scipy.misc.comb("abc"), zoom],
    gin=[gin.configurable("n", blacklist=["b"]), gin.configurable(whitelist=["w"]), gin.config.configurable("m")],
    yaml=[yaml.load("a"), yaml.load("a", Loader=int), yaml.load("a", int)],
    nltk=[nltk.downloader.asked, nltk.data.find("tokenizers/punkt"), fails(lambda: nltk.data.find("corpora/x"))],
    moviepy=VideoFileClip,
    hub=[hub.load("a"), hasattr(hub, "Module"), fails(lambda: hub.Module), fails(lambda: hub.nothing)],
    parameterized=parameterized.__module__,
    coins=[Coin(logits=1).probs, Coin(logits=1).logits, Coin(probs=2).probs, Coin(probs=2).logits],
    absent=[absent("sklearn.no_such_module"), absent("scipy.nothing")],
    loaded=[name for name in ("tensorflow", "pandas", "librosa") if name in sys.modules],
)
"""


@pytest.fixture(scope="module")
def on_stand_ins(run_python: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("site-packages")
    site = folder / "site-packages"
    for name, code in STAND_INS.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(code)
    return run_python(ON_STAND_INS, str(site), fresh=True).results


def test_tables_are_loaded_with_their_libraries(on_stand_ins):
    assert on_stand_ins["early"] == [] and on_stand_ins["loaded"] == []


def test_networkx_by_who_calls(on_stand_ins):
    assert on_stand_ins["node"] == "one" and on_stand_ins["same"]
    assert on_stand_ins["links"] == ["links", "edges", "e", 1, 2]


def test_modules_and_names_that_moved(on_stand_ins):
    assert on_stand_ins["sklearn"] == [5, True, "a curve"]
    assert on_stand_ins["scipy"] == ["a window", 3, "a function"]
    assert on_stand_ins["moviepy"] == "a clip"
    assert on_stand_ins["parameterized"] == "parameterized"


def test_distributions_have_the_parameter_that_they_were_not_made_with(on_stand_ins):
    assert on_stand_ins["coins"] == ["computed probs", 1, 2, "computed logits"]


def test_a_release_of_hub_without_modules_names_the_last_one_with_them(on_stand_ins):
    path, has, module, other = on_stand_ins["hub"]
    assert (path, has) == ("a", False)
    assert module.startswith("MissingSymbolError: tensorflow_hub.Module is not available in tensorflow_hub 0.16.1")
    assert module.endswith('pip install "tensorflow_hub<0.16".')
    assert other == "AttributeError: module 'tensorflow_hub' has no attribute 'nothing'"


def test_gin_takes_the_old_names_of_its_lists(on_stand_ins):
    assert on_stand_ins["gin"] == [["n", None, ["b"]], [None, ["w"], None], ["m", None, None]]


def test_yaml_has_a_loader_unless_one_is_given(on_stand_ins):
    assert on_stand_ins["yaml"] == [["a", "FullLoader"], ["a", "int"], ["a", "int"]]


def test_nltk_reads_the_new_data(on_stand_ins):
    asked, found, other = on_stand_ins["nltk"]
    assert asked == ["punkt", "punkt_tab", "stopwords"]
    assert (found, other) == ("tokenizers/punkt_tab", "LookupError: corpora/x")


def test_a_module_that_never_was_is_no_module(on_stand_ins):
    names = ("sklearn.no_such_module", "scipy.nothing")
    assert on_stand_ins["absent"] == [*(f"No module named {name!r}" for name in names)]


# -- the libraries themselves -----------------------------------------------------------------------------------------

RUN_CASES = """
import json, sys, traceback
import tf1sessions.scripts
tf1sessions.scripts.install()
results = {}
for name, lines in json.load(open(sys.argv[1])).items():
    names = {}
    try:
        exec(compile(lines, sys.argv[0], "exec"), names)
        results[name] = json.loads(json.dumps(names["found"], default=lambda one: one.item()))
    except BaseException:
        results[name] = traceback.format_exc()
report(results=results)
"""


@pytest.fixture(scope="module")
def found(run_python: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    cases = {name: lines for name, (library, lines, _) in CASES.items() if importlib.util.find_spec(library)}
    path: Path = tmp_path_factory.mktemp("cases") / "cases.json"
    path.write_text(json.dumps(cases))
    return run_python(RUN_CASES, str(path), fresh=True).results["results"] if cases else {}


@pytest.mark.parametrize("name", list(CASES))
def test_on_the_library_itself(found, name):
    library, _, expected = CASES[name]
    if name not in found:
        pytest.skip(f"{library} is not installed")
    assert found[name] == expected, found[name]
