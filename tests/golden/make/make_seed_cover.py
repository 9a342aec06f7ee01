"""Chooses recorded calls that reach all that any of them reaches: ``python make_seed_cover.py``.

Writes seeds_cover.txt in ../data, on today's TensorFlow: names of calls of seed_calls*.py, so few and so quick that
together they still have every function of TensorFlow and of ours that a call runs, every type of operation that one
makes, and every number of operations that is counted for a function. The tests build these calls; the others of a
family differ in a number or a shape. It takes ten minutes, and is to be run again when there are calls for something
new; calls that the list does not know are tested until then.
"""

import gc
import os
import sys
import time

from folders import DATA

from tf1sessions import scripts
from tf1sessions.scripts import seeds

scripts.install()

import make_seeds  # noqa: E402
import seed_calls  # noqa: E402

HEAD = "# Which calls of seed_calls.py the tests build; the others follow a '-'. Written by make_seed_cover.py.\n"


def reached(call):
    """What a call reaches, and how many seconds it took."""
    found = set()

    def profile(frame, event, _):
        if event == "call":
            found.add(frame.f_code)

    def note(graph, count):
        of = sys._getframe(1).f_locals
        found.add((id(of.get("function")), of.get("before"), of.get("after")))
        add(graph, count)

    add, seeds._add = seeds._add, note
    started = time.process_time()
    sys.setprofile(profile)
    try:
        graph = make_seeds.graph_of(call)
    finally:
        sys.setprofile(None)
        seeds._add = add
    secs = time.process_time() - started
    return found.union(each.type for each in graph.get_operations()), secs


def cover(found):
    """The names that reach the most of what is missing in a second, one after another, until nothing is missing."""
    missing = set().union(*[each for each, _ in found.values()])
    chosen = set()
    while missing:
        best = max(found, key=lambda name: len(found[name][0] & missing) / found[name][1])
        chosen.add(best)
        missing -= found[best][0]
    return chosen


def main():
    gc.freeze()
    found = {name: reached(call) for name, call in sorted(seed_calls.CALLS.items())}
    chosen = cover(found)
    with open(os.path.join(DATA, "seeds_cover.txt"), "w") as file:
        file.write(HEAD)
        file.writelines(f"{'' if name in chosen else '-'}{name}\n" for name in sorted(found))


if __name__ == "__main__":
    main()
