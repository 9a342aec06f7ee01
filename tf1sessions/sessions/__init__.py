"""One graph, one session.

Files::

    machine.py          the cores and the memory that this process may use
    working_folder.py   paths in full, and the working directory that may have been deleted
    gpus.py             the GPUs: what is free, and which processes hold the rest
    division.py         how workers share them: the arithmetic of a plan
    logical_devices.py  logical devices, and how a graph stays on one
    config.py           SessionConfig, to and from ConfigProto
    operations.py       what is known about TensorFlow's operations
    stacks.py           looking at the stacks of other threads
    watchdog.py         names calls that wait for ever
    feed_values.py      fed values: converted, checked, and kept apart from results
    ignored_feeds.py    feeds that TensorFlow's optimizer would pass over, refused
    request_keys.py     what distinguishes the shape of one request from others
    plans.py            CompiledRequest; RequestPlan, which checks the values of a run and calls it
    session_calls.py    the compiled requests and plans of a session
    session_methods.py  what takes the place of TensorFlow's Session.run and close
    calls.py            Session and CompiledCall
    graphs.py           a graph that one thread builds and that can be sealed
    gpu_settings.py     what a process has settled about its GPUs
    checkpoint_paths.py paths of checkpoints that TensorFlow would take for patterns
    checkpoint_index.py the index of a checkpoint, without what would crash TensorFlow; snappy.py decompresses it
    late.py             a session that is made when it is first used
    session.py          GraphSession: one thread builds it, any thread runs it
    memory.py           MemoryPlan: how the sessions of a machine share it
"""
