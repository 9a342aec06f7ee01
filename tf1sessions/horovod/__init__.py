"""Horovod's API for TensorFlow and Keras, where Horovod itself is not installed.

Programs import it as ``horovod.tensorflow`` and ``horovod.keras``; ``scripts/horovod_modules.py`` has these modules.
The
processes of a program are ranks of one machine, started by ``tf1sessions launch --horovod N``. A program that was
started in another way is the only rank.

Without TensorFlow::

    launched.py        what a launch gives each rank: which it is, where rank 0 is, the key
    frames.py          messages between ranks: a header in JSON and raw arrays
    reductions.py      what becomes of the arrays that all ranks gave, or why they do not fit
    hub.py             rank 0: matches the tensors of all ranks by name and answers
    member.py          the other ranks: their connection to rank 0

With TensorFlow::

    ranks.py           init(), shutdown(), rank(), size(), and what this Horovod was built with
    operations.py      allreduce, allgather, broadcast as operations of a graph, or at once in eager mode
    compression.py     Compression.none and fp16
    optimizers.py      DistributedOptimizer for tf.train, DistributedGradientTape
    variables.py       broadcast_variables, BroadcastGlobalVariablesHook
    keras.py           horovod.keras
    keras_callbacks.py   horovod.keras.callbacks
"""
