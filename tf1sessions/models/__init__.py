"""Models that TensorFlow 1 wrote: loaded, shared between threads, inspected.

::

    path ─▶ files ─▶ upgrades ─▶ checks ─▶ interface ─▶ subgraphs, risks ─▶ weights ─▶ values ─▶ model
      │     read     made of     nothing   inputs and   what is left        large      set at    called from
      │     without  today's     that      outputs      without what        constants  load(),   any thread
      │     trust    operations  crashes                is not allowed      once       or later
      │
      └──▶ files ─▶ inspection: interface, census, shapes, flops, risks ─▶ diagram: an HTML page
            nothing is run

Files::

    files.py                what is at a path, read without trusting it
    parsing.py              protos, parsed without trusting the file
    graph_index.py          which node depends on which
    upgrades/               what old graphs need so that today's TensorFlow takes them
    checks.py               what could bring TensorFlow down
    arguments.py            the dtypes of what a node takes and gives
    signature_inference.py  inputs and outputs of a graph without a signature
    interface.py            inputs and outputs, by signature or inferred
    subgraphs.py            a graph without what is lacking or not allowed
    weights.py              large constants as variables
    values.py               values of variables and tables, set at load() or when a call needs them
    optimizing.py           graphs that TensorFlow's optimizers should leave as they are
    one_thread.py           whether one thread runs a graph as fast as several
    prepared.py             a graph made ready, and vetted; nothing of it has run
    ranks.py                whether a graph takes inputs of so many dimensions
    static_sizes.py         what a request would fill memory with, by the shapes in its graph
    trial.py                a model tried in a child process, with limits
    model.py                load(), Model
    starvation.py           outputs that would wait for ever for a queue that nothing fills
    risks.py                operations that touch files, the network, Python
    flops.py                how many floating-point operations a node takes
    shapes.py               the shapes of a graph for one row
    census.py               what a graph holds
    inspection.py           what is in a model
    diagram.py              what is in a model, as a page with its graph
"""
