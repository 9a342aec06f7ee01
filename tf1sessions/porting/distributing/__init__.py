"""Graphs of TensorFlow 1, as functions, under the strategies of ``tf.distribute``.

Files::

    distribution.py   distribute(): variables under a strategy's scope, functions by what they do
    peers.py          peers_within(): a limit of time for other workers to come
    plans.py          which tensors of a graph are combined over replicas, in which order, and how
    replicated.py     a training step, with a part of the batch on each replica
    combining.py      tensors of all replicas as one
    local.py          requests that one device computes; what they change goes to the other replicas
    drawing.py        a step that takes its batch from an iterator, a queue or a table
    scheduled.py      a training step on a worker of a cluster with parameter servers
"""
