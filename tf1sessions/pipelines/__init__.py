"""Concurrent work inside one session.

Rows of many callers in one run: ``retry_safety.py`` which requests may be run twice · ``rows.py`` one compiled call for the
rows of several requests · ``batching.py`` the Batcher: who runs what, and when.

Parts of graphs, handed to a few threads: ``keyed_schedule.py`` which item of work begins next · ``work.py`` the WorkQueue: who
runs it.

Queues, and the threads that fill and empty them::

    pipeline.py  QueuePipeline: declares ──▶ flow.py  starts, cancels, joins, raises the cause
                   │                           ├── monitor_thread.py    one thread that looks, closes queues, sees Ctrl-C
                   │                           └── observer.py  sizes, who waits for what, stalls ──▶ statistics.py
                   ├── queues.py   which queues there are, and which an operation reads and writes
                   └── stages.py   threads and their loops ◀── sources.py  Python producers ◀── blocks.py

``coordinator.py`` threads that end together, with the cause: for legacy code in pipelines and scripts ·
``trace.py`` what threads did when, as a file for Perfetto and Chrome.
"""
