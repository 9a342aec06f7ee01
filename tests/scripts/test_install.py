"""The installation of the TF1 face in the processes of other programs: threads, hosts that put things back, None."""

from __future__ import annotations

import pytest

# The main thread imports TensorFlow, and stops in the midst of it until another thread waits for it.
OTHER_THREAD = """
import importlib.machinery, sys, threading, time
import tf1sessions.scripts

blocked = sys.modules["importlib._bootstrap"]._blocking_on
found = []

class Stop:
    def find_spec(self, name, path=None, target=None):
        if name != "tensorflow.python.ops":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        load = spec.loader.exec_module
        def exec_module(module):
            load(module)
            other.start()
            end = time.monotonic() + 60
            while not blocked.get(other.ident) and time.monotonic() < end:
                time.sleep(0.001)
            assert blocked.get(other.ident)
        spec.loader.exec_module = exec_module
        return spec

def use():
    scope = {}
    exec(sys.argv[1], scope)
    found.append(scope["tf"].__version__)

other = threading.Thread(target=use, daemon=True)
tf1sessions.scripts.install()
sys.meta_path.insert(0, Stop())
import builtins
before = builtins.__import__
import tensorflow as tf
other.join(60)
report(here=tf.__version__, there=found, restored=builtins.__import__ is before)
"""


@pytest.mark.parametrize(
    "statement",
    [
        "import tensorflow as tf",
        "from tensorflow import VERSION; import tensorflow as tf",
        "import tensorflow.contrib.slim; tf = tensorflow",
        "import keras; import tensorflow as tf",
    ],
)
def test_a_thread_that_imports_tensorflow_while_another_does_gets_tensorflow_1(run_python, statement):
    found = run_python(OTHER_THREAD, statement, fresh=True).results
    assert found == {"here": "1.15.5", "there": ["1.15.5"], "restored": True}


TAKEN_OUT = """
import importlib, sys
import tf1sessions.scripts
before = sys.meta_path[:]
tf1sessions.scripts.install()
if sys.argv[1] == "early":  # TensorFlow is imported while the hook is not there
    sys.meta_path[:] = before
    import tensorflow as tf
    tf1sessions.scripts.install()
else:
    import tensorflow as tf
    first = tf
    if sys.argv[1] == "module":
        del sys.modules["tensorflow"]
    elif sys.argv[1] == "reload":
        importlib.reload(tf)
    else:
        sys.meta_path[:] = before
        sys.modules["tensorflow"] = sys.modules["tf1sessions.scripts.importer"]._real
        tf1sessions.scripts.install()
import tensorflow as tf
report(version=tf.__version__, same=sys.argv[1] == "early" or tf is first, name=tf.__spec__.name)
report(file=tf.__file__ == tf.__spec__.origin, path=all(isinstance(folder, str) for folder in tf.__path__))
import tensorflow.contrib.layers, tensorflow.python.ops.rnn_cell
report(hooks=[type(finder).__name__ for finder in sys.meta_path].count("Finder"))
with tf.Session() as session:
    report(sum=float(session.run(tf.constant(1.0) + 2.0)))
"""


@pytest.mark.parametrize("how", ["early", "module", "reload", "both"])
def test_what_a_host_takes_out_or_loads_again_is_tensorflow_1_again(run_python, how):
    found = run_python(TAKEN_OUT, how, fresh=True).results
    same = {"version": "1.15.5", "same": True, "name": "tensorflow", "file": True, "path": True}
    assert found == {**same, "hooks": 1, "sum": 3.0}


NONE = """
import sys
for name in ("PIL", "PIL.Image", "pandas", "scipy", "scipy.misc", "gym"):
    sys.modules[name] = None  # as a host that lets the import fail
import tf1sessions.scripts
tf1sessions.scripts.install()
report(installed=tf1sessions.scripts.importer.installed())
"""


def test_a_library_whose_import_is_to_fail_is_left_alone(run_python):
    assert run_python(NONE, fresh=True).results == {"installed": True}


KERAS_FIRST = """
import tf1sessions.scripts
tf1sessions.scripts.install()
import tf_keras.layers
import tensorflow as tf
report(version=tf.__version__, same=tf_keras.Model is tf.keras.Model, name=tf_keras.__spec__.name)
"""


def test_tf_keras_may_be_imported_first(run_python):
    found = run_python(KERAS_FIRST, fresh=True).results
    assert found == {"version": "1.15.5", "same": True, "name": "tf_keras"}
