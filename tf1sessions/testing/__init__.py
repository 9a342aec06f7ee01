"""Testing that sessions are safe in threads.

``frames.py`` whose code a frame runs · ``patching.py`` methods replaced for a while · ``order.py`` what happened before
what · ``locks.py`` which locks a thread holds · ``synchronisation.py`` what threads tell each other · ``reports.py``
what is told · ``races.py`` accesses that nothing orders · ``watching.py`` what is watched of TensorFlow ·
``schedules.py`` threads made to come in a certain order, or in every one · ``trees.py`` nested results,
compared leaf by leaf · ``hammering.py`` a function called by many threads at once · ``assertions.py`` what
tests claim
"""
