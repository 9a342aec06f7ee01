"""contrib.summary, signal, memory_stats, tensorboard, nn, stateless, distributions; in a TF2 program and a script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support import PythonRun

_PROGRAM = """
import glob, os, sqlite3, sys
import numpy as np
import tf1sessions
from tf1sessions import contrib
from tf1sessions.runtime import tf1 as tf

folder, way = sys.argv[1:]
if way == "script":
    tf1sessions.enable_v1_behavior()
projector = contrib.tensorboard.plugins.projector
config = projector.ProjectorConfig(model_checkpoint_path="m")
embedding = config.embeddings.add()
embedding.tensor_name, embedding.metadata_path = "w", "l.tsv"
embedding.sprite.image_path = "s.png"
embedding.sprite.single_image_dim.extend([2, 3])
with tf.Graph().as_default():
    projector.visualize_embeddings(tf.summary.FileWriter(folder), config)
report(config=open(os.path.join(folder, "projector_config.pbtxt")).read(), bytes=config.SerializeToString().hex())

s = contrib.summary
below = os.path.join(folder, "events")
with tf.Graph().as_default() as graph:
    step = tf.train.get_or_create_global_step()
    writer = s.create_file_writer(below, max_queue=0)
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with writer.as_default(), s.record_summaries_every_n_global_steps(2):
        s.scalar("a", tf.reduce_sum(x)), s.scalar("i", tf.constant(3), family="fam"), s.histogram("h", x)
        s.image("im", tf.reshape(x, [1, 2, 2, 1]) / 4), s.generic("g", x), s.audio("au", x, 8000, 2)
        s.scalar("st", 1.5, step=7)
        with tf.name_scope("scope"):
            s.scalar("in", 2.0)
        with s.never_record_summaries():
            s.scalar("never", 2.0)
        count = step.assign_add(1)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            s.initialize(graph=graph)
            for _ in range(3):
                session.run(s.all_summary_ops())
                session.run(count)
            session.run(s.flush(writer))
    report(names=[op.name for op in s.all_summary_ops()], eval_dir=[s.eval_dir("/x"), s.eval_dir("/x", "n")])
(path,) = glob.glob(os.path.join(below, "*"))
with tf.Graph().as_default():
    events = []
    for event in tf.train.summary_iterator(path):
        what = event.WhichOneof("what")
        tags = [[v.tag, v.WhichOneof("value"), round(v.simple_value, 3)] for v in event.summary.value]
        events.append([event.step, what, tags])
report(events=sorted(events, key=str), ending=path.rpartition(".")[2])

database = os.path.join(folder, "events.sqlite")
def refused(**names):
    try:
        s.create_db_writer(database, **names)
    except (TypeError, ValueError) as error:
        return type(error).__name__
with tf.Graph().as_default() as graph, tf.Session() as session:
    tf.train.get_or_create_global_step()
    writer = s.create_db_writer(database, "trials", "first", "someone")
    with writer.as_default(), s.always_record_summaries():
        s.scalar("a", 2.5, step=4), s.histogram("h", tf.range(3.0), step=5)
        session.run(tf.global_variables_initializer())
        s.initialize(graph=graph)
        session.run(s.all_summary_ops())
        session.run(writer.flush())
    inits = [op.type for op in graph.get_operations() if "Summary" in op.type]
with sqlite3.connect(database) as tables, tf.Graph().as_default():
    rows = [tables.execute(query).fetchall() for query in (
        "select experiment_name from Experiments", "select run_name from Runs", "select user_name from Users",
        "select tag_name, plugin_name from Tags order by tag_name", "select count(*) from Graphs",
        "select step, dtype from Tensors where step is not null order by step")]
    report(rows=rows, inits=inits,
           refused=[refused(experiment_name="a<"), refused(run_name="a" + chr(1)), refused(user_name="a b"),
                    refused(user_name=""), refused(experiment_name=3), refused(run_name="", experiment_name="")])

with tf.Graph().as_default(), tf.Session() as session:
    window = session.run(contrib.signal.hann_window(4)).tolist()
    back = contrib.signal.inverse_stft(contrib.signal.stft(tf.range(32.0), 8, 4), 8, 4,
                                       window_fn=contrib.signal.inverse_stft_window_fn(4))
    report(signal=[window, float(np.abs(session.run(back)[4:28] - np.arange(4, 28)).max())])
    kinds = []
    for memory in (contrib.memory_stats.BytesInUse(), contrib.memory_stats.MaxBytesInUse()):
        try:
            kinds.append(int(session.run(memory)) >= 0)
        except tf.errors.InvalidArgumentError as error:
            kinds.append("InvalidArgumentError")
    with tf.device("/cpu:0"):
        report(of_cpu=int(session.run(contrib.memory_stats.BytesLimit())))
    report(limit=int(session.run(contrib.memory_stats.BytesLimit())))
    report(memory=kinds, gpus=len(tf.config.list_logical_devices("GPU")), shape=str(memory.shape))

d = contrib.distributions
with tf.Graph().as_default(), tf.Session() as session:
    tf.logging.set_verbosity(tf.logging.ERROR)
    triangle = d.fill_triangular(tf.range(1.0, 7.0))
    values = [d.NormalWithSoftplusScale(1.0, 2.0).log_prob(0.5),
              d.kl_divergence(d.Normal(0.0, 1.0), d.Normal(1.0, 2.0)),
              d.softplus_inverse(2.0), triangle, d.fill_triangular_inverse(triangle),
              d.reduce_weighted_logsumexp(tf.constant([1.0, 2.0]), tf.constant([1.0, -1.0])),
              d.tridiag([1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0])]
    report(distributions=[np.round(np.float64(v), 4).tolist() for v in session.run(values)])

nn, stateless = contrib.nn, contrib.stateless
with tf.Graph().as_default(), tf.Session() as session:
    x = tf.constant(np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3))
    values = [nn.alpha_dropout(x, 0.6, seed=7),
              nn.alpha_dropout(x, tf.constant(0.6), noise_shape=[2, 1], seed=7),
              stateless.stateless_random_uniform([2], [3, 4]),
              stateless.stateless_random_normal([2], seed=[5, 6], stddev=2.0),
              stateless.stateless_truncated_normal([2], seed=[7, 8]),
              stateless.stateless_multinomial([[0.0, 1.0]], 5, seed=[7, 8])]
    report(drawn=[np.round(np.float64(v), 5).tolist() for v in session.run(values)])
    said = []
    for keep in (0, 1.5):
        try:
            nn.alpha_dropout(x, keep)
        except ValueError as error:
            said.append(str(error))
    report(all_kept=nn.alpha_dropout(x, 1.0) is x, keep=said, named=nn.alpha_dropout(x, 0.6, name="q").op.name)

def error(call):
    try:
        call()
    except AttributeError as error:
        return str(error)
report(errors=[error(lambda: d.no_such_name), error(lambda: d.bijectors.no_such_map)],
       has=[hasattr(d, "Poisson"), hasattr(d, "Normal"), hasattr(d, "NoSuch"), d._Gumbel.__name__])
"""

# what 1.15.5 drew
DRAWN = [
    [[-0.25619, 0.08912, -0.91064], [-0.91064, 1.12506, 1.47038]],
    [[-0.25619, 0.08912, 0.43444], [0.77975, 1.12506, 1.47038]],
    [0.24329, 0.98351],
    [2.04797, -1.07758],
    [-0.51499, 1.2409],
    [[1, 1, 1, 0, 1]],
]

# what 1.15.5 wrote, sorted
EVENTS = [
    [0, "file_version", []],
    [0, "graph_def", []],
    *(
        [step, "summary", tags]
        for step in (0, 2)
        for tags in (
            [["a", "simple_value", 10.0]],
            [["au/audio/0", "audio", 0.0], ["au/audio/1", "audio", 0.0]],
            [["fam/fam/i", "simple_value", 3.0]],
            [["g", "tensor", 0.0]],
            [["h", "histo", 0.0]],
            [["im/image/0", "image", 0.0]],
            [["scope/in", "simple_value", 2.0]],
        )
    ),
    *[[7, "summary", [["st", "simple_value", 1.5]]]] * 2,
]


@pytest.mark.parametrize("way", ["script", "TF2 program"])
def test_small_modules(run_python: Callable[..., PythonRun], tmp_path: Path, way: str) -> None:
    found = run_python(_PROGRAM, str(tmp_path), way).results
    assert found["config"] == (
        'model_checkpoint_path: "m"\n'
        'embeddings {\n  tensor_name: "w"\n  metadata_path: "l.tsv"\n'
        '  sprite {\n    image_path: "s.png"\n    single_image_dim: 2\n    single_image_dim: 3\n  }\n}\n'
    )
    assert found["bytes"] == "0a016d12170a01771205" + b"l.tsv".hex() + "2a0b0a05" + b"s.png".hex() + "12020203"
    assert found["events"] == EVENTS and found["ending"] == "v2"
    assert len(found["names"]) == 9 and found["eval_dir"] == ["/x/eval", "/x/eval_n"]
    assert found["rows"] == [
        [["trials"]],
        [["first"]],
        [["someone"]],
        [["a", "scalars"], ["h", "histograms"]],
        [[1]],
        [[4, 1], [5, 2]],
    ]
    assert found["inits"][:2] == ["SummaryWriter", "CreateSummaryDbWriter"]
    assert found["refused"] == ["ValueError"] * 4 + ["TypeError", None]
    assert found["of_cpu"] == -1 and (found["limit"] > 0) == (found["gpus"] > 0)
    assert found["signal"] == [[0.0, pytest.approx(0.5), 1.0, pytest.approx(0.5)], pytest.approx(0, abs=1e-4)]
    assert found["memory"] == [True if found["gpus"] else "InvalidArgumentError"] * 2 and found["shape"] == "()"
    assert found["distributions"] == [
        -1.7012,
        0.4431,
        1.8546,
        [[4.0, 0.0, 0.0], [6.0, 5.0, 0.0], [3.0, 2.0, 1.0]],
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        1.5413,
        [[3.0, 6.0, 0.0], [1.0, 4.0, 7.0], [0.0, 2.0, 5.0]],
    ]
    assert found["drawn"] == DRAWN and found["all_kept"] and found["named"] == "q/add_2"
    assert "keep_prob is 0," in found["keep"][0] and "keep_prob is 1.5," in found["keep"][1]
    for text, symbol in zip(found["errors"], ("no_such_name", "bijectors.no_such_map"), strict=True):
        assert symbol in text and "tensorflow_probability" in text and "code.py:" in text
    assert found["has"] == [True, True, False, "Gumbel"]
