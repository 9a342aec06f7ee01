"""Which libraries of a script get the real TensorFlow, and which the TF1 face."""

from __future__ import annotations

import pytest

from tf1sessions.scripts import libraries


def install(site, package, *requirements, code=""):
    folder = site / package
    folder.mkdir()
    (folder / "__init__.py").write_text(code)
    metadata = site / f"{package}-1.0.dist-info"
    metadata.mkdir()
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {package}",
        "Version: 1.0",
        *(f"Requires-Dist: {r}" for r in requirements),
    ]
    (metadata / "METADATA").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        ("tensorflow>=2.16", True),
        ('tensorflow>=2.16; extra == "tf"', True),
        ("tensorflow-cpu ~= 2.18", True),
        ("tensorflow[and-cuda] (>=2.4,<3)", True),
        ("tf-keras", True),
        ("tf_keras>=2.14", True),
        ("tensorflow", False),
        ("tensorflow>=1.15", False),
        ("tensorflow>=1.4,<2", False),
        ("tensorflow-gpu<=1.15.2", False),
        ("tensorflow-datasets>=2.2.0", False),
        ("tensorflow-metadata>=2", False),
        ("numpy>=2; extra == 'tensorflow'", False),
    ],
)
def test_the_metadata_tell(tmp_path, monkeypatch, requirement, expected):
    install(tmp_path, "a_library", "absl-py", requirement)
    monkeypatch.syspath_prepend(tmp_path)
    libraries.is_for_tf2.cache_clear()
    assert libraries.is_for_tf2("a_library") is expected
    libraries.is_for_tf2.cache_clear()


def test_names_of_no_distribution():
    assert not libraries.is_for_tf2("no_such_library_anywhere") and not libraries.is_for_tf2("json")
    assert not libraries.is_for_tf2("")


LIBRARY = """
import tensorflow as tf
import tensorflow.compat.v2 as v2
import tensorflow.compat.v1 as v1
from tensorflow import Module
from tensorflow.python.framework import ops
from . import inner
"""


def test_a_library_for_tensorflow_2_in_a_tensorflow_1_program(tmp_path, run_python):
    for name, requirements in (("modern", ["tensorflow>=2.16"]), ("old", ["tensorflow>=1.4"])):
        install(tmp_path, name, *requirements, code=LIBRARY if name == "modern" else "import tensorflow as tf\n")
    (tmp_path / "modern" / "inner.py").write_text(
        "import tensorflow as tf\ndef later():\n    import tensorflow\n    return tensorflow\n"
    )
    code = """
        import sys
        sys.path.insert(0, sys.argv[1])
        import tf1sessions.scripts
        tf1sessions.scripts.install()
        import modern, old
        import tensorflow as tf
        with tf.Graph().as_default(), tf.Session() as session:
            made = session.run(modern.tf.add(modern.v2.constant(1.0), modern.v1.constant(2.0)))
        report(
            program=tf.__version__,
            old=old.tf is tf,
            modern=[modern.tf.__version__, modern.inner.tf.__version__, modern.inner.later().__version__],
            module=modern.Module is modern.tf.Module,
            v1=modern.v1 is tf,
            ops=modern.ops.Graph is tf.Graph,
            made=float(made),
            name=modern.__name__,
            file=modern.__file__,
        )
    """
    found = run_python(code, str(tmp_path)).results
    assert found["program"] == "1.15.5" and found["old"]
    assert all(version.startswith("2.") for version in found["modern"])
    assert found["module"] and found["v1"] and found["ops"] and found["made"] == 3.0
    assert found["file"] == str(tmp_path / "modern" / "__init__.py")
