"""The canned estimators do what 1.15.5's did: graphs, steps, metrics, and checkpoints that it wrote."""

from __future__ import annotations

import pytest
from canned_answers import golden, run, unpack_checkpoints
from compare_canned import close


def check_results(expected, found):
    for part in ("metrics", "predictions"):
        assert found[part].keys() == expected[part].keys()
        for key, value in expected[part].items():
            assert close([value], [found[part][key]]), (part, key)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What canned_checks.py found."""
    folder = unpack_checkpoints("estimator_canned_checkpoints", tmp_path_factory.mktemp("checkpoints"))
    return run("canned_checks.py", folder)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_graphs_and_steps_are_those_of_1_15():
    assert run("compare_canned.py") == {}


def test_scripts_get_the_same():
    cases = (
        "DNNClassifier",
        "DNNLinearCombinedClassifier bn",
        "BaselineRegressor 2",
        "contrib multi_class_head name weight_column",
    )
    assert run("compare_canned.py", "v1", *cases) == {}


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", ["classifier", "combined"])
def test_checkpoints_of_1_15_are_restored_and_resumed(found, name):
    expected = golden("estimator_canned_results")[name]
    for moment in ("restored", "resumed"):
        check_results(expected[moment], found["restored"][name][moment])
    assert found["restored"][name]["warm"] < 0.2  # one step of another optimizer state away


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_bad_arguments_are_refused(found):
    assert found["wrongly accepted"] == {}


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_parsing_specs(found):
    classifier, regressor = found["parsing specs"]
    feature = "FixedLenFeature(shape=({}), dtype=tf.{}, default_value={})"
    x = feature.format("1,", "float32", None)
    y = feature.format("1,", "string", None)
    assert classifier == f"[('c', VarLenFeature(dtype=tf.string)), ('w', {x}), ('x', {x}), ('y', {y})]"
    assert regressor == f"[('x', {x}), ('y', {feature.format('2,', 'float32', '0.0')})]"
