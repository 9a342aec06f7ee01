"""Programs as people wrote them print what they printed on genuine TensorFlow 1.15.5.

They are in ``golden/cases/fidelity/``, one for each family of calls; ``golden/make/make_fidelity.py`` recorded what
they printed. Most have operations without seeds, whose numbers follow from how many operations 1.15.5 had made before.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from decimal import Decimal

import pytest
from support import ROOT

from tf1sessions.scripts.jobs import Job, JobSettings
from tf1sessions.scripts.runner import RunSettings, run_jobs
from tf1sessions.scripts.servers import script_server

PROGRAMS = ROOT / "tests" / "golden" / "cases" / "fidelity"
RECORD = json.loads(gzip.decompress((ROOT / "tests" / "golden" / "data" / "fidelity.json.gz").read_bytes()))
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py"))

#: What the order of the terms of a matrix product or a convolution depends on.
PRODUCTS = "products: the processor decides on the order of their terms"

#: Programs whose kernels differ from those of 1.15.5, or from one processor to another: how far a number x may be off,
#: in parts of 1 + abs(x), and which kernels those are. The others print the same text on every processor.
#: Each is at most six times what was measured, and 1e-7 at least: on Intel and AMD with AVX-512, with oneDNN asked to
#: use nothing beyond AVX2, AVX and SSE4.1, and on an emulated Haswell. migration_notes/fidelity.md has the list.
TOLERANCES = {
    "autoencoder": (1e-6, "sigmoid in four layers, reduce_mean"),
    "cnn_contrib_layers": (1e-7, "softmax, batch norm, sums of gradients"),
    "cnn_layers": (1e-7, "softmax, batch norm; 5 decimals"),
    "cnn_slim": (1e-7, "softmax; 4 decimals"),
    "crf_tagger": (6e-5, "exp and log: weights are 7e-7 off after 60 steps, and 220 of them are added up in a score"),
    "ctc_speech": (1e-6, "sigmoid and tanh over 14 steps, log"),
    "data_pipeline": (4e-7, "what is added and multiplied inside of Dataset.map"),
    "decay_and_ema": (1e-7, "exp, pow and cos of one number; 6 decimals"),
    "distributions": (5e-7, "lgamma, digamma, log"),
    "dqn": (2e-7, "reduce_mean, Adam"),
    "estimator_canned": (1e-7, "softmax, sigmoid; 5 decimals"),
    "estimator_custom": (1e-7, "softmax; 5 decimals"),
    "feature_columns": (1e-7, "reduce_mean; Ftrl's pow"),
    "gan": (1e-7, "softplus, reduce_mean"),
    "gmm": (1e-8, "exp and log of doubles; 8 decimals"),
    "gru_bidirectional": (5e-7, "sigmoid and tanh, softmax"),
    "image_augmentation": (1e-6, "rsqrt in per_image_standardization"),
    "keras_graph": (1e-7, "reduce_mean"),
    "kmeans": (2e-7, "reduce_sum of 120 numbers"),
    "linear_algebra": (3e-7, PRODUCTS),
    "linear_regression": (1e-7, PRODUCTS),
    "lstm_dynamic": (2e-6, "sigmoid and tanh over 8 steps, softmax"),
    "map_fn_scan": (1e-7, PRODUCTS),
    "metrics": (2e-7, "reduce_sum, rsqrt in l2_normalize"),
    "mlp_dropout": (8e-6, "softmax over 80 steps of Adam, which divides by what is near 0; logits up to 8"),
    "monitored_training": (3e-6, "reduce_mean; Ftrl's pow; products over many steps"),
    "partitioned_variables": (7e-7, PRODUCTS),
    "policy_gradient": (5e-7, "tanh, softmax, Adam"),
    "py_func_layer": (1e-7, PRODUCTS),
    "residual_and_norms": (1e-7, "exp, rsqrt"),
    "rnn_static": (1e-7, "sigmoid and tanh, softmax"),
    "sampled_softmax_lm": (2e-7, "softmax, log in the sampler"),
    "saver_restore": (2e-7, PRODUCTS),
    "segmentation": (2e-7, PRODUCTS),
    "seq2seq_attention": (1e-7, PRODUCTS),
    "signals_and_sparse": (1e-6, "Fourier transforms, log"),
    "vae": (5e-7, "softplus, exp, sigmoid, Adam"),
    "word2vec_nce": (1e-6, "sigmoid, sqrt and a quotient of each row"),
}

#: Programs that do not print what they printed, and why; the test fails when one of them does.
WRONG: dict[str, str] = {}


class Apart:
    """The server of ``tf1sessions run``; what jobs print and what they write to stderr goes to a file each."""

    def __init__(self, env, folder):
        self._server = script_server(env)
        self._folder = folder
        self.start, self.wait_ready, self.close = self._server.start, self._server.wait_ready, self._server.close

    def spawn(self, spec):
        files = [self._folder / f"{spec.name}.{ending}" for ending in ("stdout", "stderr")]
        with files[0].open("wb") as stdout, files[1].open("wb") as stderr:
            return self._server.spawn(spec._replace(stdout=stdout.fileno(), stderr=stderr.fileno()))


def run_programs(names, folder):
    """Runs programs as ``tf1sessions run --threads 1`` does, under one server: name -> (state, stdout, stderr)."""
    jobs = []
    for name in names:
        (folder / name).mkdir()
        jobs.append(Job(str(PROGRAMS / f"{name}.py"), cwd=str(folder / name), name=name))
    settings = RunSettings(
        parallel=2,
        out=str(folder / "run"),
        job=JobSettings(threads=1, time_limit=120.0),
        server=lambda env: Apart(env, folder),
    )
    found = {}
    for record in run_jobs(jobs, settings).records:
        files = [folder / f"{record.name}.{ending}" for ending in ("stdout", "stderr")]
        texts = [file.read_text("utf-8", "replace") if file.exists() else "" for file in files]
        found[record.name] = (record.state, *texts)
    return found


# -- how printed numbers are compared ----------------------------------------------------------------------------------

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w])")


def differences(want, got, tolerance):
    """What two printed texts differ in, beyond the tolerance; none: ``[]``.

    Numbers with a point may be off by ``tolerance * (1 + abs(x))``, and by one unit of the last digit of both, as they
    are rounded, where that is at most a thousandth. Blanks are as NumPy needs them for the width of its numbers; all
    else must be equal.
    """
    want_words, got_words = (_NUMBER.sub("#", text) for text in (_evened(want), _evened(got)))
    if want_words != got_words:
        return [
            f"expected {one!r}, got {other!r}"
            for one, other in zip(want_words.splitlines() + [None], got_words.splitlines() + [None], strict=False)
            if one != other
        ]
    found = []
    for one, other in zip(_NUMBER.findall(_evened(want)), _NUMBER.findall(_evened(got)), strict=True):
        allowed = 0.0
        if not (one.lstrip("+-").isdigit() and other.lstrip("+-").isdigit()):  # else they are counts
            unit = 10.0 ** min(Decimal(one).as_tuple().exponent, Decimal(other).as_tuple().exponent)
            allowed = tolerance * (1 + abs(float(one))) + (unit if unit <= 1e-3 else 0.0)
        off = abs(float(one) - float(other))
        if not off <= allowed * (1 + 1e-9):
            found.append(f"expected {one}, got {other}: off by {off:.3g}, allowed {allowed:.3g}")
    return found


def _evened(text):
    """The text with NumPy's arrays on one line, and one blank at most between their numbers."""
    text = re.sub(r"\s*\n +", " ", text)
    text = re.sub(r"([\[(]) +| +(?=[\]),])", r"\1", text)
    return re.sub(r" +", " ", text)


@pytest.mark.parametrize(
    "want, got, tolerance, count",
    [
        ("loss 1.25 [1. 2.]", "loss 1.25 [1. 2.]", 0.0, 0),
        ("[ 1.5  -2.  ]\n", "[ 1.5000001 -2.       ]\n", 1e-7, 0),
        ("[ 1.5  -2.  ]\n", "[ 1.5000001 -2.       ]\n", 0.0, 0),
        ("[ 1.5  -2.  ]\n", "[ 1.5000004 -2.       ]\n", 1e-7, 1),
        ("[[1.  2.]\n [3.  4.]]", "[[1. 2.] [3. 4.]]", 0.0, 0),
        ("loss 0.1234", "loss 0.1235", 0.0, 0),
        ("loss 0.1234", "loss 0.1236", 0.0, 1),
        ("acc 0.3", "acc 0.4", 1e-3, 1),
        ("step 3", "step 4", 1.0, 1),
        ("step 3", "Step 3", 1.0, 1),
        ("a 1.0\nb 2.0", "a 1.0", 1.0, 1),
        ("nan", "1.0", 1.0, 1),
        ("dense_2/kernel", "dense_3/kernel", 1.0, 1),
        ("1.000e-05", "1.001e-05", 0.0, 0),
        ("1.000e-05", "1.002e-05", 0.0, 1),
    ],
)
def test_differences(want, got, tolerance, count):
    assert len(differences(want, got, tolerance)) == count


# -- the programs ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    return run_programs(NAMES, tmp_path_factory.mktemp("fidelity"))


def test_each_program_is_recorded():
    digests = {name: hashlib.sha256((PROGRAMS / f"{name}.py").read_bytes()).hexdigest()[:16] for name in NAMES}
    assert {name: kept["program"] for name, kept in RECORD["programs"].items()} == digests, "run make_fidelity.py again"
    assert set(TOLERANCES) | set(WRONG) <= set(NAMES)
    left = [path.name for path in PROGRAMS.iterdir() if path.suffix != ".py" and path.name != "__pycache__"]
    assert left == [], "programs were run here, and left files"


def test_the_page_says_how_far_each_is_off():
    page = (ROOT / "migration_notes" / "fidelity.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| ([^|]+) \|$", page, re.MULTILINE))
    said = dict.fromkeys(NAMES, "exact")
    said.update({name: f"{tolerance:.0e}: {why}" for name, (tolerance, why) in TOLERANCES.items()})
    said.update({name: f"no: {why}" for name, why in WRONG.items()})
    assert {name: rows.get(name) for name in NAMES} == said


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", NAMES)
def test_prints_what_it_printed_on_1_15(outputs, name, request):
    if name in WRONG:
        request.applymarker(pytest.mark.xfail(strict=True, reason=WRONG[name]))
    state, out, err = outputs[name]
    assert state == "done", err[-3000:]
    want = RECORD["programs"][name]["printed"]
    tolerance = TOLERANCES[name][0] if name in TOLERANCES else None
    if tolerance is None:
        assert out == want
    else:
        found = differences(want, out, tolerance)
        assert not found, "\n".join(found)
