"""Many sessions at once: pools of threads, and worker processes made from a warm server.

``server`` is the caller's side of the worker server, ``worker`` what runs in the server's and the workers' processes.
``arrays`` carries objects between processes: ``packing`` takes them apart, ``segments`` is the memory of their arrays.
``processes`` has the pool, ``worker_link`` a worker as its pool sees it, ``process_worker`` what the worker does;
``call_packing`` and ``board`` are what they use to send several jobs in one message.
"""
