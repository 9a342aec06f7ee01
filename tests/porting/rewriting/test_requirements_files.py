"""What requirements*.txt, setup.cfg and setup.py ask for after a step of a port."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tf1sessions.porting.rewriting.requirements_files import needed, ported, with_requirements
from tf1sessions.porting.rewriting.rewrite import FilePort, StepPort, port
from tf1sessions.source.files import SourceText, find, read

KERAS = "tf_keras>=2.16,<2.22"
ALL = {"tf-keras": KERAS, "tf1sessions": "tf1sessions", "absl-py": "absl-py"}
TENSORFLOW = "tensorflow>=2.16,<2.22"


def after(text: str, packages: Mapping[str, str], name: str = "requirements.txt") -> str:
    found, _ = ported(SourceText(Path(name), name, text), packages)
    again, notes = ported(found, packages)
    assert again.text == found.text and not [note for note in notes if note.kind == "change"]
    return found.text


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("tensorflow==1.15.0", TENSORFLOW),
        ("tensorflow-gpu>=1.4,<2", TENSORFLOW),
        ("Tensorflow_GPU == 1.15", TENSORFLOW),
        ("tensorflow", TENSORFLOW),
        ("tensorflow>=1.4", TENSORFLOW),
        ("tensorflow==2.15.1", TENSORFLOW),
        ("tensorflow-cpu==1.15", "tensorflow-cpu>=2.16,<2.22"),
        ("tensorflow==1.15; python_version < '4'", f'{TENSORFLOW}; python_version < "4"'),
        ("  tensorflow==1.15  # the last one", f"  {TENSORFLOW}  # the last one"),
        ("tensorflow==1.15\r", f"{TENSORFLOW}\r"),
        # near misses
        (TENSORFLOW, TENSORFLOW),
        ("tensorflow==2.18.1", "tensorflow==2.18.1"),
        ("tensorflow~=2.17.0", "tensorflow~=2.17.0"),
        ("# tensorflow==1.15", "# tensorflow==1.15"),
        ("tensorflow==1.15 --hash=sha256:aa", "tensorflow==1.15 --hash=sha256:aa"),
        ("-r tensorflow.txt", "-r tensorflow.txt"),
        (
            "git+https://example.org/tensorflow.git#egg=tensorflow",
            "git+https://example.org/tensorflow.git#egg=tensorflow",
        ),
        ("tensorflow-hub==0.7", "tensorflow-hub==0.7"),
        ("tensorflow== 1.15 \\", "tensorflow== 1.15 \\"),
    ],
)
def test_lines_that_name_tensorflow(line: str, becomes: str) -> None:
    assert after(f"# first\n{line}\nsix  >=  1\n", {}) == f"# first\n{becomes}\nsix  >=  1\n"


def test_what_is_needed_stands_behind_tensorflow_unless_it_is_there() -> None:
    assert after("a\ntensorflow==1.15\nb\n", ALL) == f"a\n{TENSORFLOW}\n{KERAS}\ntf1sessions\nabsl-py\nb\n"
    assert after("absl_py==1\ntensorflow==1.15", ALL) == f"absl_py==1\n{TENSORFLOW}\n{KERAS}\ntf1sessions"
    assert after("tensorflow==1.15\r\nb\r\n", {"absl-py": "absl-py"}) == f"{TENSORFLOW}\r\nabsl-py\r\nb\r\n"
    assert after(f"{TENSORFLOW}\n", {"absl-py": "absl-py"}) == f"{TENSORFLOW}\nabsl-py\n"
    assert (
        after("tensorflow==2.18.1  # ours\nb\n", {"absl-py": "absl-py"}) == "tensorflow==2.18.1  # ours\nabsl-py\nb\n"
    )
    assert after("sphinx\n", ALL) == "sphinx\n"  # not the program's own


def test_a_package_is_named_once() -> None:
    text = "tensorflow==1.15\ntensorflow-gpu==1.15  # on the cluster\nkeras==2.2.4\nsix\n"
    assert after(text, {}) == f"{TENSORFLOW}\n  # on the cluster\nsix\n"
    assert after(text, {"tf-keras": KERAS}) == f"{TENSORFLOW}\n  # on the cluster\n{KERAS}\nsix\n"
    assert after("keras==2.2.4\ntensorflow==1.15\n", {"tf-keras": KERAS}) == f"{KERAS}\n{TENSORFLOW}\n"
    assert after("keras==2.2.4\ntensorflow==1.15\n", {"keras": "keras"}) == f"keras==2.2.4\n{TENSORFLOW}\n"


SETUP = """
from setuptools import setup
REQUIRED = ["numpy", 'tensorflow-gpu==1.15',
            "keras==2.2",  # for the model
            "six"]
setup(
    name="tensorflow",
    install_requires=REQUIRED,
    extras_require={'cpu': ('tensorflow==1.15',)},
    classifiers=["tensorflow==1.15"],
)
"""


def test_setup_py() -> None:
    new = SETUP.replace("'tensorflow-gpu==1.15'", f"'{TENSORFLOW}', 'absl-py'").replace(
        """            "keras==2.2",  # for""", "            # for"
    )
    new = new.replace("('tensorflow==1.15',)", "()")  # it is required already
    assert after(SETUP, {"absl-py": "absl-py"}, "setup.py") == new
    assert after("x = = 1\n'tensorflow==1.15'", ALL, "setup.py") == "x = = 1\n'tensorflow==1.15'"
    escaped = "setup(install_requires=['tensor\\x66low==1.15', '''tensorflow==1.15'''])\n"
    assert after(escaped, ALL, "setup.py") == escaped


CFG = """[metadata]
description =
    tensorflow==1.15
[options]
packages = find:
install_requires =
    numpy
    tensorflow==1.15
    six
[options.extras_require]
gpu =
    tensorflow-gpu==1.15
[tool]
install_requires =
    tensorflow==1.15
"""


def test_setup_cfg() -> None:
    new = CFG.replace("    numpy\n    tensorflow==1.15\n", f"    numpy\n    {TENSORFLOW}\n    absl-py\n")
    assert after(CFG, {"absl-py": "absl-py"}, "setup.cfg") == new.replace("    tensorflow-gpu==1.15\n", "")


def test_pins_without_a_wheel_are_remarked_and_stay() -> None:
    text = "tensorflow==1.15\nnumpy==1.16.4  # old\nscipy>=1.2\nsix==1.12\n"
    found, notes = ported(SourceText(Path("requirements.txt"), "requirements.txt", text), {})
    assert found.text == text.replace("tensorflow==1.15", TENSORFLOW)
    assert [(str(note.place), note.kind) for note in notes] == [
        ("requirements.txt:1", "change"),
        ("requirements.txt:2", "by hand"),
    ]
    assert notes[1].what == "numpy==1.16.4: no wheel for this Python, only up to 3.7; take a newer release"


@pytest.mark.parametrize(
    ("code", "packages"),
    [
        ("import tf1sessions.contrib.layers", {"tf1sessions"}),
        ("from absl import flags", {"absl-py"}),
        ("import tensorflow.compat.v1 as tf\ntf.layers.dense(1, 2)", {"tf-keras"}),
        ("import tensorflow.compat.v1 as tf\ntf.nn.rnn_cell.LSTMCell(3)", {"tf-keras"}),
        ("import tensorflow as tf\ntf.compat.v1.nn.dynamic_rnn(1, 2)", {"tf-keras"}),
        ("from tensorflow.keras import layers\nlayers.Dense(1)", {"tf-keras"}),
        ("import keras", {"keras"}),
        ("import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\nimport tensorflow.compat.v1 as tf\ntf.nn.relu(1)", set()),
        ("import absolute, tf1sessions_extra", set()),
        ("x = = 1", set()),
    ],
)
def test_what_code_needs(code: str, packages: set[str]) -> None:
    assert set(needed([SourceText(Path("a.py"), "a.py", code)])) == packages


def test_files_of_the_project_are_found_and_change_with_v1(tmp_path: Path) -> None:
    files = {
        "requirements.txt": "tensorflow==1.15\nnumpy==1.16\n",
        "docker/requirements-gpu.txt": "tensorflow-gpu==1.15\n",
        "env/requirements.txt": "tensorflow==1.15\n",
        "notes.txt": "tensorflow==1.15\n",
        "setup.py": "import tensorflow as tf\nimport setuptools as s\ns.setup(install_requires=['tensorflow==1.15'])\n",
        "train.py": "import tensorflow as tf\nprint(tf.layers.dense)\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "env" / "pyvenv.cfg").touch()
    sources = [read(path) for path in find([tmp_path]) if isinstance(path, Path)]
    steps = with_requirements(port(sources, "clean", [tmp_path]), [tmp_path])
    changed = [
        {str(file.before.path.relative_to(tmp_path)) for file in step.files if file.is_changed} for step in steps
    ]
    assert changed[:2] == [set(), {"requirements.txt", "docker/requirements-gpu.txt", "setup.py", "train.py"}]
    texts = [{str(f.before.path.relative_to(tmp_path)): f for f in step.files} for step in steps]
    assert texts[1]["requirements.txt"].after.text == f"{TENSORFLOW}\n{KERAS}\nnumpy==1.16\n"
    assert [note.kind for step in steps for file in step.files for note in file.notes if "numpy" in note.what] == [
        "by hand"  # once
    ]
    setup = texts[1]["setup.py"].after.text  # by a rule, and here
    assert "tensorflow.compat.v1" in setup and f"['{TENSORFLOW}', '{KERAS}']" in setup
    assert texts[2]["setup.py"].before.text == setup
    assert f"['{TENSORFLOW}', '{KERAS}']" in texts[2]["setup.py"].after.text
    assert "requirements.txt" not in changed[2]


def test_a_project_without_such_files_is_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import tensorflow as tf\n")
    source = read(tmp_path / "a.py")
    assert isinstance(source, SourceText)
    steps = [StepPort("v1", (FilePort(source, source),))]
    assert with_requirements(steps, [tmp_path]) == steps
