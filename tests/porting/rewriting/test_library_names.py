"""Names of libraries that are gone: every form of import and use, near-misses, and what is left by hand."""

# ruff: noqa: E501 - a program before and after stand beside each other

from __future__ import annotations

import importlib
import importlib.util

import numpy as np
import pytest
from porting_support import after, ported, remarks

from tf1sessions.porting.rewriting import library_tables
from tf1sessions.porting.rewriting.renames import Row
from tf1sessions.porting.rewriting.rules import numpy_names, scipy_names, sklearn_names, stdlib_names
from tf1sessions.source import old_names

NP = "import numpy as np\n"


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        # NumPy
        (NP + "np.float(x)", NP + "float(x)"),
        (NP + "x.astype(np.int)", NP + "x.astype(int)"),
        (NP + "np.zeros(3, dtype=np.bool)", NP + "np.zeros(3, dtype=bool)"),
        ("import numpy\nnumpy.object", "import numpy\nobject"),
        ("import numpy as foo\nfoo.product(x)", "import numpy as foo\nfoo.prod(x)"),
        (NP + "n = np\nnp.NaN", NP + "n = np\nnp.nan"),
        ("from numpy import product as p\np(x)", "from numpy import prod as p\np(x)"),
        ("from numpy import product, zeros\nproduct(x)", "from numpy import prod as product, zeros\nproduct(x)"),
        ("from numpy import float, zeros\nfloat(x)", "from numpy import zeros\nfloat(x)"),
        ("from numpy import int as i\ni(x)", "int(x)"),
        (NP + "def f(float): return np.float(float)", "import builtins\n" + NP + "def f(float): return builtins.float(float)"),
        (NP + "np.asscalar(x)", NP + "x.item()"),
        (NP + "np.asscalar(x + 1)", NP + "(x + 1).item()"),
        ("from numpy import asscalar, sum\nasscalar(x)", "from numpy import sum\nx.item()"),
        (NP + "np.asscalar(np.asscalar(x))", NP + "x.item().item()"),
        (NP + "np.alen(x)", NP + "len(x)"),
        (NP + "np.msort(x)", NP + "np.sort(x, axis=0)"),
        (NP + "np.asfarray(x)", NP + "np.asarray(x, dtype=float)"),
        (NP + "np.in1d(a, b)", NP + "np.isin(np.ravel(a), b)"),
        (NP + "np.NINF * 2, [np.NINF]", NP + "(-np.inf) * 2, [-np.inf]"),
        (NP + "np.AxisError", NP + "np.exceptions.AxisError"),
        (NP + "np.math.sqrt(2)", "import math\n" + NP + "math.sqrt(2)"),
        (NP + "np.percentile(x, 3, interpolation='lower')", NP + "np.percentile(x, 3, method='lower')"),
        (NP + "np.histogram(x, normed=True)", NP + "np.histogram(x, density=True)"),
        (NP + "np.reshape(x, newshape=(1, 2))", NP + "np.reshape(x, (1, 2))"),
        (NP + "np.fromstring(x, np.uint8)", NP + "np.frombuffer(x, np.uint8).copy()"),
        (NP + "x.tostring()", NP + "x.tobytes()"),
        (NP + "x = np.zeros(3)\nx.tostring()", NP + "x = np.zeros(3)\nx.tobytes()"),
        (NP + "np.issubdtype(x.dtype, np.float)", NP + "np.issubdtype(x.dtype, np.floating)"),
        # the standard library
        ("import time\ntime.clock()", "import time\ntime.process_time()"),
        ("from time import clock\nclock()", "from time import process_time as clock\nclock()"),
        ("import collections\ncollections.Mapping", "import collections.abc\nimport collections\ncollections.abc.Mapping"),
        ("from collections import Mapping, deque", "from collections.abc import Mapping\nfrom collections import deque"),
        ("from fractions import gcd", "from math import gcd"),
        ("import fractions\nfractions.gcd(a, b)", "import math\nimport fractions\nmath.gcd(a, b)"),
        ("import inspect\ninspect.getargspec(f).args", "import inspect\ninspect.getfullargspec(f).args"),
        ("import inspect\na, b, c, d = inspect.getargspec(f)", "import inspect\na, b, c, d = inspect.getfullargspec(f)[:4]"),
        ("import imp\nimp.reload(m)", "import importlib\nimportlib.reload(m)"),
        ("import xml.etree.cElementTree as ET", "import xml.etree.ElementTree as ET"),
        ("import cgi\ncgi.escape(x)", "import html\nhtml.escape(x, quote=False)"),
        ("import imp, sys\nm = imp.new_module('m')", "import types\nimport sys\nm = types.ModuleType('m')"),
        ("import md5\nmd5.new(x)", "import hashlib\nhashlib.md5(x)"),
        ("from past.builtins import xrange\nxrange(3)", "range(3)"),
        ("import json\njson.loads(x, encoding='utf-8')", "import json\njson.loads(x)"),
        ("open(path, 'rU')", 'open(path, "r")'),
        ("import threading\nt.isAlive()", "import threading\nt.is_alive()"),
        ("import unittest\nself.assertEquals(a, b)", "import unittest\nself.assertEqual(a, b)"),
        # SciPy
        ("from scipy.misc import logsumexp, imread", "from scipy.special import logsumexp\nfrom scipy.misc import imread"),
        ("import scipy.misc\nscipy.misc.comb(3, 2)", "import scipy.special\nimport scipy.misc\nscipy.special.comb(3, 2)"),
        ("from scipy import misc\nmisc.comb(3, 2)", "import scipy.special\nscipy.special.comb(3, 2)"),
        ("from scipy.ndimage.filters import gaussian_filter", "from scipy.ndimage import gaussian_filter"),
        ("import scipy\nscipy.zeros(3)", "import numpy\nimport scipy\nnumpy.zeros(3)"),
        (NP + "import scipy\nscipy.zeros(3)", NP + "import scipy\nnp.zeros(3)"),
        ("from scipy import signal\nsignal.hann(3)", "import scipy.signal.windows\nfrom scipy import signal\nsignal.windows.hann(3)"),
        ("from scipy.integrate import simps\nsimps(y, x)", "import scipy.integrate\nscipy.integrate.simpson(y, x=x)"),
        # scikit-learn
        ("from sklearn.cross_validation import train_test_split", "from sklearn.model_selection import train_test_split"),
        ("from sklearn import cross_validation as c", "from sklearn import model_selection as c"),
        ("import sklearn.grid_search as g\ng.GridSearchCV(m)", "import sklearn.model_selection as g\ng.GridSearchCV(m)"),
        (
            "import sklearn.grid_search\nsklearn.grid_search.GridSearchCV(m)",
            "import sklearn.model_selection\nsklearn.model_selection.GridSearchCV(m)",
        ),
        ("from sklearn.externals import joblib\njoblib.load(x)", "import joblib\njoblib.load(x)"),
        ("from sklearn.externals import joblib as j", "import joblib as j"),
        ("import sklearn.externals.joblib as j", "import joblib as j"),
        ("from sklearn.metrics.classification import log_loss", "from sklearn.metrics import log_loss"),
        ("from sklearn.manifold import TSNE\nTSNE(n_iter=3)", "from sklearn.manifold import TSNE\nTSNE(max_iter=3)"),
        ("import sklearn.cluster as c\nc.KMeans(3, n_jobs=2)", "import sklearn.cluster as c\nc.KMeans(3)"),
        ("import sklearn\nv.get_feature_names()", "import sklearn\nv.get_feature_names_out().tolist()"),
        # networkx
        ("import networkx as nx\nG = nx.Graph()\nG.node[1]['a']", "import networkx as nx\nG = nx.Graph()\nG.nodes[1]['a']"),
        ("import networkx as nx\nnx.OrderedGraph()", "import networkx as nx\nnx.Graph()"),
        ("import networkx as nx\nG.nodes_iter()", "import networkx as nx\nG.nodes()"),
        (
            "import networkx as nx\nnx.to_numpy_matrix(G)",
            "import numpy\nimport networkx as nx\nnumpy.asmatrix(nx.to_numpy_array(G))",
        ),
        ("import networkx as nx\nnx.read_gpickle(p)", 'import pickle\nimport networkx as nx\npickle.load(open(p, "rb"))'),
        # pandas
        ("import pandas as pd\nd.as_matrix()", "import pandas as pd\nd.to_numpy()"),
        ("import pandas as pd\npd.rolling_mean(x, 3)", "import pandas as pd\nx.rolling(3).mean()"),
        ("import pandas as pd\npd.np.nan", "import numpy\nimport pandas as pd\nnumpy.nan"),
        ("import pandas as pd\nd.to_csv(p, line_terminator='')", "import pandas as pd\nd.to_csv(p, lineterminator='')"),
        (
            "import pandas as pd\npd.read_csv(p, error_bad_lines=False, warn_bad_lines=False)",
            'import pandas as pd\npd.read_csv(p, on_bad_lines="skip")',
        ),
        (
            "import pandas as pd\na, b = pd.DataFrame(), pd.DataFrame()\na.append(b, ignore_index=True)",
            "import pandas as pd\na, b = pd.DataFrame(), pd.DataFrame()\npd.concat([a, b], ignore_index=True)",
        ),
        ("from pandas.util.testing import assert_frame_equal", "from pandas.testing import assert_frame_equal"),
        # Pillow
        ("from PIL import Image\nImage.ANTIALIAS", "from PIL import Image\nImage.LANCZOS"),
        ("from PIL import ImageDraw\nd.textsize(t, font=f)", "from PIL import ImageDraw\nd.textbbox((0, 0), t, font=f)[2:]"),
        ("from PIL import ImageFont\nw, h = f.getsize(t)", "from PIL import ImageFont\nw, h = f.getbbox(t)[2:]"),
        # h5py
        ("import h5py\nf = h5py.File(p)\nf['a'] = 1", "import h5py\nf = h5py.File(p, \"a\")\nf['a'] = 1"),
        ("import h5py\nf = h5py.File(p)\nx = f['a'][:]", "import h5py\nf = h5py.File(p, \"r\")\nx = f['a'][:]"),
        ("import h5py\nf = h5py.File(p)\ng(f)", 'import h5py\nf = h5py.File(p, "a")\ng(f)'),
        ("import h5py\nf = h5py.File(p, 'r')\nf['a'].value", "import h5py\nf = h5py.File(p, 'r')\nf['a'][()]"),
        # others
        ("import yaml\nyaml.load(x)", "import yaml\nyaml.load(x, Loader=yaml.FullLoader)"),
        ("from yaml import load\nload(x)", "import yaml\nfrom yaml import load\nload(x, Loader=yaml.FullLoader)"),
        ("import matplotlib\nmatplotlib.use('Agg', warn=False)", "import matplotlib\nmatplotlib.use('Agg')"),
        ("import matplotlib.pyplot as plt\nplt.hist(x, normed=1)", "import matplotlib.pyplot as plt\nplt.hist(x, density=1)"),
        (
            "import matplotlib.pyplot as plt\nplt.style.use('seaborn-dark')",
            'import matplotlib.pyplot as plt\nplt.style.use("seaborn-v0_8-dark")',
        ),
        ("import seaborn as sns\nsns.factorplot(x)", "import seaborn as sns\nsns.catplot(x)"),
        (
            "import seaborn as sns\nsns.lmplot('x', 'y', data=d, fit_reg=False, size=6)\nsns.boxplot('a', 'b', 'c', d)",
            "import seaborn as sns\nsns.lmplot(x='x', y='y', data=d, fit_reg=False, height=6)\n"
            "sns.boxplot(x='a', y='b', hue='c', data=d)",
        ),
        ("import librosa\nlibrosa.load(p, 16000)", "import librosa\nlibrosa.load(p, sr=16000)"),
        ("import librosa\nlibrosa.feature.mfcc(y, sr)", "import librosa\nlibrosa.feature.mfcc(y=y, sr=sr)"),
        ("from moviepy.editor import VideoClip", "from moviepy import VideoClip"),
    ],
)  # fmt: skip
def test_new_names(before: str, expected: str):
    assert after(before + "\n") == expected + "\n"


@pytest.mark.parametrize(
    "text",
    [
        NP + "np.float32(x); np.bool_(x); np.int64; np.prod(x)",
        "np.float(x)",
        "import torch as np\nnp.float(x)",
        "def f(np): return np.float",
        NP + "def f(np): return np.float",
        NP + "x.float; a.np.float",
        NP + "s = 'np.float'  # np.float",
        NP + "np.fromstring('1 2', sep=' ')",
        NP + "ET.tostring(x)",
        NP + "import svgwrite\nd = svgwrite.Drawing(p)\nd.tostring()",
        NP + "np.issubdtype(x.dtype, np.float64); np.issubdtype(x, y)",
        NP + "def f(float): return np.issubdtype(x, float)",
        NP + "class A:\n    def tostring(self): pass\nA().tostring()",
        NP + "if np.__version__ < '2':\n    x = np.product(y)",
        NP + "if hasattr(np, 'float'): x = np.float",
        NP + "x = getattr(np, 'float', float)",
        "import importlib\ntry:\n    x = importlib.import_module('cPickle')\nexcept ImportError:\n    x = None",
        "from xml.etree import ElementTree as ET\nET.tostring(x)",
        "try:\n    from sklearn.model_selection import KFold\nexcept ImportError:\n    from sklearn.cross_validation import KFold",
        "try:\n    from collections.abc import Mapping\nexcept ImportError:\n    from collections import Mapping",
        "import tensorflow as tf\nimport networkx as nx\nfor i in n: graph_def.node[i].name",
        "import collections\ncollections.OrderedDict()",
        "import time\ntime.time()",
        "import mine\nmine.clock(); t.isAlive(); self.assertEquals(1, 2)",
        "import yaml\nyaml.load(x, Loader=yaml.Loader); yaml.load(x, yaml.Loader); yaml.safe_load(x)",
        "import h5py\nf = h5py.File(p, 'w'); h5py.File(p, mode='r'); h5py.File(p, **m)",
        "import os\nfrom PIL import ImageFont\nos.path.getsize(p)",
        "import seaborn as sns\nsns.boxplot(d); sns.lmplot(x='x', y='y', data=d); sns.lmplot(*a); sns.heatmap(a, 0, 1)",
        "import seaborn as sns\nsns.scatterplot(x='a', y='b', size=c); sns.barplot('x', 'y', x=1)",
        "import pandas as pd\nl = []\nl.append(3)",
        "from sklearn.manifold import TSNE\nTSNE(max_iter=3)",
        "import sklearn.manifold\nother.TSNE(n_iter=3)",
        "from scipy.ndimage import gaussian_filter",
        "from .collections import Mapping",
        "open(path, 'r'); open(path, mode); self.open(path, 'rU')",
        "import json\njson.dumps(x, encoding='utf-8')",
        "import random\nself.random.clock",
        "import imp\nimp.acquire_lock()",
        "import cgi\n__all__ = ['cgi']",
    ],
)
def test_near_misses_stay(text: str):
    found = ported(text + "\n")
    assert found.after is found.before


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("import scipy.misc\nscipy.misc.imread(p)", "imageio"),
        ("import importlib\nx = importlib.import_module('cPickle')", "The text names cPickle: pickle"),
        (NP + "x = getattr(np, 'float')", "The text names numpy.float: float"),
        ("from scipy.misc import imsave", "fromarray"),
        ("from sklearn.cross_validation import KFold", "n_splits"),
        ("from sklearn.preprocessing import Imputer", "SimpleImputer"),
        ("from sklearn.datasets import load_boston", "fetch_openml"),
        ("from sklearn import datasets\ndatasets.load_boston()", "fetch_openml"),
        (NP + "np.asscalar(a, b)", "x.item()"),
        (NP + "np.find_common_type(a, b)", "result_type"),
        ("import imp\nimp.load_source('a', 'b')", "SourceFileLoader"),
        ("from distutils.version import LooseVersion", "packaging"),
        ("import pandas as pd\nd.ix[3]", ".loc"),
        ("import pandas as pd\nd = pd.DataFrame()\nd.append({'a': 1}, ignore_index=True)", "concat"),
        ("import networkx as nx\ndef f(G): return G.node[3]", ".nodes"),
        ("import matplotlib.pyplot as plt\nplt.hold(True)", "Leave it out"),
    ],
)
def test_what_is_left_by_hand(text: str, word: str):
    (said,) = remarks(text + "\n")
    assert word in said


def test_formatting_and_line_ends_stay():
    before = (
        "import numpy as np\r\nx = f( np.float ,  # why\r\n\tnp.int)\r\nfrom sklearn.grid_search import (  # a\r\n  A)"
    )
    expected = (
        "import numpy as np\r\nx = f( float ,  # why\r\n\tint)\r\nfrom sklearn.model_selection import (  # a\r\n  A)"
    )
    assert after(before) == expected


def test_a_name_that_comes_through_a_file_of_the_project_is_changed_where_it_is_imported():
    from pathlib import Path

    from tf1sessions.porting.rewriting.rewrite import port
    from tf1sessions.source.files import SourceText

    texts = {"common.py": "import numpy as np\n", "train.py": "from common import np\nx = np.float(3)\n"}
    step = port([SourceText(Path(name), name, text) for name, text in texts.items()], "py3")[-1]
    assert [file.after.text for file in step.files] == list(texts.values())


def _targets() -> list[str]:
    tables: list[dict[str, Row]] = [numpy_names._TABLE, stdlib_names._TABLE]
    found = {row.new for table in tables for row in table.values() if row.new}
    return sorted(name for name in found if not name.startswith("builtins."))


_NEW_IN_NUMPY_2 = ["numpy.trapezoid", "numpy.exceptions.RankWarning", "numpy.lib.array_utils.byte_bounds"]


@pytest.mark.parametrize("name", _targets())
def test_new_names_are_there(name: str):
    """Of NumPy 2 and the standard library; a NumPy that is older has its own names."""
    module, _, attribute = name.rpartition(".")
    if not module or name == "shlex.quote":
        assert importlib.util.find_spec(module or attribute)
        return
    owner = importlib.import_module("numpy" if module.startswith("numpy") else module)
    for part in module.split(".")[1:] if module.startswith("numpy") else []:
        owner = getattr(owner, part, None)
    if name in _NEW_IN_NUMPY_2 and np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("NumPy 1 has it by its old name")
    assert hasattr(owner, attribute)


def test_tables_of_runs_are_read():
    assert library_tables.modules("sklearn")["sklearn.externals.joblib"].new == "joblib"
    assert library_tables.arguments("sklearn")[0]["sklearn.manifold.TSNE"] == {"n_iter": "max_iter"}
    assert library_tables.method_arguments("pandas")["to_csv", "cols"][0] == "columns"
    assert set(old_names.NUMPY) <= {name.removeprefix("numpy.") for name in numpy_names._TABLE}
    assert {"sklearn.cross_validation", "sklearn.manifold.t_sne"} <= set(sklearn_names._MODULES)
    assert "scipy.sparse.csr" in scipy_names._MODULES
