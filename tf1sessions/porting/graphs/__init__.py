"""Graphs of TensorFlow 1 as functions of TensorFlow 2.

``structure.py`` where a graph has loops and conditions · ``functions.py`` the functions that come with it ·
``local_lists.py`` TensorArrays and stacks as lists that are values · ``references.py`` variables of TensorFlow 1 as
those of TensorFlow 2 · ``partitions.py`` changes of their parts · ``counters.py`` counters that a step raises, and
nothing orders · ``former.py`` operations that are no more, as others · ``replay.py`` a graph made again, with loops and
conditions as TensorFlow 2 has them · ``kept_loops.py`` loops as they are, for calls without a gradient
· ``known.py`` what need not be computed in them where shapes are known
"""
