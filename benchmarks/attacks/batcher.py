"""Attacks on the Batcher: graphs that mix rows, chosen at random; callers that must get their own rows."""

from __future__ import annotations

import random
import sys
import threading
from pathlib import Path

from attacks.trial import Trial

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "pipelines"))


def random_graph(folder: Path, rng: random.Random) -> str:
    import row_graphs

    found = row_graphs.look(rng.randrange(1 << 30))
    return "rows of others were handed out" if found.passed and not found.independent else "independent, or refused"


def through_state(folder: Path, rng: random.Random) -> str:
    """A write of something of the rows, and a read that a control dependency puts after it."""
    import numpy as np
    from test_row_independence import through_state as ways

    import tf1sessions as t1

    tf = t1.tf1
    with t1.GraphSession() as gs:
        x = tf.placeholder(tf.float32, [None, 4])
        write, read = rng.choice(list(ways(tf, x).values()))
        with tf.control_dependencies([write]):
            y = x + read()
        gs.initialize()
        try:
            batcher = t1.Batcher(gs, x, y, max_delay_ms=20)
        except t1.errors.ConfigError:
            return "refused"
        with batcher:
            answers = [future.result(30) for future in [batcher.submit(np.ones([1, 4], "f") * row) for row in range(9)]]
        return f"accepted, and gives {[answer[:, 0].tolist() for answer in answers]}"


def own_rows(folder: Path, rng: random.Random) -> str:
    """Callers in threads, requests of random sizes, deadlines and cancels: each answer belongs to its question."""
    import numpy as np
    import row_graphs

    import tf1sessions as t1

    tf = t1.tf1
    wrong: list[str] = []
    with t1.GraphSession() as gs:
        x = tf.placeholder(tf.float32, [None, row_graphs.INNER])
        y = row_graphs.keep(tf, x, rng)
        alone = gs.compile(feeds=[x], fetches=y)
        batcher = t1.Batcher(gs, x, y, max_batch_size=rng.choice([1, 3, 64]), max_delay_ms=rng.choice([0, 1, 5]))

        def calls(seed: int) -> None:
            own = random.Random(seed)
            for _ in range(30):
                rows = np.random.RandomState(own.randrange(1 << 30)).uniform(-1, 1, [own.randrange(5), 6]).astype("f")
                try:
                    future = batcher.submit(rows, deadline_secs=own.choice([None, None, 0.0005]))
                    if own.random() < 0.1:
                        future.cancel()
                        continue
                    answer = future.result(30) if own.random() < 0.5 else batcher(rows)
                except (t1.errors.DeadlineError, t1.errors.ClosedError):
                    continue
                if not np.allclose(answer, alone(rows), 1e-4, 1e-5):
                    wrong.append(f"{rows.tolist()} -> {answer.tolist()}")

        threads = [threading.Thread(target=calls, args=(rng.random(),)) for _ in range(6)]
        for thread in threads:
            thread.start()
        if rng.random() < 0.3:
            batcher.close()
        for thread in threads:
            thread.join(40)
        alive = [thread.name for thread in threads if thread.is_alive()]
        batcher.close()
    return f"wrong {wrong[:1]}, hang {alive}" if wrong or alive else "each answer belongs to its question"


def arguments(folder: Path, rng: random.Random) -> str:
    """A setting that is none is an error of ours, and the others are taken."""
    import tf1sessions as t1

    with t1.GraphSession() as session:
        with session.as_default():
            x = t1.tf1.placeholder(t1.tf1.float32, [None, 2])
            y = t1.tf1.identity(x * 2.0)
        for name in ("max_batch_size", "max_delay_ms", "queue_limit", "allowed_batch_sizes", "deadline_secs", "shared"):
            value = rng.choice([0, -1, 3, 1.5, "a", True, None, float("nan"), [], [0], ["zz"], [None], y, object()])
            try:
                with t1.Batcher(session, x, y, **{name: value}) as batcher:
                    assert batcher([[1.0, 2.0]]).tolist() == [[2.0, 4.0]]
            except t1.errors.Tf1SessionsError:
                continue
    return "computed, or refused"


TRIALS = [
    Trial("settings that are none", "computed, or refused", arguments, 40),
    Trial("a random graph of operations that keep or mix rows", "independent, or refused", random_graph, 1000),
    Trial("rows that go through state", "refused", through_state, 20),
    Trial("six callers, random sizes, deadlines, cancels", "each answer belongs to its question", own_rows, 40),
]
