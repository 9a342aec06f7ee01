"""One graph, one session.

Files::

    machine.py          the cores and the memory that this process may use
    gpus.py             the GPUs: what is free, and who holds the rest
    division.py         how workers share them: the arithmetic of a plan
    logical_devices.py  logical devices, and how a graph stays on one
    config.py           SessionConfig, to and from ConfigProto
    operations.py       what is known about TensorFlow's operations
    stacks.py           looking at the stacks of other threads
    watchdog.py         names calls that wait for ever
    calls.py            compiled calls, and the Session whose run() uses them
    graphs.py           a graph that one thread builds and that can be sealed
    gpu_settings.py     what a process has settled about its GPUs
    late.py             a session that is made when it is first used
    session.py          GraphSession: one thread builds it, any thread runs it
    memory.py           MemoryPlan: how the sessions of a machine share it
"""
