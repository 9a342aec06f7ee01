"""What TensorFlow 1's order of `shuffle(n).repeat()` costs in scripts, against today's kernel (`--seeds tf2`).

python benchmarks/shuffling.py [ROUNDS]: both take turns in one process; medians of elements a
second of the processor, so that what else the machine does matters little.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

ELEMENTS = 20_000
BUFFER = 1000


def main(rounds: int) -> None:
    from tf1sessions import scripts
    from tf1sessions.scripts import seeds

    scripts.install()
    import numpy as np
    import tensorflow as tf

    numbers = tf.data.Dataset.range
    images = np.zeros([2000, 784], np.float32)
    texts = np.array([b"x" * 200] * 10_000)
    sources: dict[str, Callable[[], Any]] = {
        "numbers": lambda: numbers(10_000),
        "rows of 784 floats": lambda: tf.data.Dataset.from_tensor_slices(images),
        "texts of 200 letters": lambda: tf.data.Dataset.from_tensor_slices(texts),
        "a map alone": lambda: numbers(10_000).map(lambda x: x + 1),
    }

    def speed(source: Callable[[], Any], order: str) -> float:
        seeds.choose(order)
        with tf.Graph().as_default(), tf.Session() as session:
            dataset = source()
            dataset = dataset.repeat() if source is sources["a map alone"] else dataset.shuffle(BUFFER, seed=1).repeat()
            iterator = dataset.batch(100).make_initializable_iterator()
            batch = iterator.get_next().op
            session.run(iterator.initializer)
            session.run(batch)  # fills the buffer
            start = time.process_time()
            for _ in range(ELEMENTS // 100):
                session.run(batch)
            return ELEMENTS / (time.process_time() - start)

    print("| elements a second of the processor | as on TensorFlow 1 | `--seeds tf2` |\n| --- | --- | --- |")
    for name, source in sources.items():
        found = [[speed(source, order) for order in ("tf1", "tf2")] for _ in range(rounds)]
        one, other = (statistics.median(column) for column in zip(*found, strict=True))
        print(f"| {name} | {one:,.0f} | {other:,.0f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
