"""Unmodified TensorFlow 1 programs: a TF1 face for a process, and many processes at once.

What runs where::

    the caller's process (no TensorFlow)        a script's process (ours)
    ------------------------------------        -------------------------------------------------
    runner.py   jobs, results, run folder       program.py     runs a script, module or notebook
    jobs.py     job files and grids               importer.py    import hooks: who gets which module
                                                  namespace.py     what `import tensorflow` gives
                                                    missing.py       what is gone, and what replaces it
                                                    moved.py         old addresses inside TensorFlow
                                                    contrib_modules.py   tensorflow.contrib
                                                    estimator_modules.py tensorflow.estimator
                                                    arguments.py     arguments that were dropped or moved
                                                    compositions.py  functions that were composed otherwise
                                                    layer_compositions.py  ... layers of Keras
                                                    members.py       methods that were dropped
                                                    legacy_tests.py  test classes
                                                    layer_seeds.py   seeds of layers of Keras
                                                    shuffling.py     data sets that are shuffled and repeated
                                                    old_graphs.py    graphs that TF1 wrote
                                                    libraries.py     libraries written for TensorFlow 2
                                                    mnist.py         tensorflow.examples.tutorials.mnist, with
                                                                     mnist_data.py and mnist_model.py
                                                  numpy_compat.py  NumPy 1.16's names and printing
                                                  numpy_operators.py  its operators, in the program's own lines
                                                  numpy_functions.py  what its functions took and gave
                                                  stdlib_compat.py what left Python's library since 3.6
                                                  scipy_misc.py    scipy.misc's image functions
                                                  pillow_compat.py what Pillow 10 removed
                                                  settings.py      what a job was given, for it and its children
                                                  seeds.py         seeds by the number of operations, as TF1 counted
                                                    op_counts.py     how many TF1's functions make beyond today's
                                                    op_counts_gradients.py  ... those of gradients
                                                    op_counts_models.py  ... those for models
                                                    op_entries.py    what all three are written with
                                                    seed_report.py   which of them are exact, for --seeds report
                                                    seed_words.py    ... as text, at the end
                                                  limits.py        threads and memory of a job
                                                  queue_threads.py the Coordinator, and threads that hang in queues
                                                  claims.py        two jobs that write to one folder
                                                  deprecations.py  TensorFlow's warnings, beside the job's log
                                                  children.py      the script's own multiprocessing
                                                  frames.py        leaves our frames out of tracebacks
                                                  python2.py       recognises Python 2
                                                  notebooks.py     cells and magics
                                                built_graph.py  a function that builds a graph, for convert

:func:`install` gives the current process the TF1 face, for programs that are started by something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .importer import install

__all__ = ["install"]


def __getattr__(name: str) -> Any:
    if name == "install":
        from .importer import install

        return install
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
