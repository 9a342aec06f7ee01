"""Keeps which calls were measured, for ``--seeds report``: ``python make_measured_traits.py``.

Builds the graphs of seed_calls.py on today's TensorFlow and writes tf1sessions/scripts/measured_traits.bin: the traits
of the calls in those graphs whose seeds are all those of genuine 1.15.5, in seeds.json.gz. To be run again when calls,
the goldens, the table of differences, our tf.contrib or tf.estimator have changed.
"""

import gzip
import json
import os

from tf1sessions import scripts
from tf1sessions.scripts import seed_report, seeds

HERE = os.path.dirname(os.path.abspath(__file__))


class Noted(set):
    """Takes every trait for a measured one, and keeps it."""

    def __contains__(self, trait):
        self.add(trait)
        return True


def noted(build):
    """What ``build()`` gives, and the traits of the calls in it."""
    traits = Noted()
    report = seed_report.SeedReport(traits)
    seeds.watch(report)
    try:
        made = build()
        report.graphs()
    finally:
        seeds.watch(None)
    return made, set(traits)


def wanted():
    """The seeds of genuine 1.15.5."""
    with gzip.open(os.path.join(HERE, "seeds.json.gz")) as file:
        return json.load(file)


def main():
    scripts.install()
    import make_seeds
    import seed_calls

    golden = wanted()
    measured = set()
    for name, seeds_of_1_15 in golden["graphs"].items():
        made, traits = noted(lambda name=name: list(map(make_seeds.drawn, seed_calls.GRAPHS[name]())))
        if made == seeds_of_1_15:
            measured |= traits
    for name, seeds_of_1_15 in golden["calls"].items():
        made, traits = noted(lambda name=name: make_seeds.drawn(make_seeds.graph_of(seed_calls.CALLS[name])))
        if made == seeds_of_1_15:
            measured |= traits
    seed_report.write(measured)


if __name__ == "__main__":
    main()
