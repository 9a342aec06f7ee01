"""The step ``native``: what a LegacyGraph computes becomes variables, layers and functions of TensorFlow 2.

The step reads what step ``functions`` wrote. It separates what is made once (variables, layers, optimizers) from what
each request computes anew, and cuts the latter along the requests: each becomes a tf.function of the statements it
needs.

Files::

    kinds.py         what an expression is: made once, constant, random, or computed by requests
    statements.py    the statements that build a graph, with what they read and bind
    unit.py          a LegacyGraph of a program, and what is known of it
    refusals.py      what keeps a program at the step before
    purity.py        what the code of a graph does besides computing tensors
    changed_state.py  values of Python that change after the graph was built with them
    caught.py        errors that the program catches, and TensorFlow 2 does not raise
    reached.py       the same in lambdas, methods and functions of functions that the graph calls
    foreign.py       what functions of libraries may change, and what reads files
    later.py         what changes behind a graph, by all the names that a value may have
    calls.py         how a call is written in TensorFlow 2
    call_table.py    its table: layers, variables, optimizers, losses, functions
    objects.py       calls of the graph; what has variables is made once
    graph_class.py   a class that builds in __init__ and runs a session in methods
    classes.py       such classes as functions
    class_refusals.py  what keeps such a class as it is
    attributes.py    names that stand for attributes of such classes, as attributes again
    inlining.py      functions that build and are called once, in place of their call
    edited.py        a file with edits, read again
    values.py        requests in functions and loops that step functions left
    bound_again.py   names that are bound again get names of their own
    fed_names.py     functions that read placeholders of the module: they are given them
    input_functions.py  functions that give the next elements of a data set: they give the data set
    listed_losses.py   losses that the graph keeps, written out
    queue_runners.py   queue runners, as functions that start threads
    saver_names.py     savers that are used where they are made get a name
    modules.py       functions that make variables become classes of tf.Module
    handed_functions.py  functions that make variables, and are used as values
    scopes.py        scopes of names
    variables.py     lists of variables, written out
    separation.py    statements that share a line, each on its own
    made_late.py     layers and optimizers, which have their variables before a checkpoint is written
    set_before.py    initializers that run when variables have other values already
    queues.py        queues, and what requests do with them; which calls of objects give operations
    iterators.py     initializers that run again, and the iterators that these begin anew
    resets.py        how metrics, local variables and iterators begin anew
    averages.py      moving averages of variables
    lists.py         where lists of variables are used, and layers that have to have their variables by then
    own_nodes.py     the nodes of the code that makes a graph, by the names that they bind, change and read
    op_names.py      the names that TensorFlow 1 gives operations, of which summaries have one
    summaries.py     summaries, as values and a function that writes them
    checkpoints.py   savers, as tf.train.Checkpoint
    outputs.py       where summaries and savers are used, and second sessions
    training.py      minimize() and gradients, as steps with a GradientTape
    nones.py         arguments that are None, or may be
    normalization.py whether batch normalisation is updated where TensorFlow 1 did so
    slices.py        what each request needs, and what several have in common
    effects.py       whether a request would assign or draw more than it fetches
    functions.py     requests as functions
    grouping.py      what is written in a group of operations
    written.py       checks of the written text: names are bound, and no graph is asked for
    waiting.py       assignments that wait for the next element of a data set, which may be the last
    unordered.py     assignments that TensorFlow 1 makes in no order with a training step, or with a read
    shapes.py        shapes, whose dimensions are numbers
    shared_draws.py  random operations that several requests run
    sparse.py        requests that fetch sparse tensors, or gradients of some rows
    late_prints.py   prints that become a part of functions
    tensors.py       whether an expression is one tensor
    call_sites.py    calls of the functions
    called_again.py  functions that initialise variables, and may be called more than once
    session_settings.py   settings that sessions were made with
    small_steps.py   loops that call a training step each time
    plan.py          all of it for one LegacyGraph
    rest.py          the calls around the graphs
    texts.py         texts of statements with their changes
    digits.py        the reader of MNIST, written into the program
    tidying.py       empty lines, and imports that nothing uses
"""
