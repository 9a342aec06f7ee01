"""seq2seq, legacy_seq2seq and crf where brute force knows the answer, and with decoders of a program's own.

The answers of TensorFlow 1.15.5 are in test_against_1_15.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support import PythonRun

FOLDER = Path(__file__).resolve().parent

_PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import seq2seq_jobs
import tf1sessions
from tf1sessions.runtime import tf1

if sys.argv[2] == "script":
    tf1sessions.enable_v1_behavior()
from tf1sessions import contrib
for name, job in seq2seq_jobs.JOBS.items():
    report(**{name: job(tf1, contrib)})
"""


@pytest.fixture(scope="module", params=["script", "TF2 program"])
def done(request: pytest.FixtureRequest, run_python: Callable[..., PythonRun]) -> PythonRun:
    return run_python(_PROGRAM, str(FOLDER), request.param)


def test_crf_is_what_all_sequences_say(done: PythonRun) -> None:
    """Sums and maxima over every sequence of tags, enumerated in NumPy."""
    crf = done.results["crf"]
    assert crf["log_norm"] == pytest.approx(crf["all_log_norm"], abs=1e-4)
    assert crf["multitag"] == pytest.approx(crf["allowed_log_norm"], abs=1e-4)
    assert crf["best_score"] == pytest.approx(crf["all_best_score"], abs=1e-4)
    assert crf["best_tags"] == crf["viterbi_tags"] == crf["all_best_tags"]
    assert crf["probability"] == pytest.approx(1.0, abs=1e-4)
    assert crf["viterbi_types"] == ["list", "int"]


def test_beams_that_hold_everything_find_the_best(done: PythonRun) -> None:
    beams = done.results["beams"]
    assert beams["found"] == beams["all_best"]
    assert beams["scores"] == pytest.approx(beams["all_scores"], abs=1e-4)
    assert beams["one_beam"] == beams["greedy"] != beams["found"][0]


def test_gather_tree_follows_parents(done: PythonRun) -> None:
    tree = done.results["tree"]
    assert tree["found"] == tree["followed"]
    assert "InvalidArgumentError" in tree["wrong_parent"]
    assert tree["shape"] == [None, 2, 3]


def test_decoders_helpers_and_mechanisms_of_the_program(done: PythonRun) -> None:
    own = done.results["own"]
    assert own["outputs"] == [[[0.0, 1.0, 2.0], [0.0, 1.0, 0.0]], [3, 2], "finalized"]
    assert own["nested"] == own["summed"]
    assert "own/attention_wrapper/own_attention/location/kernel:0" in own["variables"]
    assert own["alignment_sums"] == pytest.approx([1.0] * 6, abs=1e-5)


def test_a_wrong_memory_is_found(done: PythonRun) -> None:
    """Now where sizes are known, when the graph runs where they are not."""
    wrong = done.results["wrong"]
    assert wrong["now"].startswith("InvalidArgumentError: When calling zero_state of AttentionWrapper")
    assert "InvalidArgumentError" in wrong["late"] and "tile_batch" in wrong["late"]
    assert "greater than zero" in wrong["empty"]
    assert wrong["state"].startswith("TypeError") and "AttentionWrapperState" in wrong["state"]
    assert wrong["order"] == [True, "Tensor"]
    assert wrong["warned"] == 1


def test_sequence_to_sequence_learns(done: PythonRun) -> None:
    """A model with attention learns to reverse; beam search with the same variables says it."""
    learnt = done.results["learnt"]
    assert learnt["losses"][-1] < 0.1 < learnt["losses"][0]
    assert learnt["said"] == learnt["wanted"]
    assert learnt["alignments"] == [3, 3]


def test_buckets_share_their_variables(done: PythonRun) -> None:
    buckets = done.results["buckets"]
    assert buckets["variables"] == buckets["variables_of_one"]
    assert buckets["losses"] == 2
    assert buckets["short"].startswith("ValueError")
    assert buckets["not_a_cell"].startswith("TypeError")
