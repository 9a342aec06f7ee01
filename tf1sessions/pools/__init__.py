"""Many sessions at once: pools of threads, and worker processes made from a warm server.

``server`` is the caller's side of the worker server, ``worker`` what runs in the server's and the workers' processes.
``arrays`` carries objects between processes: ``packing`` takes them apart, ``segments`` is the memory of their arrays.
``processes`` has the pool, ``worker_link`` a worker as its pool sees it, ``process_worker`` what the worker does;
``call_packing`` and ``board`` are what they use to send several jobs in one message.

Files::

    mapping.py         map over iterators that may be endless
    progress.py        a bar for progress=True
    base.py            jobs, names, limits and statistics of every pool
    threads.py         ThreadSessionPool: many sessions in one process, a thread each
    warm_servers.py    the worker servers that the process pools of a process share
    worker.py          what runs in the worker server's process and in its workers
    server.py          our fork server, as its caller sees it
    segments.py        anonymous memory that two processes share
    packing.py         objects as a pickle and the memory of their arrays
    arrays.py          Channel: objects between two processes, their arrays in shared memory
    call_packing.py    jobs as bytes, several in one message
    futures.py         a Future that costs little until somebody waits
    board.py           what pool and worker tell each other about such a message
    preparation.py     what workers run first, so that TensorFlow is there what it is here
    process_worker.py  what a worker of a ProcessSessionPool does
    worker_link.py     ... as its pool sees it
    process_jobs.py    its jobs, which can be cancelled until they have ended
    messages.py        those that it gets in one message, to their end
    processes.py       ProcessSessionPool: many sessions, a process each
"""
