"""Many sessions at once: pools of threads, of worker processes that are forks of a warm server, and on a Ray cluster.

Files::

    all pools
      progress.py            counts of a pool, and a bar for progress=True
      jobs.py                a job: a function's call, its future, its name and limit
      accounts.py            which jobs run and have ended: futures, counts, progress
      mapping.py             map() over iterators that may be endless
      base.py                SessionPool: the interface of all
      dispatched.py          DispatchedPool: the part that pools of processes and on Ray share
      threads.py             ThreadSessionPool: many sessions in one process, a thread each
    the fork server, for pools and for scripts
      resource_limits.py     which limit of the system kept a process from being started
      messages.py            what a process and its server send each other
      job_processes.py       the processes of a job, found and ended
      cold_starts.py         which jobs need a fresh interpreter
      boot.py                the first lines of a server or a cold worker
      surroundings.py        what a process has from its parent besides the environment: limits, umask, ...
      loaded_files.py        the files by which an interpreter became what it is
      user_server_main.py    the program of a server that stays for later commands
      fork_server_main.py    the program of the server's process and of its workers
      user_servers.py        the user's servers: found, started and asked
      workers.py             WorkerSpec, WorkerHandle, WorkerResult
      fork_server.py         WorkerServer: the caller's side
      warm_servers.py        the servers that the pools of this process share
      hidden_modules.py      namesakes of other modules in a program's folder
      written_pages.py       memory that a fork writes to, copied before
      interpreter_end.py     the end of a job's interpreter, without the modules that the server had loaded
    objects between two processes
      segments.py            anonymous memory that both have
      packing.py             an object as a pickle and the memory of its arrays
      arrays.py              Channel: sends objects, their arrays in shared memory
    processes, in the order of a job's way
      process_options.py     the options of a pool, checked
      processes.py           ProcessSessionPool: many sessions, a process each
      process_jobs.py        a job that can be cancelled until it has ended; the jobs of a message
      dispatcher.py          the thread that gives jobs to workers, and takes their replies
      inbox.py               how other threads reach it
      job_durations.py       which jobs are short, and share a message
      job_serialization.py   jobs as bytes
      function_pickles.py    functions in it, pickled and read once for many jobs
      shared_status.py       the page on which a worker notes which jobs it has begun, and leaves small replies
      worker_proxy.py        WorkerProxy: a worker as the dispatcher sees it
      pool_worker_main.py    the program of a worker
      preparation.py         code that it runs first, so that its TensorFlow is like this process's
      process_errors.py      errors of jobs, from replies and from the end of a worker
    a Ray cluster, in the order of a job's way
      ray_cluster.py         the cluster that this process is connected to
      ray_versions.py        which versions a machine has
      ray_models.py          models in Ray's object store
      ray_pool.py            RaySessionPool: many sessions, an actor of Ray each
      ray_dispatcher.py      the thread that gives jobs to actors; what ended and lost ones cost
      ray_worker.py          the program of an actor
"""
