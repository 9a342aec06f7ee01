"""Keeps which calls were measured, for ``--seeds report``: ``python make_measured_traits.py``.

Builds the graphs of seed_calls.py and seed_fuzz.py on today's TensorFlow and writes
tf1sessions/scripts/measured_traits.bin: the traits of the calls in those graphs whose seeds are all those of genuine
1.15.5, in seeds.json.gz. To be run again when calls, the goldens, the table of differences, our tf.contrib or
tf.estimator have changed.
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
    import seed_fuzz

    golden = wanted()
    builds = {
        "graphs": lambda name: list(map(make_seeds.drawn, seed_calls.GRAPHS[name]())),
        "calls": lambda name: make_seeds.drawn(make_seeds.graph_of(seed_calls.CALLS[name])),
        "fuzz": lambda name: make_seeds.drawn(make_seeds.graph_of(lambda: seed_fuzz.build(int(name)))),
    }
    measured = set()
    for kind, build in builds.items():
        for name, seeds_of_1_15 in golden[kind].items():
            made, traits = noted(lambda build=build, name=name: build(name))
            if made == seeds_of_1_15:
                measured |= traits
    seed_report.write(measured)


if __name__ == "__main__":
    main()
