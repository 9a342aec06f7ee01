"""Graphs of TensorFlow 1 as functions of TensorFlow 2.

Files::

    structure.py    where a graph has loops and conditions
    conditions.py   which ends of branches are one condition
    functions.py    the functions that come with a graph
    local_lists.py  TensorArrays and stacks as lists that are values
    partitions.py   changes of parts of them
    random_streams.py  random operations that draw as in a session
    former.py       operations that are no more, as others
    counters.py     counters that a step raises, and nothing orders
    references.py   variables of TensorFlow 1 as those of TensorFlow 2
    replay.py       a graph made again
    kept_loops.py   a graph made again with loops as they were, for calls without a gradient
    known.py        what need not be computed in loops where shapes are known
"""
