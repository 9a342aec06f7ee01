"""Many sessions at once: pools of threads, and worker processes made from a warm server.

Files::

    mapping.py         map over iterators that may be endless
    progress.py        a bar for progress=True
    base.py            jobs, names, limits and statistics of every pool
    threads.py         ThreadSessionPool: many sessions in one process, a thread each
    warm_servers.py    the fork servers that the process pools of a process share
    hidden_modules.py  namesakes of other modules in a program's folder
    fork_server_main.py  what runs in the fork server's process and in its workers
    fork_server.py     the fork server as its caller sees it: WorkerServer
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
