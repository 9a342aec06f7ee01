"""What a script writes for TensorBoard, as the TensorBoard that is installed shows it: by its own server."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

SCRIPT = """
import sys
import numpy as np
from tf1sessions.scripts import install
install()
import tensorflow as tf
from tensorflow.contrib.tensorboard.plugins import projector

folder = sys.argv[1]
x = tf.placeholder(tf.float32, [None, 4], name="x")
y = tf.layers.dense(x, 2, name="y")
embedding = tf.get_variable("embedding", [6, 3])
loss = tf.reduce_mean(tf.square(y))
tf.summary.scalar("loss", loss)
tf.summary.histogram("outputs", y)
tf.summary.image("image", tf.ones([2, 4, 4, 3]))
tf.summary.audio("sound", tf.zeros([1, 100, 1]), 44100)
tf.summary.text("text", tf.constant("some *words*"))
merged = tf.summary.merge_all()
writer = tf.summary.FileWriter(folder)
with tf.Session() as session:
    writer.add_graph(session.graph)
    session.run(tf.global_variables_initializer())
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    for step in range(3):
        text = session.run(merged, {x: np.ones([3, 4])}, options=options, run_metadata=metadata)
        writer.add_summary(text, step)
    writer.add_run_metadata(metadata, "traced", 2)
    config = projector.ProjectorConfig()
    added = config.embeddings.add()
    added.tensor_name, added.metadata_path = embedding.name, "names.tsv"
    added.sprite.image_path = "sprite.png"
    added.sprite.single_image_dim.extend([4, 4])
    with open(folder + "/names.tsv", "w") as file:
        file.write("\\n".join("abcdef"))
    projector.visualize_embeddings(writer, config)
    tf.train.Saver().save(session, folder + "/model.ckpt", 3)
writer.close()
"""


def test_summaries_graph_trace_and_embeddings_are_shown(tmp_path: Path, run_python: Callable[..., Any]) -> None:
    program = pytest.importorskip("tensorboard.program")
    run_python(SCRIPT, str(tmp_path))
    board = program.TensorBoard()
    board.configure(argv=["tensorboard", "--logdir", str(tmp_path), "--port", "0", "--load_fast", "false"])
    address = board.launch().rstrip("/")

    def shown(path: str) -> bytes:
        try:
            with urllib.request.urlopen(f"{address}/data/plugin/{path}", timeout=30) as answer:
                found: bytes = answer.read()
                return found
        except urllib.error.HTTPError as error:
            return b"" if error.code == 404 else error.read()  # it has not read the files yet

    def tags(plugin: str) -> Any:
        return json.loads(shown(f"{plugin}/tags"))

    wait_for(lambda: tags("text") == {".": ["text"]}, "what was written")
    assert set(tags("scalars")["."]) == {"loss"} and set(tags("histograms")["."]) == {"outputs"}
    assert set(tags("images")["."]) == {"image/image/0", "image/image/1"}
    assert set(tags("audio")["."]) == {"sound/audio/0"}
    steps = json.loads(shown("scalars/scalars?run=.&tag=loss"))
    assert [step for _, step, _ in steps] == [0, 1, 2] and all(abs(when - time.time()) < 3600 for when, _, _ in steps)
    assert b'name: "y/MatMul"' in shown("graphs/graph?run=.&conceptual=false")
    assert b"y/kernel" in shown("graphs/run_metadata?run=.&tag=traced")
    embeddings = json.loads(shown("projector/info?run=."))["embeddings"]
    (named,) = [each for each in embeddings if "metadataPath" in each]
    assert named["tensorName"] == "embedding" and named["tensorShape"] == [6, 3] and "sprite" in named
    assert len(shown("projector/tensor?run=.&name=embedding")) == 6 * 3 * 4
    assert shown("projector/metadata?run=.&name=embedding") == b"a\nb\nc\nd\ne\nf"
