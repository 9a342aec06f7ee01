"""Boosted trees are those of 1.15.5, and so are their checkpoints."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from canned_answers import golden, run, unpack_checkpoints
from compare_canned import close

from tf1sessions.estimator.canned.boosted_trees_quantiles import boundaries

sys.path.insert(0, str(Path(__file__).parents[1] / "golden" / "cases"))

import estimator_boosted_quantiles as quantiles


@pytest.fixture(scope="module")
def expected():
    return golden("estimator_boosted")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What boosted_checks.py found."""
    folder = unpack_checkpoints("estimator_boosted_checkpoints", tmp_path_factory.mktemp("checkpoints"))
    return run("boosted_checks.py", folder, "all")


def check_results(expected, found):
    """Metrics and predictions are near (see compare_canned), importances to 0.0001."""
    for part in ("metrics", "predictions"):
        assert found[part].keys() == expected[part].keys()
        for key, value in expected[part].items():
            assert close([value], [found[part][key]]), (part, key)
    assert found["importances"] == [
        [[column, pytest.approx(gain, rel=1e-4, abs=1e-6)] for column, gain in one] for one in expected["importances"]
    ]


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_trees_are_those_of_1_15(expected, found):
    assert {*found["programs"], "checkpoints"} == expected.keys()
    for name, results in found["programs"].items():
        check_results(expected[name], results)


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", ["classifier", "regressor"])
def test_checkpoints_of_1_15_are_restored_resumed_and_served(expected, found, name):
    moments = found["checkpoints"][name]
    for moment in ("restored", "resumed"):
        check_results(expected["checkpoints"][name][moment], moments[moment])
    key = "logits" if name == "classifier" else "predictions"
    assert moments["served"] == pytest.approx(moments["restored"]["predictions"][key])


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", ["classifier", "regressor"])
def test_checkpoints_are_those_of_1_15(found, name):
    moments = found["checkpoints"][name]
    assert moments["saved again"] is True  # byte by byte
    before, after = moments["keys"]
    assert before == after


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_explanations_are_those_of_1_15(expected, found):
    wanted = expected["checkpoints"]["classifier"]["restored"]["explanations"]
    got = found["checkpoints"]["classifier"]["restored"]["explanations"]
    assert len(got) == len(wanted) == 40
    for (bias, added), (wanted_bias, wanted_added) in zip(got, wanted, strict=True):
        assert bias == pytest.approx(wanted_bias)
        assert dict(map(tuple_of, added)) == pytest.approx(dict(map(tuple_of, wanted_added)), abs=1e-5)


def tuple_of(pair):
    name, (value,) = pair
    return name, value


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_training_in_memory(expected, found):
    kind, results, is_contribs = found["in memory"]
    assert (kind, is_contribs) == ("BoostedTreesClassifier", True)
    check_results(expected["classifier"], results)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_head_of_ones_own(found):
    own, given = found["head"]
    assert given == pytest.approx(own)
    assert 0.0 < own < 5.0


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_bad_arguments_are_refused(found):
    assert found["refused"] == {}


@pytest.mark.parametrize("number", range(len(quantiles.CASES)))
def test_quantiles_are_those_of_1_15(number):
    expected = golden("estimator_boosted_quantiles")[number]
    case = quantiles.CASES[number]
    assert boundaries(quantiles.batches(*case), case[3]).tolist() == expected


def test_examples_without_weight_make_no_buckets():
    values, none = np.arange(7, dtype=np.float32), np.zeros(7, np.float32)
    assert boundaries([(values, none)], 0.1).tolist() == []
    assert boundaries([(values, none), (values, np.ones(1, np.float32))], 0.1).tolist() == values.tolist()
