"""The step ``functions``: what builds a graph stays, and each request to a session becomes a function of the graph.

Files::

    graph_code.py   which code builds a graph, which names have what is in one, and which run a session
    changes.py      what a statement changes, so that a request after it means another
    request.py      one request: what it fetches and feeds, and what its function is called
    closed.py       requests behind the end of their session
    alive.py        sessions that are asked again after another one has begun
    known.py        calls that may build, or may be requests, as the program runs; the first that needs a graph
    arguments.py    the arguments of a call, by the names of its parameters
    file_plan.py    the edits of a file
    scope_plan.py   the statements of a module or a function: blocks that build, and requests
    session_parameters.py   functions that were given the session and do not use it any more

Data flow::

    files of a program ──▶ GraphCode ──▶ scope_plan: the module, and each function that runs a session
                                             │
                                             ▼
                        FilePlan: with legacy: ... · name = legacy.function(...) · name(...) ──▶ edits
"""
