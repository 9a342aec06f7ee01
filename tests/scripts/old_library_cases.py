"""What test_old_libraries.py runs on the libraries themselves, each in a process with the TF1 face.

A case is the library that it needs, lines of a program of TensorFlow 1's time, and what its name ``found`` is then,
which JSON can carry.
"""

from __future__ import annotations

CASES: dict[str, tuple[str, str, object]] = {
    "scipy: private modules": (
        "scipy",
        """
import scipy.sparse
from scipy.sparse.linalg.eigen.arpack import eigsh
from scipy.ndimage.filters import gaussian_filter
found = [callable(eigsh), type(scipy.sparse.eye(2, format="csr")) is scipy.sparse.csr.csr_matrix]
""",
        [True, True],
    ),
    "scipy: names of NumPy": (
        "scipy",
        """
import scipy, scipy.signal, scipy.integrate
found = [scipy.interp(1.5, [1, 2], [3, 4]), repr(scipy.sqrt(-1)), scipy.mean([1, 3]), scipy.signal.gaussian(3, 1)[1],
         scipy.integrate.simps([1, 2, 3]), scipy.integrate.trapz([1, 2]), scipy.rand(2).shape[0]]
""",
        [3.5, "1j", 2.0, 1.0, 4.0, 1.5, 2],
    ),
    "scipy: sparse matrices": (
        "scipy",
        """
import scipy.sparse
m = scipy.sparse.csr_matrix([[0, 1j]])
found = [str(m.A.tolist()), str(m.H.A.tolist()), type(m.A).__name__, hasattr(scipy.sparse.csr_array(m), "H")]
""",
        ["[[0j, 1j]]", "[[0j], [-1j]]", "ndarray", False],
    ),
    "networkx: graphs": (
        "networkx",
        """
import pickle
import networkx as nx
from networkx.readwrite import json_graph
G = json_graph.node_link_graph({"directed": False, "multigraph": False, "graph": {},
    "nodes": [{"id": 0, "val": True}, {"id": 1}, {"id": 2}], "links": [{"source": 0, "target": 1}]})
G.node[1]["val"] = False
found = [G.node[0]["val"], G.nodes[1]["val"], "links" in json_graph.node_link_data(G), nx.to_numpy_matrix(G).shape,
         [len(part) for part in nx.connected_component_subgraphs(G)], nx.OrderedDiGraph([(1, 2)]).number_of_edges(),
         sorted(G.nodes_iter()), nx.info(G), nx.from_numpy_matrix(nx.to_numpy_matrix(G)).number_of_edges(),
         pickle.loads(pickle.dumps(json_graph.node_link_graph)) is json_graph.node_link_graph]
nx.write_gpickle(G, "graph.pickle")
found.append(nx.read_gpickle("graph.pickle").node[0])
""",
        [True, False, True, [3, 3], [2, 1], 1, [0, 1, 2], "Graph with 3 nodes and 1 edges", 1, True, {"val": True}],
    ),
    "sklearn: modules": (
        "sklearn",
        """
from sklearn.externals import joblib
from sklearn.externals.six.moves import xrange
from sklearn.cross_validation import train_test_split
import sklearn.grid_search
from sklearn.manifold.t_sne import TSNE
from sklearn.metrics.classification import confusion_matrix
from sklearn.datasets.samples_generator import make_blobs
from sklearn.utils.testing import assert_array_equal
from sklearn.utils.linear_assignment_ import linear_assignment
import joblib as real, numpy as np
found = [joblib is real, len(list(xrange(3))), len(train_test_split([1, 2, 3, 4])),
         len(list(sklearn.grid_search.ParameterGrid({"a": [1, 2]}))),
         linear_assignment(np.array([[2, 1], [1, 2]])).tolist()]
""",
        [True, 3, 2, 2, [[0, 1], [1, 0]]],
    ),
    "sklearn: arguments": (
        "sklearn",
        """
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.manifold import TSNE
from sklearn.metrics import jaccard_similarity_score
from sklearn.preprocessing import Imputer, OneHotEncoder
vectors = CountVectorizer().fit(["a house", "the house"])
found = [clone(TSNE(n_components=2, n_iter=300)).max_iter, "n_iter" in TSNE().get_params(),
         OneHotEncoder(sparse=False).fit_transform([[1], [2]]).tolist(), vectors.get_feature_names(),
         Imputer().fit_transform([[1.0], [float("nan")], [3.0]]).tolist(), jaccard_similarity_score([1, 2], [1, 3])]
""",
        [300, False, [[1.0, 0.0], [0.0, 1.0]], ["house", "the"], [[1.0], [2.0], [3.0]], 0.5],
    ),
    "sklearn: filters of warnings for its workers": (
        "sklearn",
        """
import numpy
from sklearn.utils.parallel import Parallel, delayed
found = Parallel(n_jobs=1)(delayed(abs)(-number) for number in (1, 2))
""",
        [1, 2],
    ),
    "pandas: methods": (
        "pandas",
        """
import pandas as pd
frame = pd.DataFrame({"a": [1, 2], "b": [3.0, 4.0]}, index=["r", "s"])
grown = pd.DataFrame(columns=["x", "y"])
for number in (1, 2):
    grown = grown.append({"x": number, "y": "t"}, ignore_index=True)
frame.set_value("r", "a", 9)
found = [frame.append(frame).shape, grown.values.tolist(), frame.as_matrix().tolist(), frame.get_value("r", "a"),
         [name for name, _ in frame.iteritems()], frame.a.append(frame.a).tolist(), frame.sort(columns="a").a.tolist(),
         pd.rolling_mean(frame.b, 2).tolist()[1], pd.np.float32 is __import__("numpy").float32,
         pd.datetime(2020, 1, 2).day,
         frame.ix[1, "a"], frame.ix["s", 0], frame.ix[:1].shape, frame.ix[["s"]].shape]
found = [one.item() if hasattr(one, "item") else one for one in found]
""",
        [[4, 2], [[1, "t"], [2, "t"]], [[9.0, 3.0], [2.0, 4.0]], 9, ["a", "b"], [9, 2, 9, 2], [2, 9], 3.5, True, 2,
         2, 2, [1, 2], [1, 2]],
    ),
    "pandas: files": (
        "pandas",
        """
import io
import pandas as pd
spaces = pd.read_table(io.StringIO("ID  AGE\\n1 2\\n3   4\\n"), delim_whitespace=True, usecols=["ID"])
bad = pd.read_csv(io.StringIO("a,b\\n1,2\\n1,2,3\\n"), error_bad_lines=False, warn_bad_lines=False)
out = io.StringIO()
bad.to_csv(out, line_terminator="|")
try:
    pd.Panel()
except NotImplementedError as error:
    panel = "MultiIndex" in str(error)
found = [spaces.ID.tolist(), bad.shape,
         pd.read_csv(io.StringIO("a\\n1\\n"), squeeze=True).tolist(), out.getvalue(), panel]
""",
        [[1, 3], [1, 2], [1], ",a,b|0,1,2|", True],
    ),
    "h5py: strings": (
        "h5py",
        """
import os, sys
import h5py
import numpy as np
with h5py.File("strings.h5", "w") as file:
    file.attrs.create("config", b"{}", dtype=h5py.string_dtype("ascii"))
    file.attrs["text"], file.attrs["fixed"], file.attrs["number"] = "t", np.bytes_(b"f"), 3
    file.create_dataset("texts", data=["a", "\\xe9"], dtype=h5py.string_dtype())
    file.create_dataset("bytes", data=[b"a"], dtype=h5py.string_dtype("ascii"))
    file["numbers"] = [1, 2]
os.makedirs("site-packages", exist_ok=True)
with open("site-packages/h5_reader.py", "w") as file:
    file.write("def read(file): return [type(file.attrs['config']).__name__, type(file['texts'][0]).__name__]")
sys.path.insert(0, "site-packages")
import h5_reader
with h5py.File("strings.h5", "r") as file:
    found = [file.attrs["config"].decode("utf8"), file.attrs["text"], file.attrs["fixed"].decode(),
             int(file.attrs["number"]), file["texts"][1], file["texts"][:].tolist(), file["texts"].value.shape,
             type(file["bytes"][0]).__name__, file["numbers"][1:].tolist(), h5_reader.read(file)]
""",
        ["{}", "t", "f", 3, "\xe9", ["a", "\xe9"], [2], "bytes", [2], ["str", "bytes"]],
    ),
    "h5py": (
        "h5py",
        """
import h5py
for name in ("a", "b"):
    with h5py.File("data.h5") as file:
        file[name] = [1, 2]
with h5py.File("data.h5", "r") as file:
    found = [sorted(file), file["b"].value.tolist()]
""",
        [["a", "b"], [1, 2]],
    ),
    "matplotlib": (
        "matplotlib",
        """
import matplotlib
matplotlib.use("Agg", warn=False)
import matplotlib.pyplot as plt
import numpy as np
plt.style.use("seaborn-whitegrid")
figure = plt.figure()
plt.hold(True)
figure.canvas.set_window_title("title")
heights, edges, _ = plt.hist([1, 2, 3], normed=True)
plt.grid(b=True, which="major", color="gray")
plt.gca().set_xscale("log", basex=2)
plt.gca().bar(left=[1], height=[2])
figure.canvas.draw()
plt.show(figure)
plt.show(False)
width, height = figure.canvas.get_width_height()
pixels = np.fromstring(figure.canvas.tostring_rgb(), dtype="uint8")
found = [round(float((heights * np.diff(edges)).sum()), 6), pixels.size == width * height * 3,
         plt.cm.get_cmap("jet", 4).N,
         plt.cm.spectral.name, type(plt.figure().gca(projection="3d")).__name__]
""",
        [1.0, True, 4, "nipy_spectral", "Axes3D"],
    ),
    "yaml": (
        "yaml",
        """
import yaml
found = [yaml.load("a: [1, 2]"), list(yaml.load_all("a\\n---\\nb")), yaml.load("a: 1", Loader=yaml.SafeLoader)]
try:
    yaml.load("!!python/object/apply:os.getcwd []")
except yaml.YAMLError:
    found.append("refused")
""",
        [{"a": [1, 2]}, ["a", "b"], {"a": 1}, "refused"],
    ),
    "seaborn": (
        "seaborn",
        """
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt, pandas as pd, seaborn as sns
plt.figure()
data = pd.DataFrame({"step": [1, 1, 2, 2], "run": [0, 1, 0, 1], "agent": "dqn", "value": [1.0, 3.0, 2.0, 4.0]})
axes = sns.tsplot(data=data, time="step", unit="run", condition="agent", value="value")
found = axes.lines[0].get_ydata().tolist()
""",
        [2.0, 3.0],
    ),
    "librosa": (
        "librosa",
        """
import librosa
import numpy as np
wave = np.sin(np.arange(8000) / 8000 * 2 * np.pi * 440).astype(np.float32)
librosa.output.write_wav("y.wav", wave, 8000, norm=True)
found = [librosa.load("y.wav", 4000)[1], librosa.filters.mel(8000, 512, 20).shape, librosa.feature.rmse(wave).shape,
         librosa.feature.melspectrogram(wave, 8000).shape, librosa.core.fft_frequencies(8000, 16)[1]]
""",
        [4000, [20, 257], [1, 16], [128, 16], 500.0],
    ),
    "gymnasium: environments": (
        "gymnasium",
        """
import gym
from gym import spaces
from gym.spaces.box import Box
import gymnasium
env = gym.make("CartPole-v1")
first = (env.seed(0), env.reset())[1]
env.seed(0)
done, steps = False, 0
same = bool((env.reset() == first).all())
while not done:
    _, _, done, info = env.step(steps % 2)
    steps += 1
new = gymnasium.make("CartPole-v1")
found = [same, len(first), steps > 5, isinstance(env, gym.wrappers.TimeLimit), spaces is gymnasium.spaces,
         Box is gymnasium.spaces.Box, env.spec.timestep_limit, env.spec.id, len(new.reset(seed=1)), len(new.step(0)),
         gym.make("Pendulum-v0").spec.id]
""",
        [True, 4, True, True, True, True, 500, "CartPole-v1", 2, 5, "Pendulum-v1"],
    ),
}  # fmt: skip
