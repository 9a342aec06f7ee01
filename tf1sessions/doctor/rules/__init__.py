"""A file for each rule; registry.py has them all.

What a rule is stands in rule.py. ``find()`` in each file gives the places, and ``RULE`` says why they bite and what to
write instead; numpy_values.py is what the rules about NumPy share.

Files::

    rule.py                   what a rule is
    registry.py               all of them
    late_visible_devices.py   CUDA_VISIBLE_DEVICES after a session
    memory_of_several_sessions.py  sessions that differ in their GPU options
    gpu_taken_whole.py        processes without growth or a fraction
    fraction_out_of_range.py  a fraction above 1
    remote_config.py          GPU options for a session on a server
    graph_built_by_threads.py  threads that add to a graph
    fork_after_session.py     forks after a session
    oversubscribed_threads.py  more threads than cores
    python_bound_threads.py   threads that mostly run Python
    late_multi_worker.py      strategies of several workers after TensorFlow's first use
    colliding_strategies.py    strategies on different devices of one process
    mean_in_replica.py        means of a replica's part of the batch
    ops_in_loop.py            operations made in a loop
    make_callable_with_feeds.py  make_callable with feeds
    sessions_left_open.py     sessions made in a loop
    reset_inside_graph.py     reset_default_graph in a with block
    init_after_restore.py     initializers after restore
    late_seed.py              seeds after operations
    queues_not_started.py     queues that are never filled
    queues_not_stopped.py     a join that waits for ever
    queue_threads_left.py     threads that nobody stops
    eager_before_session.py   eager operations and sessions
    late_eager_switch.py      eager execution switched on late
    contrib_missing.py        names of tf.contrib that are gone
    numpy_values.py           dtypes of expressions, for the rules about NumPy
    numpy_integer_overflow.py  integers that do not fit
    numpy_float64_scalar.py   float32 arrays that become float64
    numpy_float32_scalar.py   float32 scalars that stay so
    numpy_lists_as_index.py   lists of lists as an index
    numpy_bool_type.py        np.bool for Python's bool
"""
