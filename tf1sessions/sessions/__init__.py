"""One graph, one session.

``config.py`` SessionConfig and ConfigProto · ``operations.py`` what is known about TensorFlow's operations ·
``stacks.py`` the stacks of other threads · ``watchdog.py`` calls that wait for ever · ``calls.py`` compiled calls and
the Session whose ``run`` uses them · ``graphs.py`` a graph that one thread builds · ``late.py`` a session that is made
at its first use · ``session.py`` GraphSession, which puts them together · ``machine.py`` cores and memory · ``gpus.py``
GPUs and who holds them · ``division.py`` the arithmetic of a plan · ``gpu_settings.py`` what a process has settled ·
``logical_devices.py`` logical devices · ``memory.py`` MemoryPlan.
"""
