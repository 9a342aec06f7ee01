"""Concurrent work inside one session: batches of many callers, prioritised work, queues with threads.

Queues, and the threads that fill and empty them::

    pipeline.py  QueuePipeline: declares ──▶ flow.py  starts, cancels, joins, raises the cause
                   │                           ├── monitor_thread.py  one thread that closes queues, sees Ctrl-C
                   │                           └── observer.py  sizes, blocked threads, stalls ──▶ statistics.py
                   ├── queues.py   which queues there are, and which an operation reads and writes
                   └── stages.py   threads and their loops ◀── sources.py  Python producers ◀── blocks.py

Files::

    retry_safety.py      which requests may be run twice
    input_ends.py        which operations can be at the end of an input
    row_states.py        where a tensor may have the rows of a batch
    row_rules.py         what each type of operation makes of them
    row_independence.py  which fetches are computed row by row
    rows.py              one compiled call for the rows of several requests
    batch_requests.py    who waits for an answer of a Batcher, and how it is given
    batching.py          Batcher: rows of many callers in one run
    keyed_schedule.py    which item of work begins next
    work.py              WorkQueue: parts of graphs, by priority, in order for each key
    coordinator.py       threads that end together, with the cause
    deadlock.py          whether threads hang in queues
    queues.py            queues of a graph, recognised, made and closed
    blocks.py            items of Python, several in one run
    refilled.py          items of producers that fill their arrays again
    statistics.py        what a pipeline has done so far
    trace.py             a timeline of stages and queues, for Perfetto
    monitor_thread.py    one thread that looks after a pipeline
    stages.py            threads that run one thing again and again
    sources.py           Python producers
    observer.py          blocked threads, sizes of queues, stalls
    flow.py              how stages start, and their common end
    pipeline.py          QueuePipeline: what users declare it with
"""
