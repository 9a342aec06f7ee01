"""Compares what a case of the canned estimators does with what was recorded of it on TensorFlow 1.15.5.

Runs in a process of its own, ``python compare_canned.py [v1] [CASE...]``, and prints differences as JSON: in a plain
graph of a TensorFlow 2 program, or with "v1" after ``tf1sessions.scripts.install()``, as a script has it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

GOLDEN = Path(__file__).parents[1] / "golden"
#: Relative to the greatest value: what exp, log1p and sums of today differ from 1.15.5's.
TOLERANCE = 2e-5


#: What the metrics of Keras, and the scopes around them, name otherwise.
OF_METRICS = ("local_variables", "losses", "train_op")
#: Tensors: in 1.15.5 -> today's ``tf.feature_column.linear_model``.
RENAMED = {
    "linear/linear_model/linear_model/linear_model/weighted_sum:0": "linear/linear_model_1/linear_model/weighted_sum:0"
}


def close(before: list[Any], now: list[Any]) -> bool:
    old, new = np.array(before), np.array(now)
    if old.shape != new.shape or old.dtype.kind not in "fiu":
        return old.tolist() == new.tolist()
    greatest = max(1.0, np.abs(old[np.isfinite(old)]).max(initial=0.0))
    return np.allclose(old, new, rtol=0, atol=TOLERANCE * greatest, equal_nan=True)


def _summaries(mode: dict[str, Any]) -> dict[str, Any]:
    return dict(mode["summaries"])


def without_names(mode: dict[str, Any]) -> dict[str, Any]:
    """``mode`` without what the metrics of Keras name otherwise."""
    collections = {key: names for key, names in mode["collections"].items() if key not in OF_METRICS}
    predictions = {key: tensor[1:] for key, tensor in mode["predictions"].items()}
    return {**mode, "collections": collections, "predictions": predictions, "metrics": dict.fromkeys(mode["metrics"])}


def mode_differences(old: dict[str, Any], new: dict[str, Any], new_head: bool = False) -> list[str]:
    if "error" in old or "error" in new:
        return [] if old == new else [f"error: {old.get('error')}, now {new.get('error')}"]
    if new_head:
        old, new = without_names(old), without_names(new)
    old["predictions"] = {
        key: [RENAMED.get(name, name) if isinstance(name, str) else name for name in tensor]
        for key, tensor in old["predictions"].items()
    }
    found = [
        f"{key}: {old[key]}, now {new[key]}"
        for key, same in (("variables", sorted), ("checkpoint", list), ("signatures", dict))
        if same(old[key]) != same(new[key])
    ]
    for key in ("predictions", "metrics"):
        if old[key] != new[key]:
            names = sorted({*old[key], *new[key]})
            wrong = {name: (old[key].get(name), new[key].get(name)) for name in names}
            found.append(f"{key}: { ({name: pair for name, pair in wrong.items() if pair[0] != pair[1]}) }")
    for key in sorted({*old["collections"], *new["collections"]}):
        before, now = (side["collections"].get(key, []) for side in (old, new))
        if before != now:
            found.append(f"collection {key}: {before}, now {now}")
    before, now = _summaries(old), _summaries(new)
    if before.keys() != now.keys():
        found.append(f"summaries: {sorted(before)}, now {sorted(now)}")
    for key in before.keys() & now.keys():
        if before[key] != now[key] and not close([before[key]], [now[key]]):
            found.append(f"summary {key}: {before[key]}, now {now[key]}")
    for part in ("outputs", "after"):
        for key in sorted({*old.get(part, {}), *new.get(part, {})}):
            before, now = (side.get(part, {}).get(key, []) for side in (old, new))
            if not close(before, now):
                found.append(f"{part} {key}: {before}, now {now}")
    return found


def differences(old: dict[str, Any], new: dict[str, Any], new_head: bool) -> list[str]:
    """What differs, as lines that begin with the mode."""
    if "error" in old or "error" in new:
        return mode_differences(old, new)
    return [f"{mode}: {line}" for mode in old for line in mode_differences(old[mode], new[mode], new_head)]


def main(arguments: list[str]) -> dict[str, list[str]]:
    sys.path[:0] = [str(GOLDEN / "cases"), str(GOLDEN.parent)]
    if "v1" in arguments:
        import tf1sessions.scripts

        tf1sessions.scripts.install()
        import tensorflow as tf

        estimator, contrib = tf.estimator, tf.contrib
    else:
        from tf1sessions import contrib, estimator
        from tf1sessions import tf1 as tf
    import estimator_canned_record as recording
    from collector import collect_rarely
    from estimator_canned_cases import CASES, NEW_HEADS

    golden = recording.load(GOLDEN / "data" / "estimator_canned.json.gz")
    tf.logging.set_verbosity(tf.logging.ERROR)
    collect_rarely()
    chosen = [name for name in arguments if name != "v1"] or sorted(golden.keys() | CASES.keys())
    found = {}
    for name in chosen:
        if name not in golden or name not in CASES:
            found[name] = ["it is in one of the two only"]
            continue
        new = json.loads(json.dumps(recording.record(tf, estimator, contrib.estimator, CASES[name])))
        if lines := differences(golden[name], new, name in NEW_HEADS):
            found[name] = lines
    return found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:]), indent=1, sort_keys=True))
