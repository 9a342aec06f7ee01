"""Programs that use contrib.training: what each returns must be what 1.15.5 returned.

``CASES`` has functions of ``(tf, training)`` that run in a graph of their own and return what JSON can keep. The file
has to run on Python 3.7 too.
"""

import glob
import os
import tempfile

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def error(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except (TypeError, ValueError) as problem:
        return [type(problem).__name__, str(problem)]
    except AssertionError:
        return ["AssertionError", ""]
    return None


def tags(tf, folder):
    (path,) = glob.glob(os.path.join(folder, "events*"))
    found = []
    for event in tf.train.summary_iterator(path):
        if event.WhichOneof("what") == "summary":
            found.append([event.step, [value.tag for value in event.summary.value]])
    return found


def names(tf, *keys):
    return {key: [getattr(item, "name", item) for item in tf.get_collection(key)] for key in keys}


def model(tf):
    x = tf.constant([[1.0, 2.0], [3.0, -1.0]])
    w = tf.get_variable("w", initializer=[[0.5], [-0.25]])
    b = tf.get_variable("b", initializer=[0.1])
    return w, b, tf.reduce_mean(tf.square(tf.matmul(x, w) + b - 1.0), name="loss")


def run_train(tf, training, steps=5, logdir=None, optimizer=None, **kwargs):
    _w, _b, loss = model(tf)
    optimizer = optimizer or tf.train.GradientDescentOptimizer(0.1)
    train_op = training.create_train_op(loss, optimizer, **kwargs)
    save = {} if logdir else dict(save_checkpoint_secs=None, save_summaries_steps=None)
    last = training.train(train_op, logdir, hooks=[tf.train.StopAtStepHook(steps)], **save)
    return train_op, float(last)


@case
def train(tf, training):
    train_op, last = run_train(tf, training)
    return [train_op.name, last, names(tf, "train_op", "variables", "global_step")]


@case
def train_saves(tf, training):
    folder = tempfile.mkdtemp()
    _, last = run_train(tf, training, logdir=folder, summarize_gradients=True)
    reader = tf.train.load_checkpoint(folder)
    saved = {name: reader.get_tensor(name).tolist() for name in sorted(reader.get_variable_to_shape_map())}
    files = sorted(name for name in os.listdir(folder) if "tfevents" not in name)
    return [last, saved, files, [tag for _, found in tags(tf, folder) for tag in found], names(tf, "summaries")]


@case
def train_again_from_checkpoint(tf, training):
    folder = tempfile.mkdtemp()
    _, first = run_train(tf, training, steps=3, logdir=folder)
    with tf.Graph().as_default():
        _, second = run_train(tf, training, steps=6, logdir=folder, optimizer=tf.train.GradientDescentOptimizer(0.1))
    return [first, second, os.path.basename(tf.train.latest_checkpoint(folder))]


@case
def train_clipped(tf, training):
    return run_train(tf, training, transform_grads_fn=training.clip_gradient_norms_fn(0.01))[1]


@case
def train_some_variables(tf, training):
    with tf.variable_scope("other"):
        tf.get_variable("unused", [2])
    w, b, loss = model(tf)
    train_op = training.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1), variables_to_train=[b])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = float(session.run(train_op))
        return [first, session.run(w).tolist(), session.run(b).tolist()]


@case
def train_runs_updates_first(tf, training):
    _w, _b, loss = model(tf)
    moving = tf.get_variable("moving", initializer=2.0, trainable=False)
    update = tf.assign_add(moving, 1.0)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update)
    train_op = training.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1), global_step=None)
    other = training.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1), update_ops=[])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [float(session.run(train_op)), float(session.run(moving))]
        found += [float(session.run(other)), float(session.run(moving))]
        return found + [int(session.run(tf.train.get_global_step())), train_op.name, other.name]


@case
def gradient_helpers(tf, training):
    w, b, loss = model(tf)
    table = tf.get_variable("table", initializer=[[3.0, 4.0], [6.0, 8.0]])
    looked_up = tf.reduce_sum(tf.nn.embedding_lookup(table, [1]) * 5.0)
    other = tf.get_variable("other", initializer=1.0)
    grads = tf.train.GradientDescentOptimizer(0.1).compute_gradients(loss + looked_up, [w, b, table, other])
    clipped = training.clip_gradient_norms(grads, 0.5)
    grown = training.multiply_gradients(grads, {"w": 2.0, b: tf.constant(3.0), "table": 4})
    training.add_gradients_summaries(grads)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def values(pairs):
            dense = [grad for grad, _ in pairs if grad is not None]
            return [session.run(tf.convert_to_tensor(grad)).tolist() for grad in dense]

        sparse = [isinstance(grad, tf.IndexedSlices) for grad, _ in clipped]
        return [values(clipped), values(grown), sparse, names(tf, "summaries")]


@case
def create_train_op_errors(tf, training):
    w, _b, loss = model(tf)
    fixed = tf.get_variable("fixed", initializer=1.0, trainable=False)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    return [
        error(training.create_train_op, loss, optimizer, variables_to_train=[]),
        error(training.create_train_op, loss, optimizer, variables_to_train=[fixed]),
        error(training.train, loss, None),
        error(training.train, loss, None, save_checkpoint_secs=None),
        error(training.train, loss, None, save_summaries_steps=None),
        error(training.multiply_gradients, (), {"w": 1.0}),
        error(training.multiply_gradients, [(loss, w)], {}),
        error(training.multiply_gradients, [(loss, w)], [1]),
        error(training.multiply_gradients, [(None, w)], {"w": 1.0}),
        error(training.SummaryAtEndHook),
    ]


@case
def loss_that_is_no_number(tf, training):
    _w, _b, loss = model(tf)
    train_op = training.create_train_op(loss * float("nan"), tf.train.GradientDescentOptimizer(0.1))
    other = training.create_train_op(loss * float("nan"), tf.train.GradientDescentOptimizer(0.1), check_numerics=False)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        try:
            session.run(train_op)
        except tf.errors.InvalidArgumentError as problem:
            return ["LossTensor is inf or nan" in str(problem), str(session.run(other))]


def checkpoint(tf, training, steps=3):
    folder = tempfile.mkdtemp()
    with tf.Graph().as_default():
        run_train(tf, training, steps=steps, logdir=folder)
    return folder


@case
def evaluate_once(tf, training):
    path = tf.train.latest_checkpoint(checkpoint(tf, training))
    _w, b, loss = model(tf)
    tf.train.get_or_create_global_step()
    count = tf.get_variable("count", initializer=0.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    update = tf.assign_add(count, 2.0)
    found = []
    for ops in (update, [update], {"update": update}):
        found.append(
            training.evaluate_once(
                path, eval_ops=ops, final_ops={"count": count, "b": b}, hooks=[training.StopAfterNEvalsHook(4)]
            )
        )
    return [
        [{key: value.tolist() for key, value in values.items()} for values in found],
        float(training.evaluate_once(path, final_ops=loss)),
        training.evaluate_once(path),
        names(tf, "eval_step", "local_variables"),
    ]


@case
def evaluate_repeatedly(tf, training):
    folder = checkpoint(tf, training)
    _w, b, loss = model(tf)
    tf.train.get_or_create_global_step()
    tf.summary.scalar("the_loss", loss)
    out = tempfile.mkdtemp()
    value = training.evaluate_repeatedly(
        folder,
        eval_ops=loss,
        final_ops=b,
        hooks=[training.StopAfterNEvalsHook(2), training.SummaryAtEndHook(out)],
        max_number_of_evaluations=1,
    )
    asked = []

    def stop():
        asked.append(1)
        return len(asked) == 2

    again = training.evaluate_repeatedly(folder, final_ops=b, eval_interval_secs=0, timeout=0, timeout_fn=stop)
    return [value.tolist(), tags(tf, out), again.tolist(), len(asked)]


@case
def waiting(tf, training):
    folder = checkpoint(tf, training)
    path = tf.train.latest_checkpoint(folder)
    empty = tempfile.mkdtemp()
    return [
        training.wait_for_new_checkpoint(folder) == path,
        training.wait_for_new_checkpoint(folder, path, seconds_to_sleep=0.01, timeout=0),
        training.wait_for_new_checkpoint(empty, timeout=0),
        list(training.checkpoints_iterator(empty, timeout=0)),
        [found == path for found in training.checkpoints_iterator(folder, timeout=0)],
    ]


def examples(tf, lengths):
    """Examples in turn: a number n as [n] * n."""
    (length,) = tf.train.slice_input_producer([tf.constant(lengths)], num_epochs=1, shuffle=False)
    return length, tf.fill([length], length)


def drain(tf, fetches):
    found = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            while True:
                values = session.run(fetches)
                found.append({key: value.tolist() for key, value in values.items()})
        except tf.errors.OutOfRangeError:
            coordinator.request_stop()
        coordinator.join(threads)
    return sorted(found, key=str)


@case
def bucket_by_sequence_length(tf, training):
    length, values = examples(tf, [1, 5, 2, 6, 3, 9, 1, 4, 2, 8])
    lengths, out = training.bucket_by_sequence_length(
        length, [values], 2, [3, 6], dynamic_pad=True, allow_smaller_final_batch=True
    )
    shape = [str(item) for item in (lengths.shape.as_list(), out[0].shape.as_list())]
    return [drain(tf, {"lengths": lengths, "out": out[0]}), lengths.name, out[0].name, shape]


@case
def bucket_dict(tf, training):
    length, values = examples(tf, [1, 5, 2, 6, 3, 9, 1, 4, 2, 8, 7])
    which, out = training.bucket(
        {"b": values, "a": length},
        tf.cast(length > 4, tf.int32),
        [3, 2],
        2,
        dynamic_pad=True,
        keep_input=tf.not_equal(length, 9),
        bucket_capacities=[10, 9],
        name="mine",
    )
    shapes = {key: str(value.shape.as_list()) for key, value in out.items()}
    found = drain(tf, dict(out, which=which))
    return [found, which.name, sorted(out), shapes, names(tf, "summaries")]


@case
def bucket_fixed(tf, training):
    length, _ = examples(tf, [1, 2, 3, 4, 5, 6, 7])
    which, out = training.bucket([length, length * 2], length % 2, 2, 2)
    runners = [(runner.name, len(runner.enqueue_ops)) for runner in tf.get_collection("queue_runners")]
    shapes = [value.shape.as_list() for value in out]
    return [drain(tf, {"which": which, "a": out[0], "b": out[1]}), shapes, runners]


@case
def bucket_errors(tf, training):
    open_ended = tf.placeholder(tf.float32, [None])
    one = tf.constant(1)
    return [
        error(training.bucket, [], one, 2, 2),
        error(training.bucket, [one], one, [2], 2),
        error(training.bucket, [one], one, 2, 2, bucket_capacities=[2]),
        error(training.bucket_by_sequence_length, one, [one], 2, []),
        error(training.bucket_by_sequence_length, one, [one], 2, [2, 1]),
        error(training.bucket_by_sequence_length, one, [one], 2, [1.0, 2]),
        error(training.bucket_by_sequence_length, one, [one], 2, 3),
        error(training.bucket_by_sequence_length, one, [one], [2], [3]),
        error(training.bucket_by_sequence_length, one, [one], 2, [3], bucket_capacities=[2]),
        error(training.bucket, [open_ended], one, 2, 2)[0],
    ]


@case
def strategy(tf, training):
    place = training.GreedyLoadBalancingStrategy(3, training.byte_size_load_fn)
    with tf.Graph().as_default() as graph:
        setter = tf.train.replica_device_setter(ps_tasks=3, ps_strategy=place, cluster=None)
        with graph.device(setter):
            made = [tf.get_variable(f"v{i}", [size]) for i, size in enumerate([100, 3, 5, 2, 7, 200, 1])]
        return [variable.device for variable in made]


@case
def random_strategy(tf, training):
    class Op:
        def __init__(self, name):
            self.name = name

    ops = [Op(name) for name in ("a", "b", "c", "weights", "scope/biases")]
    return [[training.RandomStrategy(tasks, seed)(op) for op in ops] for tasks, seed in ((3, 0), (7, 5), (1, 2))]


def evaluated(tf, fetches, times=1, initialize=True):
    """What ``fetches`` give in a session with queue runners, as lists."""
    found = []
    with tf.Session() as session:
        if initialize:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        for _ in range(times):
            found.append([value.tolist() for value in session.run(fetches)])
        coordinator.request_stop()
        for queue_runner in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS):
            session.run(queue_runner.cancel_op)
        coordinator.join(threads)
    return found


@case
def resample_at_rate(tf, training):
    inputs = [tf.constant([1.0, 2.0, 3.0]), tf.constant([[1, 1], [2, 2], [3, 3]])]
    outputs = training.resample_at_rate(inputs, tf.constant([0.0, 2.5, 1.0]), seed=3)
    return [[output.name for output in outputs], evaluated(tf, outputs, 5)]


@case
def weighted_resample(tf, training):
    outputs = []
    for scope in (None, "w"):
        weights = tf.constant([0.0, 3.0, 1.0])
        values, rates = training.weighted_resample([tf.constant([1.0, 2.0, 3.0])], weights, 2.0, scope, 0.5, seed=3)
        outputs += [values[0], rates]
    return [names(tf, "variables", "local_variables"), evaluated(tf, outputs, 4)]


@case
def rejection_sample(tf, training):
    examples = [tf.constant([1.0, 2.0, 3.0]), tf.constant([[2, 3], [1, 2], [3, 4]])]
    batch = training.rejection_sample(
        examples, lambda one: tf.cast(one[0] > 1.5, tf.float32), 3, enqueue_many=True, runtime_checks=True, name="r"
    )
    single = training.rejection_sample([tf.constant(4.0)], lambda one: tf.constant(0.5), 2)
    return [[tensor.name for tensor in batch + single], names(tf, "queue_runners"), evaluated(tf, batch + single, 2)]


@case
def rejection_sample_errors(tf, training):
    return error(training.rejection_sample, [tf.constant(1.0)], lambda one: tf.constant([0.5]), 3)[0]


def every(batches):
    """The first value of each example of all batches, and all of its values."""
    return [(batch[0][at], [part[at] for part in batch]) for batch in batches for at in range(len(batch[0]))]


@case
def stratified_sample(tf, training):
    found = []
    for shares in ([0.2, 0.4, 0.4], None):
        with tf.Graph().as_default():
            number = tf.train.range_input_producer(3, shuffle=False).dequeue()
            data, labels = training.stratified_sample(
                [tf.cast(number, tf.float32), number + 5], number, [0.5, 0.5, 0.0], 6, init_probs=shares
            )
            batches = evaluated(tf, [data[0], data[1], labels], 4)
            belong = all([x, x + 5, x] == [a, b, c] for x, (a, b, c) in every(batches))
            seen = sorted({label for batch in batches for label in batch[2]})
            found.append([names(tf, "variables"), [tensor.shape.as_list() for tensor in data], belong, seen])
    data, labels = training.stratified_sample(
        [tf.constant([5.0, 6.0, 7.0])], tf.constant([0, 1, 2]), [0.0, 1.0, 0.0], 4, [0.2, 0.3, 0.5], enqueue_many=True
    )
    return found + evaluated(tf, [data[0], labels])


@case
def stratified_sample_errors(tf, training):
    one = [tf.constant(5.0)]
    sample = training.stratified_sample
    return [
        error(sample, one, tf.constant([1, 2]), [0.5, 0.5], 4)[0],
        error(sample, one, tf.constant(1), [0.5, 0.5], 4, enqueue_many=True)[0],
    ]


@case
def feeding_queue_runner(tf, training):
    queue = tf.FIFOQueue(3, [tf.float32], [[]])
    value = tf.placeholder(tf.float32)
    numbers = [4.0, 3.0, 2.0, 1.0]

    def feed():
        if not numbers:
            raise tf.errors.OutOfRangeError(None, None, "the end")
        return {value: numbers.pop()}

    runner = training.FeedingQueueRunner(queue, [queue.enqueue(value)], feed_fns=[feed])
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        threads = runner.create_threads(session, coordinator, start=True)
        found = [float(session.run(queue.dequeue())) for _ in range(4)]
        coordinator.request_stop()
        coordinator.join(threads)
    wrong = error(training.FeedingQueueRunner, queue, [queue.enqueue(value)], feed_fns=[feed, feed])
    return [found, isinstance(runner, tf.train.QueueRunner), runner.name, len(threads), wrong]


def run(tf, training):
    """The answers of all cases."""
    answers = {}
    for name, function in CASES.items():
        with tf.Graph().as_default():
            answers[name] = function(tf, training)
    return answers
