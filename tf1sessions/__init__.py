"""Run, test and port TensorFlow 1 programs on today's TensorFlow.

General layout, a room for each thing that a user wants to do. A room imports from the rooms above it, never from those
below, and there are no circles::

    errors.py          the tree of exceptions
    texts.py           reports as lines of text
    forks.py           tells a forked child that TensorFlow would hang in it
    runtime.py         the only module of the library that imports TensorFlow; tf1; enable_v1_behavior()
    sessions/          one graph, one session
      machine.py         the cores and the memory that this process may use
      gpus.py            the GPUs: what is free, and who holds the rest
      division.py        how workers share them: the arithmetic of a plan
      logical_devices.py  logical devices, and how a graph stays on one
      config.py          SessionConfig, to and from ConfigProto
      operations.py      what is known about TensorFlow's operations
      stacks.py          looking at the stacks of other threads
      watchdog.py        names calls that wait for ever
      calls.py           compiled calls, and the Session whose run() uses them
      graphs.py          a graph that one thread builds and that can be sealed
      gpu_settings.py    what a process has settled about its GPUs
      late.py            a session that is made when it is first used
      session.py         GraphSession: one thread builds it, any thread runs it
      memory.py          MemoryPlan: how the sessions of a machine share it
    pipelines/         concurrent work inside one session
      retry_safety.py    which requests may be run twice
      row_independence.py  which fetches are computed row by row
      rows.py            one compiled call for the rows of several requests
      batching.py        Batcher: rows of many callers in one run
      keyed_schedule.py  which item of work begins next
      work.py            WorkQueue: parts of graphs, by priority, in order for each key
      coordinator.py     threads that end together, with the cause
      deadlock.py        whether threads hang in queues
      queues.py          queues of a graph, recognised, made and closed
      blocks.py          items of Python, several in one run
      statistics.py      what a pipeline has done so far
      trace.py           a timeline of stages and queues, for Perfetto
      monitor_thread.py  one thread that looks after a pipeline
      stages.py          threads that run one thing again and again
      sources.py         Python producers
      observer.py        who waits for what; stalls
      flow.py            how stages start, and their common end
      pipeline.py        QueuePipeline: what users declare it with
    models/            models that TensorFlow 1 wrote: loaded, shared between threads, looked into
      files.py           what is at a path, read without trusting it
      graph_index.py     which node depends on which
      upgrades/          what old graphs need so that today's TensorFlow takes them
        table.py           the table of upgrades, and what is done with it
        hardware.py        its rows about TPUs, TensorRT, MKL, devices
        operations.py      ... about operations that are gone or were otherwise
        loose_ends.py      ... about graphs that were cut or frozen by tools
        attributes.py      ... about attributes and versions
        compositions.py    operations that are gone, composed of others
        lost.py            those that nothing makes up for
        rewriting.py       a graph that is being rewritten
      checks.py          what could bring TensorFlow down
      arguments.py       the dtypes of what a node takes and gives
      signature_inference.py  what a graph without a signature takes and gives
      interface.py       inputs and outputs, told or guessed
      subgraphs.py       a graph without what is lacking or not allowed
      weights.py         large constants as variables
      values.py          values of variables and tables, set when they are needed
      prepared.py        a graph made ready, and vetted; nothing of it has run
      trial.py           a model tried in a child process, with limits
      model.py           load(), Model
      risks.py           operations that touch files, the network, Python
      flops.py           how many floating-point operations a node takes
      shapes.py          the shapes of a graph for one row
      census.py          what a graph holds
      inspection.py      what is in a model
      diagram.py         ... as a page, with its graph
    contrib/           tf.contrib: a module here for each module there
      _mnist.py          MNIST in batches
      _named.py          names for functions that others make
      addresses.py       inner addresses of 1.15's modules, for imports in scripts
      autograph.py       contrib.autograph
      cluster_resolver.py  contrib.cluster_resolver
      crf.py             contrib.crf
      cudnn_rnn/         contrib.cudnn_rnn
        cudnn_rnn.py         layers over whole sequences
        cudnn_rnn_ops.py     the forms of their parameters, and the cells
      data.py            contrib.data
      distributions/     contrib.distributions
        bijectors.py         contrib.distributions.bijectors
        probability.py       names that tensorflow-probability has
      eager/             contrib.eager
        execution_callbacks.py  callbacks of operations
        gradients.py         gradients of Python functions
        metrics.py           contrib.eager.metrics
        network.py           networks of layers
        saver.py             checkpoints by names
      factorization/     contrib.factorization
        clustering_ops.py    k-means as a graph
        factorization_ops.py  weighted alternating least squares
        gmm.py               an estimator of mixtures of Gaussians
        gmm_ops.py           mixtures of Gaussians as a graph
        kmeans.py            an estimator of k-means
      estimator/         contrib.estimator
        export.py            exports, and what they receive
        extenders.py         Estimators made from others, and an optimizer that clips
        head.py              heads
        replicate_model_fn.py  a model on several devices
        rnn.py               RNNClassifier, RNNEstimator
        saved_model_estimator.py  an Estimator of a SavedModel
      feature_column.py  contrib.feature_column: sequences
      framework/         contrib.framework
        arg_scope.py         arguments that functions get from a scope
        checkpoint_ops.py    initializers from a checkpoint's matrix
        checkpoint_utils.py  checkpoints, read
        deprecation.py       decorators of old functions
        graph_util.py        a part of a graph as one operation
        nest.py              structures of tensors
        ops.py               scopes, conditions, py_func
        tensor_util.py       checks of tensors
        variables.py         variables and their collections
      image.py           contrib.image
      keras.py           contrib.keras
      layers/            contrib.layers
        bucketization_op.py  numbers to buckets
        convolutions.py      conv2d and its kin
        dense.py             fully_connected
        embedding_ops.py     looking up embeddings
        encoders.py          embed_sequence, bow_encoder
        feature_column.py    columns of features
        feature_column_ops.py  inputs and linear models from them
        gdn.py               generalized divisive normalization
        initializers.py      xavier_initializer and its kin
        layers.py            dropout, flatten, stack and other small ones
        normalization.py     batch_norm and its kin
        optimizers.py        optimize_loss
        pooling.py           max_pool2d and its kin
        regularizers.py      l2_regularizer and its kin
        rev_block_lib.py     recompute_grad and reversible blocks
        sparse_feature_cross_op.py  numbers for combinations of values
        summaries.py         summarize_tensor and its kin
        target_column.py     losses, predictions and metrics before there were heads
        utils.py             what all layers share
      learn/             contrib.learn
        constants.py         names of predictions, metrics and problems
        data_feeder.py       arrays in batches
        datasets/            small data sets
          base.py              iris, Boston, tables in CSV files
          mnist.py             MNIST
        dnn.py               deep networks
        dnn_linear_combined.py  deep networks and linear models together
        estimator.py         Estimator, SKCompat
        experiment.py        Experiment
        export_strategy.py   what an Experiment exports
        graph_actions.py     run_n
        head.py              loss, predictions and metrics from logits
        io/                  inputs
          generator_io.py      generators
          numpy_io.py          arrays
          pandas_io.py         data frames
        kmeans.py            k-means
        learn_runner.py      runs an Experiment
        linear.py            linear models
        logistic_regressor.py  LogisticRegressor
        metric_spec.py       MetricSpec
        model_fn.py          ModelFnOps
        monitors.py          ValidationMonitor and its kin
        predicting.py        what classifiers and regressors predict
        preprocessing/       texts and categories as numbers
          categorical.py       columns of categories
          categorical_vocabulary.py  the numbers of categories
          text.py              VocabularyProcessor
        rnn_common.py        cells and outputs of recurrent networks
        run_config.py        RunConfig
        utils/               served models
          input_fn_utils.py    their inputs
      legacy_seq2seq.py  contrib.legacy_seq2seq
      lookup.py          contrib.lookup
      losses/            contrib.losses
        loss_ops.py          the older losses
        metric_learning.py   losses for embeddings
      memory_stats.py    contrib.memory_stats
      metrics/           contrib.metrics
        accumulated.py       areas under curves, of all values
        common.py            local variables, collections
        metric_ops.py        streaming_accuracy and its kin
        thresholds.py        counts at thresholds
      nn.py              contrib.nn: alpha_dropout
      opt/               contrib.opt
        adam_optimizers.py   Nadam, AdaMax, lazy Adam, Adam with a global step
        averaging_optimizers.py  workers that average their variables
        base.py              one rule for ref and for resource variables
        drop_stale_gradient_optimizer.py  drops old gradients
        external_optimizer.py  SciPy's optimizers
        ggt.py               GGT
        lars_optimizer.py    LARS
        matrix_functions.py  roots of matrices
        moving_average_optimizer.py  averages of variables, and their saver
        multitask_optimizer_wrapper.py  leaves zero gradients out
        reg_adagrad_optimizer.py  Adagrad for regularizers
        shampoo.py           Shampoo
        sign_decay.py        decays for AddSign and PowerSign
        sign_optimizers.py   AddSign and PowerSign
        variable_clipping_optimizer.py  clips variables
        weight_decay_optimizers.py  AdamW and its kin
      rnn/               contrib.rnn
        core_rnn_cell.py   what cells share; projections and embeddings around them
        fused_rnn_cell.py  RNNs over whole sequences
        grid_cells.py      cells over time and frequency
        gru_ops.py         GRU cells of one op
        lstm_ops.py        LSTM cells of one op
        rnn.py             bidirectional RNNs in layers
        rnn_cell.py        the other cells
      seq2seq/           contrib.seq2seq
        attention_wrapper.py  cells that attend to a memory
        basic_decoder.py     a cell and a helper
        beam_search_decoder.py  the best sequences
        beam_search_ops.py   gather_tree
        decoder.py           dynamic_decode
        helper.py            what samples and makes the next inputs
        loss.py              sequence_loss
      signal.py          contrib.signal
      slim/              contrib.slim
        data/                contrib.slim.data
          data_decoder.py      DataDecoder
          data_provider.py     DataProvider
          dataset.py           Dataset
          dataset_data_provider.py  DatasetDataProvider
          parallel_reader.py   records of several files at a time
          prefetch_queue.py    a queue of batches
          tfexample_decoder.py  items of tf.train.Example records
        evaluation.py        evaluate_once, evaluation_loop
        learning.py          create_train_op, train
        model_analyzer.py    sizes of variables and operations
        nets/                contrib.slim.nets: image networks
          alexnet.py           alexnet_v2
          heads.py             how networks end
          inception.py         inception_v1, v2 and v3
          inception_resnet_v2.py  inception_resnet_v2
          inception_utils.py   their arg scope
          inception_v1.py      inception_v1, GoogLeNet
          inception_v2.py      inception_v2
          inception_v3.py      inception_v3
          inception_v4.py      inception_v4
          mobilenet_v1.py      mobilenet_v1
          mobilenet_v2.py      mobilenet
          overfeat.py          overfeat
          parts.py             stems and mixed blocks as tables
          resnet_utils.py      blocks of residual units
          resnet_v1.py         resnet_v1_50 and its kin
          resnet_v2.py         resnet_v2_50 and its kin
          vgg.py               vgg_a, vgg_16, vgg_19
        queues.py            queue runners for a block
        summaries.py         summaries of one tensor or of several
      predictor.py       contrib.predictor
      replacements.py    what to use in place of what is not rebuilt
      util/              contrib.util
        loader.py            operations that come as a library
      tensor_forest/     contrib.tensor_forest
        random_forest.py     TensorForestEstimator
        tensor_forest.py     forests in a graph
        trees.py             trees as arrays
      tpu/               contrib.tpu
        tpu_function.py      how many shards there are
        tpu_ops.py           operations of TPUs
        training_loop.py     while_loop and repeat
      stateless.py       contrib.stateless
      summary.py         contrib.summary
      tensorboard/       contrib.tensorboard
        plugins/           its plugins
          projector.py       which embeddings the projector shows
      timeseries/        contrib.timeseries
        ar_model.py          contrib.timeseries.ARModel
        estimators.py        contrib.timeseries.ARRegressor, .TimeSeriesRegressor
        feature_keys.py      contrib.timeseries.TrainEvalFeatures
        head.py              contrib.timeseries.OneShotPredictionHead
        input_pipeline.py    contrib.timeseries.NumpyReader, .RandomWindowInputFn
        math_utils.py        statistics of a series
        model.py             what a model of a time series is
        model_utils.py       times of predictions
        saved_model_utils.py  contrib.timeseries.saved_model_utils
        state_management.py  the state that a batch begins with
      training/          contrib.training
        bucket_ops.py        batches of examples that are alike
        device_setter.py     which parameter server gets a variable
        evaluation.py        waiting for checkpoints, and evaluating them
        feeding_queue_runner.py  a queue runner that feeds
        hparam.py            HParams
        resample.py          examples more or less often
        sampling_ops.py      batches by rejection
        training.py          create_train_op and train
    estimator/         tf.estimator
      canned/            models that are ready
        baseline.py          BaselineClassifier and its kin
        boosted_trees.py     BoostedTreesClassifier and its kin
        boosted_trees_growing.py    a layer more, and pruning
        boosted_trees_proto.py      a forest as tensors and as 1.15.5's message
        boosted_trees_quantiles.py  the buckets of numeric columns
        boosted_trees_state.py      a forest in variables and checkpoints
        dnn.py               DNNClassifier and its kin
        dnn_linear_combined.py  DNNLinearCombinedClassifier and its kin
        head.py              from logits to predictions, loss and metrics
        head_parts.py        what heads are put together from
        inner_names.py       private names of 1.15's files that programs use
        linear.py            LinearClassifier and its kin
        metric_keys.py       MetricKeys
        multi_head.py        several heads on one model
        old_head.py          heads as TensorFlow 1 made them
        optimizers.py        optimizers by name
        parsing_utils.py     what tf.parse_example needs to know
        prediction_keys.py   PredictionKeys
      early_stopping.py  stop_if_lower_hook and its kin
      estimator.py       Estimator: train, evaluate, predict, export
      evaluation.py      evaluating a graph at a checkpoint; its summaries
      experimental.py    tf.estimator.experimental
      export.py          tf.estimator.export: what served models get and give
      exporter.py        LatestExporter, BestExporter, FinalExporter
      extenders.py       add_metrics
      feeding.py         arrays that threads feed to a queue
      hooks.py           InMemoryEvaluatorHook and its like
      inputs.py          tf.estimator.inputs
      keras.py           an Estimator of a Keras model
      model_fn.py        EstimatorSpec, ModeKeys
      run_config.py      RunConfig, TF_CONFIG
      saved_models.py    models as SavedModels
      summaries.py       event files, read
      tpu.py             tf.estimator.tpu, without a TPU
      training.py        train_and_evaluate
      util.py            what the files of this room share
      warm_start.py      starting from another checkpoint's values
    pools/             many sessions at once
      mapping.py         map over iterators that may be endless
      progress.py        a bar for progress=True
      base.py            jobs, names, limits and statistics of every pool
      threads.py         ThreadSessionPool: many sessions in one process, a thread each
      worker.py          what runs in the worker server's process and in its workers
      server.py          our fork server, as its caller sees it
      segments.py        anonymous memory that two processes share
      packing.py         objects as a pickle and the memory of their arrays
      arrays.py          Channel: objects between two processes, their arrays in shared memory
      call_packing.py    jobs as bytes, several in one message
      futures.py         a Future that costs little until somebody waits
      board.py           what pool and worker tell each other about such a message
      preparation.py     what workers run first, so that TensorFlow is there what it is here
      process_worker.py  what a worker of a ProcessSessionPool does
      worker_link.py     ... as its pool sees it
      process_jobs.py    its jobs, which can be cancelled until they have ended
      messages.py        those that it gets in one message, to their end
      processes.py       ProcessSessionPool: many sessions, a process each
    scripts/           unmodified TF1 programs
      jobs.py            what is to be run, and under which settings
      toml_lines.py      the lines of a TOML text, and its limits
      jobfile.py         TOML job files and their grids of parameters
      machine.py         how many jobs this machine can carry
      events.py          what a run tells while it goes on
      folder.py          the run's folder: a log a job, jobs.json
      logs.py            the ends of logs
      streams.py         a single job's output, on the terminal and in its log
      runner.py          runs jobs, several at once, each in its own process
      python2.py         recognises Python 2
      notebooks.py       notebooks as programs
      program.py         in the job's process from here on: runs the program
      frames.py          leaves our own frames out of tracebacks
      settings.py        a job's settings, for it and the processes that it starts
      seeds.py           seeds by the number of operations, as TensorFlow 1 counted them
      seed_report.py     ... which of them are exact
      seed_words.py      ... as text, at the end of a process
      op_counts.py       how many its functions make beyond today's
      op_counts_gradients.py  the same of gradients, and gradients of gradients
      op_counts_models.py  the same of layers, Keras, optimizers, tf.contrib
      op_entries.py      what all three are written with
      limits.py          threads and memory of a job
      queue_threads.py   the Coordinator, and threads that hang in queues
      claims.py          two jobs that write to one folder
      deprecations.py    TensorFlow's deprecation warnings, beside a job's log
      children.py        processes that the program starts itself
      importer.py        which module an import gives
      contrib_modules.py  tensorflow.contrib and its inner addresses
      estimator_modules.py  tensorflow.estimator and its inner addresses
      namespace.py       what `import tensorflow as tf` gives
      missing.py         what TF1 had and is gone, and what replaces it
      built_graph.py     a function that builds a graph, run for tf1sessions convert
      moved.py           old addresses inside TensorFlow
      arguments.py       arguments that were dropped or moved
      compositions.py    functions that TF1 composed of other operations
      layer_compositions.py  the same of Keras's layers
      layer_seeds.py     seeds that layers of Keras draw with
      shuffling.py       data sets that are shuffled and repeated in TF1's order
      old_graphs.py      graphs that TF1 wrote
      libraries.py       libraries written for TensorFlow 2
      members.py         methods that classes had
      legacy_tests.py    what tf.test had otherwise
      mnist.py           tensorflow.examples.tutorials.mnist
      mnist_data.py      ... its input_data: MNIST in batches
      mnist_model.py     ... its mnist: the network of the tutorials
      numpy_compat.py    NumPy's old names and printing
      numpy_operators.py  ... its old operators, in the program's own lines
      numpy_functions.py  ... and what functions took and gave
      scipy_misc.py      scipy.misc's image functions
      pillow_compat.py   what Pillow 10 removed
      stdlib_compat.py   what left Python's library
    porting/           leaving TensorFlow 1
      modules.py         function(): a graph as a module of TensorFlow 2
      sources.py         what is to become one: a path, a Model, a builder
      variables.py       which variables it has, and which are trained
      values.py          the values that these begin with
      tables.py          its lookup tables
      calls.py           one way to call it
      staging.py         ... with arrays, as tensors in memory that is used again
      steps.py           ... and to train it
      saving.py          ... and what is saved of it
      graphs/            its graphs as functions of TensorFlow 2
        structure.py       where a graph has loops and conditions
        functions.py       the functions that come with a graph
        local_lists.py     TensorArrays and stacks as lists that are values
        partitions.py      changes of parts of them
        former.py          operations that are no more, as others
        counters.py        counters that a step raises, and nothing orders
        references.py      variables of TensorFlow 1 as those of TensorFlow 2
        replay.py          a graph made again
        kept_loops.py      ... with loops as they were, for calls without a gradient
        known.py           ... and what need not be computed in them where shapes are known
      checkpoints/       its checkpoints for objects of TensorFlow 2, and back
        reading.py         values by name
        writing.py         a checkpoint written whole or not at all
        renaming.py        names that a user gives
        conversion.py      a bare checkpoint in the other form
        objects.py         the variables of objects by name
        names.py           what the names of variables say
        layouts.py         how values lie in layers
        assignment.py      the best pairing, and whether it is the only one
        matching.py        which variable is which
        optimizers.py      slots and formulas
        settings.py        what the graph beside a checkpoint tells of them
        plans.py           what is done with each variable
        planning.py        ... and how that is found
        naming.py          names for what is saved
        transfer.py        values from here to there
      recorder.py        for the old machine: what a program computes there, as a trace
      traces.py          traces, read
      trace_comparison.py  ... held against each other, call by call
      replaying.py       a script run again, and recorded as its trace was
      trace_graphs.py    graphs of two traces: what the program built otherwise
      judging.py         why they part: seeds, a kernel, or the code
      verdict.py         ... as a record
      parity/            the same inputs through two sides
        views.py           what of a graph can be looked at
        sides.py           what both sides have
        artifacts.py       a model of TensorFlow 1 as a side
        inlining.py        the functions that a graph calls, written out in it
        functions.py       a function of TensorFlow 2 as a side
        callables.py       a Python function as a side
        opening.py         what a side is, told from what the user gave
        inputs.py          inputs, given or made
        examples.py        ... serialised examples
        matching.py        which input or output is which
        measures.py        how far one array is from another
        tolerances.py      how far it may be
        comparison.py      what was found
        causes/            why two sides part
          evidence.py        what the rules go by
          attributes.py      rules about operations and their attributes
          contents.py        ... about variables and constants
          patterns.py        ... about how the values differ
          registry.py        all of them, in order
        programs.py        a script as a side
        recordings.py      a recording as a side
        verifying.py       verify()
        html_report.py     a comparison as a page, with a plot of the error
      target.py          a folder that is written whole or not at all
      conversion.py      what a conversion does, as a record and as text
      survey.py          what of a model comes along, and what does not
      proof.py           what was written gives what the model gives
      export.py          convert(): a model as a SavedModel of TensorFlow 2
    doctor/            what on a machine, or in a script, will bite
      findings.py        what is told, and in which order
      machine.py         what there is on the machine, and what of it bites
      dynamic.py         runs a program with probes, and tells what they found
      evidence.py        ... what their notes mean
      notes.py           ... what they write down, so that it outlives a crash
      tallies.py         ... what is counted in the program's process
      probes.py          ... in the program's process: they note what it does
      source.py          a script, module or notebook as a syntax tree
      names.py           what the names in it mean
      tensorflow_names.py  which of TensorFlow's calls make operations and sessions
      order.py           in which order it does things
      code.py            sessions, configurations, threads and processes in it
      check.py           every rule, and what suppresses it
      rules/             a file a rule
        rule.py              what a rule is
        registry.py          all of them
        late_visible_devices.py  CUDA_VISIBLE_DEVICES after a session
        memory_of_several_sessions.py  sessions that differ in their GPU options
        gpu_taken_whole.py   processes without growth or a fraction
        fraction_out_of_range.py  a fraction above 1
        remote_config.py     GPU options for a session on a server
        graph_built_by_threads.py  threads that add to a graph
        fork_after_session.py  forks after a session
        oversubscribed_threads.py  more threads than cores
        python_bound_threads.py  threads that mostly run Python
        ops_in_loop.py       operations made in a loop
        make_callable_with_feeds.py  make_callable with feeds
        sessions_left_open.py  sessions made in a loop
        reset_inside_graph.py  reset_default_graph in a with block
        init_after_restore.py  initializers after restore
        late_seed.py         seeds after operations
        queues_not_started.py  queues that are never filled
        queues_not_stopped.py  a join that waits for ever
        queue_threads_left.py  threads that nobody stops
        eager_before_session.py  eager operations and sessions
        late_eager_switch.py  eager execution switched on late
        contrib_missing.py   names of tf.contrib that are gone
        numpy_values.py      dtypes of expressions, for the rules about NumPy
        numpy_integer_overflow.py  integers that do not fit
        numpy_float64_scalar.py  float32 arrays that become float64
        numpy_float32_scalar.py  float32 scalars that stay so
        numpy_lists_as_index.py  lists of lists as an index
        numpy_bool_type.py       np.bool for Python's bool
    testing/           testing that sessions are safe in threads
      frames.py          whose code a frame runs
      patching.py        methods replaced for a while
      order.py           what happened before what
      locks.py           which locks a thread holds
      synchronisation.py  what threads tell each other
      unseen.py          ... by means that nobody sees
      polling.py         loops that wait for another thread
      reports.py         what the race detector tells
      races.py           accesses that nothing orders
      watching.py        what is watched of TensorFlow
      runs.py            runs a program with all that
      inside.py          ... in the program's process
      schedules.py       threads made to come in a certain order, or in every one
      trees.py           nested results, compared leaf by leaf
      hammering.py       a function called by many threads at once
      assertions.py      what tests claim about graphs, sessions and results
      leaks.py           what a program has made and left behind
      leaks_makers.py    ... who makes threads, processes, shared memory
      leaks_graphs.py    ... what is left of TensorFlow
      leaks_kept.py      ... what libraries keep on purpose
      leaks_switch.py    ... patches of modules that may come later
      leaks_told.py      ... what is told
      goldens.py         whether goldens are written anew
      settings.py        what users set for tests: options, markers
      hangs.py           what tests that hang wait for, and how they are ended
      threaded.py        the body of a test in several threads
      resources.py       graphs and sessions for tests
      expected.py        which races a test has dealt with
      plugin.py          the pytest plugin
    cli/               the command line: a file a command
      main.py            finds the subcommand; errors and exit codes
      run.py             tf1sessions run
      inspect.py         tf1sessions inspect
      report.py          ... what it prints
      memory.py          tf1sessions memory
      programs.py        what commands share that take programs and their arguments
      doctor.py          tf1sessions doctor
      races.py           tf1sessions races
      convert.py         tf1sessions convert
      verify.py          tf1sessions verify
      progress.py        plain lines about a run
      live.py            the live table of a run
      formatting.py      how durations and ends are said
    __main__.py        python -m tf1sessions

Importing this package imports neither TensorFlow nor numpy: a public name is fetched from its module when it is used
first.

PYTEST_DONT_REWRITE: under ``tf1sessions run -m pytest`` this module is there before pytest, which would warn of that.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tf1sessions import errors

if TYPE_CHECKING:
    from tf1sessions import contrib, estimator, porting, scripts, testing
    from tf1sessions.models.model import Model, load
    from tf1sessions.pipelines.batching import Batcher
    from tf1sessions.pipelines.pipeline import QueuePipeline
    from tf1sessions.pipelines.work import WorkQueue
    from tf1sessions.pools.processes import ProcessSessionPool
    from tf1sessions.pools.threads import ThreadSessionPool
    from tf1sessions.runtime import enable_v1_behavior, tf1
    from tf1sessions.sessions.calls import CompiledCall, Session
    from tf1sessions.sessions.config import SessionConfig
    from tf1sessions.sessions.memory import MemoryPlan
    from tf1sessions.sessions.session import GraphSession

__version__ = "0.1.0"

__all__ = [
    "Batcher",
    "CompiledCall",
    "GraphSession",
    "MemoryPlan",
    "Model",
    "ProcessSessionPool",
    "QueuePipeline",
    "Session",
    "SessionConfig",
    "ThreadSessionPool",
    "WorkQueue",
    "__version__",
    "contrib",
    "enable_v1_behavior",
    "errors",
    "estimator",
    "load",
    "porting",
    "scripts",
    "testing",
    "tf1",
]

# Public name -> the module that defines it. A name that is a module itself has None.
_HOMES: dict[str, str | None] = {
    "Batcher": "tf1sessions.pipelines.batching",
    "CompiledCall": "tf1sessions.sessions.calls",
    "GraphSession": "tf1sessions.sessions.session",
    "MemoryPlan": "tf1sessions.sessions.memory",
    "Model": "tf1sessions.models.model",
    "ProcessSessionPool": "tf1sessions.pools.processes",
    "QueuePipeline": "tf1sessions.pipelines.pipeline",
    "Session": "tf1sessions.sessions.calls",
    "SessionConfig": "tf1sessions.sessions.config",
    "ThreadSessionPool": "tf1sessions.pools.threads",
    "WorkQueue": "tf1sessions.pipelines.work",
    "contrib": None,
    "enable_v1_behavior": "tf1sessions.runtime",
    "estimator": None,
    "load": "tf1sessions.models.model",
    "porting": None,
    "scripts": None,
    "testing": None,
    "tf1": "tf1sessions.runtime",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    if home is None:
        return importlib.import_module(f"{__name__}.{name}")  # importing a submodule sets the name here too
    value = globals()[name] = getattr(importlib.import_module(home), name)
    return value


def __dir__() -> list[str]:
    """The public names only: what a prompt offers is what a program may use."""
    return list(__all__)
