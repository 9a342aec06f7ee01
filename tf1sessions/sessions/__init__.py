"""One graph, one session.

``config.py`` SessionConfig and ConfigProto · ``operations.py`` what is known about TensorFlow's operations ·
``calls.py`` compiled calls and the Session whose ``run`` uses them · ``graphs.py`` a graph that one thread builds ·
``session.py`` GraphSession, which puts them together · ``machine.py`` the cores and the memory that this process may use.
"""
