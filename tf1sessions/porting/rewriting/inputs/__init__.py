"""The step ``inputs``: queues that are filled from files or arrays become tf.data with the same elements.

::

    names ──▶ string_input_producer ──▶ reader ──▶ parse, crop … ──▶ shuffle_batch ──▶ batches
    Dataset of names ──────────────────▶ flat_map ─▶ map ──────────▶ shuffle, batch ─▶ an iterator

What computes one element is scattered over statements and functions. The statements go into a function for ``map``;
functions that read from a queue are given the record instead; functions that make a queue and return an element return
a data set.

Files::

    calls.py         the queue functions, with their arguments
    readers.py       readers of files, the functions that read with them, and the data sets of records
    batchers.py      functions that are given an element and make batches of it
    elements.py      the statements between a queue and its batches
    coordinators.py  coordinators that have no threads to wait for any more
    pipelines.py     all of it for one file
"""
