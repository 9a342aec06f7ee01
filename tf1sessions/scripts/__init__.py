"""Unmodified TensorFlow 1 programs: a TF1 face for a process, and many processes at once.

:func:`install` gives the current process the TF1 face, for programs that are started by something else.

In the caller's process, without TensorFlow::

    jobs.py                   what is to be run, and under which settings
    toml_lines.py             the lines of a TOML text, and its limits
    jobfile.py                TOML job files and their grids of parameters
    machine.py                how many jobs this machine can carry
    events.py                 what a run reports while it goes on
    folder.py                 the run's folder: a log for each job, jobs.json
    logs.py                   the ends of logs
    streams.py                a single job's output, on the terminal and in its log
    payload.py                what runner.py sends to a job's process, and program.py reads there
    servers.py                the fork server of a run
    early_calls.py            the user's server, called before the command is imported
    run_settings.py           how jobs run together
    caller_signals.py         signals to the process of a run
    runner.py                 runs jobs, several at once, each in its own process
    ray_server.py             the same on a Ray cluster, for run --ray
    ray_script_worker.py      runs one script on its node
    requirements.py           which lines of a requirements.txt are not met here

In a script's process; program.py, importer.py and namespace.py run in the fork server's first, which has TensorFlow::

    program.py                runs the program: a script, a module or a notebook
    notebooks.py              runs the cells of notebooks
    rehearsed.py              a small program, which shows which memory programs write to
    exits.py                  exit codes and errors of a program that raised, as Python has them
    frames.py                 leaves our own frames out of tracebacks
    settings.py               a job's settings, for it and the processes that it starts
    seeds.py                  seeds by the number of operations, as TensorFlow 1 counted them
    seed_report.py            which seeds are exact, for --seeds report
    seed_words.py             the seed report as text, at the end of a process
    op_counts.py              how many operations TF1's functions make beyond today's
    op_counts_gradients.py    how many operations gradients make beyond today's
    op_counts_models.py       how many operations layers, Keras, optimizers and tf.contrib make beyond today's
    op_entries.py             the form of the entries of these three tables
    limits.py                 threads and memory of a job
    queue_threads.py          the Coordinator, and threads that hang in queues
    cluster_tasks.py          a task of a cluster that was started by hand: its versions and limits
    cluster_peers.py          the other tasks of a cluster: which answer; a process that watches for one that cannot
    cluster_watch.py          a task that was started by hand: the versions compared, the other tasks waited for
    claims.py                 two jobs that write to one folder
    deprecations.py           TensorFlow's deprecation warnings, beside a job's log
    children.py               processes that the program starts itself
    importer.py               which module an import gives
    first_import.py           the first import of TensorFlow, for which other threads wait
    after_import.py           what is called when a module was imported, where there is no TF1 face
    contrib_modules.py        tensorflow.contrib and its inner addresses
    estimator_modules.py      tensorflow.estimator and its inner addresses
    horovod_modules.py        horovod, where it is not installed
    namespace.py              what `import tensorflow as tf` gives
    missing.py                what TF1 had and is gone, and what replaces it
    moved.py                  old addresses inside TensorFlow
    moved_tables.py           which they are
    inner/                    inner modules that are gone, written anew
    arguments.py              arguments that were dropped or moved
    compositions.py           functions that TF1 composed of other operations
    layer_compositions.py     layers of Keras that TF1 composed of other operations
    layer_seeds.py            seeds that layers of Keras draw with
    sample_weights.py         what masks and weights of samples make of losses and metrics of Keras
    static_shapes.py          static shapes that TF1 inferred
    shuffling.py              data sets that are shuffled and repeated in TF1's order
    old_debugger.py           the arguments of tfdbg
    old_graphs.py             graphs that TF1 wrote
    op_libraries.py           libraries of operations, tf.load_op_library
    shared_libraries.py       what such a library was built for
    libraries.py              libraries written for TensorFlow 2
    classes.py                what `type` and `isinstance` say
    old_libraries/            what libraries around TensorFlow dropped, a table each
    old_protos.py             modules that an old protoc wrote
    callers.py                whether a line of the program's own files calls
    members.py                methods that classes had
    legacy_tests.py           what tf.test had otherwise
    mnist.py                  tensorflow.examples.tutorials.mnist
    mnist_data.py             its input_data: MNIST in batches
    mnist_model.py            its mnist: the network of the tutorials
    numpy_compat.py           NumPy's old names and printing
    numpy_operators.py        NumPy 1's operators, in the program's own lines
    numpy_functions.py        arguments and results of NumPy 1's functions
    scipy_misc.py             scipy.misc's image functions
    pillow_compat.py          what Pillow 10 removed
    stdlib_compat.py          modules that left Python's library

In the process of ``tf1sessions convert``::

    built_graph.py            a function that builds a graph
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
