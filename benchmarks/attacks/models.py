"""Attacks on a loaded model from several threads."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

from attacks.trial import Trial


def closed(folder: Path, rng: random.Random) -> str:
    """Closed while four threads call it: each gets its answers, then the end that the documentation names."""
    import tf1sessions as t1

    tf = t1.tf1
    path = folder / "model.pb"
    if not path.exists():
        with tf.Graph().as_default() as graph:
            tf.multiply(tf.placeholder(tf.float32, [None, 2], name="x"), 2.0, name="y")
        path.write_bytes(graph.as_graph_def().SerializeToString())
    model, ends = t1.load(path), []

    def calls() -> None:
        for number in range(10**6):
            try:
                answer = model(x=[[1.0, 2.0]])["y"] if number % 2 else model.run("y:0", {"x:0": [[1.0, 2.0]]})
                assert answer.tolist() == [[2.0, 4.0]]
            except (t1.errors.ClosedError, tf.errors.CancelledError):
                return
            except BaseException as error:  # noqa: BLE001 - it is what is looked for
                ends.append(repr(error))
                return

    threads = [threading.Thread(target=calls) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(rng.random() * 0.02)
    model.close()
    for thread in threads:
        thread.join(30)
    return f"ended by {ends[:1]}" if ends else "answers, then ClosedError or CancelledError"


TRIALS = [
    Trial("a model is closed while it is called", "answers, then ClosedError or CancelledError", closed, times=60),
]
