"""``tf.contrib.boosted_trees``, which has no names of its own here; programs import one of its files.

Files::

    losses.py   python.utils.losses: losses for each example
"""
