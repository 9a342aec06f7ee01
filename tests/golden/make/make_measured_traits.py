"""Keeps which functions were measured, for ``--seeds report``: ``python make_measured_traits.py [FUNCTION ...]``.

Builds the graphs of seed_calls.py, seed_fuzz.py and seed_arguments.py on today's TensorFlow, in several processes, and
writes tf1sessions/scripts/measured_traits.txt; with names of functions, as they are there, it shows their traits with
the checksums that stand for them, and writes nothing. To be run again when calls, their goldens, the tables of
differences, our tf.contrib or tf.estimator have changed. Data flow::

    graphs ──▶ noted(): their seeds, and the traits of each level of each function that makes operations in them
                 │
                 ├─ seeds are 1.15.5's ──▶ these traits are measured
                 └─ they are not       ──▶ judged(): where a wrong seed would be exact, a function before it is looked
                                           at more closely, up to the level that sets it apart from what is measured
"""

import collections
import gzip
import json
import multiprocessing
import os
import sys

from folders import DATA

from tf1sessions import scripts
from tf1sessions.scripts import seed_report, seeds
from tf1sessions.scripts.seed_report import NEVER, USUAL, Measured, MeasuredFunction, checksum

PROCESSES = 4
LEVELS = range(USUAL, NEVER)
SHOWN = frozenset(sys.argv[1:]) if __name__ in ("__main__", "__mp_main__") else frozenset()


class Noting(seed_report.SeedReport):
    """Takes every function for a measured one, and keeps what would be asked: ``[(call, function, traits)]``."""

    def __init__(self):
        super().__init__(None)
        self.asked = collections.defaultdict(list)  # by graph

    def _check(self, seeds, call, function, traits):
        texts = [traits(level) for level in LEVELS]
        if function in SHOWN:
            shown.update((function, checksum(text), text) for level in texts for text in level)
        checksums = tuple(tuple(map(checksum, level)) for level in texts)
        self.asked[id(seeds)].append((call, function, checksums))


shown = set()  # the traits of SHOWN


def noted(build):
    """What ``build()`` gives, and of each graph what draws in it and what is asked.

    Returns:
        The former, and ``[([(at, seed)], [(first, function, traits)])]``: the seeds that follow from the number of
        operations and where they are; where calls begin, the functions in them and these functions' traits by level.
    """
    report = Noting()
    seeds.watch(report)
    try:
        made = build()
        drawing = report.graphs()
    finally:
        seeds.watch(None)
    graphs = []
    for one in drawing:
        asked = {(call.first, function, traits) for call, function, traits in report.asked[id(one)]}
        graphs.append(([(draw.at, draw.seed) for draw in one.draws], sorted(asked)))
    return made, graphs


def wanted():
    """The seeds of genuine 1.15.5."""
    with gzip.open(os.path.join(DATA, "seeds.json.gz")) as file:
        return json.load(file)


def arguments(part):
    """The same of seed_arguments.py's graphs, by name."""
    with gzip.open(os.path.join(DATA, "seed_arguments.json.gz")) as file:
        return json.load(file)[part]


def graphs():
    """How each graph is built that has golden seeds, and these, by kind and name."""
    import make_seeds
    import seed_arguments
    import seed_calls
    import seed_fuzz

    drawn, graph_of = make_seeds.drawn, make_seeds.graph_of
    builds = {
        "calls": lambda name: drawn(graph_of(seed_calls.CALLS[name])),
        "graphs": lambda name: list(map(drawn, seed_calls.GRAPHS[name]())),
        "fuzz": lambda name: drawn(graph_of(lambda: seed_fuzz.build(int(name)))),
        "arguments": lambda name: seed_arguments.seeds_of(int(name)),
    }
    golden = wanted()
    golden["arguments"] = arguments("learnt")
    return {
        (kind, name): (lambda build=build, name=name: build(name), seeds_of_1_15)
        for kind, build in builds.items()
        for name, seeds_of_1_15 in golden[kind].items()
        if seeds_of_1_15 is not None
    }


def noted_part(part):
    """Of every PROCESSES-th graph that can be built."""
    scripts.install()
    found = {}
    for key, (build, seeds_of_1_15) in list(graphs().items())[part::PROCESSES]:
        made, drawing = noted(build)
        if made is not None:
            found[key] = made == seeds_of_1_15, seeds_of_1_15, drawing
    return found, shown


def wrong_and_exact(seeds_of_1_15, drawing, measured):
    """Of the graphs of one case: functions that were asked for before a wrong seed that would be exact, by traits."""
    left = collections.Counter(numbers_in(seeds_of_1_15))
    for draws, asked in drawing:
        unknown = min((first for first, *one in asked if not has(measured, *one)), default=None)
        exact = [(at, seed) for at, seed in draws if unknown is None or at < unknown]
        before = [one for first, *one in asked if exact and first <= exact[-1][0]]
        for _, seed in exact:
            left[seed] -= 1
            if left[seed] < 0:
                return before
    return []


def numbers_in(made):
    for one in made:
        if isinstance(one, list):
            yield from numbers_in(one)
        elif isinstance(one, int):
            yield one


def has(measured, function, traits):
    return measured.has(function, lambda level: traits[level])


class Judged:
    """What is measured, while it is not yet decided how close traits must look.

    Args:
        traits: The checksums of each function's traits, of all levels.
        levels: How close its traits must look; USUAL where there is none.
    """

    def __init__(self, traits, levels):
        self.traits = traits
        self.levels = levels

    def has(self, function, traits):
        level = self.levels.get(function, USUAL)
        return level < NEVER and self.traits[function].issuperset(traits(level))


def judged(found):
    """What is measured by the graphs of ``{key: noted_part()'s}``.

    A wrong graph may have one wrong function among many. It is looked for where the share of wrong graphs among those
    with it is the largest, and that one is looked at more closely.
    """
    right, wrong = collections.Counter(), collections.Counter()
    decided = Judged(collections.defaultdict(set), {})
    for is_right, _, drawing in found.values():
        (right if is_right else wrong).update({function for _, asked in drawing for _, function, _ in asked})
        if is_right:
            for _, function, each in (one for _, asked in drawing for one in asked):
                decided.traits[function].update(trait for level in each for trait in level)
    shares = {function: wrong[function] / (wrong[function] + right[function]) for function in wrong}
    for is_right, seeds_of_1_15, drawing in found.values():
        while not is_right and (before := wrong_and_exact(seeds_of_1_15, drawing, decided)):
            decided.levels.update(closer(before, decided, shares))
    kept = collections.defaultdict(set, {function: set() for function in decided.levels})
    for is_right, _, drawing in found.values():
        for _, function, each in (one for _, asked in drawing for one in asked if is_right):
            if (level := decided.levels.get(function, USUAL)) < NEVER:
                kept[function].update(each[level])
    return Measured(
        {name: MeasuredFunction(frozenset(each), decided.levels.get(name, USUAL)) for name, each in kept.items()}
    )


def closer(before, measured, shares):
    """Levels of some of these functions at which not all of them are measured."""
    levels = {}
    for function, traits in before:
        telling = [level for level in LEVELS if level > measured.levels.get(function, USUAL)]
        telling = [level for level in telling if not measured.traits[function].issuperset(traits[level])]
        if telling:
            levels[function] = min(telling[0], levels.get(function, NEVER))
    levels = levels or {function: NEVER for function, _ in before}
    most = max(shares[function] for function in levels)
    return {function: level for function, level in levels.items() if shares[function] == most}


def main():
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        parts = pool.map(noted_part, range(PROCESSES))
    if SHOWN:
        for function, number, text in sorted(set().union(*(texts for _, texts in parts))):
            print(f"{function} {number}: {text}")
        return
    found = {key: value for part, _ in parts for key, value in part.items()}
    seed_report.write(judged(dict(sorted(found.items()))))


if __name__ == "__main__":
    main()
